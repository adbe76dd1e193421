"""An arm that prefers a letter is seen, against a key that the scores tell."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import pytest

from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.sections.letters import letter_alerts

Reporter = Callable[..., Report]
Maker = Callable[..., Row]
KEY = "ABCD" * 50


def answered(row: Maker, raw: Sequence[str], tools: Sequence[str], key: str = KEY) -> Iterator[Row]:
    for sample, letters in enumerate(zip(raw, tools, strict=True)):
        for arm, letter in zip(("raw", "tools"), letters, strict=True):
            yield row(sample, arm, float(letter == key[sample]), answer=letter)


def prone(share: float, seed: int = 0) -> list[str]:
    """C in that share of the cases, else right or any letter."""
    random = np.random.default_rng(seed)
    return [
        "C" if random.random() < share else right if random.random() < 0.5 else "ABCD"[random.integers(4)]
        for right in KEY
    ]


def test_a_favourite_letter_is_told_with_the_key(report_of: Reporter, row: Maker, alerts_of: Any) -> None:
    rows = list(answered(row, prone(0.0), prone(0.4)))
    report = report_of(rows)
    raw, tools = report["letters"]
    assert (tools["letter"], tools["n"], tools["answers"]) == ("C", 200, 200)
    assert tools["key"] is not None
    assert sum(tools["key"].values()) == pytest.approx(200)
    assert tools["key"]["C"] == pytest.approx(50, abs=5)
    assert raw["p"] is not None
    assert raw["p"] > 0.05
    [alert] = alerts_of(letter_alerts, rows)
    assert (alert["arm"], alert["kind"], alert["n"]) == ("tools", "letters", 200)
    assert f"answered C in {tools['counts']['C']} of 200 (key: " in alert["text"]
    assert f"{tools['counts']['C']} (" in render_markdown(report)
    assert "Letters answered" in render_section(report, "letters")


def test_one_letter_alone_tells_its_own_key_exactly(report_of: Reporter, row: Maker, alerts_of: Any) -> None:
    rows = list(answered(row, ["C"] * 200, ["C"] * 200))
    said = [alert["text"] for alert in alerts_of(letter_alerts, rows)]
    assert len(said) == 2
    assert all("answered C in 200 of 200 (key: 50 of 200)" in text for text in said)


def test_an_estimated_key_is_told_as_one(report_of: Reporter, row: Maker, alerts_of: Any) -> None:
    rows = list(answered(row, ["C"] * 200, list("AB" * 100)))
    assert report_of(rows)["letters"][0]["key_known"] == 200
    hidden = [row(200 + sample, "raw", 0.0, answer="C", cell="timed") for sample in range(40)]
    [raw, *_] = report_of([*rows, *hidden])["letters"]
    assert (raw["n"], raw["key_known"]) == (240, 200)
    [said, *_] = [alert["text"] for alert in alerts_of(letter_alerts, [*rows, *hidden])]
    assert "answered C in 240 of 240 (key: about " in said


def test_a_letter_left_over_by_wrong_ones_is_an_estimate_as_nobody_may_have_answered_the_right_one(
    report_of: Reporter, row: Maker
) -> None:
    key = "C" * 50 + "D" * 150
    [raw, _] = report_of(answered(row, ["C"] * 150 + ["A"] * 50, ["C"] * 150 + ["B"] * 50, key))["letters"]
    assert (raw["letter"], raw["n"], raw["key_known"]) == ("C", 200, 150)


@pytest.mark.parametrize("overlap", [0.0, 0.5])
def test_a_right_letter_with_a_wrong_time_is_not_taken_for_a_wrong_letter(
    report_of: Reporter, row: Maker, overlap: float
) -> None:
    untimed = [row(sample, "raw", float(right == "C"), answer="C") for sample, right in enumerate(KEY[:100])]
    timed = [
        row(100 + sample, "raw", overlap * (right == "C"), answer="C", task="timed", cell="timed")
        for sample, right in enumerate(KEY[100:])
    ]
    [raw] = report_of([*untimed, *timed])["letters"]
    assert raw["key"] is not None
    assert raw["key"]["C"] == pytest.approx(50, abs=1)


def test_a_model_that_is_right_prefers_nothing_whatever_the_key(
    report_of: Reporter, row: Maker, alerts_of: Any
) -> None:
    key = "CCCA" * 50
    rows = list(answered(row, list(key), list(key), key))
    assert report_of(rows)["letters"][0]["counts"] == {"A": 50, "B": 0, "C": 150}
    assert alerts_of(letter_alerts, rows) == []


def test_where_nothing_is_right_no_key_is_told(report_of: Reporter, row: Maker, alerts_of: Any) -> None:
    rows = [row(sample, arm, 0.0, answer="B") for sample in range(20) for arm in ("raw", "tools")]
    assert [line["key"] for line in report_of(rows)["letters"]] == [None, None]
    assert alerts_of(letter_alerts, rows) == []


@pytest.mark.parametrize("answer", ["12.5", None, "AB", "a"])
def test_answers_that_are_no_letters_are_not_counted(
    report_of: Reporter, row: Maker, answer: str | None
) -> None:
    report = report_of(
        row(sample, arm, 1.0, answer=answer) for sample in range(20) for arm in ("raw", "tools")
    )
    assert report["letters"] == []
    assert render_section(report, "letters") == ""
