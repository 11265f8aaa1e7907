"""The two ConfigMaps that NVIDIA's programs read: the device plugin's configs and custom MIG layouts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from aks_dra.facts import Facts
from aks_dra.planning import names
from aks_dra.planning.devices_of import mig_strategy
from aks_dra.planning.model import PlannedPool
from aks_dra.settings import Pool, Sharing


def config_map(name: str, data: Mapping[str, Any]) -> dict[str, Any]:
    # JSON is YAML, and the only YAML that two programs never read in two ways.
    texts = {key: json.dumps(value, indent=1) + "\n" for key, value in sorted(data.items())}
    metadata = {"name": name, "namespace": names.OPERATOR_NAMESPACE}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": texts}


def plugin_config(sharing: Sharing) -> dict[str, Any]:
    """The device plugin's config of one pool. Without sharing there is no sharing block: replicas of 1 crash it."""
    config: dict[str, Any] = {"version": "v1", "flags": {"migStrategy": mig_strategy(sharing)}}
    if sharing.mode in ("timeSlicing", "mps"):
        resources = {"resources": [{"name": names.LEGACY_RESOURCE, "replicas": sharing.replicas}]}
        options: dict[str, Any] = {}
        if sharing.rename:
            options["renameByDefault"] = True
        if sharing.fail_requests_greater_than_one:
            options["failRequestsGreaterThanOne"] = True
        config["sharing"] = {sharing.mode: {**options, **resources}}
    return config


def plugin_config_map(pools: Mapping[str, Pool]) -> dict[str, Any]:
    """One key for each device-plugin pool, named as its nodes' label says, and a plain default."""
    data = {name: plugin_config(pool.sharing) for name, pool in pools.items()}
    return config_map(names.DEVICE_PLUGIN_CONFIG_MAP, {names.DEFAULT_CONFIG_KEY: plugin_config(Sharing()), **data})


def mig_layouts_config_map(facts: Facts, pools: list[tuple[PlannedPool, Sharing]]) -> dict[str, Any] | None:
    """Custom layouts, or None when every layout is a stock one.

    A custom map replaces the generated one on every node, so it holds every layout that any pool uses and
    all-disabled; a GPU that no entry covers would fail the whole layout.
    """
    if all(isinstance(sharing.layout, str) for _, sharing in pools):
        return None
    layouts: dict[str, Any] = {"all-disabled": [{"devices": "all", "mig-enabled": False}]}
    for pool, sharing in pools:
        if isinstance(sharing.layout, str):
            family = facts.families[facts.gpus[pool.gpu].mig]
            entries = [("all", family.layouts.get(sharing.layout, {}))]
        else:
            entries = [
                ("all" if group.devices == "all" else list(group.devices), group.profiles)  # type: ignore[misc]
                for group in sharing.layout or ()
            ]
        layouts[pool.mig_layout] = [
            {"devices": devices, "mig-enabled": True, "mig-devices": dict(profiles)} for devices, profiles in entries
        ]
    return config_map(names.MIG_LAYOUTS_CONFIG_MAP, {"config.yaml": {"version": "v1", "mig-configs": layouts}})
