"""Puts our two plugins on PATH: small scripts, since the engine looks for programs of fixed names.

They name the interpreter and the checkout outright, so that they work whatever environment the engine hands on.
"""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent.parent
PROGRAMS = {
    "pulumi-language-python": "local.engine.host",
    "pulumi-resource-azure-native": "local.azure.plugin",
}


def write_launchers(bin_dir: Path) -> None:
    """Writes both launchers into `bin_dir`; one that is there already is replaced in one step: it may be running."""
    bin_dir.mkdir(parents=True, exist_ok=True)
    for name, module in PROGRAMS.items():
        path = bin_dir / name
        temporary = path.with_name(f".{name}.{os.getpid()}")
        temporary.write_text(script(module))
        temporary.chmod(0o755)
        temporary.replace(path)


def script(module: str) -> str:
    python, checkout = shlex.quote(sys.executable), shlex.quote(str(CHECKOUT))
    # exec: the plugin is then the engine's own child, and sees it go.
    return f'#!/bin/sh\nPYTHONPATH={checkout}${{PYTHONPATH:+":$PYTHONPATH"}} exec {python} -m {module} "$@"\n'
