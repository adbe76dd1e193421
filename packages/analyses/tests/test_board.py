"""The sentence above a board says who leads, or may lead, or that nobody else is there."""

from typing import Any

import pytest

from gnomon_analyses.board.record import board_answer


def entry(model: str, rank: int) -> dict[str, Any]:
    return {"model": model, "first_rank": rank, "mean": 0.625, "best_arm": "native"}


@pytest.mark.parametrize(
    ("entries", "answer"),
    [
        ([entry("m", 1)], "m is alone on this board of worlds: 62.5 % with native."),
        ([entry("m", 1), entry("n", 2)], "m leads worlds, 62.5 % with native, of 2 ranked."),
        (
            [entry("m", 1), entry("n", 1)],
            "2 of 2 entries may lead worlds; the highest mean is 62.5 % with native.",
        ),
    ],
)
def test_only_one_that_has_others_behind_it_leads(entries: list[dict[str, Any]], answer: str) -> None:
    assert board_answer("worlds", {"entries": entries}) == answer
