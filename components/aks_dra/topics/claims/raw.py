"""A claim as Kubernetes writes it, in a stack file: an escape hatch that is read and checked all the same.

Articles up to 2025 show the shape of v1beta1, with the class directly on the request; the API server refuses it in
v1 with a text that does not say how to write it. Here it is read as what it means, and the finding prints the form
that v1 takes. Fields that v1 does not have are refused by name, since the server would drop some of them in silence.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import yaml

from aks_dra.findings.build import nearest
from aks_dra.findings.finding import shortened
from aks_dra.kube.claim_forms import (
    ANY,
    METADATA,
    MODE,
    OF_EXACTLY,
    SERVERS,
    SPEC,
    TEXT,
    fits,
    right_value,
    without_nulls,
)
from aks_dra.kube.claims import KINDS, Claim, ClaimKind, read_claim
from aks_dra.settings import ClaimSettings
from aks_dra.trees import mapping, sequence

API = "resource.k8s.io/v1"


@dataclass(frozen=True)
class RawProblem:
    """What is wrong with the shape; `code` is the finding's."""

    code: str
    path: str
    value: str
    message: str
    remedy: str


def raw_claim(namespace: str, name: str, claim: ClaimSettings) -> tuple[Claim, tuple[RawProblem, ...]]:
    """A raw claim, as far as it can be read, and everything that is wrong with how it is written."""
    path = f"aks-dra:claims.{namespace}.{name}"
    reader = _Reader(namespace, name, path, claim)
    return reader.claim, tuple(dict.fromkeys(reader.problems))


class _Reader:
    def __init__(self, namespace: str, name: str, path: str, claim: ClaimSettings) -> None:
        self.problems: list[RawProblem] = []
        raw = without_nulls(copy.deepcopy(dict(claim.raw)))
        where = f"{path}.raw"
        whole = bool({"apiVersion", "kind", "metadata", "spec"} & raw.keys())
        kind: ClaimKind = "ResourceClaim" if claim.share_across == "pods" else "ResourceClaimTemplate"
        metadata: dict[str, Any] = {}
        if whole:
            kind, metadata, raw, where = self._manifest(raw, where, kind, claim)
        self._check(raw, SPEC, where)
        devices = mapping(raw.get("devices"))
        if not devices.get("requests"):
            self._say(
                "RAW005", where, "", "a claim has devices.requests", "write devices: {requests: [{name: gpu, …}]}"
            )
        for index, entry in enumerate(sequence(devices.get("requests"))):
            if isinstance(entry, dict):
                self._request(entry, f"{where}.devices.requests.{index}")
        for key, given in (("name", name), ("namespace", namespace)):
            if metadata.get(key) not in (None, given):
                self._say(
                    "RAW004",
                    f"{path}.raw.metadata.{key}",
                    str(metadata[key]),
                    f"this claim stands under {namespace}.{name}, and a claim serves pods of its own namespace only",
                    f"remove {key}, or move the claim to claims.{metadata.get('namespace') or namespace}."
                    f"{metadata.get('name') or name}",
                )
        manifest = {
            "apiVersion": API,
            "kind": kind,
            "metadata": {**metadata, "name": name, "namespace": namespace},
            "spec": raw if kind == "ResourceClaim" else {"spec": raw},
        }
        self.claim = replace(
            read_claim(raw, where, namespace, name),
            kind=kind,
            path=path,
            # What is written wrongly is never deployed, and others may rely on the form of a plan's manifests.
            manifest=None if self.problems else manifest,
        )

    def _manifest(
        self, raw: dict[str, Any], where: str, kind: ClaimKind, claim: ClaimSettings
    ) -> tuple[ClaimKind, dict[str, Any], dict[str, Any], str]:
        """Kind, metadata, the inner spec and its path."""
        version, given = raw.get("apiVersion", API), raw.get("kind", kind)
        if version != API:
            rule = f"claims are written in {API}; the beta versions are off where v1 is served"
            self._say("RAW002", f"{where}.apiVersion", str(version), rule, f"write apiVersion: {API}")
        if given not in KINDS:
            rule = "a raw claim is a ResourceClaim or a ResourceClaimTemplate"
            self._say("RAW003", f"{where}.kind", str(given), rule, f"write one of {', '.join(KINDS)}")
        else:
            if "share_across" in claim.model_fields_set and given != kind:
                rule = f"shareAcross: {claim.share_across} means {kind}"
                self._say("RAW003", f"{where}.kind", str(given), rule, "remove shareAcross, the kind says it")
            kind = given
        self._check(raw, {"apiVersion": TEXT, "kind": TEXT, "metadata": METADATA, "spec": {"*": ANY}}, where)
        spec = mapping(raw.get("spec"))
        if kind == "ResourceClaimTemplate":
            if "devices" in spec and "spec" not in spec:
                rule = "a template has its claim under spec.spec"
                remedy = "write spec: {spec: {devices: …}}"
                if "kind" not in raw:
                    rule = f"this is a ResourceClaimTemplate, since no kind says otherwise: {rule}"
                    remedy += ", or shareAcross: pods, which makes one ResourceClaim of it"
                self._say("RAW005", f"{where}.spec", "devices", rule, remedy)
                return kind, dict(mapping(raw.get("metadata"))), dict(spec), f"{where}.spec"
            self._check(spec, {"spec": {"*": ANY}, "metadata": METADATA}, f"{where}.spec")
            return kind, dict(mapping(raw.get("metadata"))), dict(mapping(spec.get("spec"))), f"{where}.spec.spec"
        return kind, dict(mapping(raw.get("metadata"))), dict(spec), f"{where}.spec"

    def _request(self, entry: dict[str, Any], where: str) -> None:
        """What is wrong with a request as a whole; one of the old shape is turned into what it means."""
        old = {key: entry[key] for key in OF_EXACTLY if key in entry}
        if old and "exactly" not in entry and "firstAvailable" not in entry:
            right = {key: value for key, value in entry.items() if key not in old} | {"exactly": old}
            for key in old:
                del entry[key]
            entry.update(right)
            self._say(
                "RAW001",
                where,
                ", ".join(old),
                "this is the shape of v1beta1: in v1 these fields stand under exactly",
                "write " + flow(right),
            )
        elif old:
            self._say(
                "RAW001",
                where,
                ", ".join(old),
                "in v1 these fields stand under exactly, or in an alternative of firstAvailable",
                "move them there",
            )
        if "exactly" in entry and "firstAvailable" in entry:
            self._say(
                "RAW006",
                where,
                "exactly, firstAvailable",
                "a request has exactly or firstAvailable, one of the two",
                "keep the one that is meant: one class, or ranked alternatives",
            )
        elif "exactly" not in entry and "firstAvailable" not in entry:
            rule = "a request says under exactly or firstAvailable what it asks for"
            self._say("RAW006", where, "", rule, "write exactly: {deviceClassName: NAME}")
        elif entry.get("firstAvailable") == []:
            rule = "firstAvailable has at least one alternative"
            self._say("RAW006", where, "firstAvailable: []", rule, "write {name: NAME, deviceClassName: NAME} in it")
        if not entry.get("name"):
            self._say("RAW005", where, "", "a request has a name", "add name: gpu")

    def _check(self, value: Any, form: Any, where: str) -> None:
        """Keys that do not exist and values of the wrong type; keys of older shapes are said elsewhere."""
        if isinstance(form, dict):
            if not isinstance(value, dict):
                keys = ", ".join(f"{key}: …" for key in form if key != "*")
                remedy = f"write {{{keys}}}" if keys else "see `kubectl explain` for the shape"
                self._say("RAW005", where, value, "a map is needed", remedy)
                return
            for key in ("cel", "expression"):
                if key in form and not value.get(key):
                    self._say("RAW005", where, "", f"{key} is required", "write a selector as cel: {expression: …}")
            for key, inner in value.items():
                if key in form or "*" in form:
                    self._check(inner, form.get(key, form.get("*")), f"{where}.{key}")
                elif key in SERVERS:
                    self._say("RAW005", f"{where}.{key}", inner, "the API server writes this field", "remove it")
                elif not ("firstAvailable" in form and key in OF_EXACTLY):
                    close = nearest(str(key), form)
                    remedy = f"did you mean {close}?" if close else "fields here: " + ", ".join(form)
                    self._say("RAW005", f"{where}.{key}", inner, f"there is no such field in {API}", remedy)
        elif isinstance(form, list):
            if not isinstance(value, list):
                self._say("RAW005", where, value, "a list is needed", "begin each entry with '-'")
                return
            for index, inner in enumerate(value):
                self._check(inner, form[0], f"{where}.{index}")
        elif form == MODE and value not in ("ExactCount", "All"):
            self._say("RAW005", where, value, "allocationMode is ExactCount or All", "write ExactCount, or All")
        elif form and form != MODE and not fits(value, form):
            self._say("RAW005", where, value, f"{form} is needed", right_value(value, form))

    def _say(self, code: str, path: str, value: Any, message: str, remedy: str) -> None:
        self.problems.append(RawProblem(code, path, shortened(str(value)), message, remedy))


def flow(value: Any) -> str:
    """YAML on one line."""
    return str(yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10_000)).strip()
