"""Reports what people scored on the job's samples, beside each arm on the same samples.

Answers of people come from the review desk, or as a model of their own from `gnomon import --into`. Both are
scored as the job is, and shown alike.
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.review import HumanAnswer, plain_answer
from gnomon.report.score_matrix import RIGHT, ScoreMatrix
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import (
    count,
    percent,
    percent_brackets,
    percent_range,
)
from gnomon.statistics.design import Floats
from gnomon.statistics.mean import mean_score
from gnomon.statistics.paired import compare
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.agreement import agreement

FROM_REVIEWS = "people"  # the name of those who answered at the review desk
Labels = list[list[tuple[str, Hashable]]]


class PeopleAgreement(TypedDict):
    """How far people agree on samples that two or more of them answered."""

    on: Literal["answers", "right or wrong"]
    n: int
    share: float | None
    coefficient: float | None
    ci95: Interval
    method: str


class PeopleVersusArm(TypedDict):
    """An arm beside people on the samples that both answered; `diff` is arm minus people."""

    model: str
    arm: str
    n: int
    people_mean: float
    arm_mean: float
    diff: float
    ci95: Interval
    interval_method: str
    p: float | None


class PeopleLine(TypedDict):
    """A group of people: their mean score and what it is compared with."""

    name: str
    people: int
    answers: int
    n: int
    planned: int
    mean: float
    ci95: Interval
    interval_method: str
    agreement: PeopleAgreement
    arms: list[PeopleVersusArm]


class PeoplePart(TypedDict):
    """The section's field: empty where no person has answered."""

    people: list[PeopleLine]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Group:
    """A group's answers: the mean score by sample (NaN: none), and the labels to agree on."""

    name: str
    people: int
    answers: int
    means: Floats
    labels: Labels
    labels_are: Literal["answers", "right or wrong"]


def _people(report_input: ReportInput) -> PeoplePart:
    """Groups of people, those of the review desk first; each compared with every arm of every model."""
    imported = _models_of_people(report_input)
    groups = [
        *_reviewers(report_input.human_answers, report_input.scores),
        *(_imported(report_input.scores, at) for at in imported),
    ]
    arms = [at for at in range(len(report_input.scores.groups)) if at not in imported]
    return {"people": [_line(report_input, group, arms) for group in while_wanted(groups)]}


def _models_of_people(report_input: ReportInput) -> list[int]:
    """The groups of models that answered without being called, where other models were called."""
    scores, benchmark = report_input.scores, report_input.benchmark
    called = {
        model
        for (model, _), totals in zip(scores.groups, scores.totals, strict=True)
        if totals.sums["model_calls"] or totals.tools_offered is not None
    }
    if not called or benchmark.name not in BENCHMARKS:
        return []
    return [
        at
        for at, (model, _) in enumerate(scores.groups)
        if model not in called and bool(np.any(scores.answered[at]))
    ]


def _reviewers(answers: Sequence[HumanAnswer], scores: ScoreMatrix) -> Iterator[_Group]:
    if not answers:
        return
    asked = {answer.sample_id for answer in answers}
    places = {sample_id: at for at, sample_id in enumerate(scores.samples) if sample_id in asked}
    used = [answer for answer in answers if answer.sample_id in places]
    if not used:
        return
    sums, counts = np.zeros((2, len(scores.samples)))
    labels: dict[str, list[tuple[str, Hashable]]] = defaultdict(list)
    for answer in used:
        sums[places[answer.sample_id]] += answer.score
        counts[places[answer.sample_id]] += 1
        labels[answer.sample_id].append((answer.person, plain_answer(answer.answer)))
    means: Floats = np.full(len(sums), np.nan)
    np.divide(sums, counts, out=means, where=counts > 0)
    yield _Group(
        name=FROM_REVIEWS,
        people=len({answer.person for answer in used}),
        answers=len(used),
        means=means,
        labels=list(labels.values()),
        labels_are="answers",
    )


def _imported(scores: ScoreMatrix, at: int) -> _Group:
    """A model of people: its repeats are persons, who are known here by their scores only."""
    by_person = scores.by_repeat(at)
    labels: Labels = [
        [(str(person), bool(score >= RIGHT)) for person, score in enumerate(row) if np.isfinite(score)]
        for row in by_person
    ]
    return _Group(
        name=scores.groups[at][0],
        people=int(np.sum(np.any(np.isfinite(by_person), axis=0))),
        answers=int(scores.answered[at].sum()),
        means=scores.means(at),
        labels=labels,
        labels_are="right or wrong",
    )


def _line(report_input: ReportInput, group: _Group, arms: Iterable[int]) -> PeopleLine:
    scores = report_input.scores
    answered = np.isfinite(group.means)
    grouping = scores.design(answered, "mean_of_samples")
    mean = mean_score(group.means[answered], grouping)
    agreed = agreement(group.labels)
    versus = (_versus(scores, group.means, at) for at in arms)
    return {
        "name": group.name,
        "people": group.people,
        "answers": group.answers,
        "n": mean.n,
        "planned": report_input.planned_samples,
        "mean": mean.mean,
        "ci95": interval(mean.ci95),
        "interval_method": mean.method,
        "agreement": {
            "on": group.labels_are,
            "n": agreed.items,
            "share": agreed.share,
            "coefficient": agreed.coefficient,
            "ci95": interval(agreed.ci95),
            "method": agreed.method,
        },
        "arms": [row for row in versus if row is not None],
    }


def _versus(scores: ScoreMatrix, people: Floats, at: int) -> PeopleVersusArm | None:
    arm = scores.means(at)
    both = np.isfinite(people) & np.isfinite(arm)
    if not both.any():
        return None
    grouping = scores.design(both, "mean_of_samples")
    comparison = compare(people[both], arm[both], grouping)
    model, name = scores.groups[at]
    return {
        "model": model,
        "arm": name,
        "n": comparison.n,
        "people_mean": float(people[both].mean()),
        "arm_mean": float(arm[both].mean()),
        "diff": comparison.diff,
        "ci95": interval(comparison.ci95),
        "interval_method": comparison.interval_method,
        "p": comparison.p,
    }


def _sentence(line: PeopleLine) -> str:
    """What people scored, in words."""
    who = line["name"] if line["name"] == FROM_REVIEWS else f"people, {line['name']}"
    persons = "1 person" if line["people"] == 1 else f"{line['people']:,} people"
    return (
        f"{who.capitalize()}: {percent(line['mean'])} %{percent_brackets(line['ci95'])} on {line['n']:,} of "
        f"{count(line['planned'], 'sample')}, {count(line['answers'], 'answer')} of {persons}. "
        f"{_agreement_words(line)}"
    )


def _agreement_words(line: PeopleLine) -> str:
    agreed = line["agreement"]
    if not agreed["n"]:
        return "No sample was answered by two people."
    value = "none, as all labels are the same" if agreed["coefficient"] is None else _two(agreed)
    return (
        f"On {count(agreed['n'], 'sample')} with two answers or more they agree in "
        f"{percent(agreed['share'])} % ({agreed['on']}); {agreed['method']} {value}."
    )


def _two(agreed: PeopleAgreement) -> str:
    ends = agreed["ci95"]
    within = f" (95 %: {ends[0]:.2f} to {ends[1]:.2f})" if ends else ""
    return f"{agreed['coefficient']:.2f}{within}".replace("-", "−")


def _view(report: PeoplePart) -> Mapping[str, object] | None:
    people = report.get("people")  # absent from reports of older versions
    return {"lines": [(_sentence(line), line) for line in people]} if people else None


def _terminal(report: PeoplePart) -> Iterator[str]:
    for line in report["people"]:
        yield (
            f"{line['name']}  {percent(line['mean'])} % {percent_range(line['ci95'])}  "
            f"{line['n']:,} of {count(line['planned'], 'sample')}"
        )


people = Section(
    name="people",
    title="People",
    question="What do people score, and do arms do better on the same samples?",
    fields=PeoplePart,
    compute=_people,
    place=92,
    behind="published_notes",
    view=_view,
    terminal=_terminal,
)
