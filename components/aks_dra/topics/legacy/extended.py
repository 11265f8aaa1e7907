"""Extended resources: pods that ask for `nvidia.com/mig-1g.10gb` in the old way, served by DRA from 1.36 on.

Every class has an implicit name that pods may ask for. A class may carry one more, and of several classes with one name
only the newest counts. So the package's classes can carry the names that the device plugin gives to MIG devices;
nvidia.com/gpu is decided by one class of the package's own, see classes.py.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from aks_dra.model.classes import PlannedClass
from aks_dra.settings import Settings


def plugin_name(profile: str) -> str:
    """What the device plugin calls MIG devices of a profile (strategy mixed); "+" is "." there."""
    return f"nvidia.com/mig-{profile.replace('+', '.')}"


def package_names(settings: Settings, classes: Iterable[PlannedClass]) -> dict[str, str]:
    """Class of the package to the resource name that the settings give it."""
    asked = settings.gpu.extended_resources
    if isinstance(asked, Mapping):
        known = {entry.name for entry in classes if entry.origin == "package"}
        return {name: resource for name, resource in sorted(asked.items()) if name in known}
    return {entry.name: plugin_name(entry.profile) for entry in classes if asked and entry.profile}


def named(settings: Settings, classes: Iterable[PlannedClass]) -> list[PlannedClass]:
    """The classes with those names."""
    listed = list(classes)
    given = package_names(settings, listed)
    return [
        replace(entry, extended_resource_name=given[entry.name]) if entry.name in given else entry for entry in listed
    ]
