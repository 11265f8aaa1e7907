"""What is taken for the leavings of a killed `make up`, and what is left alone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, ClassVar

import pytest

from local.stack import engine_env, processes, recovery
from local.stack.engine import pending, resources


class FakeCluster:
    """Helm's records of some releases, by name: (revision, status)."""

    def __init__(self, records: dict[str, list[tuple[str, str]]]) -> None:
        self.records, self.deleted = records, list[str]()

    def items(self, path: str, labelSelector: str) -> list[dict[str, Any]]:
        name = labelSelector.partition("name=")[2]
        return [
            {
                "metadata": {
                    "name": f"sh.helm.release.v1.{name}.v{version}",
                    "labels": {"version": version, "status": status},
                }
            }
            for version, status in self.records.get(name, [])
        ]

    def request(self, method: str, path: str) -> None:
        assert method == "DELETE"
        self.deleted.append(path.rpartition("/")[2])


def release(name: str, **more: Any) -> dict[str, Any]:
    return {"type": recovery.RELEASE, "urn": f"urn:x::{name}", "inputs": {"name": name, "namespace": "gpu"}, **more}


class TestReleases:
    STATE: ClassVar[dict[str, Any]] = {
        "deployment": {
            "resources": [{"type": "pulumi:pulumi:Stack", "urn": "u"}, release("kept"), release("updated")],
            "pending_operations": [
                {"type": "creating", "resource": release("new")},
                {"type": "updating", "resource": release("updated")},
            ],
        }
    }

    def freed(self, records: dict[str, list[tuple[str, str]]]) -> list[str]:
        cluster, said = FakeCluster(records), list[str]()
        for namespace, name, recorded in recovery.releases(self.STATE):
            recovery.free_release(cluster, namespace, name, recorded, said.append)  # type: ignore[arg-type]
        assert len(said) == len(cluster.deleted)
        return sorted(cluster.deleted)

    def test_of_a_release_that_the_state_lacks_every_record_goes(self) -> None:
        for status in ("pending-install", "deployed", "failed"):
            assert self.freed({"new": [("1", status)]}) == ["sh.helm.release.v1.new.v1"]

    def test_of_a_recorded_release_only_what_is_half_done(self) -> None:
        records = {
            "updated": [("1", "superseded"), ("2", "deployed"), ("3", "pending-upgrade")],
            "kept": [("1", "deployed")],
        }
        assert self.freed(records) == ["sh.helm.release.v1.updated.v3"]

    def test_a_release_of_the_users_own_is_left_alone(self) -> None:
        assert self.freed({"theirs": [("1", "pending-install")]}) == []

    def test_what_the_state_holds(self) -> None:
        assert [entry["urn"] for entry in resources(self.STATE)] == ["urn:x::kept", "urn:x::updated"]
        assert [recovery.describe(entry) for entry in pending(self.STATE)] == [
            "creating kubernetes:helm.sh/v3:Release new",
            "updating kubernetes:helm.sh/v3:Release updated",
        ]
        empty: dict[str, Any] = {"deployment": None}
        assert (resources(empty), pending(empty)) == ([], [])


class TestProcesses:
    def test_what_up_started_is_found_by_its_mark_and_nothing_else_is(self, tmp_path: Path) -> None:
        home = str(engine_env.home(tmp_path))
        marked = {**os.environ, processes.MARK: str(tmp_path), "PULUMI_HOME": home}
        by_hand = {**os.environ, "PULUMI_HOME": home}
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        named = tmp_path / "pulumi"
        named.symlink_to("/bin/sleep")
        started = [
            subprocess.Popen(sleep, env=marked),
            subprocess.Popen(sleep, env=by_hand),
            subprocess.Popen([named, "60"], env=by_hand),
        ]
        try:
            time.sleep(0.3)
            assert [found.pid for found in processes.started_by_up(tmp_path)] == [started[0].pid]
            assert [found.pid for found in processes.engines_by_hand(tmp_path, engine_env.home(tmp_path))] == [
                started[2].pid
            ]
            assert processes.started_by_up(tmp_path / "other") == []
            with pytest.raises(recovery.Busy, match=r"pulumi \(pid \d+\) works on this stack"):
                recovery.settle_orphans(tmp_path, print)
            started[2].kill()
            started[2].wait()
            said: list[str] = []
            recovery.settle_orphans(tmp_path, said.append)
            assert said[-1] == "ended them"
            assert started[0].wait(5) != 0
            assert started[1].poll() is None
        finally:
            for process in started:
                process.kill()
                process.wait()

    def test_one_run_at_a_time_and_a_dead_one_holds_nothing(self, tmp_path: Path) -> None:
        hold = (
            "import sys, time; from pathlib import Path; from local.stack import recovery\n"
            "with recovery.only_one(Path(sys.argv[1]), 'up', print): print('held', flush=True); time.sleep(60)"
        )
        holder = subprocess.Popen(
            [sys.executable, "-c", hold, str(tmp_path)],
            cwd=Path(__file__).parents[3],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with (
            pytest.raises(recovery.Busy, match=rf"`make up` \(pid {holder.pid}\) is at work"),
            recovery.only_one(tmp_path, "down", print),
        ):
            pass
        holder.kill()
        holder.wait()
        said: list[str] = []
        with recovery.only_one(tmp_path, "down", said.append):
            assert said == [
                f"an earlier `make up` (pid {holder.pid}) ended without tidying up; going on from what it left"
            ]
        said.clear()
        with recovery.only_one(tmp_path, "up", said.append):
            assert said == []
