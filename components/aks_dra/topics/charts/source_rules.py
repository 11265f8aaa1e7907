"""Where charts come from: a folder of packed charts, an https:// repository or an oci:// registry.

Helm addresses the three differently (a name beside a repository, one address for OCI, a file), and what it makes of
a mixture shows in the middle of `up`. The package writes the shape; the source is the place of the charts alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding

HELM = "Helm: chart repositories and OCI registries"
CHARTS = ("gpu-operator", "dra-driver-nvidia-gpu", "nvidia-device-plugin")
HOST = re.compile(r"([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(:[0-9]+)?/", re.ASCII)
SCHEMES = ("oci", "https", "http")


def sources(context: Context) -> Iterator[Finding]:
    charts = context.settings.gpu.charts
    places = [("aks-dra:gpu.charts.source", charts.source)]
    owned = (("operator", charts.operator), ("draDriver", charts.dra_driver), ("devicePlugin", charts.device_plugin))
    places += [(f"aks-dra:gpu.charts.{key}.source", own.source) for key, own in owned]
    names = {*CHARTS, *(row.chart_name for chart in context.facts.charts.values() for row in chart.versions.values())}
    for path, source in places:
        if source is not None:
            yield from _source(path, source, names)


def _source(path: str, source: str, names: set[str]) -> Iterator[Finding]:
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):", source)
    last = source.rstrip("/").rpartition("/")[2]
    name, colon, _ = last.partition(":")
    if not source.strip() or source != source.strip() or not source.isprintable():
        yield _wrong("CHT014", path, source, "a source is the place of charts", "write it without blanks, or remove it")
    elif scheme and scheme[1] not in SCHEMES:
        lowered = scheme[1].lower()
        remedy = f"write {lowered}{source[len(lowered) :]}" if lowered in SCHEMES else "write one of the three"
        rule = "a source is a folder of packed charts, https:// or oci://"
        yield _wrong("CHT014", path, source, rule, remedy)
    elif scheme and not _has_host(source):
        yield _wrong("CHT014", path, source, "there is no host in this address", f"write {scheme[1]}://HOST/PATH")
    elif name in names or last.endswith(".tgz"):
        place = source.rstrip("/")[: -len(last)].rstrip("/")
        remedy = f"write {place}" if scheme or "/" in place else "write the repository's address"
        rule = "the source is the place of the charts; the package adds the chart's name to it"
        if scheme is None and not source.startswith((".", "/")):
            rule, remedy = rule + ", and knows no aliases of `helm repo add`", "write the repository's https:// address"
        yield _wrong("CHT003", path, source, rule, remedy)
    elif scheme is None and HOST.match(source):
        rule = "without oci:// or https:// this is a folder, and it reads like the address of a registry"
        remedy = f"write oci://{source}, or ./{source} for a folder of this name"
        yield finding("CHT014", "warning", path, source, rule, remedy, HELM)
    elif scheme and scheme[1] == "oci" and colon:
        yield _wrong("CHT003", path, source, "a tag is the chart's version", "write it as version, without the tag")


def _has_host(source: str) -> bool:
    try:
        return bool(urlsplit(source).hostname)
    except ValueError:
        return False


def _wrong(code: str, path: str, source: str, message: str, remedy: str) -> Finding:
    return finding(code, "error", path, source, message, remedy, HELM)


def versions(context: Context) -> Iterator[Finding]:
    charts = context.settings.gpu.charts
    for key, chart, own in (
        ("operator", "gpu-operator", charts.operator),
        ("draDriver", "dra-driver-nvidia-gpu", charts.dra_driver),
        ("devicePlugin", "nvidia-device-plugin", charts.device_plugin),
    ):
        row = context.facts.charts[chart].versions.get(own.version or "")
        source = own.source or charts.source
        path = f"aks-dra:gpu.charts.{key}.version"
        if row is not None and row.chart_name != chart and source is None:
            yield finding(
                "CHT015",
                "error",
                path,
                own.version,
                f"this version was published as {row.chart_name}, which the default place of {chart} does not hold",
                f"use {context.facts.charts[chart].minimum_version} or later, or set source to where you have it",
                row.source,
            )


RULES = (sources, versions)
