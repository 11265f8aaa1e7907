"""A smoke test that can end well."""

from __future__ import annotations

import re
from collections.abc import Iterator

from aks_dra import names
from aks_dra.context.context import Context
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.settings.testpool_of import admin_namespace, smoke_test_runs
from aks_dra.topics.tenants.policies import SYSTEM_NAMESPACES
from aks_dra.topics.tenants.rules import QUOTA, TEST_POOL


def smoke_test(context: Context) -> Iterator[Finding]:
    test = context.settings.test_pool
    if not test.enabled:
        return
    reserved = {*SYSTEM_NAMESPACES, names.OPERATOR_NAMESPACE, names.DRA_NAMESPACE, "default"}
    longest = 63 - len(names.ADMIN_SUFFIX)
    if not re.fullmatch(rf"[a-z0-9]([-a-z0-9]{{0,{longest - 2}}}[a-z0-9])?", test.namespace):
        yield finding(
            "TST001",
            "error",
            "aks-dra:testPool.namespace",
            test.namespace,
            f"a namespace's name has lowercase letters, digits and '-'; here at most {longest}, since the smoke test "
            f"has a second one that ends in {names.ADMIN_SUFFIX}",
            "for example gpu-test",
            TEST_POOL,
        )
    elif test.namespace in reserved:
        yield finding(
            "TST002",
            "error",
            "aks-dra:testPool.namespace",
            test.namespace,
            "the test pool needs a namespace of its own: its claims come and go, and no policy looks at them",
            "for example gpu-test",
            TEST_POOL,
        )
    if test.smoke_test.timeout_seconds < 1:
        yield finding(
            "TST003",
            "error",
            "aks-dra:testPool.smokeTest.timeoutSeconds",
            test.smoke_test.timeout_seconds,
            "the smoke test needs time",
            "write the seconds that it may take, e.g. 900",
            TEST_POOL,
        )
    pool = next((pool for pool in context.plan.pools if pool.name == test.name), None)
    if smoke_test_runs(context.settings) and pool is not None and pool.first_nodes == 0:
        yield finding(
            "TST004",
            "error",
            "aks-dra:testPool.nodes",
            pool.nodes,
            "the test pool starts without a node, so the smoke test would wait until its time is up",
            "let it start with one node, or set smokeTest.enabled: false",
            TEST_POOL,
        )
    second = context.settings.namespaces.get(admin_namespace(context.settings))
    if smoke_test_runs(context.settings) and second is not None and second.quota:
        yield finding(
            "TST005",
            "error",
            f"aks-dra:namespaces.{admin_namespace(context.settings)}.quota",
            dict(second.quota),
            "admin access counts against a quota like any other claim, so the smoke test may be refused",
            "remove the quota",
            QUOTA,
        )


RULES = (smoke_test,)
