"""Admin access: a claim that looks at devices without reserving them, where the namespace's label allows it.

Whoever may label a namespace can see every device, so the label is a setting of the namespace and never a by-product of
a claim. Kubernetes reads one key and one value and ignores all others in silence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings.testpool_of import admin_namespace

LABEL = "resource.kubernetes.io/admin-access"
# With the prefix of an older version, a shortened one or none, and in other spellings.
MEANT = re.compile(r"(.*/)?admin-access|((resource\.)?(kubernetes|k8s)\.io/)?admin[-_.]?access", re.IGNORECASE)
SOURCE = "Kubernetes: adminAccess of a request, label resource.kubernetes.io/admin-access"


def claims(context: Context) -> Iterator[Finding]:
    for claim in context.claims:
        entry = context.settings.namespaces.get(claim.namespace)
        labelled = entry is not None and (entry.admin_access or entry.labels.get(LABEL) == "true")
        if labelled or claim.namespace == admin_namespace(context.settings):
            continue
        for request in claim.requests:
            if request.admin_access:
                yield finding(
                    "CLM004",
                    "error",
                    request.admin_path,
                    "true",
                    f"namespace {claim.namespace} is not labelled for admin access",
                    f"move the claim to a namespace for monitoring, or set aks-dra:namespaces.{claim.namespace}."
                    "adminAccess: true for everyone who may write claims there",
                    SOURCE,
                )


def labels(context: Context) -> Iterator[Finding]:
    for name, entry in context.settings.namespaces.items():
        for key, value in entry.labels.items():
            path = f"aks-dra:namespaces.{name}.labels.{key}"
            if key != LABEL and MEANT.fullmatch(key):
                yield finding(
                    "CLM015",
                    "error",
                    path,
                    key,
                    f"the label that Kubernetes reads is {LABEL}; this one has no effect",
                    "remove it and set adminAccess: true",
                    SOURCE,
                )
            elif key == LABEL and value != "true":
                yield finding(
                    "CLM016",
                    "error",
                    path,
                    value,
                    'the value that Kubernetes looks for is the text "true", in lowercase',
                    "remove it and set adminAccess: true" if value.lower() == "true" else "remove it",
                    SOURCE,
                )


RULES = (claims, labels)
