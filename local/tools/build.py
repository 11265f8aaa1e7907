"""Builds the programs that `make up` and the tests run: the Pulumi CLI, its Kubernetes provider, Kubernetes.

Each is a small Go module in this folder, pinned by its go.sum and built once into a cache outside the tree
(`$XDG_CACHE_HOME/aks-dra/tools`), keyed by the module's files, so that only the first run pays. What the
PATH already has in a usable version is not built (`pulumi`). A build that fails says which, why, and what
to install.

    python -m local.tools.build [pulumi kubernetes kubernetes-provider]
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
GO_FLOOR = (1, 26)
INSTALL_GO = "install Go 1.26 or newer (https://go.dev/doc/install) and put `go` on PATH"


class ToolError(Exception):
    """A tool cannot be had. The text says which, why, and what to install."""


@dataclass(frozen=True)
class Tool:
    """One program: the folder of its module, what to build there, the name it is found by on PATH."""

    name: str
    program: str
    package: str
    minutes: int  # CPU-minutes from nothing, measured on two cores
    root: Path = HERE  # where the folder lies; the tests keep modules of their own

    @property
    def folder(self) -> Path:
        return self.root / self.name


TOOLS = {
    tool.name: tool
    for tool in (
        Tool("pulumi", "pulumi", "github.com/pulumi/pulumi/pkg/v3/cmd/pulumi", 13),
        Tool("kubernetes", "aks-dra-kubernetes", ".", 22),
        Tool("kubernetes-provider", "pulumi-resource-kubernetes", ".", 25),
    )
}

KUBERNETES_VERSION_PACKAGES = ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")


def cache_root() -> Path:
    """The folder that outlives a checkout: `$XDG_CACHE_HOME/aks-dra`, by default `~/.cache/aks-dra`."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "aks-dra"


def required_version(folder: Path, module: str) -> str:
    found = re.search(rf"{re.escape(module)} (v\S+)", (folder / "go.mod").read_text())
    if found is None:
        raise ToolError(f"{folder / 'go.mod'} does not require {module}")
    return found.group(1)


def link_flags(tool: Tool) -> str:
    if tool.name == "pulumi":
        version = required_version(tool.folder, "github.com/pulumi/pulumi/pkg/v3")
        return f"-s -w -X github.com/pulumi/pulumi/sdk/v3/go/common/version.Version={version}"
    if tool.name == "kubernetes-provider":
        return f"-s -w -X github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version.Version={PROVIDER_VERSION}"
    if tool.name != "kubernetes":
        return "-s -w"
    version = required_version(tool.folder, "k8s.io/kubernetes")
    major, minor = re.match(r"v(\d+)\.(\d+)", version).groups()  # type: ignore[union-attr]
    values = {
        "gitVersion": version,
        "gitMajor": major,
        "gitMinor": minor,
        "gitCommit": "0" * 40,
        "gitTreeState": "clean",
    }
    return "-s -w " + " ".join(
        f"-X {package}.{key}={value}" for package in KUBERNETES_VERSION_PACKAGES for key, value in values.items()
    )


PROVIDER_VERSION = "4.34.2"
"""What the provider calls itself: the release of pulumi-kubernetes that requirements.txt pins."""


def key(tool: Tool) -> str:
    """Twelve hex digits over the files of the module and the flags: the same key, the same program."""
    digest = hashlib.sha256(link_flags(tool).encode())
    for file in sorted(tool.folder.iterdir()):
        if file.suffix in {".go", ".mod", ".sum"}:
            digest.update(file.name.encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def built_path(tool: Tool) -> Path:
    return cache_root() / "tools" / f"{tool.name}-{key(tool)}" / tool.program


def check_go() -> str:
    go = shutil.which("go")
    if go is None:
        raise ToolError(f"Go is missing: {INSTALL_GO}")
    text = subprocess.run([go, "version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"go(\d+)\.(\d+)", text)
    if found is None or (int(found[1]), int(found[2])) < GO_FLOOR:
        raise ToolError(f"Go is too old ({text.strip() or 'no version'}): {INSTALL_GO}")
    return go


def build(tool: Tool) -> Path:
    """The program's path, built when the cache lacks it.

    Raises ToolError with the last lines of the compiler's output.
    """
    target = built_path(tool)
    if target.exists():
        return target
    go = check_go()
    times_file = cache_root() / "tools" / "seconds.json"
    times = json.loads(times_file.read_text()) if times_file.exists() else {}
    before = f"took {times[tool.name]:.0f} s last time" if tool.name in times else f"about {tool.minutes} CPU-minutes"
    print(f"building {tool.name} ({before}) …", flush=True)
    started = time.monotonic()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="aks-dra-build-") as work:
        source = Path(work) / tool.name
        shutil.copytree(tool.folder, source)
        if tool.name == "kubernetes-provider":
            copy_provider_files(go, source)
        output = source / "built-program"
        command = [go, "build", "-trimpath", "-buildvcs=false", "-ldflags", link_flags(tool), "-o", str(output)]
        done = threading.Event()
        ticker = threading.Thread(target=tick, args=(tool.name, started, done), daemon=True)
        ticker.start()
        try:
            run = subprocess.run(
                [*command, tool.package],
                cwd=source,
                env={**os.environ, "CGO_ENABLED": "0", "GOWORK": "off"},
                capture_output=True,
                text=True,
                check=False,
            )
        finally:
            done.set()
        if run.returncode:
            tail = "\n".join(run.stderr.strip().splitlines()[-15:])
            raise ToolError(
                f"{tool.name} could not be built with {go}:\n{tail}\n"
                "A cold build needs about 4 GiB of memory, 8 GiB of disk and a reachable Go module proxy (GOPROXY)."
            )
        partial = target.with_suffix(f".{os.getpid()}")
        shutil.move(output, partial)
        partial.replace(target)  # a killed build never leaves half a program under the final name
    seconds = time.monotonic() - started
    times_file.write_text(json.dumps({**times, tool.name: seconds}))
    print(f"built {tool.name} in {seconds:.0f} s", flush=True)
    return target


def tick(name: str, started: float, done: threading.Event) -> None:
    while not done.wait(15):
        print(f"  {name}: {time.monotonic() - started:.0f} s", flush=True)


def copy_provider_files(go: str, source: Path) -> None:
    module = "github.com/pulumi/pulumi-kubernetes/provider/v4"
    subprocess.run([go, "mod", "download", module], cwd=source, check=False, capture_output=True)
    folder = subprocess.run(
        [go, "list", "-m", "-f", "{{.Dir}}", module], cwd=source, capture_output=True, text=True, check=False
    ).stdout.strip()
    files = Path(folder) / "cmd" / "pulumi-resource-kubernetes"
    if not folder or not files.is_dir():
        raise ToolError(f"kubernetes-provider: the module {module} could not be downloaded; is GOPROXY reachable?")
    schema = json.loads((files / "schema.json").read_text())
    schema["version"] = PROVIDER_VERSION
    (source / "schema.json").write_text(json.dumps(schema))
    (source / "terraform-mapping.json").write_bytes((files / "terraform-mapping.json").read_bytes())


def main(names: list[str]) -> int:
    wanted = names or list(TOOLS)
    unknown = sorted(set(wanted) - set(TOOLS))
    if unknown:
        print(f"unknown tool {', '.join(unknown)}; known: {', '.join(TOOLS)}", file=sys.stderr)
        return 2
    failed = False
    for name in wanted:
        try:
            print(build(TOOLS[name]))
        except ToolError as error:
            print(error, file=sys.stderr)
            failed = True
    return int(failed)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
