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
from aks_dra.settings.parse import read_loaded
from aks_dra.stackfile.loader import load_config_values


def args_from_config() -> DraClusterArgs:
    """The settings of the stack that is running; what is wrong with them is said once they are planned."""
    values = {key: str(value) for key, value in (get_config_env() | CONFIG.get()).items()}
    secrets = [key for key in values if is_config_secret(key)]
    loaded = load_config_values(
        values, secrets, pulumi.get_project(), pulumi.get_stack(), Path(pulumi.get_root_directory())
    )
    reading = read_loaded(loaded)
    if reading.settings is None:
        stop_on_errors(pulumi.get_stack(), reading.findings)
        raise pulumi.RunError(f"The settings of stack {pulumi.get_stack()} cannot be read.")
    return DraClusterArgs(
        reading.settings, config_findings=reading.findings, loaded=loaded, previous=last_run(), unread=reading.unread
    )
