"""The packer of the stand-in charts: the same bytes for the same content, a new version for another."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from pathlib import Path
from typing import Any

import pytest

from local.charts import pack as packer
from local.charts import schema

NVIDIA_VERSION = {"gpu-operator": "v26.7.0", "dra-driver-nvidia-gpu": "0.5.0", "nvidia-device-plugin": "0.20.0"}


def files(path: Path) -> dict[str, bytes]:
    found = {}
    with tarfile.open(path) as tar:
        for entry in tar:
            content = tar.extractfile(entry)
            assert content is not None
            found[entry.name] = content.read()
    return found


def version(path: Path) -> str:
    return str(json.loads(files(path)[f"{path.stem}/Chart.yaml"])["version"])


def test_packing_twice_gives_the_same_bytes_and_leaves_the_files_alone(tmp_path: Path) -> None:
    first = packer.pack(tmp_path / "one")
    assert {name: path.name for name, path in first.items()} == {
        name: f"{name}.tgz" for name in ("gpu-operator", "dra-driver-nvidia-gpu", "nvidia-device-plugin")
    }
    bytes_of = {name: path.read_bytes() for name, path in first.items()}
    times = {name: path.stat().st_mtime_ns for name, path in first.items()}
    assert {name: path.read_bytes() for name, path in packer.pack(tmp_path / "two").items()} == bytes_of
    assert {name: path.stat().st_mtime_ns for name, path in packer.pack(tmp_path / "one").items()} == times
    assert sorted(path.name for path in (tmp_path / "one").iterdir()) == sorted(path.name for path in first.values())


def test_nothing_of_this_machine_is_in_an_archive(tmp_path: Path) -> None:
    for path in packer.pack(tmp_path).values():
        assert path.read_bytes()[4:8] == b"\0\0\0\0"  # gzip's time
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(path.read_bytes()))) as tar:
            entries = tar.getmembers()
        assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
        assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.mode) for entry in entries} == {
            (0, 0, 0, "", 0o644)
        }


@pytest.mark.parametrize("chart", packer.CHARTS)
def test_the_version_is_nvidias_with_the_contents_hash_and_the_chart_says_what_it_is(
    chart: str, tmp_path: Path
) -> None:
    path = packer.pack(tmp_path)[chart]
    described = json.loads(files(path)[f"{chart}/Chart.yaml"])
    plain, _, build = described["version"].partition("+")
    assert plain == NVIDIA_VERSION[chart]
    assert build.startswith("local.")
    assert len(build) == len("local.") + 12
    assert "stand-in" in described["description"].lower()
    assert "simulated" in described["description"]
    notes = files(path)[f"{chart}/templates/NOTES.txt"].decode()
    assert notes.startswith("This is a stand-in, simulated:")


def test_a_changed_template_is_a_new_version_under_the_same_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(packer.HERE, tmp_path / "charts")
    monkeypatch.setattr(packer, "HERE", tmp_path / "charts")
    before = {name: version(path) for name, path in packer.pack(tmp_path / "out").items()}
    notes = tmp_path / "charts" / "gpu-operator" / "templates" / "NOTES.txt"
    notes.write_text(notes.read_text() + "\nMore.\n")
    after = {name: version(path) for name, path in packer.pack(tmp_path / "out").items()}
    assert [name for name in before if before[name] != after[name]] == ["gpu-operator"]


def test_a_changed_default_is_a_new_version(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = version(packer.pack(tmp_path)["dra-driver-nvidia-gpu"])
    changed = {**schema.table("dra-driver-nvidia-gpu"), "logVerbosity": {"type": "string", "default": "5"}}
    real = schema.table
    monkeypatch.setattr(schema, "table", lambda chart: changed if chart == "dra-driver-nvidia-gpu" else real(chart))
    assert version(packer.pack(tmp_path)["dra-driver-nvidia-gpu"]) != before


def leaves(section: dict[str, Any], rules: dict[str, Any], path: str = "") -> dict[str, Any]:
    """Every default that the table names, by its path again."""
    found: dict[str, Any] = {}
    for key, value in section.items():
        here = f"{path}.{key}" if path else key
        if here in rules:
            found[here] = value
        else:
            found |= leaves(value, rules, here)
    return found


@pytest.mark.parametrize("chart", packer.CHARTS)
def test_the_defaults_are_nvidias_all_of_them_and_no_other(chart: str, tmp_path: Path) -> None:
    values = json.loads(files(packer.pack(tmp_path)[chart])[f"{chart}/values.yaml"])
    table = schema.table(chart)
    assert leaves(values, table) == {path: row["default"] for path, row in table.items()}


@pytest.mark.parametrize("chart", packer.CHARTS)
def test_the_schema_knows_every_value_and_closes_every_section_that_is_not_open(chart: str) -> None:
    made = schema.schema(chart)
    rules = schema.rules(chart)
    for path in [*schema.table(chart), *rules["values"]]:
        here: Any = made
        for key in schema.keys(path, rules["open"]):
            assert key in here["properties"], path
            here = here["properties"][key]
    for path in rules["open"]:
        here = made
        for key in path.split("."):
            here = here["properties"][key]
        assert here["additionalProperties"] is True, path
    assert made["additionalProperties"] is False


def test_generated_files_are_not_in_the_tree() -> None:
    for chart in packer.CHARTS:
        assert not {path.name for path in (packer.HERE / chart).rglob("*")} & {
            "values.yaml", "values.schema.json", "Chart.yaml",
        }  # fmt: skip
