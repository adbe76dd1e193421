"""What stands before any figure: why trials are missing, in whose words; and which tools were offered."""

from collections.abc import Iterator
from typing import Any

import pytest

from gnomon.core.missing import ANEW, RESUME
from gnomon.core.sample import LACKS_MEDIA, DataFault
from gnomon.report.html import render_html
from gnomon.report.markdown import render_markdown
from gnomon.report.terminal import summary_text
from tests.gnomon.report.conftest import Quiz, Reporter, a_row, a_spec

SAID = "HTTP 401: bad key"


def lost(number: int, arm: str, **changes: Any) -> Any:
    return a_row(number, arm, None, **{"stop_reason": "provider:auth", "error": SAID, **changes})


def rows(missing: int, *, of: int = 20, model: str = "m") -> Iterator[Any]:
    for number in range(of):
        for arm in ("raw", "tools"):
            yield lost(number, arm, model=model) if number < missing else a_row(number, arm, model=model)


@pytest.mark.parametrize(("missing", "says"), [(0, False), (1, True), (20, True)])
def test_a_model_that_lost_a_twentieth_of_its_trials_is_told_of_first(
    report_of: Reporter, missing: int, says: bool
) -> None:
    report = report_of(rows(missing), planned=40)
    told = f"m: {2 * missing} of 40 trials are missing, provider:auth: “{SAID}”. Check the key"
    assert [alert["text"].startswith(told) for alert in report["alerts"]] == [True] * says
    for text in (render_html(report), render_markdown(report).replace("\\", ""), summary_text(report)):
        assert (told in text) is says
    for alert in report["alerts"]:
        assert (alert["model"], alert["arm"], alert["kind"]) == ("m", None, "missing")
        assert (alert["share"], alert["n"], alert["example"]) == (missing / 20, 40, SAID)
        assert alert["advice"].startswith("Check the key")
    assert report["integrity"]["missing"] == [
        {"model": "m", "cause": "provider:auth", "trials": 2 * missing, "planned": 40, "error": SAID}
    ] * bool(missing)


def test_what_one_arm_alone_lost_is_told_of_that_arm_however_little_it_is_of_the_model(
    report_of: Reporter,
) -> None:
    given = list(rows(0, of=100))
    given[:14:2] = [lost(number, "raw") for number in range(7)]
    [alert] = report_of(given, planned=200)["alerts"]
    assert alert["text"].startswith("m, “raw”: 7 of 100 trials are missing, provider:auth")
    assert (alert["arm"], alert["share"], alert["n"]) == ("raw", 0.07, 100)


def test_the_most_frequent_words_stand_for_a_cause(report_of: Reporter) -> None:
    given = [
        lost(number, arm, error="rare" if number == 0 else SAID)
        for number in range(3)
        for arm in ("raw", "tools")
    ]
    (row,) = report_of(given, planned=6)["integrity"]["missing"]
    assert (row["trials"], row["error"]) == (6, SAID)


def test_a_failed_job_says_why_and_claims_nothing(report_of: Reporter) -> None:
    report = report_of(rows(20), planned=40, status="failed", error="m: 40 of 40 trials are missing.")
    why = f"The job failed. m: 40 of 40 trials are missing. {ANEW}"
    assert [alert["text"] for alert in report["alerts"]] == [why]
    text = summary_text(report)
    assert text.splitlines()[2] == f"! {why}"
    assert "cannot be told" not in text


@pytest.mark.parametrize(
    ("cause", "says"),
    [("provider:bad_request", ANEW), ("provider:auth", ANEW), ("worker:lost", RESUME), ("budget", ANEW)],
)
@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_resumed_job_keeps_to_its_spec_and_an_imported_one_is_not_resumed(
    report_of: Reporter, cause: str, says: str, status: str
) -> None:
    given = [lost(number, arm, stop_reason=cause) for number in range(20) for arm in ("raw", "tools")]
    [alert] = report_of(given, planned=40, status=status)["alerts"]
    assert alert["advice"].endswith(says)
    assert alert["text"].endswith(says)
    imported = a_spec(arms=[{"name": name, "agent": "imported"} for name in ("raw", "tools")])
    [alert] = report_of(given, spec=imported, planned=40, status=status)["alerts"]
    assert alert["advice"] == "Run them where the run was made, and import it anew."
    assert "resume" not in alert["text"]


def test_of_two_models_the_one_that_was_stopped_is_named(report_of: Reporter) -> None:
    spec = a_spec(models=[{"id": "m"}, {"id": "n"}])
    check = {
        "model": "n",
        "state": "stopped",
        "cause": "auth",
        "error": SAID,
        "calls": 1,
        "usd": 0.0,
        "tokens": 0,
    }
    given = [*rows(0), *rows(20, model="n")]
    report = report_of(given, spec=spec, planned=80, checks=[check])
    assert [alert["model"] for alert in report["alerts"]] == ["n"]
    assert report["preflights"] == [check]
    assert "stopped (auth: HTTP 401: bad key); 1 call, 0 tokens, $0.000000" in render_html(report)


@pytest.mark.parametrize(
    ("status", "advice"),
    [("running", "The job goes on by itself"), ("cancelled", "`gnomon resume` runs the rest")],
)
def test_a_wait_for_the_provider_stands_on_page_one(report_of: Reporter, status: str, advice: str) -> None:
    check = {
        "model": "m",
        "state": "pending",
        "cause": "rate_limit",
        "error": "HTTP 429: 10 a day",
        "calls": 1,
        "usd": 0.0,
        "tokens": 0,
        "waits_until": "2026-11-22T17:06:09.123Z",
        "waits_for": "HTTP 429: 10 a day",
    }
    report = report_of([], planned=40, status=status, checks=[check])
    said = "m: its provider says “HTTP 429: 10 a day”, and is not called before 2026-11-22 17:06 UTC."
    assert [alert["text"] for alert in report["alerts"]] == [f"{said} {advice} then."]
    assert "broken off (rate_limit: HTTP 429: 10 a day); 1 call" in render_html(report)


@pytest.mark.parametrize(("show", "says"), [(["media"], True), ([], False)])
def test_absent_media_are_told_of_where_an_arm_shows_them(
    report_of: Reporter, show: list[str], says: bool
) -> None:
    spec = a_spec(arms=[{"name": name, "agent": "direct", "show": show} for name in ("raw", "tools")])
    fault = DataFault(sample_id="", kind=LACKS_MEDIA, detail="3 of 3 samples are without their video")
    alerts = report_of(rows(0), spec=spec, planned=40, faults=[fault])["alerts"]
    assert [alert["text"].startswith(f"{fault.detail}. Put them there") for alert in alerts] == [True] * says


def test_token_counts_that_cannot_be_read_are_told_of(report_of: Reporter) -> None:
    unread = {"flags": ("usage_unreadable",), "prompt_tokens": None, "completion_tokens": None}
    given = [a_row(at, arm, **unread) for at in range(20) for arm in ("raw", "tools")]
    [alert] = report_of(given, planned=40)["alerts"]
    told = "m: the provider’s token counts of 40 of 40 trials could not be read."
    assert alert["text"].startswith(told)


def test_a_job_without_a_call_offered_nothing_and_says_so_in_good_english(report_of: Reporter) -> None:
    page = render_html(report_of([], planned=40, status="cancelled"))
    assert "This job was <b>cancelled</b>: 0 of 40 trials have ended" in page
    assert "never called" not in page
    assert "same 0 questions" not in page
    failed = render_html(report_of([lost(0, "raw", model_calls=0)], planned=2, status="failed"))
    assert "This job has <b>failed</b>: 1 of 2 trials have ended, 1 of them without a score." in failed


class Flat(Quiz):
    """A quiz whose samples have no scene."""

    provides = (None,)


def test_an_arm_is_told_by_the_tools_that_it_was_offered(report_of: Reporter) -> None:
    spec = a_spec(
        arms=[
            {"name": "raw", "agent": "direct"},
            {"name": "tools", "agent": "react", "tools": ["pinhole", "bearing", "list_cameras"]},
        ]
    )
    used = {"pinhole": {"calls": 1, "bad_arguments": 0, "errors": 0}}
    given = [a_row(0, "raw", tools_offered=0), a_row(0, "tools", tools_used=used, tools_offered=1)]
    report = report_of(given, spec=spec, planned=2, benchmark=Flat())
    texts = report["job"]["arm_texts"]["tools"]
    assert texts.startswith("may call 1 of 3 tools (pinhole), those that fit the question")
    assert [arm["tools_offered"] for arm in report["arms"]] == [[0, 0], [1, 1]]
    assert {tool["tool"]: tool["offered"] for tool in report["tools"]} == {
        "bearing": False,
        "list_cameras": False,
        "pinhole": True,
    }
    for text in (render_html(report), render_markdown(report).replace("\\", "")):
        assert "Never offered, as no sample has what they need (2): bearing, list_cameras." in text
        assert "<tr><td>bearing" not in text


def test_a_difference_that_no_scores_of_lost_trials_allow_is_said_to_be_one(report_of: Reporter) -> None:
    def score(number: int, arm: str) -> float | None:
        if number < 30:  # the baseline is right on them, and lost is what the variant did
            return 1.0 if arm == "raw" else None
        return None if number >= 90 and arm == "raw" else float(arm == "tools" and number < 90)

    report = report_of(
        a_row(number, arm, score(number, arm)) for number in range(120) for arm in ("raw", "tools")
    )
    contrast = report["contrasts"][0]
    assert (contrast["diff"], contrast["bounds"]) == (1.0, [0.0, 0.5])
    assert (
        "Beware: over all samples the difference is 0.0 to +50.0 points, whatever" in contrast["verdict_text"]
    )
    whole = report_of(a_row(number, arm) for number in range(40) for arm in ("raw", "tools"))
    assert "Beware" not in whole["contrasts"][0]["verdict_text"]


def test_a_job_that_runs_does_not_call_trials_lost_that_have_not_run(report_of: Reporter) -> None:
    rows = [a_row(number, "raw", float(number >= 20)) for number in range(30)]
    rows += [a_row(number, "tools", float(number % 3 > 0)) for number in range(20)]
    for status in ("running", "cancelled"):
        [reason, *_] = report_of(rows, planned=60, status=status)["contrasts"][0]["reasons"]
        assert reason.startswith("0.0 % and 33.3 % of the trials of baseline and variant have no score")


def test_a_cancelled_job_has_one_mean_an_arm_and_says_beside_its_verdict_that_it_was_cancelled(
    report_of: Reporter,
) -> None:
    rows = [a_row(sample, "raw", float(sample < 30)) for sample in range(80)]
    rows += [a_row(sample, "tools", 1.0) for sample in range(40)]
    report = report_of(rows, planned=200, status="cancelled")
    whole = report["contrasts"][0]
    raw, tools = report["arms"]
    assert (raw["aggregate"], tools["aggregate"]) == (whole["baseline_mean"], whole["variant_mean"])
    assert (raw["n"], tools["n"], whole["n"]) == (40, 40, 40)
    assert raw["over"] == tools["over"] == "the samples that every arm of the model has a score for"
    [said] = [each for each in report["alerts"] if each["kind"] == "cancelled"]
    assert "cancelled after 120 of 200 trials" in said["text"]
    page = render_html(report)
    assert "<b>cancelled after 120 of 200 trials</b>" in page
    for text in (page, render_markdown(report), summary_text(report)):
        assert "cancelled after 120 of 200 trials" in text
        assert "Over the samples that every arm of the model has a score for" in text
    ended = report_of(rows, planned=120)
    assert [arm["n"] for arm in ended["arms"]] == [80, 40]
    assert "a comparison is over those of both arms" in render_html(ended)
