"""The rules of `make up`, `status` and `down` that need neither engine nor cluster."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any, ClassVar

import pytest

from local import up
from local.stack import engine_env, parts, stackfile
from local.stack.engine import Output
from local.stack.stackfile import ZERO_SUBSCRIPTION, StackError
from tests.stacks import write


def checkout(folder: Path, config: str, **more: str) -> Path:
    write(folder, config, stack="local", **more)
    facts = folder / "components" / "aks_dra" / "facts"
    facts.mkdir(parents=True)
    (facts / "kubernetes.toml").write_text('default = "1.36"\n')
    return folder


LOCAL = f"config:\n  azure-native:subscriptionId: {ZERO_SUBSCRIPTION}\n"


class TestStackFile:
    def test_version_from_the_file_then_from_its_bases_then_the_default(self, tmp_path: Path) -> None:
        assert stackfile.read(checkout(tmp_path, LOCAL), "local").kubernetes_version == "1.36"
        base = "  aks-dra:base: [first.yaml, second.yaml]\n"
        (tmp_path / "stacks" / "Pulumi.local.yaml").write_text(LOCAL + base)
        for name, version in (("first", "1.34"), ("second", "1.35")):
            text = f'config:\n  aks-dra:cluster: {{kubernetesVersion: "{version}"}}\n'
            (tmp_path / "stacks" / f"{name}.yaml").write_text(text)
        assert stackfile.read(tmp_path, "local").kubernetes_version == "1.35"
        (tmp_path / "stacks" / "Pulumi.local.yaml").write_text(
            LOCAL + base + '  aks-dra:cluster: {kubernetesVersion: "1.37"}\n'
        )
        assert stackfile.read(tmp_path, "local").kubernetes_version == "1.37"

    @pytest.mark.parametrize(
        ("config", "given"),
        [
            ("config:\n  azure-native:subscriptionId: 11111111-2222-3333-4444-555555555555\n", "11111111-2222"),
            ("config: {}\n", "names no subscription"),
            ("", "names no subscription"),
        ],
    )
    def test_a_real_stack_is_refused_with_what_to_run(self, tmp_path: Path, config: str, given: str) -> None:
        file = stackfile.read(checkout(tmp_path, config), "local")
        with pytest.raises(StackError) as refusal:
            stackfile.refuse_unless_local(file)
        assert given in str(refusal.value)
        assert "pulumi up -s local" in str(refusal.value)
        assert "make plan STACK=local" in str(refusal.value)

    def test_a_stack_that_is_not_there_lists_those_that_are(self, tmp_path: Path) -> None:
        with pytest.raises(StackError, match="stacks here: local"):
            stackfile.read(checkout(tmp_path, LOCAL), "prod")

    def test_a_file_that_is_no_yaml_is_named(self, tmp_path: Path) -> None:
        with pytest.raises(StackError, match=r"Pulumi\.local\.yaml is not YAML"):
            stackfile.read(checkout(tmp_path, "a: [\n"), "local")

    def test_bases_that_name_each_other_end(self, tmp_path: Path) -> None:
        loop = "config:\n  aks-dra:base: [loop.yaml]\n"
        assert stackfile.read(checkout(tmp_path, LOCAL, loop=loop), "local").kubernetes_version == "1.36"


class TestEnvironment:
    GIVEN: ClassVar[dict[str, str]] = {
        "PATH": "/usr/bin",
        "HOME": "/home/user",
        "ARM_CLIENT_SECRET": "s1",
        "AZURE_TENANT_ID": "s2",
        "KUBECONFIG": "/home/user/.kube/config",
        "PULUMI_ACCESS_TOKEN": "s3",
        "PULUMI_IGNORE_AMBIENT_PLUGINS": "true",
        "PULUMI_CONFIG_PASSPHRASE": "s4",
        "HELM_DRIVER": "sql",
        "NO_PROXY": "corp.example",
    }

    def test_nothing_of_the_users_azure_pulumi_helm_or_cluster_is_handed_on(self, tmp_path: Path) -> None:
        environment = engine_env.engine_env(tmp_path, self.GIVEN)
        assert not any(name.startswith(("ARM_", "AZURE_")) for name in environment)
        assert not {"PULUMI_ACCESS_TOKEN", "PULUMI_IGNORE_AMBIENT_PLUGINS", "PULUMI_CONFIG_PASSPHRASE"} & set(
            environment
        )
        assert "HELM_DRIVER" not in environment
        assert not {"s1", "s2", "s3", "s4"} & set(environment.values())
        assert environment["HOME"] == "/home/user"
        inside = ("PULUMI_HOME", "KUBECONFIG", "HELM_CONFIG_HOME", "PULUMI_CONFIG_PASSPHRASE_FILE")
        assert all(environment[name].startswith(f"{tmp_path}{os.sep}") for name in inside)
        assert environment["PULUMI_BACKEND_URL"] == f"file://{tmp_path}/backend"
        assert environment["NO_PROXY"] == "corp.example,127.0.0.1,localhost"
        assert environment["PATH"].startswith(f"{tmp_path}/engine/bin:")

    def test_plugins_are_never_fetched(self, tmp_path: Path) -> None:
        environment = engine_env.engine_env(tmp_path, self.GIVEN)
        assert environment["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] == "true"

    def test_the_passphrase_is_made_once_and_only_its_owner_reads_it(self, tmp_path: Path) -> None:
        file = engine_env.passphrase_file(tmp_path)
        text = file.read_text()
        assert file.stat().st_mode & 0o777 == 0o600
        assert len(text) >= 32
        assert engine_env.passphrase_file(tmp_path).read_text() == text

    def test_what_is_dropped_is_said(self) -> None:
        assert engine_env.dropped_variables(self.GIVEN) == ["ARM_CLIENT_SECRET", "AZURE_TENANT_ID"]

    def test_env_prints_what_a_shell_can_evaluate(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        up.print_environment(tmp_path / "a folder")
        script = capsys.readouterr().out + 'printf %s "$PULUMI_HOME|${PATH%%:*}"'
        shown = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True).stdout
        assert shown == f"{tmp_path}/a folder/pulumi-home|{tmp_path}/a folder/engine/bin"

    @pytest.mark.parametrize(
        ("version", "host", "usable"),
        [("v3.230.0", True, True), ("v4.0.1", True, True), ("v3.229.9", True, False), ("v3.250.0", False, False)],
    )
    def test_the_users_own_pulumi_is_used_when_recent_and_whole(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str, host: bool, usable: bool
    ) -> None:
        for name in ("pulumi", *(["pulumi-language-python"] if host else [])):
            (tmp_path / name).write_text(f"#!/bin/sh\necho {version}\n")
            (tmp_path / name).chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        assert engine_env.ordinary_cli() == (tmp_path / "pulumi" if usable else None)


class TestOutput:
    LINES = """Updating (local):

    pulumi:pulumi:Stack aks-dra-local  warning: using pulumi-language-python from $PATH at /x
 +  pulumi:pulumi:Stack aks-dra-local creating (0s)
 +  azure-native:resources:ResourceGroup main creating (0s)
 +  azure-native:resources:ResourceGroup main created (0.01s)
 +  kubernetes:helm.sh/v3:Release operator creating (0s)
 +  kubernetes:helm.sh/v3:Release operator **creating failed** error: no such value
 ~  kubernetes:core/v1:ConfigMap layouts updated (2s) [diff: ~data]
Diagnostics:
  pulumi:pulumi:Stack (aks-dra-local):
    warning: using pulumi-language-python from $PATH at /x

    [Pulumi Neo] Would you like help with these diagnostics?
  kubernetes:helm.sh/v3:Release (operator):
    error: no such value
    error: no such value
Resources:
    + 10 created
    ~ 1 updated
    41 unchanged

Duration: 3s
"""

    def test_few_lines_and_every_diagnostic(self) -> None:
        output = Output()
        shown = [text for line in self.LINES.splitlines() if (text := output.take(line)) is not None]
        assert shown == [
            "  created   azure-native:resources:ResourceGroup main 0.01 s",
            "  creating failed kubernetes:helm.sh/v3:Release operator",
            "  updated   kubernetes:core/v1:ConfigMap layouts 2 s",
            "    kubernetes:helm.sh/v3:Release (operator):\n      error: no such value",
            "      error: no such value",
        ]
        assert output.counts == {"created": 10, "updated": 1, "unchanged": 41}

    def test_replacements_are_counted_and_the_sum_is_no_kind_of_change(self) -> None:
        output = Output()
        for line in ("Resources:", "    - 5 deleted", "    +-2 replaced", "    7 changes. 41 unchanged"):
            assert output.take(line) is None
        assert output.counts == {"deleted": 5, "replaced": 2, "unchanged": 41}
        one = Output()
        for line in ("Resources:", "    ~ 1 updated", "    1 change"):
            one.take(line)
        assert one.counts == {"updated": 1}


def test_the_command_refuses_a_real_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr("local.state.CHECKOUT", checkout(tmp_path, "config: {}\n"))
    monkeypatch.setenv("AKS_DRA_LOCAL_STATE", str(tmp_path / "state"))
    for verb in ("up", "down", "status", "env"):
        assert up.main([verb, "--stack", "local"]) == 1
        assert "not a local stack" in capsys.readouterr().err
    assert not (tmp_path / "state").exists()


def test_a_second_stack_is_refused_with_the_command_that_ends_the_first(tmp_path: Path) -> None:
    """Two stacks on one cluster would destroy each other's releases."""
    local, second = (
        stackfile.StackFile(name, tmp_path, "aks-dra", ZERO_SUBSCRIPTION, "1.36") for name in ("local", "b")
    )
    folder = engine_env.backend(tmp_path) / ".pulumi" / "stacks" / "aks-dra"
    folder.mkdir(parents=True)
    for verb in ("up", "down"):
        parts.refuse_second(tmp_path, local, verb)
    held = {"checkpoint": {"latest": {"resources": [{"type": "pulumi:pulumi:Stack"}]}}}
    (folder / "local.json.gz").write_bytes(gzip.compress(json.dumps(held).encode()))
    (folder / "local.json.bak").write_text("{")
    (folder / "empty.json").write_text('{"checkpoint": {"latest": {}}}')
    for verb in ("up", "down"):
        parts.refuse_second(tmp_path, local, verb)
    with pytest.raises(StackError, match=r"^the stack local is up here, .*`make down STACK=local` ends that one"):
        parts.refuse_second(tmp_path, second, "up")
    with pytest.raises(StackError, match=r"^b is not up here, local is, .*`make down STACK=local`"):
        parts.refuse_second(tmp_path, second, "down")
