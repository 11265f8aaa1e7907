"""Asking a control plane that is only just starting."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from local.kubernetes import control_plane
from local.kubernetes.control_plane import answers
from local.kubernetes.keeping import Secrets


@pytest.mark.parametrize("written", [None, "", "-----BEGIN CERTIFICATE-----\nMIIB"])
def test_a_certificate_that_is_still_being_written_is_no_answer(tmp_path: Path, written: str | None) -> None:
    admin, certificate = tmp_path / "admin", tmp_path / "apiserver.crt"
    server = {"cluster": {"server": "https://127.0.0.1:1"}}
    admin.write_text(json.dumps({"clusters": [server], "users": [{"user": {"token": "none"}}]}))
    if written is not None:
        certificate.write_text(written)
    secrets: Any = SimpleNamespace(kubeconfig=lambda name: tmp_path / name, certificate=certificate)
    assert answers(secrets, "/readyz") is False


def test_kubeconfigs_hold_the_whole_certificate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file is there before all of it is written, and a kubeconfig with half of it would be of no use for ever."""
    whole = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n"

    def ensure(running: Any, part: str, argv: Any, folder: Path) -> None:
        if part == "kube-apiserver":
            Secrets(folder).certificate.write_text(whole[:30])

    def answers(secrets: Secrets, path: str) -> bool:
        secrets.certificate.write_text(whole)
        return True

    monkeypatch.setattr("local.tools.build.build", lambda tool: tmp_path / "program")
    monkeypatch.setattr(control_plane, "ensure", ensure)
    monkeypatch.setattr(control_plane, "answers", answers)
    kubeconfig = json.loads(control_plane.start(tmp_path).read_text())
    authority = kubeconfig["clusters"][0]["cluster"]["certificate-authority-data"]
    assert base64.b64decode(authority).decode() == whole
