"""The structure of the code: which folder may import which, and only by public names.

`ORDER` is the house from top to bottom: a folder imports only what stands below it. `TOPICS` says which topic may ask
which other one. `docs` of the layout are these two tables.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "components" / "aks_dra"

# Those of one line stand beside each other and know nothing of each other.
ORDER = """
cli
reference
resources migrate
simulate
stack_plan report
plan
incomplete
topics
context
matching
model
cel
kube
settings
stackfile
findings facts
names trees
"""
RANK = {folder: rank for rank, line in enumerate(ORDER.split("\n")) for folder in line.split()}
TOPICS = {
    "changes": {"tenants"},
    "charts": {"devices"},
    "claims": {"classes", "devices", "sharing"},
    "classes": set(),
    "cluster": set(),
    "devices": set(),
    "legacy": set(),
    "pools": {"devices"},
    "sharing": {"devices", "pools"},
    "subscription": set(),
    "tenants": {"classes"},
    "testpool": {"charts", "tenants"},
}
# What stands above another in the order and may still not know it.
FORBIDDEN = {
    ("cel", "settings"): "selectors are also read where there are no settings",
    ("kube", "settings"): "manifests are also read where there are no settings",
    ("simulate", "topics"): "simulate asks the plan and what matches, not the rules",
    ("simulate", "context"): "simulate asks the plan and what matches, not the rules",
    ("simulate", "plan"): "simulate is handed a plan",
    ("report", "topics"): "a report shows a plan",
    ("report", "context"): "a report shows a plan",
    ("report", "plan"): "a report shows a plan",
    ("resources", "topics"): "components register what the plan says",
}


@dataclass(frozen=True)
class Use:
    """One imported name: where it is used, and the module that it comes from."""

    file: str
    line: int
    user: str
    module: str
    name: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.user} imports {self.name} of {self.module}"


def modules() -> dict[str, Path]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


def uses(path: Path, user: str) -> Iterator[Use]:
    file = str(path.relative_to(ROOT))
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "aks_dra":
                    yield Use(file, node.lineno, user, alias.name, "")
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "aks_dra":
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                if whole in MODULES:
                    yield Use(file, node.lineno, user, whole, "")
                else:
                    yield Use(file, node.lineno, user, node.module, alias.name)


USES = [use for module, path in MODULES.items() for use in uses(path, module)]


def folder(module: str) -> str:
    """`topics.claims` for what lies in a topic, else the first folder or file; "" for the package itself."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2] if parts[:1] == ["topics"] else parts[:1])


def allowed(user: str, used: str) -> bool:
    first, second = user.split(".")[0], used.split(".")[0]
    if (first, second) in FORBIDDEN:
        return False
    if first == second == "topics" and "." in user and "." in used:
        return used.split(".")[1] in TOPICS[user.split(".")[1]]
    return RANK[first] < RANK[second]


def test_every_folder_has_its_place() -> None:
    folders = {folder(module).split(".")[0] for module in MODULES} - {""}
    assert folders == set(RANK)
    assert {folder(module).split(".")[1] for module in MODULES if folder(module).startswith("topics.")} == set(TOPICS)


def test_arrows_go_one_way() -> None:
    wrong = [
        str(use)
        for use in USES
        if (used := folder(use.module)) and (user := folder(use.user)) and user != used and not allowed(user, used)
    ]
    assert wrong == []


def test_a_folder_uses_only_public_names_of_another() -> None:
    wrong = [
        str(use)
        for use in USES
        if folder(use.user) != folder(use.module)
        and any(part.startswith("_") and part != "__version__" for part in (*use.module.split("."), use.name))
    ]
    assert wrong == []


def test_nothing_imports_pulumi_but_what_registers() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for module, path in MODULES.items()
        if folder(module) not in ("resources", "")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
        + ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [])
        if name.split(".")[0].startswith("pulumi")
    ]
    assert wrong == []


def test_the_local_stack_shares_no_code_with_the_package() -> None:
    """It is the second opinion: what it has in common with the package are the files of the facts."""
    wrong = [
        str(use) for path in sorted((ROOT / "local").rglob("*.py")) for use in uses(path, path.stem) if use.module != ""
    ]
    assert wrong == []
