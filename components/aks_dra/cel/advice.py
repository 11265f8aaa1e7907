"""What to write instead of a selector that Kubernetes refuses, or that raises an error on a device.

What an expression says is read from its tree. Only of one that cannot be read at all there is none: there, and nowhere
else, the text itself is searched for what is often written by mistake (`against_refusal`).
"""

from __future__ import annotations

import re
from typing import Any

from aks_dra.cel import comparisons, environment, syntax
from aks_dra.cel.comparisons import Comparison
from aks_dra.cel.engine import Program
from aks_dra.cel.guards import ATTRIBUTES, IS_NVIDIA
from aks_dra.cel.references import References
from aks_dra.cel.vocabulary import Vocabulary
from aks_dra.kube import quantity, semver
from aks_dra.kube.devices import GPU_DRIVER, STANDARD_DOMAIN

_MISSING = re.compile(r"no such key: (.*)")
_NUMBER = re.compile(r"\d[\w.]*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
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


def against_error(tree: syntax.Tree) -> str:
    """What to write where a function does not take its value."""
    made = [
        (str(node.call.function), node.call.args[0])
        for node in tree.nodes()
        if node.HasField("call") and node.call.function in comparisons.MAKERS and len(node.call.args) == 1
    ]
    texts = [(name, text) for name, held in made if (text := syntax.string_constant(held)) is not None]
    for text in (text for name, text in texts if name == "semver"):
        if not semver.is_semver(text):
            if semver.is_semver(text, normalize=True):
                return f"a version has three numbers: write semver('{semver.parse(text, normalize=True).text()}')"
            return f"{text} is no version: write one of three numbers, e.g. semver('8.0.0')"
    for text in (text for name, text in texts if name == "quantity"):
        if not quantity.is_quantity(text):
            better = _BYTES.sub(r"\1i", text).replace(" ", "")
            return f"{text} is no quantity: write quantity('{better if quantity.is_quantity(better) else '20Gi'}')"
    if any(_of_device(held) for _, held in made):
        return "the driver publishes a version or a quantity: leave semver() or quantity() around the attribute out"
    return "test the type of the device first, or use the function for the type of the value"


def _of_device(node: Any) -> bool:
    """Whether a value begins with something of the device."""
    while not node.HasField("ident"):
        inner = syntax.children(node)
        if not inner or not (node.HasField("select") or node.HasField("call")):
            return False
        node = inner[0]
    return str(node.ident.name).partition(".")[0] == "device"


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


def as_capacity(program: Program, name: str) -> str:
    """How the value of this name is compared in the expression, as quantities are."""
    references, above = References(program.tree), comparisons.parents(program.tree)
    for node in program.tree.nodes():
        found = comparisons.comparison(node, above)
        looked_up = references.lookup(found.subject) if found else None
        if found and looked_up and looked_up[2] == name and (written := _compared(found, name)):
            return written
    return ".compareTo(quantity('…')) >= 0"


def against_operator(expression: str, line: int, column: int) -> str:
    """What to write where a quantity is compared as a number or a text is; line and column of the operator."""
    tree, lines = environment.parsed(expression), expression.split("\n")
    if tree is not None and 0 < line <= len(lines):
        place, places = sum(len(text) + 1 for text in lines[: line - 1]) + column - 1, tree.positions()
        above, references = comparisons.parents(tree), References(tree)
        for node in tree.nodes():
            found = comparisons.comparison(node, above) if places.get(node.id) == place else None
            if found is None:
                continue
            _, domain, name = references.written_out(found.subject) or ("", "", "")
            subject = f"device.capacity[{repr(domain) if domain else 'device.driver'}].{name}"
            if written := _compared(found, name):
                return f"write {subject if name and not (found.turned or found.method) else ''}{written}"
    return "write .compareTo(quantity('20Gi')) >= 0, or .isGreaterThan(…)"


def _compared(found: Comparison, name: str) -> str:
    if found.made == "semver" or not _NUMBER.fullmatch(found.value):
        return ""
    return f".compareTo({_quantity(found.value, name)}) {found.operator or '>='} 0"


def _quantity(value: str, name: str) -> str:
    # A small bare number is a number of GiB: no device has so few bytes.
    small = "memory" in name.lower() and value.isdigit() and int(value) < 1000
    return f"quantity('{value}Gi')" if small else f"quantity('{value}')"
