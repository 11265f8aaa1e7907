"""docs/findings.md, written from what the checks really say, so that it cannot go stale.

python -m aks_dra.reference.findings_doc > docs/findings.md

Each code has an example in the `examples.toml` of its topic. It is written to a project of its own and planned; the
finding that comes of it is what the document shows: severity, message, remedy and source are never written twice.

An example's table is its code; its keys:

example   what stands below `config:` of the stack file (a location and a log-in are added where it sets none), or
whole     the whole stack file; `repeat` and `times` add a text so often that it is too long to write out
before    what stood below `config:` in an earlier stack file, which the example is a change of
path      where the finding is; "" when it is about the whole file
files     further files of the project ("" leaves one out); `named` is the stack file's name, `encoding` its encoding
snapshot  true: checked against what the table [snapshot] says a subscription offers
today     the date that support ends are compared with
also      codes that come along of necessity
"""

from __future__ import annotations

import re
import tempfile
import textwrap
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from aks_dra.context.previous import Previous, previous_of
from aks_dra.findings.finding import Finding

PACKAGE = Path(__file__).parent.parent
CODE = re.compile(r'"([A-Z]{3,4}\d{3})"')

PROJECT = "name: gpus\nruntime: python\nstackConfigDir: stacks\n"
STACK_FILE = "stacks/Pulumi.example.yaml"
LOCATION = "azure-native:location: swedencentral\n"
ACCESS = "aks-dra:cluster: {access: {azureRbac: true}}\n"

TOPICS = {
    "ACC": "Access and place",
    "ACK": "Acknowledgements",
    "ALL": "Allocation: DRA and the device plugin in one cluster",
    "AUT": "Autoscaling",
    "AZR": "Raw Azure inputs and maintenance",
    "AZS": "What a subscription offers",
    "CDI": "How devices reach containers",
    "CFG": "Config of claims and classes for a driver",
    "CHG": "Changes to a stack that lives",
    "CHT": "Charts, their values and the DRA driver's feature gates",
    "CLM": "Claims",
    "CLS": "Device classes",
    "CON": "Constraints, tolerations and capacity of claims",
    "DEV": "Devices of other drivers",
    "DRV": "Driver ownership",
    "DYN": "Dynamic MIG",
    "EXT": "Extended resources",
    "FAC": "Facts files",
    "GAT": "Feature gates of the DRA driver",
    "GPC": "The operator runs the DRA driver (draStack: operator)",
    "IMG": "Images and tolerations of NVIDIA's pods",
    "LAB": "Labels, taints and tags",
    "LOAD": "Reading stack files",
    "MIG": "MIG layouts",
    "NAM": "Names",
    "NET": "Network",
    "NOD": "Nodes: image, disk, pods, spot, upgrades, tags",
    "RAW": "Claims as Kubernetes writes them",
    "SET": "Shape and types of settings",
    "SHA": "Sharing",
    "SIZ": "VM sizes and node counts",
    "TEN": "Tenants: lists and quotas",
    "TST": "The test pool",
    "VER": "Kubernetes versions",
}

HEAD = """# Findings

Every code that `aks-dra check` and a deployment can report, written from the examples in
`components/aks_dra/*/examples.toml`: each was planned, and what is printed here is what was found. Errors stop a
deployment before anything is registered; a warning can be acknowledged in the stack file
(`aks-dra:acknowledge: [{code: AUT002, reason: …}]`). A code never changes its meaning. What is shown of an example is
the part below `config:`, unless it is a file of another name.
"""


@dataclass(frozen=True)
class Example:
    """A stack that triggers one code at one path. `also` are the codes that it cannot be without."""

    code: str
    path: str
    example: str = ""  # what stands below config:
    before: str = ""  # what stood there in an earlier stack file
    whole: str = ""  # instead of example: the whole stack file
    repeat: str = ""  # a text that follows the file a number of times, too long to write out
    times: int = 0
    files: Mapping[str, str] = field(default_factory=dict)  # further files, by path in the project
    named: str = STACK_FILE  # the stack file's name
    absent: bool = False  # there is no stack file
    encoding: str = "utf-8"
    snapshot: Mapping[str, str] = field(default_factory=dict)  # what a subscription offers, as `az` prints it
    today: str = ""
    also: tuple[str, ...] = ()

    def text(self, part: str | None = None) -> str:
        """The whole stack file, with its own part below `config:` or with another one."""
        repeated = "".join(self.repeat.replace("{number}", str(number)) for number in range(self.times))
        if self.whole and part is None:
            return self.whole + repeated
        part = self.example if part is None else part
        lines = LOCATION if "azure-native:" not in part else ""
        lines += ACCESS if "aks-dra:cluster:" not in part else ""
        return "config:\n" + textwrap.indent(lines + part, "  ") + repeated

    def write(self, folder: Path) -> Path:
        """Puts the example's project into a folder and returns the stack file."""
        files = {"Pulumi.yaml": PROJECT, **self.files}
        for name, text in files.items():
            if text:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / name).write_text(text, encoding="utf-8")
        file = folder / self.named
        file.parent.mkdir(parents=True, exist_ok=True)
        if not self.absent:
            file.write_bytes(self.text().encode(self.encoding))
        return file

    def previous(self, file: Path) -> Previous:
        """What the earlier stack file came to."""
        from aks_dra.migrate.project import plan_text

        planned, findings = plan_text(file, self.text(self.before))
        if planned is None or planned.incomplete:
            raise SystemExit(f"the earlier stack of {self.code} cannot be read: {findings[0].message}")
        return previous_of(planned)

    def findings(self, folder: Path) -> list[Finding]:
        """What planning finds, with paths as seen from the project's folder."""
        from aks_dra.context.snapshot import read_snapshot
        from aks_dra.stack_plan import plan_file

        file = self.write(folder)
        for name, text in self.snapshot.items():
            (folder / name).write_text(text, encoding="utf-8")
        snapshot = read_snapshot(folder) if self.snapshot else None
        found = plan_file(file, self.today, snapshot, self.previous(file) if self.before else None)[1]
        return [_without(folder, finding) for finding in found]


def _without(folder: Path, finding: Finding) -> Finding:
    """The finding with paths as seen from the project's folder."""

    def plain(text: str) -> str:
        return text.replace(f"{folder}/", "").replace(str(folder), "gpus")

    return replace(
        finding,
        file=plain(finding.file),
        message=plain(finding.message),
        value=plain(finding.value),
        remedy=plain(finding.remedy),
    )


def examples(text: str | None = None) -> dict[str, Example]:
    files = sorted(PACKAGE.rglob("examples.toml"))
    texts = [text] if text is not None else [file.read_text(encoding="utf-8") for file in files]
    raw = {code: row for part in texts for code, row in tomllib.loads(part).items()}
    snapshot = raw.pop("snapshot", {})
    found = {}
    for code, row in sorted(raw.items()):
        offered = snapshot if row.pop("snapshot", False) else {}
        found[code] = Example(code, **{**row, "also": tuple(row.get("also", ())), "snapshot": offered})
    return found


def codes() -> set[str]:
    """Every code that the sources of the package can report."""
    files = [path for path in PACKAGE.rglob("*.py") if path != Path(__file__)]
    return {code for path in files for code in CODE.findall(path.read_text(encoding="utf-8"))}


def document() -> str:
    parts = [HEAD]
    topic = ""
    for code, example in examples().items():
        with tempfile.TemporaryDirectory() as folder:
            found = [f for f in example.findings(Path(folder)) if f.code == code and f.path == example.path]
        if not found:
            raise SystemExit(f"the example of {code} does not trigger it at {example.path}")
        if code.rstrip("0123456789") != topic:
            topic = code.rstrip("0123456789")
            parts += [f"## {TOPICS[topic]}", ""]
        parts += _section(example, found[0])
    return "\n".join(parts)


def _section(example: Example, finding: Finding) -> list[str]:
    where = f"`{finding.path}`" if finding.path else f"the file, line {finding.line}"
    lines = [f"### {example.code}", "", f"{finding.severity.capitalize()} at {where}: {_plain(finding.message)}", ""]
    lines += [f"- fix: {_plain(finding.remedy)}", f"- source: {_plain(finding.source)}", ""]
    for name, text in example.files.items():
        if text and "/" not in name.removeprefix("stacks/"):
            lines += [f"`{name}`", "", *_fenced(text, "toml" if name.endswith(".toml") else "yaml")]
    if example.before:
        lines += ["before", "", *_fenced(example.before, "yaml"), "after", ""]
    return lines + _fenced(_shown_text(example), "yaml")


def _shown_text(example: Example) -> str:
    text = "".join(_shown_letter(letter) for letter in example.whole or example.example)
    if example.times:
        repeated = example.repeat.strip().replace("{number}", "…")
        text = f"{text.rstrip()}\n  # and {example.times:,} times: {repeated}\n"
    return text


def _shown_letter(letter: str) -> str:
    if letter == "\t":
        return "→   "
    return chr(0x2400 + ord(letter)) if letter < " " and letter != "\n" else letter


def _fenced(text: str, language: str) -> list[str]:
    return [f"```{language}", text.rstrip("\n"), "```", ""] if text.strip() else []


def _plain(text: str) -> str:
    return " ".join(text.split()).replace("<", "\\<").replace("|", "\\|").replace("*", "\\*").replace("_", "\\_")


if __name__ == "__main__":
    print(document(), end="")
