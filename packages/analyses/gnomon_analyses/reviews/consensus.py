"""Finds the published answers that several models confirm over several rounds (EscherVerse, Methods).

A model's vote is what it answered in most of its rounds. A question on which every model votes for gold is
agreed; every other one is queued for a person, those first that look most like a wrong gold.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from gnomon.core.errors import DataError
from gnomon_analyses.reviews.rows import Row

Standing = Literal["agreed", "gold_doubtful", "split", "unstable", "unanswered"]
MOST_DOUBTFUL: tuple[Standing, ...] = ("gold_doubtful", "split", "unstable", "unanswered")
RIGHT = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """What one model answered in its rounds: how often each answer, and in how many it was right."""

    model: str
    rounds: int
    right: int
    answers: Mapping[str, int]

    @property
    def answer(self) -> str | None:
        """The answer of more than half of the rounds; None if there is none."""
        ranked = Counter(self.answers).most_common(1)
        return ranked[0][0] if ranked and 2 * ranked[0][1] > self.rounds else None

    @property
    def confirms(self) -> bool:
        """Whether it was right in more than half of the rounds."""
        return 2 * self.right > self.rounds


@dataclass(frozen=True, slots=True, kw_only=True)
class Consensus:
    """A question and the standing of its answer.

    `gold_doubtful`: no model confirms gold, and all vote for one and the same other answer. `split`: the
    votes differ. `unstable`: a model has no vote. `unanswered`: a model gave no answer in any round.
    """

    sample_id: str
    task: str
    standing: Standing
    agreement: float  # share of all rounds of all models that were right
    votes: tuple[Vote, ...]


def consensus_of(rows: Sequence[Row]) -> list[Consensus]:
    """Every question of the rows, the agreed ones last, the most doubtful first.

    Raises:
        DataError: the rows are of several benchmarks, or of one model only.
    """
    if len({row["benchmark"] for row in rows}) != 1:
        raise DataError("rows of several benchmarks; check one at a time")
    models = sorted({row["model"] for row in rows})
    if len(models) < 2:
        raise DataError(f"rows of one model, {models[0]}: a consensus needs several")
    by_sample: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_sample[row["sample_id"]].append(row)
    results = [_consensus(sample_id, group, models) for sample_id, group in by_sample.items()]
    order: tuple[Standing, ...] = (*MOST_DOUBTFUL, "agreed")
    return sorted(
        results, key=lambda result: (order.index(result.standing), result.agreement, result.sample_id)
    )


def _consensus(sample_id: str, rows: Sequence[Row], models: Sequence[str]) -> Consensus:
    votes = tuple(_vote(model, [row for row in rows if row["model"] == model]) for model in models)
    rounds = sum(vote.rounds for vote in votes)
    return Consensus(
        sample_id=sample_id,
        task=str(rows[0]["task"]),
        standing=_standing(votes),
        agreement=sum(vote.right for vote in votes) / rounds if rounds else 0.0,
        votes=votes,
    )


def _vote(model: str, rows: Sequence[Row]) -> Vote:
    """Counts a model's rounds: one that the provider's fault ended is left out, an empty reply counts."""
    judged = [row for row in rows if row["score"] is not None]
    answers = Counter(_plain(row["answer"]) for row in judged if row["answer"])
    return Vote(
        model=model,
        rounds=len(judged),
        right=sum(row["score"] >= RIGHT for row in judged),
        answers=dict(answers.most_common()),
    )


def _standing(votes: Sequence[Vote]) -> Standing:
    if not all(vote.answers for vote in votes):
        return "unanswered"
    if all(vote.confirms for vote in votes):
        return "agreed"
    said = {vote.answer for vote in votes}
    if None in said:
        return "unstable"
    return "gold_doubtful" if len(said) == 1 and not any(vote.confirms for vote in votes) else "split"


def _plain(answer: object) -> str:
    return " ".join(str(answer).casefold().split())
