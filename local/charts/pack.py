"""Packs the stand-ins for NVIDIA's charts: one `<name>.tgz` each, the same bytes for the same content.

    python -m local.charts.pack [folder]

The version in a packed chart is NVIDIA's with the content's hash behind it (`v26.7.0+local.1f3c9a02b7de`): a release
remembers the version of its chart and nothing else of it, so a folder chart edited under one version would stay as it
was. Build metadata keeps the version equal to NVIDIA's own wherever versions are compared. The file's name has no
version: the path lies in a stack's state, and a new content shall be an upgrade there, not another chart.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import sys
import tarfile
from pathlib import Path
from typing import Any

from local import facts, state
from local.charts import schema

HERE = Path(__file__).parent
CHARTS = ("gpu-operator", "dra-driver-nvidia-gpu", "nvidia-device-plugin")
KUBE_VERSION = {
    "gpu-operator": ">= 1.16.0-0",
    "dra-driver-nvidia-gpu": ">=1.32.0-0",
    "nvidia-device-plugin": ">= 1.10.0-0",
}
SOURCE_SUFFIXES = {".yaml", ".tpl", ".txt"}


def version(chart: str) -> str:
    """NVIDIA's version that the stand-in plays: the package's default."""
    row = facts.table("charts")["chart"][chart]
    return str(row["default_version"])


def content(chart: str) -> dict[str, bytes]:
    """Every file of a chart but Chart.yaml, by its path in the chart."""
    root = HERE / chart
    files = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix in SOURCE_SUFFIXES
    }
    # JSON is YAML; written so, the packer needs no YAML library.
    files["values.yaml"] = _json(schema.defaults(chart))
    files["values.schema.json"] = _json(schema.schema(chart))
    return files


def metadata(chart: str, files: dict[str, bytes]) -> dict[str, Any]:
    """Chart.yaml; its version carries the hash of everything in the chart, itself included."""
    plain = version(chart)
    described = {
        "apiVersion": "v2",
        "name": chart,
        "description": f"Stand-in for NVIDIA's {chart}, simulated: no program of it runs and no GPU is touched",
        "type": "application",
        "version": plain,
        "appVersion": plain if chart == "gpu-operator" else plain.removeprefix("v"),
        "kubeVersion": KUBE_VERSION[chart],
    }
    digest = hashlib.sha256(_json(described))
    for name, data in sorted(files.items()):
        digest.update(f"\0{name}\0{len(data)}\0".encode() + data)
    return {**described, "version": f"{plain}+local.{digest.hexdigest()[:12]}"}


def archive(chart: str) -> bytes:
    """The packed chart. No clock, owner or umask of this machine gets into it."""
    files = content(chart)
    files["Chart.yaml"] = _json(metadata(chart, files))
    packed = io.BytesIO()
    with (
        gzip.GzipFile(filename="", mode="wb", fileobj=packed, mtime=0) as compressed,
        tarfile.open(fileobj=compressed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, data in sorted(files.items()):
            entry = tarfile.TarInfo(f"{chart}/{name}")
            entry.size = len(data)
            entry.mode = 0o644
            tar.addfile(entry, io.BytesIO(data))
    return packed.getvalue()


def pack(out: Path) -> dict[str, Path]:
    """Writes the three charts into a folder; a file that would stay the same is left alone."""
    out.mkdir(parents=True, exist_ok=True)
    packed: dict[str, Path] = {}
    for chart in CHARTS:
        path = out / f"{chart}.tgz"
        data = archive(chart)
        if not path.exists() or path.read_bytes() != data:
            partial = path.with_suffix(f".{os.getpid()}")
            partial.write_bytes(data)
            partial.replace(path)  # a killed packer never leaves half a chart under the final name
        packed[chart] = path
    return packed


def _json(value: dict[str, Any]) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True, ensure_ascii=False).encode() + b"\n"


def main(arguments: list[str]) -> int:
    for path in pack(Path(arguments[0]) if arguments else state.charts()).values():
        print(path)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
