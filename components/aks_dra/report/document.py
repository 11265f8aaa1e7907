"""The plan as plain data, the one source of the JSON output; keys are stable and camelCase."""

from __future__ import annotations

from typing import Any

from aks_dra.findings.finding import Finding
from aks_dra.kube.devices import Device, Unknown, Version
from aks_dra.model.plan import Plan
from aks_dra.report.tables import class_matches


def as_document(plan: Plan) -> dict[str, Any]:
    return {
        "project": plan.project,
        "stack": plan.stack,
        "cluster": {
            "name": plan.cluster.name,
            "resourceGroup": plan.cluster.resource_group,
            "location": plan.cluster.location,
            "existing": plan.cluster.existing or None,
            "kubernetesVersion": plan.cluster.kubernetes_version,
            "protect": plan.cluster.protect,
            "inputs": plan.cluster.inputs,
            "identities": [
                {"key": identity.key, "name": identity.name, "existing": identity.existing or None}
                for identity in plan.cluster.identities
            ],
            "roles": [
                {
                    "role": role.role,
                    "scope": role.scope,
                    "principal": role.principal,
                    "beforeCluster": role.before_cluster,
                }
                for role in plan.cluster.roles
            ],
            "maintenance": {name: dict(inputs) for name, inputs in plan.cluster.maintenance.items()},
        },
        "pools": [
            {
                "name": pool.name,
                "vmSize": pool.vm_size,
                "gpu": pool.gpu,
                "gpusPerNode": pool.gpus_per_node,
                "nodes": pool.nodes,
                "allocation": pool.allocation,
                "sharing": pool.sharing,
                "driver": pool.driver_owner,
                "deviceClasses": list(pool.device_classes),
                "devicesPerNode": [device_document(device) for device in pool.all_devices],
                "extendedResourcesPerNode": dict(pool.extended_resources),
                "pod": {"nodeSelector": dict(pool.pod.node_selector), "tolerations": list(pool.pod.tolerations)},
                "inputs": pool.inputs,
            }
            for pool in plan.pools
        ],
        "releases": [
            {
                "name": release.name,
                "namespace": release.namespace,
                "chart": release.chart,
                "version": release.version or None,
                "values": release.values,
            }
            for release in plan.releases
        ],
        "objects": [dict(entry.manifest) for entry in (*plan.namespaces, *plan.objects, *plan.smoke_test)],
        "deviceClasses": [
            {
                "name": match.device_class,
                "origin": match.made_by,
                "selectors": list(match.selectors),
                "devicesPerNode": dict(match.pools),
                "undecided": list(match.undecided),
                "placesPerNode": dict(match.places),
                "unknown": match.unknown,
                "extendedResource": match.extended_resource or None,
                "extendedResourceServedBy": match.resource_served_by or None,
            }
            for match in class_matches(plan)
        ],
        "claims": [
            {
                "namespace": planned.claim.namespace,
                "name": planned.claim.name,
                "kind": planned.claim.kind,
                "requests": [
                    {
                        "name": request.name,
                        "adminAccess": request.admin_access,
                        "asks": [
                            {
                                "name": asked.ask.reference,
                                "deviceClass": asked.ask.device_class,
                                "count": "all" if asked.ask.every else asked.ask.count,
                                "pools": list(asked.pools),
                                "unknown": asked.unknown,
                            }
                            for asked in asks
                        ],
                    }
                    for request, asks in planned.requests
                ],
            }
            for planned in plan.claims
        ],
        "findings": [finding_document(finding) for finding in plan.findings],
        "incomplete": list(plan.incomplete),
    }


def device_document(device: Device) -> dict[str, Any]:
    def value(entry: object) -> object:
        if isinstance(entry, Version):
            return {"version": entry.text}
        return None if isinstance(entry, Unknown) else entry

    return {
        "name": device.name,
        "driver": device.driver,
        "attributes": {name: value(entry) for name, entry in sorted(device.attributes.items())},
        "capacity": {name: value(entry) for name, entry in sorted(device.capacity.items())},
    }


def finding_document(finding: Finding) -> dict[str, Any]:
    return {
        "code": finding.code,
        "severity": finding.severity,
        "path": finding.path,
        "value": finding.value,
        "message": finding.message,
        "remedy": finding.remedy,
        "source": finding.source,
        "file": finding.file or None,
        "line": finding.line or None,
        "acknowledged": finding.acknowledged or None,
    }
