"""The table of selectors: what is asked, what upstream answers, what we answer.

python -m tests.oracle.table        builds the oracle, asks it everything, writes upstream.json
"""

from __future__ import annotations

import json
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from aks_dra.cel import CompileError, RuntimeProblem, compile_expression
from aks_dra.kube.devices import Device, Version
from local.tools.build import Tool, build

HERE = Path(__file__).parent
RECORDED = HERE / "upstream.json"
ORACLE = Tool("cel", "aks-dra-cel-oracle", ".", 4, root=HERE)


@dataclass(frozen=True)
class Row:
    """One expression on one device; `ours` is set where we are known to answer otherwise than upstream."""

    topic: str
    expression: str
    device: str
    consumable: bool = True
    ours: str = ""


@lru_cache(maxsize=1)
def _read() -> dict[str, Any]:
    return tomllib.loads((HERE / "expressions.toml").read_text())


@lru_cache(maxsize=1)
def devices() -> dict[str, Device]:
    return {name: _device(name, row) for name, row in _read()["device"].items()}


def _device(name: str, row: Mapping[str, Any]) -> Device:
    values = {k: Version(v["version"]) if isinstance(v, dict) else v for k, v in row["attributes"].items()}
    return Device(name, row["driver"], values, row["capacity"], row.get("allowMultipleAllocations", False))


@lru_cache(maxsize=1)
def rows() -> tuple[Row, ...]:
    table = _read()
    return tuple(
        Row(topic["name"], expression, device, topic.get("consumable", True))
        for topic in table["topic"]
        for expression in topic["expressions"]
        for device in topic.get("devices", list(table["device"]))
    )


@lru_cache(maxsize=1)
def differences() -> tuple[Row, ...]:
    return tuple(
        Row(entry["because"], expression, entry["device"], ours=entry["ours"])
        for entry in _read()["difference"]
        for expression in entry["expressions"]
    )


def our_answer(expression: str, device: Device, consumable: bool = True) -> str:
    program = compile_expression(expression, (1, 36) if consumable else (1, 35))
    if isinstance(program, CompileError):
        return "compile error"
    result = program.evaluate(device)
    if isinstance(result, RuntimeProblem):
        return "runtime error"
    return str(result).lower() if isinstance(result, bool) else f"undecided {result}"


def ask(questions: Iterable[tuple[str, Device, bool]]) -> list[dict[str, Any]]:
    """Upstream's answers, in order."""
    lines = [
        json.dumps({"expression": expression, "consumableCapacity": consumable, "device": _question(device)})
        for expression, device, consumable in questions
    ]
    run = subprocess.run(
        [build(ORACLE)], input="\n".join(lines) + "\n", capture_output=True, text=True, check=True, timeout=300
    )
    return [json.loads(line) for line in run.stdout.splitlines()]


def _question(device: Device) -> dict[str, Any]:
    def attribute(value: object) -> dict[str, object]:
        match value:
            case bool():
                return {"bool": value}
            case int():
                return {"int": value}
            case Version():
                return {"version": value.text}
            case str():
                return {"string": value}
        raise TypeError(f"{value!r} cannot be asked about: upstream knows every value")

    return {
        "driver": device.driver,
        "attributes": {name: attribute(value) for name, value in device.attributes.items()},
        "capacity": dict(device.capacity),
        "allowMultipleAllocations": device.allow_multiple_allocations,
    }


def ask_table() -> dict[str, dict[str, str]]:
    """Upstream's answers to the whole table: topic and expression → device → answer."""
    asked = (*rows(), *differences())
    answers = ask((row.expression, devices()[row.device], row.consumable) for row in asked)
    result: dict[str, dict[str, str]] = {}
    for row, answer in zip(asked, answers, strict=True):
        result.setdefault(key(row), {})[row.device] = answer["answer"]
    return result


def key(row: Row) -> str:
    return row.expression if row.consumable else f"{row.expression} # without consumable capacity"


@lru_cache(maxsize=1)
def recorded() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = json.loads(RECORDED.read_text())
    return found


if __name__ == "__main__":
    answers = ask_table()
    entries = [f"{json.dumps(expression)}: {json.dumps(found)}" for expression, found in sorted(answers.items())]
    RECORDED.write_text("{\n" + ",\n".join(entries) + "\n}\n")
    print(f"{RECORDED}: {len(answers)} expressions, {sum(map(len, answers.values()))} answers")
