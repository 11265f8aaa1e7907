"""`aks-dra migrate`: works out the road of a pool and writes it into a folder."""

from __future__ import annotations

from pathlib import Path

import yaml

from aks_dra.kube.reading import WorkloadError, read_files
from aks_dra.migrate.document import document
from aks_dra.migrate.steps import MigrateError, Road, road


def stack_file(stack: str) -> Path:
    """The stack file of a path, or of a stack's name below the folder one is in."""
    given = Path(stack)
    if given.is_file():
        return given
    places = [Path("stacks") / f"Pulumi.{stack}.yaml", Path(f"Pulumi.{stack}.yaml")]
    found = next((place for place in places if place.is_file()), None)
    if found is None:
        raise MigrateError(f"there is no stack file {stack}, {places[0]} or {places[1]}")
    return found


def migrate(
    stack: str, pool: str, to: str = "", out: Path | None = None, workloads: list[Path] | None = None,
    claims: bool = False, today: str = "",
) -> tuple[Road, Path, list[Path]]:  # fmt: skip
    """The road, the folder and the files written there. Raises MigrateError."""
    file = stack_file(stack)
    try:
        found = road(file, pool, to, read_files(list(workloads or ())), claims, today)
    except WorkloadError as error:
        raise MigrateError(str(error)) from None
    folder = out or Path(f"migrate-{found.stack}-{pool}")
    contents = {f"{step.name}.yaml": step.text for step in found.steps}
    for entry in found.advice:
        for name, content in entry.files.items():
            contents[f"workloads/{name}"] = yaml.safe_dump(content, sort_keys=False, allow_unicode=True)
    contents["README.md"] = document(found, folder)
    written = []
    for name, text in contents.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        except OSError as error:
            raise MigrateError(f"{path} cannot be written: {error.strerror}") from None
        written.append(path)
    return found, folder, written
