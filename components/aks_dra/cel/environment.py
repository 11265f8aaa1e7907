"""The two environments of Google's engine that together are Kubernetes' one.

The checker knows the types of `device` and of Kubernetes' functions and refuses what the API server refuses. The
evaluator runs what was checked: it takes attributes of any type, and knows the two maps in which an unknown domain
is an empty map (see engine.py).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from cel_expr_python import cel

from aks_dra.cel import functions, syntax, values

# Kubernetes has version 2 of strings; of the others what the engine has.
_LIBRARIES = ("bindings", "lists", "optional", "sets", "two-var-comprehensions")
_CONFIG = "name: kubernetes\nextensions:\n- name: strings\n  version: 2\n" + "".join(
    f"- name: {n}\n" for n in _LIBRARIES
)
# A lookup in one of these maps is turned into one in the map that holds the unknown domains too.
MAPS = {"device.attributes": "@attributes", "device.capacity": "@capacity"}


def _config() -> Any:
    return cel.NewEnvConfigFromYaml(_CONFIG)


@lru_cache(maxsize=4)
def checker(consumable: bool, loose: bool) -> Any:
    """`consumable` brings allowMultipleAllocations; `loose` leaves numeric results of functions open."""
    text = cel.Type.STRING
    variables = {
        "device": cel.Type("kubernetes.DRADeviceConsumable" if consumable else "kubernetes.DRADevice"),
        "device.driver": text,
        "device.attributes": cel.Type.Map(text, cel.Type.Map(text, functions.ANY)),
        "device.capacity": cel.Type.Map(text, cel.Type.Map(text, functions.QUANTITY)),
    }
    if consumable:
        variables["device.allowMultipleAllocations"] = cel.Type.BOOL
    return cel.NewEnv(values.POOL, config=_config(), variables=variables, functions=functions.declarations(loose))


@lru_cache(maxsize=4096)
def parsed(expression: str) -> syntax.Tree | None:
    """What an expression says, be its types right or wrong; None where it cannot be read at all."""
    try:
        return syntax.Tree(bytes(checker(True, False).compile(expression, disable_check=True).serialize()))
    except RuntimeError:
        return None


@lru_cache(maxsize=1)
def evaluator() -> Any:
    names = ("device", "device.driver", "device.allowMultipleAllocations", *MAPS, *MAPS.values())
    variables = dict.fromkeys(names, cel.Type.DYN)
    return cel.NewEnv(values.POOL, config=_config(), variables=variables, functions=functions.implementations())


@lru_cache(maxsize=1)
def _constants() -> Any:
    return cel.NewEnv(variables={"t": cel.Type.STRING})


@lru_cache(maxsize=1024)
def constant_error(call: str, constant: str) -> str | None:
    """The error of an expression on one text `t`, if it raises one."""
    answer = _constants().compile(call).eval(data={"t": constant})
    return str(answer.value()) if answer.type() == cel.Type.ERROR else None
