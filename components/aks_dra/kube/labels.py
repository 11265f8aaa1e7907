"""The forms of labels, taints and names that Kubernetes takes."""

from __future__ import annotations

import re

KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")

VALUE = re.compile(r"([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?")

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

# Of a namespace or a request: a DNS label.
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

# Of a class, a claim, most objects: a DNS subdomain.
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
