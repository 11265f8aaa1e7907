"""Edits of a stack file in place: lines that change, and no other."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aks_dra.stackfile.edit import Drop, Edit, EditError, Put, edited, flow

AT = ("config", "aks-dra:pools")
KEYS = st.sampled_from(["a", "b", "aks-dra:pools", "no", "1.36", "with space"])


TEXT = """\
# head
config:
  azure-native:location: swedencentral   # here
  aks-dra:pools:
    # first
    t4: {vmSize: X}  # tail
    old:
      vmSize: Y   # y
      nodes:
        count: 1
    # about the last
    z: {a: 1,
        b: 2}

  # after
  aks-dra:gpu: {}
  aks-dra:tags:
encryptionsalt: v1:abc
"""


EDITS: list[tuple[Edit, dict[int, list[str]]]] = [
    (Put((*AT, "new"), {"vmSize": "S", "v": "1.36", "on": True}),
     {13: ["        b: 2}", '    new: {vmSize: S, v: "1.36", "on": true}']}),
    (Put((*AT, "t4", "protect"), False), {6: ["    t4: {vmSize: X, protect: false}  # tail"]}),
    (Put((*AT, "old", "protect"), False), {10: ["        count: 1", "      protect: false"]}),
    (Put((*AT, "old", "nodes"), {"count": 0}), {9: ["      nodes: {count: 0}"], 10: []}),
    (Put((*AT, "z", "c"), [1, "two"]), {13: ["        b: 2, c: [1, two]}"]}),
    (Put(("config", "aks-dra:gpu", "legacyRequests"), "dra"), {16: ["  aks-dra:gpu: {legacyRequests: dra}"]}),
    (Put(("config", "aks-dra:tags", "a"), "yes"), {17: ['  aks-dra:tags: {a: "yes"}']}),
    (Put(("config", "aks-dra:claims", "ml", "x"), {"deviceClass": "t4"}),
     {17: ["  aks-dra:tags:", "  aks-dra:claims: {ml: {x: {deviceClass: t4}}}"]}),
    (Drop((*AT, "old")), {7: [], 8: [], 9: [], 10: []}),
    (Drop((*AT, "t4")), {6: []}),
    (Drop((*AT, "z", "a")), {12: ["    z: {b: 2}"], 13: []}),
    (Drop((*AT, "z", "b")), {12: ["    z: {a: 1}"], 13: []}),
    (Drop((*AT, "absent")), {}),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "lines"), EDITS)
def test_an_edit_changes_its_lines_and_no_other(edit: Edit, lines: dict[int, list[str]]) -> None:
    expected = [new for number, line in enumerate(TEXT.splitlines(), 1) for new in lines.get(number, [line])]
    assert edited(TEXT, [edit]).splitlines() == expected


@pytest.mark.parametrize(
    "text",
    [
        "config:\n  x: &pools {t4: {}}\n  aks-dra:pools: *pools\n",
        "config:\n  aks-dra:pools: &p {t4: {}}\n",
        "config:\n  aks-dra:pools: '{\"t4\": {}}'\n",
        "- config\n",
        "config: {\n",
    ],
)
def test_what_cannot_be_edited_in_place_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        edited(text, [Put((*AT, "new"), {})])


def test_a_value_on_one_line_reads_as_what_it_was() -> None:
    value = {"a": "1.40", "b": ["no", "~", "x: y", "#", ""], "c": {"on": 0, "d": None}, "e": -1.0, "f": 'q"'}
    assert yaml.safe_load(flow(value)) == value


SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.text("ab #:{}[],&*'\"|>-\n", max_size=6))


TREES = st.recursive(
    SCALARS, lambda inner: st.dictionaries(KEYS, inner, max_size=3) | st.lists(inner, max_size=2), max_leaves=8
)


@given(st.dictionaries(KEYS, TREES, max_size=3), st.lists(KEYS, min_size=1, max_size=3), TREES, st.booleans())
def test_what_an_edit_says_is_what_yaml_reads(tree: dict[str, Any], path: list[str], value: Any, block: bool) -> None:
    text = yaml.safe_dump({"config": tree}, default_flow_style=not block, allow_unicode=True, sort_keys=False)
    expected = yaml.safe_load(text)
    inner = expected["config"]
    for key in path[:-1]:
        below = inner.get(key)
        if below is not None and not isinstance(below, dict):
            with pytest.raises(EditError):
                edited(text, [Put(("config", *path), value)])
            return
        if below is None:
            inner[key] = {}
        inner = inner[key]
    inner[path[-1]] = value
    put = edited(text, [Put(("config", *path), value)])
    assert yaml.safe_load(put) == expected
    del inner[path[-1]]
    assert yaml.safe_load(edited(put, [Drop(("config", *path))])) == expected
