"""Which samples of a job a review queue holds."""

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon_analyses.reviews.queue_samples import choose_samples

SAMPLES = ("s1", "s2", "s3", "s4")


def row(sample_id: str, arm: str, answer: str | None, score: float | None, *flags: str) -> Row:
    return Row(
        job_id="j",
        trial_id=f"{sample_id}{arm}",
        benchmark="worlds",
        task="MS",
        cell="outdoor.MS",
        sample_id=sample_id,
        cluster="c",
        model="m",
        arm=arm,
        repeat=0,
        outcome=Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
        stop_reason="answered",
        score=score,
        answer=answer,
        flags=flags,
    )


ROWS = [
    *(row("s1", arm, "B", 0.0) for arm in ("raw", "tools")),  # both say B, the truth is another
    row("s2", "raw", "A", 0.0, "no_time"),  # both wrong, each in its way
    row("s2", "tools", "C", 0.4),
    row("s3", "raw", "A", 0.0, "unchecked:BUDGET"),  # one is right, and a flag that is no fault
    row("s3", "tools", "B", 1.0),
    *(row("s4", arm, None, None) for arm in ("raw", "tools")),  # missing
]


@pytest.mark.parametrize(
    ("choice", "chosen"),
    [
        ("all", ["s1", "s2", "s3", "s4"]),
        ("all_wrong", ["s1", "s2"]),
        ("disputed", ["s1"]),
        ("flagged", ["s2"]),
    ],
)
def test_a_choice_is_that_of_the_rows(choice: str, chosen: list[str]) -> None:
    assert choose_samples(choice, SAMPLES, ROWS) == chosen  # type: ignore[arg-type]


def test_a_draw_is_of_its_seed_and_keeps_the_order() -> None:
    many = [f"s{number}" for number in range(100)]
    drawn = [choose_samples("random", many, (), limit=10, seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] == sorted(drawn[0], key=many.index)
    assert len(set(drawn[0])) == 10


def test_what_cannot_be_chosen_is_refused() -> None:
    with pytest.raises(SpecError, match="how many"):
        choose_samples("random", SAMPLES, ())
    with pytest.raises(SpecError, match="no samples with a flagged answer"):
        choose_samples("flagged", SAMPLES, ROWS[:2])
    with pytest.raises(SpecError, match="two models or arms"):
        choose_samples("disputed", SAMPLES, ROWS[:1])
