"""Reads the plan of a reply, and scores it by the paper's rules: strictly, or as the released code does."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gnomon.core.benchmark import Scoring
from gnomon.core.plan_row import NOT_DELIVERED, ErrorKind, Passed, PlanRow, Rate, errors_by_kind, number_of
from gnomon.core.row import Row
from gnomon.core.score import Score
from gnomon.core.thinking import without_thinking
from gnomon_trips.benchmarks.travelplanner.official import OfficialRaisesError, judge_officially
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


MAX_READ = 100_000  # characters, from the end
MAX_DAYS = 60
_MAX_STARTS = 400  # brackets at which JSON is tried
_DAY = re.compile(r"^[^\w\n]{0,9}Day[ \t]{1,9}(\d{1,3})\b.*$", re.IGNORECASE | re.MULTILINE)
_LINE = re.compile(
    r"^[^\w\n]{0,9}(Current City|Transportation|Breakfast|Attractions?|Lunch|Dinner|Accommodation)"
    r"[ \t*]{0,9}:[ \t*]{0,9}(.*)$",
    re.IGNORECASE | re.MULTILINE,
)


def read_plan(response: object) -> Days | None:
    """The days of the last plan of a reply; None where there is none.

    >>> read_plan('{"plan": [{"days": 1, "current_city": "Rome"}]}')
    [{'days': 1, 'current_city': 'Rome'}]
    """
    if not isinstance(response, str):
        return None
    text = without_thinking(response)[-MAX_READ:]
    plans = [plan for value in _values(text) if (plan := _plan(value))]
    return plans[-1] if plans else _text_plan(text)


def _plan(value: object) -> list[dict[str, Any]] | None:
    """The days of a JSON value, where it is a plan."""
    days = value.get("plan", value.get("days")) if isinstance(value, dict) else value
    if not isinstance(days, list) or not 0 < len(days) <= MAX_DAYS:
        return None
    if not all(isinstance(day, dict) for day in days) or not any("current_city" in day for day in days):
        return None
    return days


def _values(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    at, starts = 0, 0
    while (match := re.compile(r"[\[{]").search(text, at)) and starts < _MAX_STARTS:
        starts += 1
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            at = match.end()
            continue
        yield value


def _text_plan(text: str) -> Days | None:
    heads = list(_DAY.finditer(text))
    if not heads:
        return None
    ends = [*(head.start() for head in heads[1:]), len(text)]
    days: dict[int, dict[str, Any]] = {}
    for head, end in zip(heads, ends, strict=True):
        fields = {
            match[1].casefold().replace(" ", "_").replace("attractions", "attraction"): match[2].strip(" *")
            for match in _LINE.finditer(text, head.end(), end)
        }
        if "current_city" in fields:
            days[int(head[1])] = {"days": int(head[1]), **fields}
    return [days[number] for number in sorted(days)][:MAX_DAYS] or None


RULE_KINDS: Mapping[str, ErrorKind] = {
    "in_sandbox": "names",
    "in_current_city": "routes",
    "city_route": "routes",
    "transport_conflict": "routes",
    "diverse_restaurants": "constraints",
    "diverse_attractions": "constraints",
    "minimum_nights": "constraints",
    "budget": "constraints",
    "house_rule": "constraints",
    "room_type": "constraints",
    "cuisine": "constraints",
    "transport": "constraints",
    "complete": "form",
}
"""Of every rule. No rule judges hours or what a plan adds up, and no task may be refused."""

KINDS: Mapping[str, ErrorKind] = {
    **{f"breaks:{rule}": kind for rule, kind in RULE_KINDS.items()},
    NOT_DELIVERED: "form",
    "official_raises": "form",
}


def plan_row(row: Row) -> PlanRow:
    """The paper's rates, to which what is not delivered adds nothing kept, and the errors of a scored row."""
    delivered = number_of(row.metrics, "delivered") or 0.0
    flags = row.flags
    if not delivered and not any(flag.startswith((NOT_DELIVERED, "official_raises")) for flag in flags):
        flags = (*flags, f"{NOT_DELIVERED}: {row.stop_reason}")
    rules = float(len(COMMONSENSE))
    rates: dict[Rate, Passed] = {
        "delivery": (delivered, 1.0),
        "commonsense_micro": (rules * (number_of(row.metrics, "commonsense_micro") or 0.0), rules),
        "commonsense_macro": (number_of(row.metrics, "commonsense_macro") or 0.0, 1.0),
        "hard_micro": (number_of(row.metrics, "hard_passed") or 0.0, number_of(row.metrics, "hard_asked")),
        "hard_macro": (number_of(row.metrics, "hard_macro") or 0.0, 1.0),
        "final_pass": (number_of(row.metrics, "final_pass") or 0.0, 1.0),
    }
    return PlanRow(rates=rates, errors=errors_by_kind(flags, KINDS))
