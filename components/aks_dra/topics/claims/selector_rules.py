"""Hand-written CEL of claims."""

from __future__ import annotations

from collections.abc import Iterator

from aks_dra.context.context import Context
from aks_dra.context.linted import CEL, ELSEWHERE, linted
from aks_dra.findings.build import finding
from aks_dra.findings.finding import Finding
from aks_dra.kube.claims import Ask
from aks_dra.kube.devices import GPU_DRIVER


def has_errors(context: Context, ask: Ask) -> bool:
    """Whether one of an ask's selectors is refused or raises, so that nothing need be said of what it matches."""
    without_text = ask.raw and not all(ask.cel)
    return without_text or any(found.severity == "error" for found in _of_ask(context, ask))


def of_claims(context: Context) -> Iterator[Finding]:
    most = context.facts.limit("selectors")
    for claim in context.claims:
        for ask in claim.asks:
            yield from _of_ask(context, ask)
            if len(ask.cel) > most:
                rule = f"a request has at most {most} selectors"
                yield finding("CLM018", "error", ask.at("cel"), len(ask.cel), rule, "join some with &&", CEL)


def _of_ask(context: Context, ask: Ask) -> Iterator[Finding]:
    entry = context.claim_matches.classes.get(ask.device_class)
    before = list(entry.selectors) if entry else []
    driver = entry.driver if entry else GPU_DRIVER
    ignored = ELSEWHERE | {"matches_everything", "mixes_types"}
    for index, text in enumerate(ask.cel):
        if ask.raw and not text:
            continue  # said of its shape
        yield from linted(context, "CLM017", ask.cel_at(index), text, before, driver, ignored)
        before.append(text)


RULES = (of_claims,)
