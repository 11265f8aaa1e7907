"""Tenants of a test on the real API server: their namespaces, lists and policies, and what they ask for."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.conftest import TestCluster
from tests.stacks import planned

CLAIM, TEMPLATE, POD = "resourceclaims", "resourceclaimtemplates", "pods"
STACK = """
aks-dra:cluster: {{access: {{azureRbac: true}}, kubernetesVersion: "1.36"}}
aks-dra:pools:
  t4: {{vmSize: Standard_NC4as_T4_v3}}
  h100: {{vmSize: Standard_NC40ads_H100_v5}}
aks-dra:testPool: {{enabled: true, namespace: {name}-pool}}
aks-dra:deviceClasses:
  fpga: {{driver: fpga.example.com, cel: ["true"]}}
  somebody-elses: {{driver: npu.example.com, create: false}}
  small: {{require: {{memory: "<=20Gi"}}, extendedResourceName: example.com/small-gpu}}
aks-dra:namespaces:
  {name}: {{allow: [t4, small], quota: {{t4: 2, small: 1}}, labels: {{tenants: {name}}}}}
  {name}-pool: {{labels: {{tenants: {name}}}}}
  {name}-none: {{labels: {{tenants: {name}, resource.kubernetes.io/admin-access: "true"}}}}
  {name}-watch: {{adminAccess: true, labels: {{tenants: {name}}}}}
"""


@dataclass
class Tenants:
    """The namespaces of a test: its own (t4, small), -pool, -none (no list) and -watch (admin access)."""

    cluster: TestCluster

    def namespace(self, which: str = "") -> str:
        return self.cluster.namespace + (f"-{which}" if which else "")

    def create(self, kind: str, spec: dict[str, Any], which: str = "", *, really: bool = False, **more: Any) -> str:
        """Asks the API server for an object; gives its refusal, or ""."""
        group = "/api/v1" if kind == POD else "/apis/resource.k8s.io/v1"
        query = "" if really else "?dryRun=All"
        metadata = more or {"generateName": "x-"}
        path = f"{group}/namespaces/{self.namespace(which)}/{kind}{query}"
        return self.ask("POST", path, {"metadata": metadata, "spec": spec})

    def ask(self, method: str, path: str, body: dict[str, Any], content: str = "application/json") -> str:
        api = self.cluster.api
        headers = {"Authorization": api.token, "Accept": "application/json", "Content-Type": content}
        answer = api.client.call_api(method, f"{api.server}{path}", headers, body)
        if answer.status >= 300:
            text: bytes = answer.read()  # type: ignore[no-untyped-call]
            return f"{answer.status} {json.loads(text)['message']}"
        return ""

    def claim(self, *requests: dict[str, Any], which: str = "", **more: Any) -> str:
        return self.create(CLAIM, claim_of(*requests), which, **more)


def claim_of(*requests: dict[str, Any]) -> dict[str, Any]:
    return {"devices": {"requests": [{"name": f"r{number}", **request} for number, request in enumerate(requests)]}}


def exactly(device_class: str, **more: Any) -> dict[str, Any]:
    return {"exactly": {"deviceClassName": device_class, **more}}


def ranked(*classes: str) -> dict[str, Any]:
    return {"firstAvailable": [{"name": f"c{n}", "deviceClassName": name} for n, name in enumerate(classes)]}


def pod_of(resource: str, where: str = "containers") -> dict[str, Any]:
    plain = {"name": "plain", "image": "example.invalid/none"}
    asks = {"name": "asks", "image": "example.invalid/none", "resources": {"limits": {resource: "1"}}}
    spec: dict[str, Any] = {"containers": [plain], "tolerations": [{"operator": "Exists"}]}
    spec[where] = [*spec.get(where, []), asks]
    return spec


def tenants_of(cluster: TestCluster, tmp_path: Path) -> Tenants:
    """Classes, namespaces, quotas and policies as planned; the bindings look at this test's namespaces alone."""
    plan = planned(tmp_path, STACK.format(name=cluster.namespace))
    found = Tenants(cluster)
    for entry in plan.namespaces:
        if entry.manifest["metadata"]["name"].startswith(cluster.namespace):
            cluster.apply(entry.manifest)
    for entry in plan.objects:
        manifest = dict(entry.manifest)
        if entry.kind == "ValidatingAdmissionPolicyBinding":
            only = {"namespaceSelector": {"matchLabels": {"tenants": cluster.namespace}}}
            manifest["spec"] = {**manifest["spec"], "matchResources": only}
        if entry.kind in ("DeviceClass", "ResourceQuota") or entry.key.startswith("policy-"):
            cluster.apply(manifest)
    cluster.until(lambda: found.claim(exactly("gpu.nvidia.com")), "claims are looked at")
    cluster.until(lambda: found.create(TEMPLATE, {"spec": claim_of(exactly("gpu.nvidia.com"))}), "templates")
    cluster.until(lambda: found.create(POD, pod_of("deviceclass.resource.kubernetes.io/gpu.nvidia.com")), "pods")
    return found
