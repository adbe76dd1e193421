"""Lists a job's trials with facets and a search, to find which cases explain its result."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request

from gnomon.core.errors import SpecError
from gnomon.report.reply_words import STATE_WORDS
from gnomon.report.text_formats import count
from gnomon.report.trial_index.filters import CHANGES, TrialFilter
from gnomon_service.api.state import Shared, State
from gnomon_service.web.pages import View, page
from gnomon_service.web.trial_lists import ORDERS, TrialList, asked_of, trial_list
from gnomon_service.web.trial_views import arm_place
from gnomon_workers.store.records import OPEN, JobRecord

if TYPE_CHECKING:  # else imported late: with NumPy, a part of the API's start
    from gnomon.report.trial_index.entries import ArmResult, GridRow, PairEntry, TrialEntry

ROWS = 100
GRID_ROWS = 25  # each with the replies of all arms
TEXTS_S = 1.5  # that reading the questions of a page may take
QUESTION_CHARS = 220
REPLY_CHARS = 300
SHOWN_VALUES = 10  # of a facet; the others are folded
HEADINGS = {
    "changed": "Changed",
    "outcome": "Outcome",
    "reply_state": "What became of the reply",
    "cell": "Subset",
    "arm": "Arm",
    "model": "Model",
    "stop": "Why it ended",
    "flag": "Flag on the response",
    "tool": "Tool called",
    "task": "Task",
}
OPEN_FACETS = ("changed", "outcome", "cell", "arm")
KINDS = {"pairs": "sample", "grid": "sample, all replies", "trials": "trial"}  # in words
WORDS = {
    "fixed": "fixed",
    "regressed": "regressed",
    "both_right": "both right",
    "both_wrong": "both wrong",
    "not_comparable": "not comparable",
    "scored": "scored",
    "model_failed": "failed by the model",
    "infra_missing": "missing",
    **{state.value: words for state, words in STATE_WORDS.items()},
    "": "not recorded",
}
UNTOLD = ("", "read", "missing")  # states of a reply that a row need not tell
SIGNS = {"fixed": "▲", "regressed": "▼", "both_right": "✓", "both_wrong": "✕", "not_comparable": "?"}

router = APIRouter(include_in_schema=False)


@page(router, "/ui/jobs/{job_id}/trials", "trials.html.j2")
def trials_page(request: Request, state: Shared, job_id: str, after: str = "") -> View:
    """A stretch of the list, and what each filter would leave."""
    job = state.store.job(job_id)
    listed = trial_list(job.id, job.spec, request.query_params.multi_items())
    index = state.indexes.get(job.id).value
    asked, unsearched = asked_of(state, job, listed)
    problem, rows, total, following = "", [], 0, None
    try:
        if listed.kind == "grid":
            grid = index.grid(asked, listed.sort, after or None, GRID_ROWS)
            rows = [grid_row(item, state, listed) for item in grid.items]
            total, following = grid.total, grid.next_cursor
        elif listed.kind == "pairs":
            pairs = index.pairs(asked, listed.sort, after or None, ROWS)
            rows = [_pair_row(item, listed) for item in pairs.items]
            total, following = pairs.total, pairs.next_cursor
        else:
            trials = index.trials(asked, listed.sort, after or None, ROWS)
            rows = [_trial_row(item, listed, job) for item in trials.items]
            total, following = trials.total, trials.next_cursor
    except SpecError as error:  # a cursor of another list
        problem = error.message
    unknown, facets = index.unknown(listed.filters), index.facets(asked)
    names = dict.fromkeys(row["sample_id"] for row in rows)
    texts = state.questions.texts(job.id, job.spec, names, patience_s=TEXTS_S)
    for row in rows:
        row["question"] = texts.get(row["sample_id"], "")[:QUESTION_CHARS]
    noun = "trial" if listed.kind == "trials" else "sample" if len(job.spec.models) == 1 else "pair"
    return {
        "title": "Trials",
        "answer": _answer(job, listed, total, noun, facets["changed"], unsearched),
        "job": {"id": job.id, "name": job.name or job.spec.benchmark, "status": job.status},
        "kind": listed.kind,
        "sort": listed.sort,
        "arms": [{"name": arm.name, "place": place} for place, arm in enumerate(job.spec.arms)],
        "pair": _pair(job, listed),
        "chosen": _chips(listed, unknown),
        "facets": _facets(facets, listed),
        "rows": rows,
        "total": total,
        "problem": problem,
        "page_rows": GRID_ROWS if listed.kind == "grid" else ROWS,
        "next": listed.href(after=following) if following else "",
        "first": listed.href() if after else "",
        "is_open": job.status in OPEN,
        "pending": job.counts.planned - job.counts.done,
        "q": listed.filters.q,
        "_orders": ORDERS[listed.kind],
        "_models": len(job.spec.models) > 1,
        "_kinds": {
            words: (kind, listed.href(view=kind))
            for kind, words in KINDS.items()
            if listed.pair or kind != "pairs"
        },
        "_list_query": listed.query(),
        "_rows_query": urlencode(listed.filters.as_query()),
        "_clear": listed.href(filters=TrialFilter()),
    }


def _answer(
    job: JobRecord, listed: TrialList, total: int, noun: str, changed: Mapping[str, int], unsearched: int
) -> str:
    """How many cases are listed, and of these how many changed."""
    if not job.counts.done:
        return "No trial has ended yet."
    match = "matches" if total == 1 else "match"
    which = match if listed.filters.as_query() else "in all"
    sentence = f"{count(total, noun)} {which}"
    if unsearched:
        sentence += f" ({count(unsearched, 'question')} not searched yet: search again to go on)"
    if listed.pair is None:
        return f"{sentence}."
    parts = [f"{changed.get(name, 0):,} {WORDS[name]}" for name in CHANGES if changed.get(name)]
    if not parts or listed.filters.changed:
        return f"{sentence}, {listed.pair[1]} against {listed.pair[0]}."
    return f"{sentence}; {listed.pair[1]} against {listed.pair[0]}: {', '.join(parts)}."


def _pair(job: JobRecord, listed: TrialList) -> dict[str, Any] | None:
    if listed.pair is None:
        return None
    baseline, variant = listed.pair
    return {
        "baseline": baseline,
        "baseline_place": arm_place(job.spec, baseline),
        "variant": variant,
        "variant_place": arm_place(job.spec, variant),
    }


def _chips(listed: TrialList, unknown: Sequence[tuple[str, str]]) -> list[dict[str, Any]]:
    """What is chosen, each with the address of the list without it."""
    return [
        {
            "name": name,
            "value": value,
            "words": WORDS.get(value, value),
            "is_unknown": (name, value) in unknown,
            "href": listed.href(filters=listed.filters.without(name, value)),
        }
        for name, value in listed.filters.as_query()
    ]


def _facets(counts: Mapping[str, Mapping[str, int]], listed: TrialList) -> list[dict[str, Any]]:
    """Facets with more than one value, with counts; what is chosen comes first."""
    facets = []
    for name in HEADINGS:
        chosen = listed.filters.values(name)
        if (len(counts[name]) < 2 and not chosen) or (name == "changed" and listed.pair is None):
            continue
        if name == "task" and set(counts["task"]) == set(counts["cell"]):
            continue
        values = [
            {"value": value, "words": WORDS.get(value, value), "n": n, "is_chosen": value in chosen}
            for value, n in _ordered(name, counts[name])
        ]
        shown = [value for value in values if value["is_chosen"]]
        shown += [value for value in values if not value["is_chosen"]][: max(0, SHOWN_VALUES - len(shown))]
        facets.append(
            {
                "name": name,
                "heading": HEADINGS[name],
                "unit": "samples" if name == "changed" else "trials",
                "is_open": name in OPEN_FACETS or bool(chosen),
                "values": [value for value in values if value in shown],
                "others": [value for value in values if value not in shown],
            }
        )
    return facets


def _ordered(name: str, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Changes in their usual order, other values with the most trials first."""
    if name == "changed":
        return [(value, counts[value]) for value in CHANGES if value in counts] + [
            (value, n) for value, n in counts.items() if value not in CHANGES
        ]
    return list(counts.items())


def grid_row(row: "GridRow", state: State, listed: TrialList) -> dict[str, Any]:
    """A question with what each arm made of it, and the first lines of its first reply."""
    return {
        "sample_id": row.sample_id,
        "model": row.model,
        "cell": row.cell,
        "href": listed.sample_href(row.sample_id),
        "cells": [
            {
                "arm": result.arm,
                **_side(result),
                "href": listed.trial_href(result.trials[0].trial_id) if result.trials else "",
                "reply": _reply(state, result.trials[0].trial_id) if result.trials else "",
            }
            for result in row.results
        ],
    }


def _reply(state: State, trial_id: str) -> str:
    """How a trial's reply begins; empty where no trace is kept."""
    reply = str((state.store.trace(trial_id) or {}).get("response") or "").strip()
    return reply if len(reply) <= REPLY_CHARS else f"{reply[:REPLY_CHARS]}…"


def _pair_row(pair: "PairEntry", listed: TrialList) -> dict[str, Any]:
    trials = [*pair.baseline.trials, *pair.variant.trials]
    ids = [side.trials[0].trial_id if side.trials else "" for side in (pair.baseline, pair.variant)]
    return {
        "sample_id": pair.sample_id,
        "model": pair.model,
        "cell": pair.cell,
        "href": listed.sample_href(pair.sample_id),
        "baseline": _side(pair.baseline),
        "variant": _side(pair.variant),
        "difference": pair.difference,
        "changed": pair.changed,
        "changed_words": WORDS[pair.changed],
        "_sign": SIGNS[pair.changed],
        "calls": pair.variant.tool_calls,
        "cost": _sum(trial.usd for trial in trials),
        "seconds": _sum(trial.wall_s for trial in trials),
        "flags": sorted({flag for trial in trials for flag in trial.flags}),
        "pick": ",".join(ids) if all(ids) else "",
    }


def _side(side: "ArmResult") -> dict[str, Any]:
    answers = list(dict.fromkeys(trial.answer for trial in side.trials if trial.answer))
    without = next((trial for trial in side.trials if trial.outcome != "scored"), None)
    return {
        "score": side.score,
        "answer": " | ".join(answers[:3]) + (" | …" if len(answers) > 3 else ""),
        "outcome": "" if without is None else f"{WORDS[without.outcome]}: {without.stop_reason}",
        "trials": len(side.trials),
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _trial_row(trial: "TrialEntry", listed: TrialList, job: JobRecord) -> dict[str, Any]:
    return {
        "trial_id": trial.trial_id,
        "href": listed.trial_href(trial.trial_id),
        "sample_id": trial.sample_id,
        "sample_href": listed.sample_href(trial.sample_id),
        "model": trial.model,
        "cell": trial.cell,
        "arm": trial.arm,
        "place": arm_place(job.spec, trial.arm),
        "repeat": trial.repeat + 1,
        "score": trial.score,
        "answer": trial.answer or "",
        "outcome": trial.outcome,
        "outcome_words": WORDS[trial.outcome],
        "reply_state": trial.reply_state,
        "reply_words": "" if trial.reply_state in UNTOLD else WORDS[trial.reply_state],
        "stop_reason": trial.stop_reason,
        "calls": trial.tool_calls,
        "errors": trial.tool_errors,
        "cost": trial.usd,
        "seconds": trial.wall_s,
        "flags": list(trial.flags),
        "pick": trial.trial_id,
    }
