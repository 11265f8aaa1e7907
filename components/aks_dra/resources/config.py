"""From the running stack's configuration to the components' arguments.

The same loader that serves the command line reads it, so that a plan made without Pulumi and the program agree
on every value, and findings name the line in the stack file.
"""

from __future__ import annotations

from pathlib import Path

import pulumi
from pulumi.runtime.config import CONFIG, get_config_env, is_config_secret

from aks_dra.resources.args import DraClusterArgs, stop_on_errors
from aks_dra.resources.last_run import last_run
from aks_dra.settings.loader import load_config_values
from aks_dra.settings.parse import settings_from_loaded


def args_from_config() -> DraClusterArgs:
    """The settings of the stack that is running; what cannot be read ends the program, all of it at once."""
    values = {key: str(value) for key, value in (get_config_env() | CONFIG.get()).items()}
    secrets = [key for key in values if is_config_secret(key)]
    loaded = load_config_values(
        values, secrets, pulumi.get_project(), pulumi.get_stack(), Path(pulumi.get_root_directory())
    )
    settings, findings = settings_from_loaded(loaded)
    if settings is None:
        stop_on_errors(pulumi.get_stack(), findings)
        raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} cannot be read.")
    return DraClusterArgs(settings, config_findings=findings, loaded=loaded, previous=last_run())
