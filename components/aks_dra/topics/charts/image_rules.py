"""Where images come from, and what the pods that run them tolerate."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.labels import EFFECTS, KEY, SUBDOMAIN, VALUE

REGISTRY = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?(:\d{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
NAMES = "OCI distribution: names of repositories; docs/settings.md"


def registry(context: Context) -> Iterator[Finding]:
    given = context.settings.gpu.images.registry
    if given is None or REGISTRY.fullmatch(given):
        return
    fixed = re.sub(r"^[a-z]+://", "", given.strip().lower()).rstrip("/")
    remedy = f"write {fixed}" if REGISTRY.fullmatch(fixed) else "for example example.azurecr.io/mirror"
    message = (
        "a registry is a host, with a port and a path in lower case where there are, and nothing before or after it"
    )
    yield finding("IMG001", "error", "aks-dra:gpu.images.registry", given, message, remedy, NAMES)


def pull_secrets(context: Context) -> Iterator[Finding]:
    for index, name in enumerate(context.settings.gpu.images.pull_secrets):
        if not SUBDOMAIN.fullmatch(name):
            path = f"aks-dra:gpu.images.pullSecrets.{index}"
            message = "a Secret's name has lowercase letters, digits, '-' and '.'"
            yield finding("IMG002", "error", path, name, message, "write the Secret's name", "Kubernetes: object names")


def tolerations(context: Context) -> Iterator[Finding]:
    for index, taint in enumerate(context.settings.gpu.tolerations):
        key_value, colon, effect = taint.rpartition(":")
        key, _, value = key_value.partition("=")
        if not colon or effect not in EFFECTS or not KEY.fullmatch(key) or not VALUE.fullmatch(value):
            path = f"aks-dra:gpu.tolerations.{index}"
            message = "this is not a taint: key=value:Effect, or key:Effect for every value"
            remedy = "for example team=ml:NoExecute"
            yield finding("IMG003", "error", path, taint, message, remedy, "Kubernetes: taints and tolerations")


RULES = (registry, pull_secrets, tolerations)
