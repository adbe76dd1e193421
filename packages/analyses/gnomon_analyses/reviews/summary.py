"""Summarises reviews of a queue's samples: agreement, disputes, and decisions."""

import json
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from gnomon.core.review import Mode, Review, ReviewQueue, plain_answer
from gnomon_analyses.statistics.agreement import Agreement, agreement


def by_sample(reviews: Iterable[Review]) -> dict[str, list[Review]]:
    """The reviews of each sample, in their order."""
    grouped: dict[str, list[Review]] = defaultdict(list)
    for review in reviews:
        grouped[review.sample_id].append(review)
    return dict(grouped)


def blind_decisions(reviews: Iterable[Review]) -> list[Review]:
    """The reviews that were decided without sight of others."""
    return [review for review in reviews if review.decision and not review.is_settlement]


def settlement(reviews: Iterable[Review]) -> Review | None:
    """The last settlement among a sample's reviews."""
    return max((r for r in reviews if r.is_settlement), key=lambda review: review.updated_at, default=None)


def is_disputed(reviews: Sequence[Review]) -> bool:
    """Whether a sample's reviewers decided differently, and no one has settled it yet."""
    return settlement(reviews) is None and len({review.judgement for review in blind_decisions(reviews)}) > 1


def decided(reviews: Sequence[Review]) -> Review | None:
    """The review that holds for a sample: its settlement, else one of unanimous ones; None without either."""
    settled = settlement(reviews)
    if settled is not None:
        return settled
    decisions = blind_decisions(reviews)
    return decisions[0] if decisions and not is_disputed(reviews) else None


def agreement_of(reviews: Iterable[Review], mode: Mode) -> Agreement:
    """How far blind reviewers agree: on what is to be done with a sample, or on its answer."""
    items: list[list[tuple[str, Hashable]]] = []
    for group in by_sample(reviews).values():
        if mode == "judge":
            items.append([(review.reviewer, review.decision) for review in blind_decisions(group)])
        else:
            items.append(
                [(review.reviewer, plain_answer(review.answer)) for review in group if review.answer]
            )
    return agreement(items)


def decision_lines(queue: ReviewQueue, reviews: Sequence[Review]) -> list[str]:
    """A JSON line for each sample of the queue, as `gnomon consensus --decisions` reads it.

    `decision` is null where no one has decided, or reviewers disagree.
    """
    grouped = by_sample(reviews)
    return [
        json.dumps(_decision(sample_id, grouped.get(sample_id, [])), ensure_ascii=False)
        for sample_id in queue.samples
    ]


def _decision(sample_id: str, reviews: Sequence[Review]) -> Mapping[str, Any]:
    review = decided(reviews)
    decision, answer = None, None
    if review is not None:
        answer = review.mended if review.decision == "wrong_truth" else None
        decision = "keep" if review.decision == "sound" else "fix" if answer else "drop"
    notes = [review.note for review in reviews if review.note]
    return {
        "sample_id": sample_id,
        "decision": decision,
        "answer": answer,
        "note": " / ".join(notes),
        "reviewers": [review.reviewer for review in reviews if review.decision],
    }
