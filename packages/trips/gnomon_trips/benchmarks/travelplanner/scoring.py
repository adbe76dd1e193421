"""Scores a plan by the paper's rules, read strictly, or as the released code does."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from gnomon.core.benchmark import Scoring
from gnomon.core.plan_row import NOT_DELIVERED
from gnomon.core.score import Score
from gnomon_trips.benchmarks.travelplanner.official import OfficialRaisesError, judge_officially
from gnomon_trips.benchmarks.travelplanner.reply import read_plan
from gnomon_trips.sandbox.plan import Days
from gnomon_trips.sandbox.record import TravelSandbox
from gnomon_trips.sandbox.rules import COMMONSENSE, HARD, Judgement, cost_lines, judge


def score_response(sandbox: TravelSandbox, response: object, *, scoring: Scoring) -> Score:
    """1 for a plan that keeps every rule, else 0; never raises."""
    days = read_plan(response)
    if days is None:
        is_empty = isinstance(response, str) and not response.strip()
        flag = f"{NOT_DELIVERED}: the answer is empty" if is_empty else NOT_DELIVERED
        return Score(value=0.0, metrics=_undelivered(sandbox), flags=(flag,))
    return score_plan(sandbox, days, scoring=scoring)


def score_plan(sandbox: TravelSandbox, days: Days, *, scoring: Scoring) -> Score:
    """The score of a plan that was delivered; `strict` flags what the released code judges otherwise."""
    strict = judge(days, sandbox)
    try:
        official = judge_officially(days, sandbox)
    except OfficialRaisesError as error:
        raised = (f"official_raises:{error}",)
        if scoring == "official":
            return Score(
                value=0.0, answer=_answer(days, sandbox, {}), metrics=_undelivered(sandbox), flags=raised
            )
        return _score(days, sandbox, strict, raised)
    if scoring == "official":
        return _score(days, sandbox, official, ())
    return _score(days, sandbox, strict, tuple(_differences(strict, official)))


def _score(days: Days, sandbox: TravelSandbox, judgement: Judgement, flags: tuple[str, ...]) -> Score:
    broken = tuple(f"breaks:{rule}" for rule in judgement.faults)
    return Score(
        value=float(judgement.final_pass),
        answer=_answer(days, sandbox, judgement.faults),
        metrics=_metrics(judgement, sandbox, days),
        flags=(*broken, *flags),
    )


def _differences(strict: Judgement, official: Judgement) -> Iterable[str]:
    """Which rules the released code passes that are broken, and the other way round."""
    for rule in strict.asked:
        is_judged = rule in COMMONSENSE or (strict.hard_is_judged and official.hard_is_judged)
        if is_judged and strict.holds(rule) != official.holds(rule):
            yield f"released_code_{'passes' if official.holds(rule) else 'fails'}:{rule}"
    if strict.final_pass != official.final_pass:
        yield f"released_code_{'passes' if official.final_pass else 'fails'}:plan"


def _metrics(judgement: Judgement, sandbox: TravelSandbox, days: Days) -> dict[str, float | str | None]:
    rules = {
        f"keeps: {rule}": float(judgement.holds(rule)) if rule in judgement.asked else None
        for rule in (*COMMONSENSE, *HARD)
    }
    cost_usd = sum(line.cost_usd for line in cost_lines(days, sandbox))
    return {
        "delivered": 1.0,
        "commonsense_micro": judgement.commonsense_passed / len(COMMONSENSE),
        "commonsense_macro": float(judgement.commonsense_pass),
        "hard_passed": float(judgement.hard_passed),
        "hard_asked": float(judgement.hard_asked),
        "hard_macro": float(judgement.hard_pass),
        "final_pass": float(judgement.final_pass),
        "cost_usd": float(cost_usd),
        **rules,
    }


def _undelivered(sandbox: TravelSandbox) -> dict[str, float | str | None]:
    """The metrics where nothing was delivered: every rule that applies is broken."""
    asked = (*COMMONSENSE, *sandbox.needs.hard_rules())
    zeros = ("delivered", "commonsense_micro", "commonsense_macro", "hard_passed", "hard_macro", "final_pass")
    return {
        **dict.fromkeys(zeros, 0.0),
        "hard_asked": float(len(asked) - len(COMMONSENSE)),
        "cost_usd": None,
        **{f"keeps: {rule}": 0.0 if rule in asked else None for rule in (*COMMONSENSE, *HARD)},
    }


def _answer(days: Days, sandbox: TravelSandbox, faults: Mapping[str, Iterable[str]]) -> str:
    total = sum(line.cost_usd for line in cost_lines(days, sandbox))
    result: dict[str, Any] = {
        "plan": list(days),
        "faults": {rule: list(words) for rule, words in faults.items()},
        "cost_usd": total,
        "budget_usd": sandbox.needs.budget_usd,
    }
    text = json.dumps(result, ensure_ascii=False)
    return text.encode("utf-8", "replace").decode("utf-8")  # a lone surrogate cannot be stored
