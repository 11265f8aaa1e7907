"""Writes facts/arm_properties.toml: what ARM takes in a cluster, a pool and a maintenance configuration.

The names, types and words come from the models of azure-mgmt-containerservice, which has them for a stable API
version; what azure-native has no argument for, or calls otherwise, is said beside it. The package reads only the table.

    python -m tests.tools.arm_properties > components/aks_dra/facts/arm_properties.toml
"""

from __future__ import annotations

import datetime
import importlib.metadata
import inspect
import json
import re
import typing
from collections.abc import Iterator
from enum import EnumMeta
from typing import Any

from local.azure import models

ROOTS = {
    "ManagedCluster": "ManagedClusterArgs",
    "ManagedClusterAgentPoolProfileProperties": "AgentPoolArgs",
    "MaintenanceConfigurationProperties": "MaintenanceConfigurationArgs",
}
# A level of ARM's body that the models have and programs do not write.
FLATTENED = {"ManagedCluster": "ManagedClusterProperties"}
PLAIN = {bool: "true or false", int: "whole number", float: "number"}
HEAD = """\
# What Azure Resource Manager takes in raw inputs (azureInputs, maintenance), by type: property = type.
#
# A type is "text", "whole number", "number", "true or false", the words of an enumeration as "a|b", the name of another
# type here, or one of these in "list of X" or "map of X". not_in_provider: azure-native has no such property, so it
# would not reach Azure. provider_name: what azure-native calls it. Made by tests/tools/arm_properties.py.
"""


def main() -> None:
    sdk, provider = (
        importlib.metadata.version(name) for name in ("azure-mgmt-containerservice", "pulumi-azure-native")
    )
    source = f"azure-mgmt-containerservice {sdk} (API 2026-08-01), models; pulumi-azure-native {provider}, arguments"
    print(HEAD, end="")
    for name, (properties, missing, renamed, required) in sorted(types().items()):
        print(f"\n[arm_type.{name}]")
        if required:
            print(f"required = {json.dumps(required)}")
        print(f"not_in_provider = {json.dumps(missing)}")
        print(f"source = {json.dumps(source)}\nverified = true")
        print(f"\n[arm_type.{name}.properties]")
        for key, kind in properties.items():
            print(f"{quoted(key)} = {json.dumps(kind)}")
        if renamed:
            print(f"\n[arm_type.{name}.provider_name]")
            for key, other in renamed.items():
                print(f"{quoted(key)} = {json.dumps(other)}")


def quoted(key: str) -> str:
    return key if re.fullmatch(r"[\w-]+", key) else json.dumps(key)


Described = tuple[dict[str, str], list[str], dict[str, str], list[str]]


def types() -> dict[str, Described]:
    """By type: what can be written, what the provider lacks, what it calls otherwise, what must be there."""
    from pulumi_azure_native import containerservice

    found: dict[str, Described] = {}
    waiting = list(ROOTS.items())
    while waiting:
        name, arguments = waiting.pop()
        if name in found:
            continue
        provider = provider_properties(getattr(containerservice, arguments)) if arguments else None
        model = getattr(models.models(), name)
        fields = dict(models.fields(model))
        if name in FLATTENED:
            fields.pop("properties", None)
            fields |= models.fields(getattr(models.models(), FLATTENED[name]))
        properties: dict[str, str] = {}
        missing: list[str] = []
        renamed: dict[str, str] = {}
        required: list[str] = []
        for key, (hint, read_only) in sorted(fields.items()):
            if read_only:
                continue
            kind, inner = described(hint)
            properties[key] = kind
            if not models.optional(hint):
                required.append(key)
            theirs = (provider or {}).get(plain(key))
            if provider is not None and theirs is None:
                missing.append(key)
            elif theirs is not None and theirs[0] != key:
                renamed[key] = theirs[0]
            if inner is not None:
                waiting.append((inner.__name__, theirs[1] if theirs else ""))
        found[name] = (properties, missing, renamed, required)
    return found


def plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def provider_properties(arguments: type) -> dict[str, tuple[str, str]]:
    """By the plain name: azure-native's name, and the class of what is inside, or ""."""
    annotations = {
        name: str(parameter.annotation) for name, parameter in inspect.signature(arguments).parameters.items()
    }
    found = {}
    for name, member in inspect.getmembers(arguments, lambda item: isinstance(item, property)):
        wire = getattr(member.fget, "_pulumi_name", name)
        inner = re.search(r"'(\w+Args)'", annotations.get(name, ""))
        found[plain(wire)] = (wire, inner[1] if inner else "")
    return found


def described(hint: Any) -> tuple[str, type | None]:
    hint = models.resolve(hint)
    origin, members = typing.get_origin(hint), [models.resolve(member) for member in typing.get_args(hint)]
    if origin is typing.Union:
        kinds = [member for member in members if member is not type(None)]
        words = next((kind for kind in kinds if isinstance(kind, EnumMeta)), None)
        return described(words or kinds[0])
    if origin in (list, dict):
        kind, inner = described(members[-1])
        return ("list of " if origin is list else "map of ") + kind, inner
    if isinstance(hint, EnumMeta):
        return "|".join(_words(hint)), None
    if hint in PLAIN:
        return PLAIN[hint], None
    if hint in (str, bytes, datetime.datetime, datetime.time, datetime.date):
        return "text", None
    if isinstance(hint, type) and issubclass(hint, models.base()):
        return hint.__name__, hint
    return "anything", None


def _words(enumeration: EnumMeta) -> Iterator[str]:
    for member in enumeration:  # type: ignore[var-annotated]
        yield str(member.value)


if __name__ == "__main__":
    main()
