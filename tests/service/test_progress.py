"""Progress where nobody looks at a terminal, and help that can be read."""

import json
import re
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sqlalchemy import update
from starlette.testclient import TestClient

from gnomon_service.cli import progress
from gnomon_service.cli.main import COMMANDS, SECTIONS, main
from gnomon_service.cli.progress import Counter
from gnomon_workers.store.records import ModelCheck
from gnomon_workers.store.schema import jobs
from gnomon_workers.store.store import Store
from tests.service.play import SPEC, post, row_of


def test_without_a_terminal_a_line_now_and_then_tells_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = iter((0.0, 1.0, 6.0, 6.0, 6.0, 7.0, 30.0, 30.0, 30.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now_s))
    with Counter("trials") as counter:
        counter.show(0, 120)  # starts the clock: nothing is late yet
        counter.show(12, 120, "3 missing")
        counter.show(13, 120)
        counter.show(60, 120, "$1.20 spent, raw 0.25")
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "trials: 12 of 120 processed, 2.0 per second, 54 s left, 3 missing",
        "trials: 60 of 120 processed, 2.0 per second, 30 s left, $1.20 spent, raw 0.25",
    ]


def test_the_first_result_is_told_at_once(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress.time, "monotonic", lambda: 7.0)
    with Counter("trials") as counter:
        for done, note in ((0, ""), (2, "raw 0.50"), (9, "raw 0.25")):
            counter.show(done, 560, note)
    assert capsys.readouterr().err.splitlines() == [
        "trials: 2 of 560 processed, 2,000.0 per second, 0 s left, raw 0.50"
    ]


def test_what_was_done_before_says_nothing_of_the_pace(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now_s = iter((0.0, 0.0, 6.0, 6.0, 6.0, 12.0, 12.0, 12.0))
    monkeypatch.setattr(progress.time, "monotonic", lambda: next(now_s))
    with Counter("trials") as counter:
        for done in (900, 900, 924):
            counter.show(done, 1_000)
    assert capsys.readouterr().err.splitlines() == [
        "trials: 900 of 1,000 processed, 6 s so far",
        "trials: 924 of 1,000 processed, 2.0 per second, 38 s left",
    ]


def test_a_wait_for_a_provider_is_told_in_its_words_by_the_clock_of_this_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "UTC-2")
    time.tzset()
    check = ModelCheck(
        model="mine",
        state="passed",
        cause="",
        error="",
        calls=1,
        usd=0.0,
        tokens=0,
        waits_until="2026-11-22T15:06:09.123Z",
        waits_for="HTTP 429: Rate limit: 10 requests a day",
    )
    said = progress.waiting_note(check)
    monkeypatch.undo()
    time.tzset()
    words = "the provider says “HTTP 429: Rate limit: 10 requests a day”"
    assert said == f"mine: {words}, waiting until 17:06"


@pytest.mark.parametrize("args", [[], ["tools"]])
def test_a_bare_command_prints_its_help(args: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(args)
    assert end.value.code == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert said.out.startswith("Usage: gnomon")
    assert len(said.out.splitlines()) > 5


def test_every_command_stands_in_a_section_of_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    named = [name for names in SECTIONS.values() for name in names]
    assert sorted(named) == sorted(name.rstrip("-") for name in COMMANDS.names())
    with pytest.raises(SystemExit):
        main([])
    assert "Run a service:" in capsys.readouterr().out


@pytest.mark.parametrize("sequential", [False, True])
def test_no_score_is_told_before_the_end_unless_looks_are_planned(
    tmp_path: Path, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"], sequential: bool
) -> None:
    spec = {
        "benchmark": "worlds",
        "select": {"limit": 28},
        "preflight": False,
        "models": [{"id": "scripted", "options": {"replies": ['{"answer": "A"}'], "delay_s": 0.2}}],
        "arms": [{"name": name, "agent": "direct"} for name in ("raw", "other")],
        "analysis": {"primary": ["raw", "other"], "sequential": sequential},
    }
    (tmp_path / "job.json").write_text(json.dumps(spec))
    done = run_gnomon("run", "job.json", "--data-dir", "data", "--out", "out", cwd=tmp_path)
    lines = [line for line in done.stderr.splitlines() if " processed" in line]
    assert lines, done.stderr
    assert any(" left" in line for line in lines)
    assert any("raw 0." in line for line in lines) is sequential


def test_what_a_job_waits_for_is_told_while_no_trial_ends(api: TestClient, store: Store) -> None:
    job_id = post(
        api, {**SPEC, "models": [{"id": "scripted", "options": {"replies": ["A"]}}], "preflight": False}
    )
    assert api.get(f"/v1/jobs/{job_id}").json()["waiting"] == []
    [lease, *_] = store.lease(job_id, 0, worker="w", ttl_s=60.0)
    assert store.job(job_id).waiting == [], "it has just begun"
    with store.writing() as db:
        db.execute(update(jobs).values(started_at=time.time() - 40.2))
    first, again = (rf"aiting for scripted: {which} result, [45]\d s" for which in ("first", "next"))
    assert re.fullmatch(f"w{first}", "; ".join(store.job(job_id).waiting))
    assert re.search(f"W{first}[.]", api.get(f"/ui/jobs/{job_id}").text)
    assert re.search(f"W{first}[.]", api.get("/").text)
    store.finish([(lease, row_of(lease), {})])
    assert re.fullmatch(f"w{again}", "; ".join(store.job(job_id).waiting)), "rows of before lack a time"
    with store.writing() as db:
        db.execute(update(jobs).values(started_at=time.time() - 9_000.0))
    assert store.job(job_id).waiting == [], "no trial runs for so long: the job was resumed"
