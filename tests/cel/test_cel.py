"""Selectors on devices: Kubernetes' recorded answers, values only known on the node, versions, errors."""

from __future__ import annotations

import pytest

from aks_dra.cel import CompileError, Program, Result, RuntimeProblem, Undecided, compile_expression
from aks_dra.kube.devices import MAYBE, UNKNOWN, Device, Version
from tests.oracle import table
from tests.oracle.sentences import Sentences

A = "device.attributes['gpu.nvidia.com']"
C = "device.capacity['gpu.nvidia.com']"
T4 = Device(
    "gpu-0",
    "gpu.nvidia.com",
    {
        "type": "gpu",
        "uuid": UNKNOWN,
        "productName": "Tesla T4",
        "cudaComputeCapability": Version("7.5.0"),
        "driverVersion": UNKNOWN,
        "resource.kubernetes.io/pciBusID": UNKNOWN,
        "addressingMode": MAYBE,
    },
    {"memory": "16Gi", "shares": UNKNOWN},
)

# Values that three attributes may turn out to have.
POSSIBLE: dict[str, tuple[str | Version, ...]] = {
    "uuid": ("GPU-1", "gpu", "", "580.105.8"),
    "driverVersion": (Version("580.105.8"), Version("8.0.0"), Version("7.5.0"), Version("1.2.3-beta.2")),
    "type": ("gpu", "mig", "vfio", ""),
}


def evaluate(text: str, device: Device = T4) -> Result:
    program = compile_expression(text.replace("$A", A).replace("$C", C))
    assert isinstance(program, Program), program
    return program.evaluate(device)


def refusal(text: str, minor: tuple[int, int] = (1, 36)) -> CompileError:
    program = compile_expression(text.replace("$A", A).replace("$C", C), minor)
    assert isinstance(program, CompileError)
    return program


def test_every_recorded_answer_of_kubernetes_is_ours() -> None:
    recorded = table.recorded()
    disagreeing = {
        (row.expression, row.device): (ours, recorded[table.key(row)][row.device])
        for row in table.rows()
        if (ours := table.our_answer(row.expression, table.devices()[row.device], row.consumable))
        != recorded[table.key(row)][row.device]
    }
    assert not disagreeing
    assert len({row.expression for row in table.rows()}) > 350


@pytest.mark.parametrize("row", table.differences(), ids=lambda row: row.expression[:60])
def test_listed_differences_are_as_listed(row: table.Row) -> None:
    assert table.our_answer(row.expression, table.devices()[row.device]) == row.ours
    assert table.recorded()[table.key(row)][row.device] != row.ours, "no difference any more: take it off the list"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("$A.uuid == 'GPU-1'", ("gpu.nvidia.com/uuid",)),
        ("'GPU-1' == $A.uuid", ("gpu.nvidia.com/uuid",)),
        ("$A.uuid != 'GPU-1'", ("gpu.nvidia.com/uuid",)),
        ("$A.uuid in ['GPU-1']", ("gpu.nvidia.com/uuid",)),
        ("$A.uuid", ("gpu.nvidia.com/uuid",)),
        ("$A['uuid'].startsWith('GPU')", ("gpu.nvidia.com/uuid",)),
        ("$A.?uuid.orValue('x') == 'x'", ("gpu.nvidia.com/uuid",)),
        ("$A[?'uuid'].value() == 'x'", ("gpu.nvidia.com/uuid",)),
        ("$A.?uuid.optMap(u, u == 'x').orValue(false)", ("gpu.nvidia.com/uuid",)),
        ("cel.bind(a, $A, a.type == 'gpu' && a.uuid == 'x')", ("gpu.nvidia.com/uuid",)),
        ("cel.bind(d, device, d.attributes['gpu.nvidia.com'].uuid == 'x')", ("gpu.nvidia.com/uuid",)),
        ("['uuid'].exists(n, $A[n] == 'x')", ("gpu.nvidia.com/uuid",)),
        ("$A['uu' + 'id'] == 'x'", ("gpu.nvidia.com/uuid",)),
        ("$A.driverVersion.compareTo(semver('570.0.0')) >= 0", ("gpu.nvidia.com/driverVersion",)),
        ("device.attributes['resource.kubernetes.io'].pciBusID == 'x'", ("resource.kubernetes.io/pciBusID",)),
        ("$C.shares.isGreaterThan(quantity('1'))", ("gpu.nvidia.com/shares",)),
        ("$C.shares == quantity('1')", ("gpu.nvidia.com/shares",)),
        ("$A.nope == 'x' || $A.uuid == 'x'", ("gpu.nvidia.com/uuid",)),
        ("$A.uuid == 'x' ? true : false", ("gpu.nvidia.com/uuid",)),
        ("$A.?addressingMode.orValue('') == 'HMM'", ("gpu.nvidia.com/addressingMode",)),
        ("has($A.addressingMode)", ("addressingMode",)),
    ],
)
def test_what_rests_on_the_node_is_undecided(text: str, names: tuple[str, ...]) -> None:
    assert evaluate(text) == Undecided(names)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("has($A.uuid)", True),
        ("'uuid' in $A", True),
        ("$A.?uuid.hasValue()", True),
        ("$A.exists(n, n == 'uuid')", True),
        ("$A.uuid == 'x' && $A.type == 'mig'", False),
        ("$A.type == 'mig' && $A.uuid == 'x'", False),
        ("$A.uuid == 'x' || $A.type == 'gpu'", True),
        ("$A.exists(n, v, v == 'gpu')", True),
        ("!($A.uuid == 'x' && $A.type == 'mig')", True),
        ("has($A.addressingMode) || true", True),
        ("has($A.addressingMode) && $A.type == 'mig'", False),
    ],
)
def test_what_does_not_rest_on_the_node_is_decided(text: str, answer: bool) -> None:
    assert evaluate(text) is answer


def test_an_attribute_that_may_be_missing_raises_unguarded() -> None:
    assert evaluate("$A.addressingMode == 'HMM'") == RuntimeProblem("no such key: addressingMode")


def test_a_loop_left_early_does_not_spoil_a_later_binding() -> None:
    """The engine by itself takes the loop's last element for `a`."""
    assert evaluate("[1, 2].exists(x, x == 1) && cel.bind(a, 5, a == 5)") is True
    assert evaluate("[1, 2].all(x, x == 9) || cel.bind(a, $A.nope, a == 1)") == RuntimeProblem("no such key: nope")
    assert evaluate("$A.exists(n, v, n == 'type') && cel.bind(a, $A.productName, a == 'Tesla T4')") is True


def test_a_version_compared_with_text_raises() -> None:
    assert evaluate("$A.cudaComputeCapability == '7.5'") == RuntimeProblem("no such overload")


def test_errors_have_their_place() -> None:
    error = refusal("device.driver == 'gpu.nvidia.com' &&\n  device.pool == 'x'")
    assert (error.line, error.column) == (2, 9)
    assert "undefined field 'pool'" in error.text
    assert error.caret.endswith("^")
    assert refusal("true &&\n ['a', 1].size() == 2").line == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("'a'", "must evaluate to bool or the unknown type, not string"),
        ("$C", "must evaluate to bool or the unknown type, not map(string, kubernetes.Quantity)"),
        ("$C.memory > quantity('1')", "no matching overload for '_>_'"),
        ("$C.memory != quantity('1')", "too expensive"),
        ("$A.productName.matches('[')", "invalid matches argument"),
        ("duration('1x') > duration('1s')", "invalid duration argument"),
        ("true // " + "x" * 10240, "too long"),
        ("'%s'.format([$A.type]) == 'gpu'", "string(…)"),
    ],
)
def test_what_the_api_server_refuses(text: str, says: str) -> None:
    assert says in refusal(text).text


def test_multiple_allocations_are_seen_from_1_36() -> None:
    shared = Device("a", "x.example.com", allow_multiple_allocations=True)
    assert evaluate("device.allowMultipleAllocations", shared) is True
    assert "allowMultipleAllocations" in refusal("device.allowMultipleAllocations", (1, 35)).text
    assert "allowMultipleAllocations" in refusal("has(device.allowMultipleAllocations)", (1, 34)).text


def test_what_has_tests_is_read_from_the_expression_and_not_from_its_texts() -> None:
    odd = Device("a", "has(device.driver)")
    assert evaluate("has( device . driver ) && device.driver == 'has(device.driver)'", odd) is True
    assert evaluate("!has(device.attributes) || has(device.attributes['x'].y)", odd) is False


def test_kinds_are_what_selectors_can_tell_apart() -> None:
    again = Device("gpu-7", T4.driver, dict(reversed(list(T4.attributes.items()))), dict(T4.capacity))
    assert again.kind() == T4.kind()
    assert again != T4
    other = Device("gpu-0", T4.driver, {**T4.attributes, "cudaComputeCapability": "7.5.0"}, T4.capacity)
    assert other.kind() != T4.kind()
    assert Device("a", "d", {"x": True}).kind() != Device("a", "d", {"x": 1}).kind()


def test_a_decided_answer_holds_whatever_the_node_says() -> None:
    """Random selectors on devices with some values hidden: what is not Undecided is so for each of many values."""
    drawn = Sentences(11)
    whole = table.devices()["h100"]
    hidden = Device("h100", whole.driver, {**whole.attributes, **dict.fromkeys(POSSIBLE, UNKNOWN)}, whole.capacity)
    decided = undecided = 0
    for _ in range(1500):
        compiled = compile_expression(drawn.draw())
        if isinstance(compiled, CompileError):
            continue
        answer = compiled.evaluate(hidden)
        if isinstance(answer, Undecided):
            undecided += 1
            continue
        decided += 1
        for values in zip(*POSSIBLE.values(), strict=True):
            shown = {**whole.attributes, **dict(zip(POSSIBLE, values, strict=True))}
            concrete = compiled.evaluate(Device("h100", whole.driver, shown, whole.capacity))
            assert type(concrete) is type(answer), compiled.expression
            assert isinstance(concrete, RuntimeProblem) or concrete == answer, compiled.expression
    assert decided > 300
    assert undecided > 50
