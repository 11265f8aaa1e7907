"""Asking a control plane that is only just starting."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.kubernetes.control_plane import answers


@pytest.mark.parametrize("written", [None, "", "-----BEGIN CERTIFICATE-----\nMIIB"])
def test_a_certificate_that_is_still_being_written_is_no_answer(tmp_path: Path, written: str | None) -> None:
    admin, certificate = tmp_path / "admin", tmp_path / "apiserver.crt"
    server = {"cluster": {"server": "https://127.0.0.1:1"}}
    admin.write_text(json.dumps({"clusters": [server], "users": [{"user": {"token": "none"}}]}))
    if written is not None:
        certificate.write_text(written)
    secrets: Any = SimpleNamespace(kubeconfig=lambda name: tmp_path / name, certificate=certificate)
    assert answers(secrets, "/readyz") is False
