"""Estimate what a job would cost and could detect; calls no model."""

import json
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from gnomon_service.cli.completions import complete_job
from gnomon_service.cli.options import data_dir_option, json_option

MAX_WORDS = 120  # characters of what a server says of a tool
SCOPES = {"all samples": "all", "smallest subset": "smallest_cell"}


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--pilot",
    metavar="JOB",
    shell_complete=complete_job,
    help="A stored job whose costs and spread replace assumptions.",
)
@click.option(
    "--lost",
    metavar="SHARE",
    type=click.FloatRange(0, 0.5),
    default=0.0,
    help="Share of each arm's trials expected to be lost; 0.03 is 3 %.",
)
@click.option(
    "--icc",
    metavar="SHARE",
    type=click.FloatRange(0, 0.9),
    help="Correlation of the differences within a cluster, unless a pilot shows it.",
)
@data_dir_option
@json_option
def plan(
    spec: Path, pilot: str | None, lost: float, icc: float | None, data_dir: Path | None, as_json: bool
) -> None:
    """Estimate what the job in SPEC would cost and could detect; calls no model.

    Prints trials, tokens and price of each arm, and the minimum detectable effect: the smallest true
    difference that 8 of 10 such jobs would claim.
    """
    from gnomon_service.cli.common import draft_of, existing_store, settings_of
    from gnomon_service.cli.ids import find_job

    draft = draft_of(spec, settings_of(data_dir))
    from gnomon_service.planning import (
        plan as plan_job,  # after the spec was checked: a fault in it is said at once
    )

    with existing_store(data_dir) if pilot else nullcontext() as store:
        pilot = find_job(store, pilot) if store and pilot else None
        document = plan_job(
            draft, store=store, pilot=pilot, lost=lost, **({} if icc is None else {"icc": icc})
        )
    click.echo(json.dumps(document, indent=2) if as_json else plan_text(document))


def plan_text(document: dict[str, Any]) -> str:
    """The plan in words."""
    from gnomon.report.text_formats import count

    nouns = {"samples": "sample", "clusters": "cluster", "cells": "subset"}
    sizes = [count(document[name], noun) for name, noun in nouns.items()]
    lines = [
        *(f"Warning: {warning}" for warning in document["warnings"]),
        f"{document['name']}: {count(document['trials'], 'trial')}",
        f"{sizes[0]} in {sizes[1]} and {sizes[2]}",
        *document["notes"],
        "",
        *_costs(document),
        "",
        *(
            _compared(document)
            if document["comparisons"]["all"]
            else ["One arm: there is nothing to compare."]
        ),
        "",
        *_servers(document),
        "Assumed:",
    ]
    return "\n".join(lines + [f"  {line}" for line in document["assumptions"]])


def _compared(document: dict[str, Any]) -> list[str]:
    """Says what the comparisons of arms could show, or which size a too small job would need."""
    from gnomon.report.text_formats import count

    compared = document["comparisons"]
    comparisons = f"{count(compared['all'], 'comparison')} of arms, over all samples and within each subset"
    is_small = "enough" in document
    return [
        *(_too_small(document) if is_small else _detectable(document)),
        *_by_pilot(document),
        *_early_stop(document),
        f"Differences that count as none (the margin): {document['margin_text']}.",
        *([] if is_small else ["", f"{comparisons}: {compared['primary']} primary."]),
    ]


def _too_small(document: dict[str, Any]) -> list[str]:
    """Says from which difference on a small job shows one, if from any, and how many samples are enough."""
    from gnomon.report.text_formats import count

    enough, least = document["enough"], document["claims_from"]
    why = document["never"] or document["detectable"][-1]["all_note"]
    large = (
        f"This job is small. It shows a difference in 8 of 10 tries only if that is about "
        f"{100 * (least or 0):.0f} points or more."
    )
    lines = [
        f"Too small to compare arms. {why}" if least is None else large,
        f"Samples that would be enough, if two arms answer {enough['discordant']:.0%} of them differently:",
    ]
    for size in enough["sizes"]:
        samples, clusters = count(size["samples"], "sample"), count(size["clusters"], "cluster")
        points = f"{100 * size['effect']:.0f} points"
        lines.append(f"  for a true difference of {points}: {samples} in {clusters}")
    if document["clusters"] < document["samples"]:
        lines.append("More samples of the same clusters help less than samples of others.")
    return lines


def _servers(document: dict[str, Any]) -> list[str]:
    """The tools of servers in the servers' own words, a line each."""
    from gnomon.report.text_formats import clean

    lines = []
    for server in document.get("servers", ()):
        about = f" ({server['server']})" if server["server"] else ""
        lines += [
            "",
            clean(f"Tools of {server['where']}{about}; their descriptions go to the model as they are:"),
        ]
        for tool in server["tools"]:
            words = " ".join(clean(tool["description"]).split())
            lines.append(f"  {clean(tool['name'])}: {words[:MAX_WORDS]}{'…' * (len(words) > MAX_WORDS)}")
        lines += [f"  {clean(server['sandbox'])}"] if server["sandbox"] else []
    return [*lines, ""] if lines else []


def _early_stop(document: dict[str, Any]) -> list[str]:
    """How much of a job that may stop early would run."""
    if "sequential" not in document:
        return []
    plan = document["sequential"]
    points = ", ".join(f"{clusters:,}" for clusters in plan["looks"])
    found = [
        f"{100 * row['diff']:.1f} points where {row['discordant']:.0%} differ"
        for row in plan["detectable"]
        if row["diff"] is not None
    ]
    at_most = f"at most {document['trials']:,} trials, with looks after {points} clusters"
    lines = ["", f"It stops early once decided: {at_most}."]
    if found:
        lines.append(
            f"On average {plan['share']:.0%} of them run where 8 of 10 such jobs claim a difference:"
        )
    return [*lines, *(f"  {effect}" for effect in found)]


def _lacks_price(arm: dict[str, Any]) -> bool:
    """Whether a price in the spec would say what an arm costs: not of outside agents."""
    return arm["usd"] is None and arm["prompt_tokens"] is not None


def _costs(document: dict[str, Any]) -> list[str]:
    """The cost of each arm: expected tokens, and expected and highest dollars."""
    parts = {
        f"{arm['model']} / {arm['arm']}": (
            arm,
            f"{arm['trials']:>8,} trial{'s' if arm['trials'] > 1 else ' '}",
        )
        for arm in document["arms"]
    }
    if "judge" in document:
        judge = document["judge"]
        parts[f"{judge['model']}, judging"] = (judge, f"{judge['calls']:>8,} calls ")
    width = max(map(len, parts))
    lines = ["Expected tokens of all trials (prompts + replies), and what they cost:"]
    for name, (arm, size) in parts.items():
        tokens = f"{'tokens unknown':>32}"
        if arm["prompt_tokens"] is not None:
            tokens = f"{arm['prompt_tokens']:>12,} + {arm['completion_tokens']:>10,} tokens"
        price = "price unknown"
        if arm["usd"] is not None and arm["usd_at_most"] is not None:
            price = f"about ${arm['usd']:,.2f}, at most ${arm['usd_at_most']:,.2f}"
        lines.append(f"{name:<{width}}  {size}  {tokens}  {price}")
    limit = "none" if document["usd_limit"] is None else f"${document['usd_limit']:,.2f}"
    total = "unknown price" if document["usd"] is None else f"about ${document['usd']:,.2f}"
    lines.append(f"Total: {total}; the job's limit in dollars: {limit}.")
    if "retry" in document:
        chosen = ", ".join(f"{name} {value}" for name, value in document["retry"].items())
        lines.append(f"Calls that failed are retried with {chosen}.")
    unpriced = dict.fromkeys(arm["model"] for arm, _ in parts.values() if _lacks_price(arm))
    if unpriced:
        form = "`price: {input: …, output: …}`, dollars per million tokens,"
        lines.append(f"No table has a price for {', '.join(unpriced)}: {form} in the spec sets it.")
    return lines


def _detectable(document: dict[str, Any]) -> list[str]:
    """The minimum detectable effects, and why there is none where there is none."""
    lines = [
        "Minimum detectable effect (the smallest true difference that 8 of 10 such jobs would claim), in",
        "points, by the share of samples on which two arms differ:",
    ]
    shares_of: dict[tuple[str, str], list[str]] = {}
    for row in document["detectable"]:
        effects = [f"{scope} {_effect(row[key])}" for scope, key in SCOPES.items()]
        lines.append(f"  {row['discordant']:.0%} differ: {', '.join(effects)}")
        for scope, key in SCOPES.items():
            if note := row[f"{key}_note"]:
                shares_of.setdefault((scope, note), []).append(f"{row['discordant']:.0%}")
    notes = [f"  {scope}, {', '.join(shares)} differ: {note}" for (scope, note), shares in shares_of.items()]
    return [*lines, *notes]


def _by_pilot(document: dict[str, Any]) -> list[str]:
    """What each comparison detects where scores scatter as in the pilot."""
    lines = []
    for contrast in (document["pilot"] or {}).get("contrasts", ()):
        arms = f"{contrast['model']}, {contrast['variant']} − {contrast['baseline']}"
        effect = _effect(contrast["detectable"]).strip()
        lines.append(f"  by the pilot: {arms}: {effect}. {contrast['detectable_note']}".rstrip())
    return lines


def _effect(effect: float | None) -> str:
    return " none" if effect is None else f"{100 * effect:5.1f}"
