"""A reviewer's decision on a sample is kept once, the last one, with the time of the first."""

from dataclasses import replace

from tests.workers.conftest import BOTH, Clock
from workers.store import Store
from workers.store.reviews import Review

SOUND = Review(queue="worlds@1", sample_id="s1", reviewer="ada", decision="sound", seconds=4.5)


@BOTH
def test_a_review_is_read_as_it_was_given(store: Store) -> None:
    ambiguous = replace(
        SOUND, reviewer="bo", decision="ambiguous", answer="C", note="two fit", saw_truth=True, seconds=None
    )
    for review in (ambiguous, SOUND, replace(SOUND, queue="other")):
        store.add_review(review)
    times = {"created_at": "", "updated_at": ""}
    assert [replace(review, **times) for review in store.reviews("worlds@1")] == [SOUND, ambiguous]
    assert store.count_reviews() == {"other": 1, "worlds@1": 2}


@BOTH
def test_a_later_decision_replaces_the_first_and_keeps_its_time(store: Store, clock: Clock) -> None:
    store.add_review(SOUND)
    clock.now_s += 60.0
    store.add_review(replace(SOUND, decision="wrong_truth", answer="B"))
    [review] = store.reviews("worlds@1")
    assert (review.decision, review.answer) == ("wrong_truth", "B")
    assert (review.created_at, review.updated_at) == ("1970-01-01T00:16:40.000Z", "1970-01-01T00:17:40.000Z")


@BOTH
def test_a_review_is_taken_back(store: Store) -> None:
    store.add_review(SOUND)
    assert store.remove_review("worlds@1", "s1", "ada")
    assert not store.remove_review("worlds@1", "s1", "ada")
    assert store.reviews("worlds@1") == []


@BOTH
def test_a_note_that_no_database_holds_is_kept_without_its_oddities(store: Store) -> None:
    store.add_review(replace(SOUND, note="a\0b \ud800"))
    assert store.reviews("worlds@1")[0].note == "ab ?"
