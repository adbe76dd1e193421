"""Reports verdicts on pairs that were shown in both orders: who wins, what order does, how far judges agree.

A judge is a model under an arm, or the people of the review desk. Where judges are compared a verdict that
changes with the order counts as "about equal".
"""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from typing_extensions import TypedDict

from gnomon.core.review import HumanAnswer
from gnomon.core.row_batch import RowBatch
from gnomon.report.cluster_codes import plain_design
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import label
from gnomon.statistics.mean import MeanScore, mean_score
from gnomon.stopping import while_wanted
from gnomon_analyses.statistics.agreement import agreement

PEOPLE = "people"
EQUAL = "about equal"
Judge = tuple[str, str]  # model, arm


class WinShare(TypedDict):
    """What a planner won of the verdicts on its pairs: 1 a win, ½ about equal, 0 a loss."""

    planner: str
    n: int
    wins: int
    equals: int
    losses: int
    share: float
    ci95: Interval
    method: str


class PairJudge(TypedDict):
    """One judge: its verdicts, what the order does to them, and who wins."""

    model: str
    arm: str
    verdicts: int
    unread: int
    both_orders: int
    flipped: float | None
    flipped_ci95: Interval
    kept_first: int
    kept_second: int
    for_first: float | None
    for_first_ci95: Interval
    decided: int
    planners: list[WinShare]


class JudgeAgreement(TypedDict):
    """How far two judges agree, or all of them, on the pairs that both judged."""

    judges: list[str]
    n: int
    share: float | None
    coefficient: float | None
    ci95: Interval
    method: str


class PairVerdictsPart(TypedDict):
    """Judges of pairs; empty where no answer is about one."""

    pair_judges: list[PairJudge]
    pair_agreement: list[JudgeAgreement]


@dataclass(frozen=True, slots=True)
class Shown:
    """A pair as one sample shows it."""

    pair: str
    plan_a: str
    plan_b: str
    cluster: str

    def winner(self, letter: str) -> str | None:
        """The planner that a letter is for; None for anything else."""
        return {"A": self.plan_a, "B": self.plan_b, "C": EQUAL}.get(letter.strip().upper())


@dataclass(frozen=True, slots=True)
class Verdict:
    """Who won a pair as it was shown; `turn` tells the repeats, or the persons, of a judge apart."""

    shown: Shown
    winner: str
    turn: str


@dataclass(slots=True)
class PairVerdicts:
    """Takes note of the rows that are verdicts on pairs; of other jobs it keeps nothing."""

    shown: dict[str, Shown] = field(default_factory=dict)
    by_judge: dict[Judge, list[Verdict]] = field(default_factory=lambda: defaultdict(list))
    unread: dict[Judge, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, batch: RowBatch) -> None:
        """Keep the verdicts of rows that are about a pair; they need not have a score."""
        for row in batch.rows(batch.distinct("metrics").places(lambda metrics: "pair" in metrics)):
            pair, plan_a, plan_b = (row.metrics.get(name) for name in ("pair", "plan_a", "plan_b"))
            if not (isinstance(pair, str) and isinstance(plan_a, str) and isinstance(plan_b, str)):
                continue
            shown = Shown(pair, plan_a, plan_b, row.cluster or row.sample_id)
            self.shown.setdefault(row.sample_id, shown)
            winner, judge = row.metrics.get("winner"), (row.model, row.arm)
            if isinstance(winner, str):
                self.by_judge[judge].append(Verdict(shown, winner, str(row.repeat)))
            else:
                self.unread[judge] += 1

    def of_people(self, answers: Iterable[HumanAnswer]) -> list[Verdict]:
        verdicts = []
        for answer in answers:
            shown = self.shown.get(answer.sample_id)
            winner = shown.winner(answer.answer or "") if shown else None
            if shown is not None and winner is not None:
                verdicts.append(Verdict(shown, winner, answer.person))
        return verdicts


def _pair_verdicts(report_input: ReportInput) -> PairVerdictsPart:
    collected = report_input.collected(PairVerdicts)
    groups = {judge: collected.by_judge[judge] for judge in sorted(collected.by_judge)}
    if people := collected.of_people(report_input.human_answers):
        groups[PEOPLE, ""] = people
    return {
        "pair_judges": [
            _judge(judge, verdicts, collected.unread[judge])
            for judge, verdicts in while_wanted(list(groups.items()))
        ],
        "pair_agreement": list(_agreements(groups)),
    }


def _judge(judge: Judge, verdicts: Sequence[Verdict], unread: int) -> PairJudge:
    both = [turns for turns in _by_turn(verdicts).values() if len(turns) > 1]
    flips = [len({verdict.winner for verdict in turns}) > 1 for turns in both]
    flipped = _mean([float(flip) for flip in flips], [turns[0].shown.cluster for turns in both])
    decided = [verdict for verdict in verdicts if verdict.winner != EQUAL]
    for_first = _mean(
        [float(verdict.winner == verdict.shown.plan_a) for verdict in decided],
        [verdict.shown.cluster for verdict in decided],
    )
    planners = sorted({name for verdict in verdicts for name in (verdict.shown.plan_a, verdict.shown.plan_b)})
    return {
        "model": judge[0],
        "arm": judge[1],
        "verdicts": len(verdicts),
        "unread": unread,
        "both_orders": len(both),
        "flipped": flipped.mean if flipped else None,
        "flipped_ci95": interval(flipped.ci95) if flipped else None,
        "kept_first": sum(all(one.winner == one.shown.plan_a for one in turns) for turns in both),
        "kept_second": sum(all(one.winner == one.shown.plan_b for one in turns) for turns in both),
        "for_first": for_first.mean if for_first else None,
        "for_first_ci95": interval(for_first.ci95) if for_first else None,
        "decided": len(decided),
        "planners": [_win_share(planner, verdicts) for planner in planners],
    }


def _by_turn(verdicts: Iterable[Verdict]) -> dict[tuple[str, str], list[Verdict]]:
    """A judge's verdicts on a pair in one turn: one for each order."""
    turns: dict[tuple[str, str], list[Verdict]] = defaultdict(list)
    for verdict in verdicts:
        turns[verdict.shown.pair, verdict.turn].append(verdict)
    return turns


def _mean(values: Sequence[float], clusters: Sequence[str]) -> MeanScore | None:
    """A mean whose interval takes what is about one request as one thing."""
    if not values:
        return None
    return mean_score(np.array(values), plain_design(clusters))


def _win_share(planner: str, verdicts: Sequence[Verdict]) -> WinShare:
    own = [verdict for verdict in verdicts if planner in (verdict.shown.plan_a, verdict.shown.plan_b)]
    scores = [1.0 if one.winner == planner else 0.5 if one.winner == EQUAL else 0.0 for one in own]
    mean = _mean(scores, [verdict.shown.cluster for verdict in own])
    assert mean is not None  # noqa: S101 (a planner has a verdict, or it would not be named)
    return {
        "planner": planner,
        "n": len(own),
        "wins": scores.count(1.0),
        "equals": scores.count(0.5),
        "losses": scores.count(0.0),
        "share": mean.mean,
        "ci95": interval(mean.ci95),
        "method": mean.method,
    }


def _agreements(groups: Mapping[Judge, Sequence[Verdict]]) -> Iterator[JudgeAgreement]:
    """Agreement of every two judges on pairs; of people among themselves; of all together."""
    settled = {_name(judge): _settled(judge, verdicts) for judge, verdicts in groups.items()}
    for first, second in combinations(settled, 2):
        yield _agreement([first, second], {name: settled[name] for name in (first, second)})
    people = _by_person(groups.get((PEOPLE, ""), ()))
    if len(people) > 1:
        yield _agreement([f"{PEOPLE}, among themselves"], people)
    if len(settled) > 2:
        yield _agreement(list(settled), settled)


def _agreement(judges: list[str], labels: Mapping[str, Mapping[str, str]]) -> JudgeAgreement:
    pairs = sorted({pair for by_pair in labels.values() for pair in by_pair})
    items: list[list[tuple[str, Hashable]]] = [
        [(judge, by_pair[pair]) for judge, by_pair in labels.items() if pair in by_pair] for pair in pairs
    ]
    agreed = agreement(items)
    return {
        "judges": judges,
        "n": agreed.items,
        "share": agreed.share,
        "coefficient": agreed.coefficient,
        "ci95": interval(agreed.ci95),
        "method": agreed.method,
    }


def _settled(judge: Judge, verdicts: Sequence[Verdict]) -> dict[str, str]:
    """A judge's one verdict on each pair: people's majority, a model's in its first repeat."""
    if judge[0] == PEOPLE and not judge[1]:
        votes: dict[str, list[str]] = defaultdict(list)
        for by_pair in _by_person(verdicts).values():
            for pair, winner in by_pair.items():
                votes[pair].append(winner)
        return {pair: _majority(winners) for pair, winners in votes.items()}
    return {
        pair: _agreed(turns) for (pair, turn), turns in _by_turn(verdicts).items() if turn == verdicts[0].turn
    }


def _by_person(verdicts: Sequence[Verdict]) -> dict[str, dict[str, str]]:
    people: dict[str, dict[str, str]] = defaultdict(dict)
    for (pair, person), turns in _by_turn(verdicts).items():
        people[person][pair] = _agreed(turns)
    return people


def _agreed(turns: Sequence[Verdict]) -> str:
    """The winner in every order; EQUAL where it changes with the order."""
    winners = {verdict.winner for verdict in turns}
    return winners.pop() if len(winners) == 1 else EQUAL


def _majority(winners: Sequence[str]) -> str:
    counts = {winner: winners.count(winner) for winner in winners}
    leading = [winner for winner, count in counts.items() if count == max(counts.values())]
    return leading[0] if len(leading) == 1 else EQUAL


def _name(judge: Judge) -> str:
    return label(*judge) if judge[1] else judge[0]


def _view(report: PairVerdictsPart) -> Mapping[str, object] | None:
    judges = report.get("pair_judges")  # absent from reports of older versions
    if not judges:
        return None
    names = [_name((judge["model"], judge["arm"])) for judge in judges]
    return {"judges": list(zip(names, judges, strict=True)), "agreed": report["pair_agreement"]}


pair_verdicts = Section(
    name="pair_verdicts",
    title="Verdicts on pairs",
    question="Which of two does a judge prefer, does it stay with that in the other order, and who agrees?",
    fields=PairVerdictsPart,
    compute=_pair_verdicts,
    collector=lambda *_: PairVerdicts(),
    place=91,
    behind="people",
    view=_view,
)
