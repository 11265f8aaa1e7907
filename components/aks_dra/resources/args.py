"""What a program hands to a component, and the plan that comes of it.

Everything is planned before anything is registered, so all of it must be plain: names, and every value that a
rule looks at. An Output is refused with its path, also where it was already turned into text: Python gives
such a text silently, and it would end up as the name of something.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pulumi
from pydantic.alias_generators import to_camel

from aks_dra.context.previous import Previous
from aks_dra.findings.finding import Finding
from aks_dra.model.plan import Plan
from aks_dra.settings import Settings
from aks_dra.settings.parse import locate, read_values
from aks_dra.settings.reading import Unread
from aks_dra.stackfile.loader import Loaded
from aks_dra.stackfile.plain import MAX_DEPTH

# How pulumi's Output answers str(): the text that ends up in names built with f-strings.
OUTPUT_TEXT = "Calling __str__ on an Output[T] is not supported"


class DraClusterArgs:
    """Settings of a cluster: a Settings model, a mapping (camelCase or snake_case), or keywords.

    Keywords are laid over the first argument, key by key at the top level. Names and all other values are plain:
    `DraClusterArgs(cluster={"kubernetesVersion": "1.36"}, pools={"a100": {"vmSize": "Standard_NC24ads_A100_v4"}})`.
    """

    settings: Settings
    config_findings: tuple[Finding, ...]
    loaded: Loaded | None
    previous: Previous | None
    unread: Unread | None

    def __init__(
        self,
        settings: Settings | Mapping[str, Any] | None = None,
        *,
        config_findings: tuple[Finding, ...] = (),
        loaded: Loaded | None = None,
        previous: Previous | None = None,
        unread: Unread | None = None,
        **values: Any,
    ) -> None:
        self.config_findings = config_findings
        self.loaded = loaded  # where a stack file set what, so that findings can say it
        self.previous = previous  # what the cluster was before (`last_run`), for the findings of changes
        self.unread = unread  # what the settings lack, which is an error once they are planned
        if isinstance(settings, Settings) and not values:
            self.settings = settings
            return
        given = settings.model_dump(exclude_unset=True) if isinstance(settings, Settings) else dict(settings or {})
        # One spelling at the top level, so that a keyword replaces what the mapping says.
        whole = {to_camel(key): value for key, value in (given | values).items()} if values else given
        _refuse(_output_problems(whole))
        reading = read_values(whole)
        if reading.settings is None:
            stop_on_errors(pulumi.get_stack(), reading.findings)
            raise pulumi.RunError("These settings cannot be read; nothing was registered.")
        self.settings, self.unread = reading.settings, reading.unread
        self.config_findings += reading.findings
        if reading.whole is None:
            plan_of(self)  # which ends the program, with what else is wrong


Args = Plan | DraClusterArgs | Settings | Mapping[str, Any]
"""What every component accepts. A Plan is what the parts of one cluster share."""


def plan_of(args: Args, resource: pulumi.Resource | None = None) -> Plan:
    """The plan of `args`. Warnings go to Pulumi's log, all errors end the program in one message."""
    if isinstance(args, Plan):
        stop_on_errors(args.stack, args.findings)
        return args
    from aks_dra.plan import plan  # here: loading the facts is only needed when something is planned
    from aks_dra.stack_plan import own_facts

    given = args if isinstance(args, DraClusterArgs) else DraClusterArgs(args)
    folder = Path(given.loaded.files[0]).parent if given.loaded and given.loaded.files else Path.cwd()
    facts, problems = own_facts(given.settings, folder)
    planned: Plan = plan(
        given.settings,
        facts=facts,
        project=pulumi.get_project(),
        stack=pulumi.get_stack(),
        location=pulumi.Config("azure-native").get("location") or "",
        config_findings=(*given.config_findings, *problems),
        today=datetime.date.today().isoformat(),
        previous=given.previous,
        unread=given.unread,
    )
    if given.loaded is not None:
        planned = replace(planned, findings=tuple(locate(planned.findings, given.loaded)))
    stop_on_errors(planned.stack, planned.findings)
    log_warnings(planned, resource)
    return planned


def stop_on_errors(stack: str, findings: Iterable[Finding]) -> None:
    """Ends the program when there are errors: one message with all of them, and no traceback."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        return
    head = f"{len(errors)} error{'s' * (len(errors) > 1)} in the settings of stack {stack}; nothing was registered:"
    raise pulumi.RunError("\n\n".join([head, *(describe(finding) for finding in errors)]))


def log_warnings(plan: Plan, resource: pulumi.Resource | None) -> None:
    """Writes every warning that nobody acknowledged to Pulumi's log."""
    for finding in plan.warnings:
        pulumi.log.warn(describe(finding), resource)


def describe(finding: Finding) -> str:
    """A finding on lines: where, what, what to write instead."""
    place = f"  ({finding.file}:{finding.line})" if finding.file else ""
    lines = [f"{finding.code} {finding.path}{place}", f"  {finding.message}"]
    if finding.remedy:
        lines.append(f"  {finding.remedy}")
    return "\n".join(lines)


def _refuse(problems: list[str]) -> None:
    if problems:
        raise pulumi.RunError("\n".join(["These settings cannot be used; nothing was registered:", *problems]))


def _output_problems(values: Mapping[Any, Any]) -> list[str]:
    problems = []
    for path, value in _leaves(values, ""):
        if isinstance(value, pulumi.Output):
            problems.append(
                f"  {path}: is an Output. Names and settings are plain values, since all rules are checked before "
                "anything is created: pass the text itself, e.g. from pulumi.Config or a stack reference's "
                "get_output_details(...).value"
            )
        elif isinstance(value, str) and OUTPUT_TEXT in value:
            problems.append(
                f"  {path}: is the text that Pulumi gives for str() of an Output. Pass a plain value instead of an "
                "f-string with an Output in it"
            )
    return problems


def _leaves(value: Any, path: str, above: tuple[int, ...] = ()) -> Iterator[tuple[str, Any]]:
    """Every value that is no container. One that contains itself has a finding of its own later."""
    if isinstance(value, Mapping | list | tuple) and (id(value) in above or len(above) > MAX_DEPTH):
        return
    above = (*above, id(value))
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if isinstance(key, pulumi.Output) or (isinstance(key, str) and OUTPUT_TEXT in key):
                yield f"{path or 'settings'} (a key)", key
            else:
                yield from _leaves(inner, f"{path}.{key}" if path else str(key), above)
    elif isinstance(value, list | tuple):
        for index, inner in enumerate(value):
            yield from _leaves(inner, f"{path}[{index}]", above)
    else:
        yield path, value
