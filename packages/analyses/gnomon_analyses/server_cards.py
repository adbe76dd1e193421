"""Says and draws what the card of a tool server holds."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NotRequired

from markupsafe import Markup
from typing_extensions import TypedDict

from gnomon.report.charts import Mark, difference_plot
from gnomon.report.contrast import Verdict
from gnomon.report.section import Interval
from gnomon.report.text_formats import (
    capitalised,
    count,
    deciding,
    percent,
    points,
    points_brackets,
    points_range,
)
from gnomon_analyses.presets.mcp_card import LIVE

NAMED = 6  # tools that a sentence names


Role = Literal["carries", "hinders", "never_called", "undecided"]


ROLES: Mapping[Role, str] = {
    "carries": "carries the gain",
    "hinders": "does harm",
    "never_called": "never called",
    "undecided": "not shown",
}


class CardStep(TypedDict):
    """The difference of two arms, and what it isolates."""

    baseline: str
    variant: str
    isolates: str
    diff: float | None
    ci95: Interval
    ci90: NotRequired[Interval]  # absent from reports of older versions
    verdict: Verdict


class CardTool(TypedDict):
    """One tool: how it was used where all tools are live, and what it is worth.

    `shapley` is that of its `group`, which may hold other tools; `ci95_adjusted` is its interval for as many
    groups as there are. `rescued` and `broken` count samples in which it was called that are right only with
    tools, or only without.
    """

    tool: str
    name: str
    role: Role
    calls: int
    trials: int
    samples_used: int
    samples: int
    bad_arguments: int
    errors: int
    rescued: int
    broken: int
    schema_tokens: int
    group: str
    group_size: int
    shapley: float | None
    shapley_ci95: Interval
    shapley_ci95_adjusted: Interval
    leave_one_out: float | None
    leave_one_out_ci95: Interval
    leave_one_out_verdict: Verdict | None


class CardMisled(TypedDict):
    """Of the samples that were `right` under one arm (and met a fault), those `wrong` under another.

    `doubted` of the wrong ones said in a reply that results do not fit.
    """

    kind: Literal["live", "placebo", "silent_faults", "explicit_faults"]
    right_under: str
    wrong_under: str
    right: int
    wrong: int
    doubted: int


class CardCost(TypedDict):
    """What one trial costs on average; None where a part is unknown."""

    arm: str
    trials: int
    prompt_tokens: float | None
    completion_tokens: float | None
    model_calls: float | None
    tool_calls: float | None
    wall_s: float
    usd: float | None


class CardError(TypedDict):
    """How often something failed, out of how many calls or trials of arms with live tools."""

    kind: str
    n: int
    of: int
    unit: Literal["calls", "trials"]


class ServerCard(TypedDict):
    """The card of one model: the verdict on all tools together, and what it is made of."""

    model: str
    servers: list[str]
    verdict: Verdict
    withheld: bool
    diff: float | None
    ci95: Interval
    ci90: NotRequired[Interval]  # absent from reports of older versions
    n: int
    clusters: int
    raw_mean: float | None
    live_mean: float | None
    reasons: list[str]
    next_step: str
    steps: list[CardStep]
    placebos: dict[str, int]
    tools: list[CardTool]
    schema_tokens: int
    is_exact: bool | None
    misled: list[CardMisled]
    cost: list[CardCost]
    errors: list[CardError]
    sentences: list[str]


def named(card: ServerCard) -> str:
    """What the card is about: its servers, or our own tools."""
    servers = [server for server in card["servers"] if server != "gnomon"]
    names = [f"“{server}”" for server in servers] + ["our own tools"] * ("gnomon" in card["servers"])
    return " and ".join(names)


def card_sentences(card: ServerCard) -> Iterator[str]:
    """The card in words, the verdict first."""
    yield _verdict_text(card)
    steps = {step["variant"]: step for step in card["steps"]}
    says = steps.get(LIVE)
    if says and says["diff"] is not None and card["diff"] is not None and not card["withheld"]:
        shown = {
            "helps": "their results are what helps",
            "hurts": "their results do harm",
            "no_effect": "their results make no difference",
            "undecided": "that their results are what counts is not shown",
        }[says["verdict"]]
        ends, level = deciding(says)
        sure = points_brackets(ends) + (f" ({level} % interval)" if level != 95 else "")
        yield f"Against a placebo the tools add {points(says['diff'])} points{sure}: {shown}."
        if card["placebos"].get("dealt") and says["verdict"] != "helps":
            yield (
                f"In {count(card['placebos']['dealt'], 'trial')} the placebo was the true result with its"
                " numbers, times and order dealt anew: what plain sentences say stays in it."
            )
    by_role: dict[Role, list[CardTool]] = {role: [] for role in ROLES}
    for tool in card["tools"]:
        by_role[tool["role"]].append(tool)
    if by_role["carries"]:
        yield f"Carried by {_list(by_role['carries'])}."
    elif card["verdict"] == "helps":
        yield _use_text(card["tools"])
    if by_role["hinders"]:
        yield f"Does harm: {_list(by_role['hinders'])}."
    if by_role["never_called"]:
        never, trials = by_role["never_called"], card["tools"][0]["trials"]
        tokens = sum(tool["schema_tokens"] for tool in never)
        yield (
            f"Never called in {count(trials, 'trial')} ({len(never)} of {count(len(card['tools']), 'tool')}):"
            f" {_list(never)}; their schemas take {tokens:,} tokens of each request."
        )
    for row in card["misled"]:
        if row["kind"] != "explicit_faults" and row["right"]:
            yield _misled_text(row)
    yield _cost_text(card)


def _use_text(tools: Sequence[CardTool]) -> str:
    """What is known of a gain that no single tool is shown to carry."""
    called = [tool for tool in tools if tool["calls"]]
    if any(tool["shapley"] is not None or tool["leave_one_out"] is not None for tool in tools) or not called:
        return "No single tool is shown to carry it."
    if len(called) == 1:
        return f"All {count(called[0]['calls'], 'call')} of its tools were of {called[0]['name']}."
    uses = (
        f"{tool['name']} in {tool['samples_used']} of {count(tool['samples'], 'sample')}" for tool in called
    )
    return f"Called: {'; '.join(uses)}. No arm leaves one of them out, so what each is worth is not known."


def _verdict_text(card: ServerCard) -> str:
    whom, what = card["model"], named(card)
    is_many = len(card["servers"]) > 1 or card["servers"] == ["gnomon"]
    helps, hurts, makes = ("help", "hurt", "make") if is_many else ("helps", "hurts", "makes")
    if card["diff"] is None or card["withheld"]:
        why = "; ".join(card["reasons"])
        return f"It cannot be told whether {what} {helps} {whom}: {why}."
    ends, level = deciding(card)
    interval_text = f"{level} % interval {points_range(ends)}; " if ends else ""
    sizes = f"{count(card['n'], 'sample')} in {count(card['clusters'], 'cluster')}"
    by = f"{points(card['diff'])} points, {percent(card['live_mean'])} % with it against"
    by += f" {percent(card['raw_mean'])} % without ({interval_text}{sizes})"
    match card["verdict"]:
        case "helps":
            return f"{capitalised(what)} {helps} {whom}: {by}."
        case "hurts":
            return f"{capitalised(what)} {hurts} {whom}: {by}."
        case "no_effect":
            return f"{capitalised(what)} {makes} no difference to {whom}: {by}."
        case "undecided" if card["next_step"]:
            cannot = f"It cannot be told whether {what} {helps} {whom}: {card['reasons'][0]}."
            return f"{cannot} {card['next_step']} As scored: {by}."
        case "undecided":
            return (
                f"It cannot be told whether {what} {helps} {whom}: {by}. Why: {'; '.join(card['reasons'])}."
            )


def _list(tools: Sequence[CardTool]) -> str:
    names = ", ".join(tool["name"] for tool in tools[:NAMED])
    return names if len(tools) <= NAMED else f"{names} and {len(tools) - NAMED} more"


def _misled_text(row: CardMisled) -> str:
    of = f"{row['wrong']} of {row['right']}"
    doubts = f", {row['doubted']} of them with a word of doubt" if row["wrong"] and row["doubted"] else ""
    match row["kind"]:
        case "live":
            return f"Misled: {of} samples that are right without tools are wrong with them."
        case "placebo":
            return f"Results about something else make {of} right samples wrong{doubts}."
        case _:
            return (
                f"Silent faults make {of} samples wrong that met one and are right with sound tools{doubts}."
            )


def _cost_text(card: ServerCard) -> str:
    without, with_it = card["cost"]
    parts = [f"{card['schema_tokens']:,} tokens of schemas in each request"]
    tokens = [
        None if row["prompt_tokens"] is None or row["completion_tokens"] is None
        else row["prompt_tokens"] + row["completion_tokens"]
        for row in (without, with_it)
    ]  # fmt: skip
    if tokens[0] is not None and tokens[1] is not None and any(tokens):
        parts.append(f"{tokens[1]:,.0f} tokens instead of {tokens[0]:,.0f}")
    if with_it["tool_calls"] is not None:
        parts.append(f"{with_it['tool_calls']:.1f} calls of tools")
    if with_it["model_calls"] is not None and without["model_calls"] is not None:
        parts.append(
            f"{with_it['model_calls']:.1f} calls of the model instead of {without['model_calls']:.1f}"
        )
    parts.append(f"{with_it['wall_s']:.2g} s instead of {without['wall_s']:.2g} s")
    return f"A trial takes {', '.join(parts)}."


def card_picture(card: ServerCard) -> Markup:
    """The gain of all tools, the steps to it, and what each tool is worth, with intervals."""
    marks: list[Mark] = []
    if card["diff"] is not None and not card["withheld"]:
        marks.append(_mark("all tools", card["diff"], deciding(card)[0], card["verdict"], is_total=True))
    marks += [
        _mark(f"· {step['isolates']}", step["diff"], deciding(step)[0], step["verdict"])
        for step in card["steps"]
        if step["diff"] is not None
    ]
    shown: set[str] = set()
    for tool in card["tools"]:
        value, ends = tool["shapley"], tool["shapley_ci95"]
        label = tool["group"] or tool["name"]
        if value is None:
            value, ends, label = tool["leave_one_out"], tool["leave_one_out_ci95"], tool["name"]
        if value is None or label in shown:
            continue
        shown.add(label)
        kind = {"carries": "helps", "hinders": "hurts"}.get(tool["role"], "undecided")
        is_idle = tool["role"] == "never_called" and tool["group_size"] < 2
        marks.append(_mark(label, value, ends, kind, note=ROLES["never_called"] if is_idle else ""))
    title = f"What the tools of {named(card)} are worth to {card['model']}, points"
    return difference_plot(marks, title=title, margin=0.0) if marks else Markup()


def _mark(
    label: str, value: float, ends: Interval, kind: str, *, is_total: bool = False, note: str = ""
) -> Mark:
    note = note or worth_text(value, ends)
    return Mark(label=label, value=value, interval=ends, note=note, kind=kind, is_total=is_total)


def worth_text(value: float | None, ends: Interval) -> str:
    """A difference in points with its interval; a dash where there is none."""
    return "–" if value is None else points(value) + points_brackets(ends)
