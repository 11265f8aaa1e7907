"""The environment and the programs of the engine for the local stack.

An ordinary Pulumi installation is preferred; what is missing of it is ours: a built CLI, a Python language
host, a built Kubernetes provider. Whichever it is, the engine gets a home, a backend and a passphrase inside the state
folder and nothing of the user's: no Azure variables, no kubeconfig, no Helm settings. Plugins are never
fetched: the simulated Azure is found on PATH, and were it missing, the real provider must not take its place.
"""

from __future__ import annotations

import os
import re
import secrets
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from local.tools.build import PROVIDER_VERSION, TOOLS, build

DROPPED = ("ARM_", "AZURE_")  # the real Azure: said to the user when there was one
SILENTLY_DROPPED = ("PULUMI_", "HELM_", "KUBECONFIG", "MAKEFLAGS", "MFLAGS", "MAKELEVEL")
CLI_FLOOR = (3, 230)
LOOPBACK = "127.0.0.1,localhost"


@dataclass(frozen=True)
class EnginePrograms:
    """The CLI, whether it is the user's own, and the folder that goes first on its PATH."""

    cli: Path
    ordinary: bool
    folder: Path


def home(root: Path) -> Path:
    return root / "pulumi-home"


def backend(root: Path) -> Path:
    return root / "backend"


def own(root: Path) -> Path:
    """What `make up` itself keeps: lock, passphrase, programs, copies of stack files."""
    return root / "engine"


def scratch(root: Path) -> Path:
    """Temporary files of the engine and its plugins: the Kubernetes provider leaves kubeconfigs in them."""
    return own(root) / "tmp"


def dropped_variables(environment: Mapping[str, str]) -> list[str]:
    return sorted(name for name in environment if name.startswith(DROPPED))


def passphrase_file(root: Path) -> Path:
    """Made once, readable by its owner only; programs get its path, never its text."""
    file = own(root) / "passphrase"
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        partial = file.with_suffix(f".{os.getpid()}")
        descriptor = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as stream:
            stream.write(secrets.token_urlsafe(32))
        partial.rename(file)
    return file


def added_variables(root: Path) -> dict[str, str]:
    """What the engine needs to be told; `python -m local.up env` prints it."""
    return {
        "AKS_DRA_LOCAL_STATE": str(root),
        "PULUMI_HOME": str(home(root)),
        "PULUMI_BACKEND_URL": f"file://{backend(root)}",
        "PULUMI_CONFIG_PASSPHRASE_FILE": str(passphrase_file(root)),
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
        "PULUMI_PYTHON_CMD": sys.executable,
        "KUBECONFIG": str(root / "kubernetes" / "kubeconfig"),
        "HELM_CACHE_HOME": str(root / "helm" / "cache"),
        "HELM_CONFIG_HOME": str(root / "helm" / "config"),
        "HELM_DATA_HOME": str(root / "helm" / "data"),
    }


def engine_env(root: Path, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The whole environment of the engine, from the one given (this process's own)."""
    before = dict(os.environ if given is None else given)
    kept = {name: value for name, value in before.items() if not name.startswith(DROPPED + SILENTLY_DROPPED)}
    for name in ("NO_PROXY", "no_proxy"):
        kept[name] = ",".join(part for part in (kept.get(name, ""), LOOPBACK) if part)
    scratch(root).mkdir(parents=True, exist_ok=True, mode=0o700)
    path = [str(own(root) / "bin"), str(Path(sys.executable).parent), kept.get("PATH", os.defpath)]
    for folder in (home(root), backend(root)):
        folder.mkdir(parents=True, exist_ok=True)
    return {**kept, **added_variables(root), "PATH": os.pathsep.join(path), "TMPDIR": str(scratch(root))}


def programs(root: Path) -> EnginePrograms:
    """Finds or builds what the engine needs and puts it into one folder for PATH. Raises ToolError."""
    from local.engine.launchers import write_launchers

    folder = own(root) / "bin"
    folder.mkdir(parents=True, exist_ok=True)
    write_launchers(folder)
    found = ordinary_cli()
    if found is not None:
        # Ours would come first on PATH, and the ordinary CLI has a host of its own beside it.
        (folder / "pulumi-language-python").unlink(missing_ok=True)
    cli = found or build(TOOLS["pulumi"])
    link(folder / "pulumi", cli)
    link(folder / "pulumi-resource-kubernetes", ordinary_kubernetes_plugin() or build(TOOLS["kubernetes-provider"]))
    return EnginePrograms(cli, found is not None, folder)


def ordinary_cli() -> Path | None:
    """The user's own `pulumi`, when it is recent enough and its Python host is there."""
    found = shutil.which("pulumi")
    if found is None:
        return None
    path = Path(found)
    if not shutil.which("pulumi-language-python") and not (path.resolve().parent / "pulumi-language-python").exists():
        return None
    run = subprocess.run([found, "version"], capture_output=True, text=True, check=False)
    version = re.match(r"v?(\d+)\.(\d+)", run.stdout.strip())
    return path if version and (int(version[1]), int(version[2])) >= CLI_FLOOR else None


def ordinary_kubernetes_plugin() -> Path | None:
    """The provider that the user's own Pulumi has already fetched, of the version that is pinned here."""
    user_home = Path(os.environ.get("PULUMI_HOME") or Path.home() / ".pulumi")
    plugin = user_home / "plugins" / f"resource-kubernetes-v{PROVIDER_VERSION}" / "pulumi-resource-kubernetes"
    return plugin if os.access(plugin, os.X_OK) else None


def link(name: Path, target: Path) -> None:
    if name.is_symlink() and name.readlink() == target:
        return
    partial = name.with_name(f"{name.name}.{os.getpid()}")
    partial.symlink_to(target)
    partial.rename(name)
