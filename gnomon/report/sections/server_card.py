"""The card of a tool server: whether it helps, which tools carry it, which mislead, and what it costs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np
from markupsafe import Markup
from typing_extensions import TypedDict

from gnomon.core.arm import Arm
from gnomon.core.model import Request
from gnomon.core.row import Row
from gnomon.presets.mcp_card import LIVE, RAW, short_names
from gnomon.report.charts import Mark, difference_plot
from gnomon.report.group_totals import ToolTotals
from gnomon.report.score_matrix import RIGHT, ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section
from gnomon.report.sections.attribution import AttributionReport, PlayerValue, attribution
from gnomon.report.sections.contrasts import ContrastReport, contrasts
from gnomon.report.text_formats import (
    count,
    escape_markdown,
    markdown_table,
    percent,
    points,
    points_brackets,
)
from gnomon.report.verdict import Verdict
from gnomon.stopping import while_wanted
from gnomon.tokens import TokenEstimator
from gnomon.trials.run_trial import DOUBTS_RESULTS

PRESET = "mcp_card"
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
    model_calls: float
    tool_calls: float
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
    n: int
    clusters: int
    raw_mean: float | None
    live_mean: float | None
    reasons: list[str]
    steps: list[CardStep]
    tools: list[CardTool]
    schema_tokens: int
    is_exact: bool | None
    misled: list[CardMisled]
    cost: list[CardCost]
    errors: list[CardError]
    sentences: list[str]


class ServerCardPart(TypedDict):
    """One card by model; empty where the preset was another."""

    server_cards: list[ServerCard]


class CardRows:
    """Notes which samples met a fault, and which replies doubted results, by model and arm."""

    def __init__(self) -> None:
        self.met: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.doubted: dict[tuple[str, str], set[str]] = defaultdict(set)

    def add(self, row: Row) -> None:
        """Take note of a row."""
        if any(counts.get("injected") for counts in row.tools_used.values()):
            self.met[row.model, row.arm].add(row.sample_id)
        if DOUBTS_RESULTS in row.flags:
            self.doubted[row.model, row.arm].add(row.sample_id)


def _server_cards(report_input: ReportInput) -> ServerCardPart:
    """A card for each model that has answered under both arms."""
    spec = report_input.spec
    names = {arm.name for arm in spec.arms}
    if spec.analysis.preset != PRESET or not {RAW, LIVE} <= names:
        return {"server_cards": []}
    whole = [contrast for contrast in report_input.part(contrasts)["contrasts"] if contrast["scope"] == "all"]
    cards = []
    for model in while_wanted(report_input.models):
        by_pair = {
            (contrast["baseline"], contrast["variant"]): contrast
            for contrast in whole
            if contrast["model"] == model
        }
        if (RAW, LIVE) in by_pair:
            cards.append(_card(report_input, model, by_pair))
    return {"server_cards": cards}


def _card(
    report_input: ReportInput, model: str, by_pair: Mapping[tuple[str, str], ContrastReport]
) -> ServerCard:
    spec, scores = report_input.spec, report_input.scores
    verdict = by_pair[RAW, LIVE]
    live = spec.arm(LIVE)
    values = next(
        (found for found in report_input.part(attribution)["attributions"] if found["model"] == model), None
    )
    estimator = TokenEstimator()
    card: ServerCard = {
        "model": model,
        "servers": servers_of(live.tools),
        "verdict": verdict["verdict"],
        "withheld": verdict["withheld"],
        "diff": verdict["diff"],
        "ci95": verdict["ci95"],
        "n": verdict["n"],
        "clusters": verdict["clusters"],
        "raw_mean": verdict["baseline_mean"],
        "live_mean": verdict["variant_mean"],
        "reasons": verdict["reasons"],
        "steps": [
            _step(by_pair[pair])
            for pair in ((RAW, "schema_only"), ("schema_only", "placebo"), ("placebo", LIVE))
            if pair in by_pair
        ],
        "tools": _tools(report_input, model, by_pair, values),
        "schema_tokens": estimator.prompt(Request(messages=[], tools=_schemas(report_input, live))),
        "is_exact": values["is_exact"] if values else None,
        "misled": list(_misled(report_input, model)),
        "cost": [_cost(scores, model, arm) for arm in (RAW, LIVE)],
        "errors": _errors(report_input, model),
        "sentences": [],
    }
    card["sentences"] = list(_sentences(card))
    return card


def servers_of(tools: Iterable[str]) -> list[str]:
    """The servers of tools by name; `gnomon` where a tool is our own.

    >>> servers_of(["calc__add", "calc__root", "distance"])
    ['calc', 'gnomon']
    """
    return sorted({name.partition("__")[0] if "__" in name else "gnomon" for name in tools})


def _schemas(report_input: ReportInput, arm: Arm) -> list[dict[str, object]]:
    return [tool.schema() for tool in report_input.spec.toolset(arm)]


def _step(contrast: ContrastReport) -> CardStep:
    return {
        "baseline": contrast["baseline"],
        "variant": contrast["variant"],
        "isolates": contrast["isolates"],
        "diff": None if contrast["withheld"] else contrast["diff"],
        "ci95": None if contrast["withheld"] else contrast["ci95"],
        "verdict": contrast["verdict"],
    }


def _tools(
    report_input: ReportInput,
    model: str,
    by_pair: Mapping[tuple[str, str], ContrastReport],
    values: AttributionReport | None,
) -> list[CardTool]:
    """Every tool of the arm with all of them; those that carry the gain first, those never called last."""
    spec, scores = report_input.spec, report_input.scores
    live = spec.arm(LIVE)
    totals = scores.totals[scores.at[model, LIVE]]
    lacking = {
        frozenset(live.tools) - frozenset(arm.tools): by_pair.get((arm.name, LIVE)) for arm in spec.arms
    }
    players = {tool: value for value in (values["values"] if values else ()) for tool in value["tools"]}
    rescued, broken = _flipped(scores, model, (RAW, LIVE))
    begun = len(_begun(scores, model, LIVE))
    schemas = dict(zip(live.tools, _schemas(report_input, live), strict=True))
    estimator = TokenEstimator()
    empty = estimator.prompt(Request(messages=[], tools=[]))
    tools: list[CardTool] = []
    for tool, name in zip(live.tools, short_names(live.tools), strict=True):
        used = totals.tools.get(tool, ToolTotals())
        without, player = lacking.get(frozenset((tool,))), players.get(tool)
        adjusted = _adjusted(player, len(values["values"])) if player and values else None
        alone = adjusted if player and len(player["tools"]) == 1 else None
        tools.append(
            {
                "tool": tool,
                "name": name,
                "role": _role(used.calls, without, alone),
                "calls": used.calls,
                "trials": totals.trials,
                "samples_used": len(used.samples),
                "samples": begun,
                "bad_arguments": used.bad_arguments,
                "errors": used.errors,
                "rescued": len(rescued & used.samples),
                "broken": len(broken & used.samples),
                "schema_tokens": estimator.prompt(Request(messages=[], tools=[schemas[tool]])) - empty,
                "group": player["player"] if player else "",
                "group_size": len(player["tools"]) if player else 0,
                "shapley": player["value"] if player else None,
                "shapley_ci95": player["ci95"] if player else None,
                "shapley_ci95_adjusted": adjusted,
                "leave_one_out": without["diff"] if without and not without["withheld"] else None,
                "leave_one_out_ci95": without["ci95"] if without and not without["withheld"] else None,
                "leave_one_out_verdict": without["verdict"] if without else None,
            }
        )
    order: Sequence[Role] = ("carries", "hinders", "undecided", "never_called")
    return sorted(tools, key=lambda row: (order.index(row["role"]), -_worth(row), row["name"]))


def _worth(tool: CardTool) -> float:
    known = (tool["shapley"], tool["leave_one_out"])
    return next((value for value in known if value is not None), 0.0)


def _adjusted(player: PlayerValue, players: int) -> Interval:
    """The interval of a Shapley value as one of so many: its halves widened as Bonferroni asks."""
    ci95, value = player["ci95"], player["value"]
    if ci95 is None:
        return None
    normal = NormalDist()
    wider = normal.inv_cdf(1 - 0.025 / players) / normal.inv_cdf(0.975)
    return [value - wider * (value - ci95[0]), value + wider * (ci95[1] - value)]


def _role(calls: int, without: ContrastReport | None, adjusted: Interval) -> Role:
    """What is shown of a tool: by the verdict on leaving it out, or by its Shapley value's interval."""
    if not calls:
        return "never_called"
    verdict = without["verdict"] if without else "undecided"
    if verdict == "helps" or (adjusted and adjusted[0] > 0 and verdict != "hurts"):
        return "carries"
    if verdict == "hurts" or (adjusted and adjusted[1] < 0):
        return "hinders"
    return "undecided"


def _begun(scores: ScoreMatrix, model: str, arm: str) -> set[str]:
    group = scores.at[model, arm]
    begun = np.flatnonzero(scores.answered[group] + scores.missing[group])
    return {scores.samples[at] for at in begun}


def _flipped(scores: ScoreMatrix, model: str, pair: tuple[str, str]) -> tuple[set[str], set[str]]:
    """Samples that are right under the second arm alone, and under the first alone."""
    first, second = (scores.means(scores.at[model, arm]) for arm in pair)
    both = np.isfinite(first) & np.isfinite(second)
    gained, lost = both & (first < RIGHT) & (second >= RIGHT), both & (first >= RIGHT) & (second < RIGHT)
    return (
        {scores.samples[at] for at in np.flatnonzero(gained)},
        {scores.samples[at] for at in np.flatnonzero(lost)},
    )


def _misled(report_input: ReportInput, model: str) -> Iterator[CardMisled]:
    """Where tools, their placebo or their faults took a right answer away."""
    scores, rows = report_input.scores, report_input.collected(CardRows)
    names = {arm.name for arm in report_input.spec.arms}
    kinds: Sequence[tuple[Literal["live", "placebo", "silent_faults", "explicit_faults"], str]] = (
        ("live", RAW),
        ("placebo", RAW),
        ("silent_faults", LIVE),
        ("explicit_faults", LIVE),
    )
    for kind, before in kinds:
        if kind not in names:
            continue
        first, second = (scores.means(scores.at[model, arm]) for arm in (before, kind))
        right = {
            scores.samples[at]
            for at in np.flatnonzero(np.isfinite(first) & np.isfinite(second) & (first >= RIGHT))
        }
        if kind.endswith("faults"):
            right &= rows.met[model, kind]
        wrong = right & _flipped(scores, model, (before, kind))[1]
        yield {
            "kind": kind,
            "right_under": before,
            "wrong_under": kind,
            "right": len(right),
            "wrong": len(wrong),
            "doubted": len(wrong & rows.doubted[model, kind]),
        }


def _cost(scores: ScoreMatrix, model: str, arm: str) -> CardCost:
    totals = scores.totals[scores.at[model, arm]]
    trials = max(1, totals.trials)

    def mean(name: str) -> float | None:
        return None if totals.unknown[name] else totals.sums[name] / trials

    return {
        "arm": arm,
        "trials": totals.trials,
        "prompt_tokens": mean("prompt_tokens"),
        "completion_tokens": mean("completion_tokens"),
        "model_calls": totals.sums["model_calls"] / trials,
        "tool_calls": totals.sums["tool_calls"] / trials,
        "wall_s": totals.wall_s / trials,
        "usd": None if totals.unknown["usd"] else totals.usd / trials,
    }


def _errors(report_input: ReportInput, model: str) -> list[CardError]:
    """Failed calls and lost trials over all arms whose tools are live and sound."""
    spec, scores = report_input.spec, report_input.scores
    sound = [
        arm.name
        for arm in spec.arms
        if arm.tools and arm.results == "live" and arm.faults is None and arm.tool_choice != "none"
    ]
    groups = [scores.totals[scores.at[model, name]] for name in sound]
    used = [tool for totals in groups for tool in totals.tools.values()]
    calls, bad = sum(tool.calls for tool in used), sum(tool.bad_arguments for tool in used)
    errors = sum(tool.errors for tool in used) - bad
    trials = sum(totals.trials for totals in groups)
    lost: Counter[str] = Counter()
    for totals in groups:
        for cause, n in totals.stop_reasons.get("infra_missing", Counter()).items():
            if cause.startswith(("server:", "cassette:")):
                lost[cause] += n
    return [
        {"kind": "calls that do not fit the schema", "n": bad, "of": calls, "unit": "calls"},
        {"kind": "calls that the tool could not answer", "n": errors, "of": calls, "unit": "calls"},
        *(
            CardError(kind=f"trials lost: {cause}", n=n, of=trials, unit="trials")
            for cause, n in sorted(lost.items())
        ),
    ]


def named(card: ServerCard) -> str:
    """What the card is about: its servers, or our own tools."""
    servers = [server for server in card["servers"] if server != "gnomon"]
    names = [f"“{server}”" for server in servers] + ["our own tools"] * ("gnomon" in card["servers"])
    return " and ".join(names)


def _sentences(card: ServerCard) -> Iterator[str]:
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
        ends = points_brackets(says["ci95"])
        yield f"Against a placebo the tools add {points(says['diff'])} points{ends}: {shown}."
    by_role: dict[Role, list[CardTool]] = {role: [] for role in ROLES}
    for tool in card["tools"]:
        by_role[tool["role"]].append(tool)
    if by_role["carries"]:
        yield f"Carried by {_list(by_role['carries'])}."
    elif card["verdict"] == "helps":
        yield "No single tool is shown to carry it."
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


def _verdict_text(card: ServerCard) -> str:
    whom, what = card["model"], named(card)
    is_many = len(card["servers"]) > 1 or card["servers"] == ["gnomon"]
    helps, hurts, makes = ("help", "hurt", "make") if is_many else ("helps", "hurts", "makes")
    if card["diff"] is None or card["withheld"]:
        why = "; ".join(card["reasons"])
        return f"It cannot be told whether {what} {helps} {whom}: {why}."
    ends = card["ci95"]
    interval_text = f"95 % interval {points(ends[0])} to {points(ends[1])}; " if ends else ""
    sizes = f"{count(card['n'], 'sample')} in {count(card['clusters'], 'cluster')}"
    by = f"{points(card['diff'])} points, {percent(card['live_mean'])} % with it against"
    by += f" {percent(card['raw_mean'])} % without ({interval_text}{sizes})"
    match card["verdict"]:
        case "helps":
            return f"{_capital(what)} {helps} {whom}: {by}."
        case "hurts":
            return f"{_capital(what)} {hurts} {whom}: {by}."
        case "no_effect":
            return f"{_capital(what)} {makes} no difference to {whom}: {by}."
        case "undecided":
            return (
                f"It cannot be told whether {what} {helps} {whom}: {by}. Why: {'; '.join(card['reasons'])}."
            )


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


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
    parts.append(f"{with_it['tool_calls']:.1f} calls of tools")
    parts.append(f"{with_it['model_calls']:.1f} calls of the model instead of {without['model_calls']:.1f}")
    parts.append(f"{with_it['wall_s']:.2g} s instead of {without['wall_s']:.2g} s")
    return f"A trial takes {', '.join(parts)}."


def _view(report: ServerCardPart) -> Mapping[str, object] | None:
    cards = report.get("server_cards", [])  # absent from reports of older versions
    if not cards:
        return None
    return {
        "cards": [(card, named(card), card_picture(card)) for card in cards],
        "roles": ROLES,
        "worth": worth_text,
    }


def card_picture(card: ServerCard) -> Markup:
    """The gain of all tools, the steps to it, and what each tool is worth, with intervals."""
    marks: list[Mark] = []
    if card["diff"] is not None and not card["withheld"]:
        marks.append(_mark("all tools", card["diff"], card["ci95"], card["verdict"], is_total=True))
    marks += [
        _mark(f"· {step['isolates']}", step["diff"], step["ci95"], step["verdict"])
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
    note = note or points(value) + points_brackets(ends)
    return Mark(label=label, value=value, interval=ends, note=note, kind=kind, is_total=is_total)


def _markdown(report: ServerCardPart) -> Iterator[str]:
    for card in report.get("server_cards", []):
        yield from ("", f"## The card of {escape_markdown(named(card))}, {escape_markdown(card['model'])}")
        for sentence in card["sentences"]:
            yield from ("", escape_markdown(sentence))
        rows = [
            (
                tool["name"],
                ROLES[tool["role"]],
                worth_text(tool["shapley"], tool["shapley_ci95"]),
                worth_text(tool["leave_one_out"], tool["leave_one_out_ci95"]),
                str(tool["calls"]),
                f"{tool['samples_used']} of {tool['samples']}",
                f"{tool['rescued']} : {tool['broken']}",
                f"{tool['errors']} of {tool['calls']}",
                f"{tool['schema_tokens']:,}",
            )
            for tool in card["tools"]
        ]
        head = (
            *("tool", "shown", "Shapley", "leave-one-out", "calls", "samples"),
            *("fixed : broken", "errors", "schema tokens"),
        )
        yield from markdown_table("Its tools", head, rows)
        errors = [(row["kind"], str(row["n"]), f"{row['of']:,} {row['unit']}") for row in card["errors"]]
        yield from markdown_table("What failed", ("kind", "n", "of"), errors)


def worth_text(value: float | None, ends: Interval) -> str:
    """A difference in points with its interval; a dash where there is none."""
    return "–" if value is None else points(value) + points_brackets(ends)


def _terminal(report: ServerCardPart) -> Iterator[str]:
    for card in report.get("server_cards", []):
        yield ""
        yield from card["sentences"]


server_card = Section(
    name="server_card",
    title="The card of the server",
    question="Does this server help, which of its tools carry it, and which mislead?",
    fields=ServerCardPart,
    compute=_server_cards,
    place=35,
    collector=lambda _: CardRows(),
    view=_view,
    markdown=_markdown,
    terminal=_terminal,
)
