"""Settings in bulk: valid ones in every combination that the models allow, and valid ones that something was done to.

The valid ones are drawn from the facts tables and stay within what the rules ask for, so that most have no error; the
broken ones are those with a few places replaced, renamed, added or taken away.
"""

from __future__ import annotations

import copy
import json
from typing import Any

import yaml
from hypothesis import strategies as st

from aks_dra.facts import load_facts, minor
from aks_dra.reference.findings_doc import examples

FACTS = load_facts()
Tree = dict[str, Any]

CUDA = sorted(name for name, size in FACTS.vm_sizes.items() if not size.grid and not size.retired)
GRID = sorted(name for name, size in FACTS.vm_sizes.items() if size.grid and not size.retired)
MIG = sorted(name for name in CUDA if FACTS.family(FACTS.vm_sizes[name]))
POOL_NAMES = ("t4", "a100", "h100", "p1", "old", "x", "t4inference")
WORDS = ("team", "vision", "a-b", "Example.com/tier", "x_y.z", "0")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")


def some(entries: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Tree]:
    return st.fixed_dictionaries({}, optional=entries)


labels = st.dictionaries(st.sampled_from(["team", "example.com/tier", "a-b"]), st.sampled_from(["x", "A.b", ""]))
tags = st.dictionaries(st.sampled_from(["team", "cost_center", "a-b"]), st.sampled_from(["x", "A.b", ""]))
taints = st.lists(
    st.builds(
        lambda key, effect: f"{key}:{effect}", st.sampled_from(["sku=gpu", "team", "a/b=c"]), st.sampled_from(EFFECTS)
    ),
    max_size=3,
    unique=True,
)
counts = st.one_of(
    st.integers(0, 5).map(lambda n: {"count": n}),
    st.tuples(st.integers(0, 3), st.integers(0, 4), st.booleans()).map(
        lambda t: {"min": t[0], "max": max(t[0] + t[1], 1), **({"initial": max(t[0], 1)} if t[2] else {})}
    ),
)  # fmt: skip


@st.composite
def layouts(draw: st.DrawFn, size: str) -> Any:
    family = FACTS.family(FACTS.vm_sizes[size])
    assert family is not None
    stock = draw(st.sampled_from(sorted(family.layouts)))
    if draw(st.booleans()):
        return stock
    return [{"devices": "all", "profiles": dict(family.layouts[stock])}]


@st.composite
def pools(draw: st.DrawFn, owner: str) -> Tree:
    dra = draw(st.booleans())
    size = draw(st.sampled_from([*CUDA, *MIG, *(GRID if owner == "aks" else ())]))
    pool: Tree = {"vmSize": size if draw(st.booleans()) else size.lower(), "nodes": draw(counts)}
    if not dra or draw(st.booleans()):
        pool["allocation"] = "dra" if dra else "devicePlugin"
    mode = draw(st.sampled_from(["exclusive", "mig", "timeSlicing", "mps", None]))
    if mode == "mig" and FACTS.family(FACTS.vm_sizes[size]) and owner == "operator":
        pool["sharing"] = {"mode": "mig", "layout": draw(layouts(size))}
    elif mode in ("timeSlicing", "mps"):
        pool["sharing"] = {"mode": mode}
        if not dra:
            pool["sharing"] |= {"replicas": draw(st.integers(2, 9))} | draw(some({"rename": st.booleans()}))
        elif mode == "timeSlicing":
            pool["sharing"] |= draw(some({"interval": st.sampled_from(["Default", "Short", "Medium", "Long"])}))
        else:
            pool["sharing"] |= draw(some({"activeThreadPercentage": st.integers(1, 100)}))
    elif mode:
        pool["sharing"] = {"mode": "exclusive"}
    optional = {
        "labels": labels, "taints": taints, "spot": st.booleans(), "zones": st.just(["1"]),
        "osDiskSizeGb": st.just(256), "maxPods": st.integers(30, 250), "maxSurge": st.just("1"),
        "tags": tags, "protect": st.booleans(),
    }  # fmt: skip
    return pool | draw(some(optional))


requirements = some(
    {
        "memory": st.sampled_from([">=1Gi", ">=10Gi", "<300Gi"]),
        "computeCapability": st.sampled_from([">=7.0", ">=7.5 <20"]),
        "type": st.just("gpu"),
    }
).filter(bool)
sharings = st.sampled_from([{"mode": "timeSlicing", "interval": "Long"}, {"mode": "mps", "activeThreadPercentage": 20}])


@st.composite
def classes(draw: st.DrawFn, version: tuple[int, int]) -> Tree:
    found: Tree = {}
    for name in draw(st.lists(st.sampled_from(["big", "any-gpu", "x.y"]), unique=True, max_size=2)):
        found[name] = {"require": draw(requirements), **draw(some({"labels": labels, "sharing": sharings}))}
        if version >= (1, 36) and draw(st.booleans()):
            found[name]["extendedResourceName"] = f"example.com/{name}"
    return found


@st.composite
def claims(draw: st.DrawFn, names: list[str]) -> Tree:
    one = st.sampled_from(names)
    ranked = st.lists(one, min_size=1, max_size=4).map(
        lambda chosen: {"firstAvailable": [{"deviceClass": c} for c in chosen]}
    )
    single = one.map(lambda name: {"deviceClass": name})
    several = st.dictionaries(st.sampled_from(["a", "b"]), single, min_size=1).map(lambda asked: {"requests": asked})
    claim: Tree = draw(st.one_of(single, single, ranked, several))
    if "requests" in claim and len(claim["requests"]) > 1 and draw(st.booleans()):
        claim["constraints"] = [{"requests": ["a", "b"], "matchAttribute": "gpu.nvidia.com/productName"}]
    return claim | draw(some({"shareAcross": st.sampled_from(["pods", "containers"]), "sharing": sharings}))


@st.composite
def valid(draw: st.DrawFn) -> Tree:
    """Settings as a stack file has them, without the prefix of the keys."""
    owner = draw(st.sampled_from(["operator", "operator", "aks"]))
    version = draw(st.sampled_from(["1.36", "1.36", "1.36.2", "1.37", "1.35", "1.34", None]))
    tree: Tree = {
        "cluster": {"access": {"azureRbac": True}} | ({"kubernetesVersion": version} if version else {}),
        "gpu": {"driver": owner} | draw(some({"existingNfd": st.booleans(), "tolerations": taints})),
        "pools": draw(st.dictionaries(st.sampled_from(POOL_NAMES), pools(owner), max_size=4)),
        "deviceClasses": draw(classes(minor(version or "1.36"))),
    }
    dra = [pool for pool in tree["pools"].values() if pool.get("allocation", "dra") == "dra"]
    whole = [pool for pool in dra if pool.get("sharing", {}).get("mode") != "mig"]
    gpus = {FACTS.gpus[size.gpu].class_name for pool in whole if (size := FACTS.vm_size(pool["vmSize"]))}
    names = [*sorted(gpus), *tree["deviceClasses"], *(["gpu.nvidia.com"] if dra else [])]
    rest: dict[str, st.SearchStrategy[Any]] = {
        "tags": tags,
        "testPool": st.just({"enabled": owner == "operator"}),
        "acknowledge": st.just([{"code": "AUT002", "reason": "tried on this version"}]),
    }
    if names:
        quota = st.dictionaries(st.sampled_from(names), st.integers(20, 90))
        space = some({"quota": quota, "adminAccess": st.booleans(), "labels": labels, "allow": st.just(names)})
        listed = st.dictionaries(st.sampled_from(["one", "two", "a.b"]), claims(names), min_size=1, max_size=2)
        rest["claims"] = st.dictionaries(st.sampled_from(["ml", "team-a"]), listed, max_size=2)
        rest["namespaces"] = st.fixed_dictionaries({"ml": space, "team-a": space})
    return tree | draw(some(rest))


def odd_texts() -> st.SearchStrategy[str]:
    known = [
        "", " ", "\n", "\t", "\x00", "²", "١٢", "İ", "🙂", "\ud800", "\u2028", "null", "true", "1.40", "../..",
        "a" * 300, "x:y", "a.b", "a/b", "%s", "{0}", "${x}", "secure", "-", "--", "e\u0301", "\u202e", "[bold]",
        "::error::", "'", '"', "gpu.nvidia.com", "all-1g.10gb", "device.driver == 'x'",
        "Calling __str__ on an Output[T] is not supported",
    ]  # fmt: skip
    return st.one_of(st.sampled_from(known), st.text(max_size=12))


numbers = st.one_of(
    st.sampled_from(
        [0, -1, 1, 33, 1001, 2**31, 2**63, 10**30, -(10**30), 1.4, -0.5, 1e308, float("nan"), float("inf")]
    ),
    st.integers(),
    st.floats(),
)
junk: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, odd_texts()),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(odd_texts(), inner, max_size=3)),
    max_leaves=6,
)


def places(value: Any, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value in the tree."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for key, inner in entries for found in ((*above, key), *places(inner, (*above, key)))]


def written() -> list[Tree]:
    """The settings of every example in the documents: between them they have every key that there is."""
    found = []
    for example in examples().values():
        try:
            config = yaml.safe_load(example.text())["config"]
            tree = {key.removeprefix("aks-dra:"): config[key] for key in config if key.startswith("aks-dra:")}
            found.append(json.loads(json.dumps(tree, default=str)))  # a date is text here, as in the loader
        except (yaml.YAMLError, AttributeError, TypeError, KeyError):
            continue  # an example of what is no YAML, or of another shape
    return [tree for tree in found if tree and len(str(tree)) < 3000]


WRITTEN = written()


@st.composite
def broken(draw: st.DrawFn) -> Tree:
    """Valid settings, or those of an example, to which one to four things were done."""
    tree: Tree = copy.deepcopy(draw(st.one_of(valid(), st.sampled_from(WRITTEN))))
    for _ in range(draw(st.integers(1, 4))):
        known = places(tree)
        if not known:
            break
        path = draw(st.sampled_from(known))
        parent: Any = tree
        for key in path[:-1]:
            parent = parent[key]
        last = path[-1]
        change = draw(st.sampled_from(["replace", "replace", "remove", "rename", "add", "copy", "wrap"]))
        if change == "replace":
            parent[last] = draw(junk)
        elif change == "copy":
            parent[last] = copy.deepcopy(at(tree, draw(st.sampled_from(known))))
        elif change == "wrap":
            parent[last] = draw(
                st.sampled_from([[parent[last]], {"x": parent[last]}, json.dumps(parent[last], default=str)])
            )
        elif isinstance(parent, dict):
            moved = parent[last] if change == "add" else parent.pop(last)
            if change != "remove":
                parent[draw(st.one_of(odd_texts(), st.just(str(last).lower()), st.just(f"{last}s")))] = moved
    return tree


def at(tree: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        if isinstance(tree, dict):
            tree = tree.get(key)
        elif isinstance(tree, list) and isinstance(key, int) and key < len(tree):
            tree = tree[key]
        else:
            return None
    return tree


def as_yaml(tree: Tree, ascii_only: bool) -> bytes:
    """A stack file: JSON is YAML, and takes every value. Half of a character makes it no text at all."""
    config = {f"aks-dra:{key}": value for key, value in tree.items()} | {"azure-native:location": "swedencentral"}
    return json.dumps({"config": config}, ensure_ascii=ascii_only, indent=1).encode("utf-8", "surrogatepass")
