"""What is claimed where arms ran apart in time, or different versions of a model answered them."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.row import Row
from gnomon.report.html import render_section
from gnomon.report.markdown import render_markdown
from gnomon.report.report import Report
from gnomon.report.scored_rows import NO_TIME, moments
from gnomon.report.sections.drift import drift_alerts

Reporter = Callable[..., Report]
Maker = Callable[..., Row]
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SAMPLES = 60
HOUR = 3600.0
Start = Callable[[int, int], float]  # of sample and arm: seconds from the start of the job
Version = Callable[[int, int], str]


def at(seconds: float) -> str:
    return (BEGAN + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def interleaved(sample: int, arm: int) -> float:
    return 120.0 * sample + 60.0 * arm


def in_turn(sample: int, arm: int) -> float:
    return 60.0 * (sample + SAMPLES * arm)


def nobody_knows(_: int, __: int) -> str:
    return ""


def ran(row: Maker, start: Start, version: Version = nobody_knows, samples: int = SAMPLES) -> Iterator[Row]:
    """Rows of two arms of which the second is right where the first is in half of the cases, and else too."""
    for sample in range(samples):
        for place, arm in enumerate(("raw", "tools")):
            times = {"started_at": at(start(sample, place)), "ended_at": at(start(sample, place) + 1)}
            score = float(place == 1 or sample % 2)
            yield row(sample, arm, score, model_version=version(sample, place), **times)


def test_arms_that_ran_one_after_another_are_not_compared(report_of: Reporter, row: Maker) -> None:
    report = report_of(ran(row, in_turn))
    contrast, [runs] = report["contrasts"][0], report["pair_runs"]
    assert contrast["verdict"] == "undecided"
    said = "the arms ran apart in time (median gap 1.0 h): run both arms in one job, from its start"
    assert contrast["reasons"][0] == said
    assert "It cannot be told" in contrast["verdict_text"]
    assert said in contrast["verdict_text"]
    assert (runs["pairs"], runs["timed"], runs["apart"], runs["together"]) == (60, 60, 60, 0)
    assert "| m | tools − raw | 0 of 60 | 1.0 h |" in render_markdown(report)
    assert "0 of 60" in render_section(report, "drift")


@pytest.mark.parametrize(
    "start",
    [
        interleaved,
        lambda sample, arm: 0.1 * (sample + SAMPLES * arm),  # apart by order, but within seconds
        lambda sample, arm: HOUR * (2 * sample + arm),  # a slow model, one trial at a time
        lambda sample, arm: interleaved(sample, arm) + (24 * HOUR if sample >= 40 else 0.0),  # resumed
    ],
)
@pytest.mark.parametrize("samples", [8, SAMPLES])
def test_arms_that_ran_side_by_side_are(report_of: Reporter, row: Maker, start: Start, samples: int) -> None:
    report = report_of(ran(row, start, samples=samples))
    assert report["pair_runs"][0]["apart"] == 0
    assert report["contrasts"][0]["verdict"] == ("helps" if samples == SAMPLES else "undecided")
    assert not report["pair_runs"][0]["causes"]


def late(share: int) -> Start:
    """One arm of every so many samples ran once more, a day later."""
    return lambda sample, arm: interleaved(sample, arm) + (24 * HOUR if arm and sample % share == 0 else 0.0)


def test_a_claim_that_holds_among_the_pairs_run_together_stands(report_of: Reporter, row: Maker) -> None:
    report = report_of(ran(row, late(6)))
    runs = report["pair_runs"][0]
    assert (runs["apart"], runs["together"]) == (9, 51)  # the last ones began near those that were late
    assert report["contrasts"][0]["verdict"] == "helps"
    assert runs["causes"] == ["the arms ran apart in time (median gap 24.0 h)"]


def test_a_claim_that_rests_on_the_others_does_not(report_of: Reporter, row: Maker) -> None:
    rows = [
        replace(each, score=float(place and sample % 3 == 0 and sample < 40))
        for number, each in enumerate(ran(row, late(3)))
        for sample, place in [divmod(number, 2)]
    ]
    contrast = report_of(rows)["contrasts"][0]
    assert contrast["verdict"] == "undecided"
    assert re.match(r"it does not hold among the 4\d of 60 pairs that were run", contrast["reasons"][0])


def test_a_job_without_times_is_not_judged(report_of: Reporter, row: Maker) -> None:
    rows = [row(s, arm, float(arm == "tools" or s % 2)) for s in range(SAMPLES) for arm in ("raw", "tools")]
    report = report_of(rows)
    assert report["contrasts"][0]["verdict"] == "helps"
    assert (report["pair_runs"][0]["timed"], report["pair_runs"][0]["causes"]) == (0, [])
    assert "Not recorded" in render_section(report, "drift")


def test_arms_that_different_versions_answered_are_not_compared(report_of: Reporter, row: Maker) -> None:
    report = report_of(ran(row, interleaved, lambda _, arm: ("m-1", "m-2")[arm]))
    [reason] = report["contrasts"][0]["reasons"]
    assert reason == (
        "“tools” was answered by m-2, “raw” by m-1 (60 of 60 pairs): "
        "run both arms in one job, from its start, under one version of the model"
    )
    assert [run["versions"] for run in report["arm_runs"]] == [{"m-1": 60}, {"m-2": 60}]


@pytest.mark.parametrize(
    "version",
    [
        lambda sample, _: ("m-1", "m-2")[sample > 30],  # it changed while both arms ran
        lambda sample, arm: f"m-{(7 * sample + 3 * arm) % 5 % 2}",  # two are served, whoever asks
        lambda sample, arm: f"m-{(sample + arm) % 2}",
        lambda sample, arm: "m-1, m-2" if arm else f"m-{1 + sample % 2}",  # both within a trial
        lambda _, arm: "m-1" if arm else "",
    ],
)
def test_versions_that_both_arms_got_alike_blur_nothing(
    report_of: Reporter, row: Maker, version: Version
) -> None:
    report = report_of(ran(row, interleaved, version))
    assert report["pair_runs"][0]["other_version"] == 0
    assert report["contrasts"][0]["verdict"] == "helps"


@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_the_rows_changes_nothing(report_of: Reporter, row: Maker, seed: int) -> None:
    rows = list(ran(row, late(4)))
    order = np.random.default_rng(seed).permutation(2 * SAMPLES)
    assert report_of([rows[place] for place in order])["pair_runs"] == report_of(rows)["pair_runs"]


@given(
    st.lists(st.none() | st.text(max_size=30) | st.datetimes().map(lambda moment: f"{moment.isoformat()}Z"))
)
def test_any_text_is_a_moment_or_none(texts: list[str | None]) -> None:
    alone = [int(moments([text])[0]) for text in texts]
    assert moments(texts).tolist() == alone


def test_own_moments_are_read_to_the_millisecond() -> None:
    written = [at(3600.0 * n + 0.001 * n) for n in range(50)]
    assert np.diff(moments(written)).tolist() == [3_600_001] * 49
    assert moments([None, written[0]]).tolist()[0] == NO_TIME


def test_an_alert_names_the_pair_and_what_to_do(report_of: Reporter, row: Maker, alerts_of: Any) -> None:
    [alert] = alerts_of(drift_alerts, ran(row, in_turn))
    assert (alert["model"], alert["arm"], alert["kind"], alert["share"], alert["n"]) == (
        *("m", "tools", "drift"),
        *(1.0, 60),
    )
    assert alert["advice"] == "Run both arms in one job, from its start."
    assert alerts_of(drift_alerts, ran(row, interleaved)) == []
