"""Plans a changed text as if it stood in the stack file's place, with everything that the file builds on.

Base files and Pulumi.yaml are found by their place beside the stack file, so the text is put into a copy of just these.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from aks_dra.context.previous import Previous
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.stack_plan import plan_loaded
from aks_dra.stackfile.loader import Loaded, load_stack_file


def loaded_text(file: Path, text: str, temporary: Path) -> Loaded:
    """The loaded stack file `file` with `text` instead of its own."""
    own = file.absolute()
    others = [Path(name).absolute() for name in load_stack_file(file).files if Path(name).absolute() != own]
    common = Path(*_common([own.parent, *(other.parent for other in others)]))
    for other in others:
        place = temporary / other.relative_to(common)
        place.parent.mkdir(parents=True, exist_ok=True)
        if other.is_file():
            place.write_bytes(other.read_bytes())
    place = temporary / own.relative_to(common)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text, encoding="utf-8")
    return load_stack_file(place)


def plan_text(
    file: Path, text: str, today: str = "", previous: Previous | None = None
) -> tuple[Plan | None, tuple[Finding, ...]]:
    """Plan and findings of the text in the file's place; findings name the file itself."""
    with tempfile.TemporaryDirectory(prefix="aks-dra-") as folder:
        loaded = loaded_text(file, text, Path(folder))
        planned, findings = plan_loaded(loaded, file.parent, today, previous=previous)
        findings = tuple(replace(f, file=str(file) if Path(f.file).name == file.name else f.file) for f in findings)
        return (replace(planned, findings=findings) if planned else None), findings


def _common(folders: list[Path]) -> list[str]:
    parts = []
    for step in zip(*(folder.parts for folder in folders), strict=False):
        if len(set(step)) > 1:
            break
        parts.append(step[0])
    return parts
