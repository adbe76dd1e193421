"""The card of a tool server: whether it helps, which tools carry it, which mislead, and what it costs."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from statistics import NormalDist
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from typing_extensions import TypedDict

from gnomon.conditions.results import DOUBTS_RESULTS
from gnomon.core.arm import Arm
from gnomon.core.model import Request
from gnomon.core.row_batch import RowBatch
from gnomon.report.contrast import ContrastReport
from gnomon.report.group_totals import ToolTotals
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section
from gnomon.report.sections.attribution import AttributionReport, PlayerValue, attribution
from gnomon.report.sections.contrasts import contrasts
from gnomon.stopping import while_wanted
from gnomon.tokens import TokenEstimator
from gnomon.trials.condition import schemas_sent
from gnomon_analyses.presets.mcp_card import LIVE, RAW, mcp_card, short_names
from gnomon_analyses.sections.blinding import blinding
from gnomon_analyses.server_cards import (
    ROLES,
    CardCost,
    CardError,
    CardMisled,
    CardStep,
    CardTool,
    Role,
    ServerCard,
    card_picture,
    card_sentences,
    named,
    worth_text,
)
from gnomon_tools.servers.listing import server_in


class ServerCardPart(TypedDict):
    """One card by model; empty where the preset was another."""

    server_cards: list[ServerCard]


class CardRows:
    """Notes which samples met a fault, and which replies doubted results, by model and arm."""

    def __init__(self) -> None:
        self.met: dict[tuple[str, str], set[str]] = defaultdict(set)
        self.doubted: dict[tuple[str, str], set[str]] = defaultdict(set)

    def add(self, batch: RowBatch) -> None:
        for row in batch.rows(batch.distinct("tools_used").places(_has_injected)):
            self.met[row.model, row.arm].add(row.sample_id)
        for row in batch.rows(batch.distinct("flags").places(lambda flags: DOUBTS_RESULTS in flags)):
            self.doubted[row.model, row.arm].add(row.sample_id)


def _has_injected(used: Mapping[str, Mapping[str, int]]) -> bool:
    return any(counts.get("injected") for counts in used.values())


def _server_cards(report_input: ReportInput) -> ServerCardPart:
    """A card for each model that has answered under both arms."""
    spec = report_input.spec
    names = {arm.name for arm in spec.arms}
    if spec.analysis.preset != mcp_card.name or not {RAW, LIVE} <= names:
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
        (each for each in report_input.part(attribution)["attributions"] if each["model"] == model), None
    )
    estimator = TokenEstimator()
    card: ServerCard = {
        "model": model,
        "servers": servers_of(live.tools),
        "verdict": verdict["verdict"],
        "withheld": verdict["withheld"],
        "diff": verdict["diff"],
        "ci95": verdict["ci95"],
        "ci90": verdict["ci90"],
        "n": verdict["n"],
        "clusters": verdict["clusters"],
        "raw_mean": verdict["baseline_mean"],
        "live_mean": verdict["variant_mean"],
        "reasons": verdict["reasons"],
        "next_step": verdict["next_step"],
        "steps": [
            _step(by_pair[pair])
            for pair in (
                (RAW, "schema_only"),
                ("schema_only", "placebo"),
                (RAW, "placebo"),  # of an agent from outside
                ("placebo", LIVE),
            )
            if pair in by_pair
        ],
        "placebos": next(
            (row["fallbacks"] for row in report_input.part(blinding)["blinding"] if row["model"] == model), {}
        ),
        "tools": _tools(report_input, model, by_pair, values),
        "schema_tokens": estimator.prompt(Request(messages=[], tools=_schemas(report_input, live))),
        "is_exact": values["is_exact"] if values else None,
        "misled": list(_misled(report_input, model)),
        "cost": [_cost(scores, model, arm) for arm in (RAW, LIVE)],
        "errors": _errors(report_input, model),
        "sentences": [],
    }
    card["sentences"] = list(card_sentences(card))
    return card


def servers_of(tools: Iterable[str]) -> list[str]:
    """The servers of tools by name; `gnomon` where a tool is our own.

    >>> servers_of(["calc__add", "calc__root", "distance"])
    ['calc', 'gnomon']
    """
    return sorted({server_in(name) or "gnomon" for name in tools})


def _schemas(report_input: ReportInput, arm: Arm) -> list[dict[str, object]]:
    return schemas_sent(arm, report_input.spec, report_input.spec.toolset(arm))


def _step(contrast: ContrastReport) -> CardStep:
    return {
        "baseline": contrast["baseline"],
        "variant": contrast["variant"],
        "isolates": contrast["isolates"],
        "diff": None if contrast["withheld"] else contrast["diff"],
        "ci95": None if contrast["withheld"] else contrast["ci95"],
        "ci90": None if contrast["withheld"] else contrast["ci90"],
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
    are_known = not any(contrast["next_step"] for contrast in by_pair.values())  # else values show little
    tools: list[CardTool] = []
    for tool, name in zip(live.tools, short_names(live.tools), strict=True):
        used = totals.tools.get(tool, ToolTotals())
        called = _names(scores, np.isin(np.arange(len(scores.samples)), used.samples))
        without, player = lacking.get(frozenset((tool,))), players.get(tool)
        adjusted = _adjusted(player, len(values["values"])) if player and values else None
        alone = adjusted if player and are_known and len(player["tools"]) == 1 else None
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
                "rescued": len(rescued & called),
                "broken": len(broken & called),
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
    return _names(scores, scores.answered[group] + scores.missing[group] > 0)


def _flipped(scores: ScoreMatrix, model: str, pair: tuple[str, str]) -> tuple[set[str], set[str]]:
    """Samples that are right under the second arm alone, and under the first alone."""
    before, after = (scores.right(scores.at[model, arm]) for arm in pair)
    both = _both(scores, model, pair)
    return _names(scores, both & ~before & after), _names(scores, both & before & ~after)


def _both(scores: ScoreMatrix, model: str, pair: tuple[str, str]) -> NDArray[np.bool_]:
    """Which samples have a score under both arms."""
    groups = [scores.at[model, arm] for arm in pair]
    both: NDArray[np.bool_] = np.all(scores.answered[groups] > 0, axis=0)
    return both


def _names(scores: ScoreMatrix, within: NDArray[np.bool_]) -> set[str]:
    return set(compress(scores.samples, within.tolist()))


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
        right = _names(scores, _both(scores, model, (before, kind)) & scores.right(scores.at[model, before]))
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
        "model_calls": mean("model_calls"),
        "tool_calls": mean("tool_calls"),
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


def _view(report: ServerCardPart) -> Mapping[str, object] | None:
    cards = report.get("server_cards", [])  # absent from reports of older versions
    if not cards:
        return None
    return {
        "cards": [(card, named(card), card_picture(card)) for card in cards],
        "roles": ROLES,
        "worth": worth_text,
    }


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
    behind="calibration",
    collector=lambda *_: CardRows(),
    view=_view,
    terminal=_terminal,
    digest=lambda report: report["server_cards"][0]["sentences"][0],
)
