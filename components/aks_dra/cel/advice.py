"""What to write instead of a selector that Kubernetes refuses, or that raises an error on a device."""

from __future__ import annotations

import re

from aks_dra.cel.engine import Program
from aks_dra.cel.guards import ATTRIBUTES, IS_NVIDIA
from aks_dra.cel.references import References
from aks_dra.cel.vocabulary import Vocabulary
from aks_dra.kube import quantity, semver
from aks_dra.kube.devices import GPU_DRIVER, STANDARD_DOMAIN

_MISSING = re.compile(r"no such key: (.*)")
_VERSION_TEXT = re.compile(r"semver\(\s*(['\"])([^'\"]*)\1\s*\)")
_QUANTITY_TEXT = re.compile(r"quantity\(\s*(['\"])([^'\"]*)\1\s*\)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
# What stands behind a capacity: an operator or a method of quantities, and the value that it is compared with.
_COMPARED = re.compile(
    r"""\s*(?:\.(?P<method>compareTo|isGreaterThan|isLessThan)\(|(?P<sign>[<>]=?|[=!]=)|\()\s*(?:quantity\(\s*)?"""
    r"""(?P<quote>['"])?(?P<value>\d[\w.]*)(?(quote)(?P=quote))\s*\)*\s*(?P<after>[<>]=?|[=!]=)?"""
)
_WRITTEN_FIRST = re.compile(r"""(?:quantity\(\s*)?(['"]?)(\d[\w.]*)\1\s*\)?\s*$""")
_READ = re.compile(r"device\.(?:attributes|capacity)(\[[^\]]*\]\.\w+)\s*$")
_METHODS = {"isGreaterThan": ">", "isLessThan": "<"}
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_BYTES = re.compile(r"([KMGTP])i?B", re.IGNORECASE)


def missing_key(error: str) -> str:
    """The attribute or capacity that a device lacks, by the text of the error that this raised; "" for another one."""
    found = _MISSING.fullmatch(error)
    return found[1] if found else ""


def guard(program: Program, name: str) -> str:
    """The test that comes before a value that some devices lack."""
    read = next((reference for reference in References(program.tree) if reference.name == name), None)
    if read is not None:
        held = f"device.{read.part}[{repr(read.domain) if read.domain else 'device.driver'}]"
    else:
        standard = name in Vocabulary(()).attributes[STANDARD_DOMAIN]
        held = f"device.attributes['{STANDARD_DOMAIN if standard else GPU_DRIVER}']"
    return f"test first that it is there: '{name}' in {held} &&"


def against_missing(program: Program, name: str, driver: str) -> str:
    """What to write where a device of this driver has no such attribute or capacity."""
    if driver != GPU_DRIVER:
        own = next((r.domain for r in References(program.tree) if r.name == name), "")
        return f"begin with {IS_NVIDIA} &&" if own == GPU_DRIVER else guard(program, name)
    if name in {"profile", "parentUUID"}:
        return f"test first: {IS_NVIDIA} && {ATTRIBUTES}.type == 'mig' &&"
    return guard(program, name)


def against_error(expression: str) -> str:
    """What to write where a function does not take its value."""
    for _, text in _VERSION_TEXT.findall(expression):
        if not semver.is_semver(text):
            if semver.is_semver(text, normalize=True):
                return f"a version has three numbers: write semver('{semver.parse(text, normalize=True).text()}')"
            return f"{text} is no version: write one of three numbers, e.g. semver('8.0.0')"
    for _, text in _QUANTITY_TEXT.findall(expression):
        if not quantity.is_quantity(text):
            better = _BYTES.sub(r"\1i", text).replace(" ", "")
            return f"{text} is no quantity: write quantity('{better if quantity.is_quantity(better) else '20Gi'}')"
    if re.search(r"\b(semver|quantity)\(\s*device\.", expression):
        return "the driver publishes a version or a quantity: leave semver() or quantity() around the attribute out"
    return "test the type of the device first, or use the function for the type of the value"


def against_refusal(expression: str) -> str:
    """What to write where the expression cannot be read."""
    if not expression.strip():
        return f"write a condition, e.g. {ATTRIBUTES}.type == 'gpu'"
    bare = _QUOTED.sub("''", expression)
    if re.search(r"(?<![=!<>])=(?!=)", bare):
        return "an equality is written ==; Kubernetes would refuse the object"
    if word := re.search(r"(?<=\s)(and|or|not)(?=\s)", f" {bare} ", re.IGNORECASE):
        sign = {"and": "&&", "or": "||", "not": "!"}[word[1].lower()]
        return f"'{word[1]}' is written {sign}; Kubernetes would refuse the object"
    if re.search("[\u2018\u2019\u201c\u201d]", bare):
        return "write plain quotes (') instead of typographic ones; Kubernetes would refuse the object"
    return "correct the expression; Kubernetes would refuse the object"


def comparison(expression: str, name: str) -> str:
    """How the value of this name is compared in the expression, as quantities are."""
    found = re.search(rf"\b{re.escape(name)}\b(.*)", expression, re.DOTALL)
    return (_comparison(found[1], name) if found else "") or ".compareTo(quantity('…')) >= 0"


def against_operator(expression: str, line: int, column: int) -> str:
    """What to write where a quantity is compared as a number or a text is; line and column of the operator."""
    lines = expression.splitlines()
    if not 0 < line <= len(lines):
        return "write .compareTo(quantity('20Gi')) >= 0, or .isGreaterThan(…)"
    before, behind = lines[line - 1][: column - 1], lines[line - 1][column - 1 :]
    read = _READ.search(before)
    subject = f"device.capacity{read[1]}" if read else ""
    name = subject.rpartition(".")[2]
    if written := _comparison(behind, name):
        return f"write {subject}{written}"
    first, sign = _WRITTEN_FIRST.search(before), re.match(r"[<>]=?|[=!]=", behind)
    if first and sign:
        return f"write .compareTo({_quantity(first[2], name)}) {_TURNED.get(sign[0], sign[0])} 0"
    return "write .compareTo(quantity('20Gi')) >= 0, or .isGreaterThan(…)"


def _comparison(behind: str, name: str) -> str:
    found = _COMPARED.match(behind)
    if found is None:
        return ""
    sign = _METHODS.get(found["method"] or "") or found["sign"] or found["after"] or ">="
    return f".compareTo({_quantity(found['value'], name)}) {sign} 0"


def _quantity(value: str, name: str) -> str:
    # A small bare number is a number of GiB: no device has so few bytes.
    small = "memory" in name.lower() and value.isdigit() and int(value) < 1000
    return f"quantity('{value}Gi')" if small else f"quantity('{value}')"
