"""The forms of labels, taints and names that Kubernetes takes: the one place for them."""

from __future__ import annotations

import re

KEY = re.compile(r"([a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?/)?[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?")

VALUE = re.compile(r"([A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?)?")

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")

# Of a namespace or a request: a DNS label.
LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

# Of a class, a claim, most objects: a DNS subdomain.
SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")

# Of an attribute or a capacity of a device: with its domain, as constraints name it, or one of the driver's own.
ATTRIBUTE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,31}")
ATTRIBUTE_DOMAIN = re.compile(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?")
QUALIFIED = re.compile(f"{ATTRIBUTE_DOMAIN.pattern}/{ATTRIBUTE.pattern}")
