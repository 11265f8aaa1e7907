"""What Kubernetes never changes in place is made anew: a claim's spec, of either kind."""

from __future__ import annotations

from aks_dra.model.plan import PlannedObject
from tests.resources.hand_made import make_plan, manifest, whole_cluster
from tests.resources.stand_in import kubelogin, run  # noqa: F401

SPEC = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "a100-80gb"}}]}}


def test_a_claim_whose_spec_changes_is_replaced_and_the_old_one_goes_first() -> None:
    template = PlannedObject("claim-ml-t", manifest("ResourceClaimTemplate", "t", "ml", spec={"spec": SPEC}))
    engine, _ = run(whole_cluster(make_plan(objects=(*make_plan().objects, template))))
    asked = {
        request.name: (list(request.raw.replaceOnChanges), request.raw.deleteBeforeReplace)
        for request in engine.requests
        if request.type.startswith("kubernetes:") and ":Release" not in request.type
    }
    assert {name: given for name, given in asked.items() if given != ([], False)} == {
        "gpu-claims-claim-ml-one": (["spec"], True),
        "gpu-claims-claim-ml-t": (["spec"], True),
    }
