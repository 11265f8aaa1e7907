"""What the running stack was when it was last brought up, from its own outputs.

The engine's own function for stack references is called, and no StackReference is registered: a stack that refers to
itself by a resource would have one more of them, and its first run none to read. Right after `pulumi stack init`
the outputs are empty, so a first run has nothing to compare with.
"""

from __future__ import annotations

import pulumi

from aks_dra.context.previous import Previous, PreviousError, from_plain

OUTPUT = "previous"
READ = "pulumi:pulumi:readStackOutputs"


def last_run() -> Previous | None:
    """The last run's own description; None in a first run. What cannot be read is said and stops nothing."""
    name = f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"
    try:
        answer = pulumi.runtime.invoke(READ, {"name": name}).value or {}
        outputs = answer.get("outputs") or {}
        return from_plain(outputs[OUTPUT]) if outputs.get(OUTPUT) else None
    except PreviousError as error:
        reason = str(error)
    except Exception as error:  # the backend's reasons are many, and none of them is worth a failed run
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    pulumi.log.warn(
        f"What {name} was before is not known ({reason}), so changes that would replace or break something are not "
        "looked for in this run; `aks-dra check --against` finds them."
    )
    return None
