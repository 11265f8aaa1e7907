"""The two ConfigMaps that NVIDIA's programs read: the device plugin's configs and custom MIG layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aks_dra import names
from aks_dra.facts import Facts
from aks_dra.model.plan import PlannedPool
from aks_dra.settings import MigGroup, Pool, Sharing
from aks_dra.topics.devices.published import mig_strategy, shared_resources


def config_map(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    # JSON is YAML, and the only YAML that two programs never read in two ways.
    texts = {key: json.dumps(value, indent=1) + "\n" for key, value in sorted(data.items())}
    metadata = {"name": name, "namespace": names.OPERATOR_NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts}


def plugin_config(sharing: Sharing, resource_names: tuple[str, ...] = (names.LEGACY_RESOURCE,)) -> dict[str, Any]:
    """The device plugin's config of one pool. Without sharing there is no sharing block: replicas of 1 crash it.

    Partitions are shared by time-slicing, each under the name that the strategy gives it; MPS is for whole GPUs only.
    """
    config: dict[str, Any] = {"version": "v1", "flags": {"migStrategy": mig_strategy(sharing)}}
    if sharing.mode in ("timeSlicing", "mps") or (sharing.mode == "mig" and sharing.replicas):
        resources = {"resources": [{"name": name, "replicas": sharing.replicas} for name in resource_names]}
        options: dict[str, Any] = {}
        if sharing.rename:
            options["renameByDefault"] = True
        if sharing.fail_requests_greater_than_one:
            options["failRequestsGreaterThanOne"] = True
        config["sharing"] = {"mps" if sharing.mode == "mps" else "timeSlicing": {**options, **resources}}
    return config


def plugin_config_map(facts: Facts, pools: Mapping[str, Pool]) -> dict[str, Any]:
    """One key for each device-plugin pool, named as its nodes' label says, and a plain default."""
    data = {
        name: plugin_config(pool.sharing, shared_resources(facts, facts.vm_size(pool.vm_size), pool.sharing))
        for name, pool in pools.items()
    }
    return config_map(names.DEVICE_PLUGIN_CONFIG_MAP, {names.DEFAULT_CONFIG_KEY: plugin_config(Sharing()), **data})


def mig_layouts_config_map(facts: Facts, pools: list[tuple[PlannedPool, Sharing]]) -> dict[str, Any] | None:
    """Custom layouts, or None when every layout is a stock one.

    A custom map replaces the generated one on every node, so it holds every layout that any pool uses and
    all-disabled; a GPU that no entry covers would fail the whole layout. A stock layout means other partitions on other
    GPUs (all-1g.10gb is seven on 80 GB, four on 40 GB), so where pools differ each gets its entry, by PCI id.
    """
    if all(isinstance(sharing.layout, str) for _, sharing in pools):
        return None
    layouts: dict[str, Any] = {"all-disabled": [{"devices": "all", "mig-enabled": False}]}
    families: dict[str, dict[str, tuple[str, ...]]] = {}
    for pool, sharing in pools:
        family = facts.families.get(facts.gpus[pool.gpu].mig)
        if not isinstance(sharing.layout, str):
            layouts[pool.mig_layout] = [_entry(group) for group in sharing.layout or ()]
        elif family is not None:
            families.setdefault(sharing.layout, {})[family.key] = family.pci_device_ids
    for layout, users in families.items():
        groups = [
            MigGroup(profiles=dict(facts.families[key].layouts.get(layout, {})), device_filter=ids or None)
            for key, ids in sorted(users.items())
        ]
        layouts[layout] = [_entry(group, with_filter=len(users) > 1) for group in groups]
    return config_map(names.MIG_LAYOUTS_CONFIG_MAP, {"config.yaml": {"version": "v1", "mig-configs": layouts}})


def _entry(group: MigGroup, with_filter: bool = True) -> dict[str, Any]:
    """One entry of mig-parted's file. A GPU without partitions is left out of MIG mode, so that it stays whole."""
    entry: dict[str, Any] = {"devices": group.devices if group.devices == "all" else list(group.devices)}
    if group.device_filter is not None and with_filter:
        given = group.device_filter
        entry["device-filter"] = [given] if isinstance(given, str) else list(given)
    entry["mig-enabled"] = bool(group.profiles)
    if group.profiles:
        entry["mig-devices"] = dict(group.profiles)
    return entry
