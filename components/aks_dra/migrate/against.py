"""What `--against` names: an earlier stack file, a git revision, or the state of a stack.

A revision is read as it was, with its own Pulumi.yaml, base files and facts files: they are unpacked from git into a
folder of their own. A state is what `pulumi stack export` prints; it holds the last run's own description.
"""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from aks_dra.context.previous import Previous, PreviousError, from_plain, previous_of
from aks_dra.stack_plan import plan_loaded
from aks_dra.stackfile.loader import load_stack_file

OUTPUT = "previous"
# What a stack file can be made of; the rest of a repository is left where it is.
SUFFIXES = (".yaml", ".yml", ".json", ".toml")
MOST_BYTES = 1024 * 1024


class AgainstError(Exception):
    """There is nothing to compare with. The text says why."""


def read_against(against: str, file: Path, today: str = "") -> Previous | None:
    """What the stack of `file` was before. Raises AgainstError.

    None when the revision has no such file, or one that cannot be read: no cluster ever came of it.
    """
    path = Path(against)
    if path.is_file():
        state = _state(path)
        return previous_in(state, against) if state is not None else of_file(path, file, today)
    return of_revision(against, file, today)


def of_file(path: Path, stack_of: Path, today: str = "") -> Previous:
    """What a stack file comes to as an earlier one of the stack of `stack_of`; its own findings are no matter here."""
    named = load_stack_file(stack_of)
    loaded = replace(load_stack_file(path), project=named.project, stack=named.stack)
    planned, findings = plan_loaded(loaded, path.parent, today)
    if planned is None or planned.incomplete:  # no cluster ever came of it
        raise AgainstError(f"{path} cannot be read as a stack file: {findings[0].message} (aks-dra check {path})")
    return previous_of(planned)


def of_revision(revision: str, file: Path, today: str = "") -> Previous | None:
    folder = file.absolute().parent
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
    if commit is None:
        raise AgainstError(f"{revision!r} is neither a file nor a revision of a git repository that holds {file}")
    project = _project_folder(folder)
    archive = _git(project, "archive", "--format=tar", commit.decode().strip())
    if archive is None:
        raise AgainstError(f"git archive of {revision} failed in {project}")
    with tempfile.TemporaryDirectory(prefix="aks-dra-") as temporary:
        _unpack(archive, Path(temporary))
        earlier = Path(temporary) / file.absolute().relative_to(project)
        try:
            return of_file(earlier, file, today) if earlier.is_file() else None
        except AgainstError:
            return None


def previous_in(state: dict[str, Any], name: str) -> Previous:
    """The description that the last run left in a state."""
    resources = (state.get("deployment") or {}).get("resources") or []
    for kind in ("pulumi:pulumi:Stack", "aks-dra:index:DraCluster"):
        for resource in resources:
            found = (resource.get("outputs") or {}).get(OUTPUT) if resource.get("type") == kind else None
            if found is not None:
                try:
                    return from_plain(found)
                except PreviousError as error:
                    raise AgainstError(f"the output {OUTPUT} in {name} cannot be used: {error}") from error
    raise AgainstError(f"{name} has no output {OUTPUT}: the stack was never brought up by this version of aks-dra")


def _state(path: Path) -> dict[str, Any] | None:
    if path.suffix in (".yaml", ".yml"):
        return None
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, OSError, RecursionError):
        return None
    return found if isinstance(found, dict) and "deployment" in found else None


def _project_folder(folder: Path) -> Path:
    """The nearest folder with a Pulumi.yaml, or the stack file's own."""
    for candidate in (folder, *folder.parents):
        if any((candidate / f"Pulumi{suffix}").is_file() for suffix in (".yaml", ".yml", ".json")):
            return candidate
    return folder


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        run = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except OSError:
        return None
    return run.stdout if run.returncode == 0 else None


def _unpack(archive: bytes, target: Path) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in tar:
            wanted = member.isfile() and member.name.endswith(SUFFIXES) and member.size <= MOST_BYTES
            content = tar.extractfile(member) if wanted else None
            if content is None or ".." in Path(member.name).parts or Path(member.name).is_absolute():
                continue
            place = target / member.name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content.read())
