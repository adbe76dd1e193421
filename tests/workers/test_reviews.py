"""Queues and reviews are kept as they were given: blind answers once, decisions as they were last."""

from dataclasses import replace

import pytest

from gnomon.core.errors import Conflict, NotFound
from gnomon.core.review import HumanAnswer, Review, ReviewQueue
from gnomon_workers.store import Store
from tests.workers.conftest import BOTH, Clock

QUEUE = ReviewQueue(name="odd", job_id="j_1", mode="judge", choice="all", samples=("s2", "s1", "ü"))
ANSWER = Review(sample_id="s1", reviewer="ada", response="Answer: B", answer="B", score=1.0, seconds=4.5)


@pytest.fixture
def kept(store: Store) -> Store:
    """A store with the queue."""
    store.create_queue(QUEUE)
    return store


def said(store: Store) -> list[Review]:
    return [replace(review, created_at=0.0, updated_at=0.0) for review in store.reviews("odd")]


@BOTH
def test_a_queue_is_read_as_it_was_made(kept: Store) -> None:
    assert kept.queue("odd") == replace(QUEUE, created_at=1_000.0)
    assert kept.queues() == [kept.queue("odd")]
    with pytest.raises(Conflict, match="already"):
        kept.create_queue(QUEUE)
    with pytest.raises(NotFound):
        kept.queue("none")


@BOTH
def test_the_first_answer_stays(kept: Store) -> None:
    assert kept.add_answer("odd", ANSWER)
    assert not kept.add_answer("odd", replace(ANSWER, answer="C", score=0.0))
    assert said(kept) == [ANSWER]


@BOTH
def test_a_decision_needs_an_answer_and_the_last_one_holds(kept: Store, clock: Clock) -> None:
    sound = replace(ANSWER, decision="sound", seconds=2.0)
    with pytest.raises(Conflict, match="answer the question"):
        kept.decide("odd", sound)
    kept.add_answer("odd", ANSWER)
    kept.decide("odd", sound)
    clock.now_s += 60.0
    kept.decide("odd", replace(sound, decision="wrong_truth", mended="C", note="a\0b", seconds=None))
    [review] = kept.reviews("odd")
    assert (review.judgement, review.note, review.answer) == (("wrong_truth", "c"), "ab", "B")
    assert (review.seconds, review.created_at, review.updated_at) == (6.5, 1_000.0, 1_060.0)


@BOTH
def test_a_settlement_stands_beside_the_blind_review_of_the_same_person(kept: Store) -> None:
    kept.add_answer("odd", ANSWER)
    kept.decide("odd", replace(ANSWER, decision="sound", seconds=None))
    settled = Review(sample_id="s1", reviewer="ada", decision="drop", is_settlement=True)
    kept.decide("odd", settled)
    kept.decide("odd", replace(settled, note="twice"))
    assert said(kept) == [replace(ANSWER, decision="sound"), replace(settled, note="twice")]


@BOTH
def test_the_last_decision_is_taken_back_and_an_answer_only_where_the_truth_is_hidden(
    kept: Store, clock: Clock
) -> None:
    for sample_id in ("s1", "s2"):
        clock.now_s += 1.0
        kept.add_answer("odd", replace(ANSWER, sample_id=sample_id))
        kept.decide("odd", replace(ANSWER, sample_id=sample_id, decision="sound"))
    assert [kept.undo_review("odd", "ada", mode="judge") for _ in range(3)] == ["s2", "s1", None]
    assert [(review.decision, review.answer) for review in said(kept)] == [(None, "B"), (None, "B")]
    assert kept.undo_review("odd", "bob", mode="answer") is None
    assert kept.undo_review("odd", "ada", mode="answer") in ("s1", "s2")
    assert len(said(kept)) == 1


@BOTH
def test_answers_of_people_are_those_of_all_queues_of_a_job_each_person_once(
    kept: Store, clock: Clock
) -> None:
    assert kept.human_answers_stamp("j_1") == (0, 0.0)
    kept.create_queue(replace(QUEUE, name="again"))
    kept.create_queue(replace(QUEUE, name="other", job_id="j_2"))
    kept.add_answer("odd", ANSWER)
    clock.now_s += 1.0
    kept.add_answer("again", replace(ANSWER, score=0.0))
    kept.add_answer("other", ANSWER)
    kept.add_answer("odd", Review(sample_id="s2", reviewer="ada"))  # could not tell
    answer = HumanAnswer(person="ada", sample_id="s1", answer="B", score=1.0)
    assert kept.human_answers("j_1") == [answer]
    assert kept.human_answers_stamp("j_1") == (2, 1_001.0)
