"""The planned device that comes nearest to what matches none, and what keeps it out."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from aks_dra.kube.devices import Device, distinct
from aks_dra.matching.conditions import attempt, in_words, values


def nearest_miss(selectors: Sequence[str], devices: Sequence[Device], minor: tuple[int, int]) -> str:
    """ "; nearest is Tesla T4 16384Mi: memory >= 20Gi: it has memory 16384Mi", or "" where no device comes near."""
    tried = [(device, attempt(tuple(selectors), device, minor)) for device in distinct(devices)]
    failing = [
        (device, found, values(found.part, device) or in_words(found.part, device).partition("it has no")[1])
        for device, found in tried
        if not found.matches and not found.raises and found.held
    ]
    failing = [entry for entry in failing if entry[2]]
    if not failing:
        return ""
    # Of those that fail at the same place, the one whose values read most like what was asked for.
    device, found, _ = max(failing, key=lambda entry: (entry[1].held, _likeness(entry[1].part, entry[2])))
    product = str(device.attributes.get("productName", device.name))
    what = device.attributes.get("profile") or device.capacity.get("memory")
    shown = f"{product} {what}" if isinstance(what, str) else product
    return f"; nearest is {shown}: {in_words(found.part, device)}"


def _likeness(part: str, held: str) -> float:
    return difflib.SequenceMatcher(None, part.lower(), held.lower()).ratio()
