"""Keeps local stacks away from Azure, and real stacks away from the local stand-in.

A local stack is one whose subscription is all zeros, which Azure does not have. Before anything of it is
registered, the azure-native plugin is asked what it is: only the stand-in knows the question. The stand-in for
its part accepts no other subscription, so an ordinary stack needs no question and pays for none.
"""

from __future__ import annotations

import importlib.metadata
from typing import Any

import pulumi

ZERO_SUBSCRIPTION = "00000000-0000-0000-0000-000000000000"
QUESTION = "azure-native:aksdra:whatAreYou"


def is_local(subscription: str | None) -> bool:
    """Whether this is the subscription that only the stand-in accepts."""
    return subscription == ZERO_SUBSCRIPTION


def refuse_mixed_up_provider() -> None:
    """Ends the program when a local stack would be served by the real azure-native plugin."""
    if not is_local(pulumi.Config("azure-native").get("subscriptionId")):
        return
    answer: Any = {}
    reason = "it answered something else"
    try:
        # The SDK's version, so that the plugin which answers is the one that would be used.
        options = pulumi.InvokeOptions(version=importlib.metadata.version("pulumi-azure-native"))
        answer = pulumi.runtime.invoke(QUESTION, {}, options).value
    except Exception as error:  # the real plugin refuses in its own words, whatever they are
        reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    if not (isinstance(answer, dict) and answer.get("simulated") is True):
        raise pulumi.RunError(
            f"azure-native:subscriptionId is {ZERO_SUBSCRIPTION}, which makes this a local stack, but the "
            f"azure-native plugin is not the local stand-in ({reason}). Start local stacks with `make up STACK=…`, or "
            "give the stack a real subscription. Nothing was registered."
        )
