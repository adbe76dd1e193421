"""Planning before, rescoring and comparing after: commands over jobs that somebody else has run."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
import yaml
from redis import Redis

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.media import MediaStore
from gnomon.report.build import build_report
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.trial_plan import trial_id
from gnomon_service.cli.commands.submit import _wait_for_end
from gnomon_service.cli.main import main
from gnomon_service.client import Client
from gnomon_service.client.errors import error_of
from gnomon_service.jobs import resume
from gnomon_service.web.job_rows import job_row
from gnomon_workers.open_job import open_spec
from gnomon_workers.store.store import Store

SPEC: dict[str, Any] = {
    "name": "played",
    "benchmark": "worlds",
    "select": {"limit": 14, "seed": 5, "tasks": ["GeoLocation", "MotionState"]},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
}


@pytest.fixture
def store(tmp_path: Path, empty_sqlite: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path))
    store = Store(f"sqlite:///{shutil.copy(empty_sqlite, tmp_path / 'gnomon.db')}")
    yield store
    store.close()


def row_of(ref: SampleRef, arm: str, score: float | None, **changes: Any) -> Row:
    known: dict[str, Any] = {
        "job_id": "",
        "trial_id": trial_id("", ref.sample_id, "reference", arm, 0),
        "benchmark": "worlds",
        "task": ref.task,
        "cell": ref.cell,
        "sample_id": ref.sample_id,
        "cluster": ref.cluster,
        "model": "reference",
        "arm": arm,
        "repeat": 0,
        "outcome": Outcome.SCORED,
        "stop_reason": "answered",
        "score": score,
        "prompt_tokens": 100,
        "completion_tokens": 10,
        "usd": 0.0,
    }
    return Row(**{**known, **changes})


File = Callable[..., str]


@pytest.fixture
def file(store: Store, tmp_path: Path) -> File:
    """Keep a played job: every trial answered A and was given the score of its arm."""

    def file_job(scores: dict[str, float], *, response: str = '{"answer": "A"}', **changes: Any) -> str:
        spec = JobSpec.model_validate({**SPEC, **changes})
        refs = open_spec(spec, MediaStore(tmp_path / "media")).samples.refs
        trace = {"prompt": [], "steps": [], "response": response}
        ended = [(row_of(ref, arm, score), trace) for ref in refs for arm, score in scores.items()]
        return store.insert_finished_job(spec, refs, ended)

    return file_job


def gnomon(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


def said(capsys: pytest.CaptureFixture[str]) -> Any:
    return json.loads(capsys.readouterr().out)


def test_a_filed_job_is_read_back_with_rows_traces_and_counts(store: Store, file: File) -> None:
    job = store.job(file({"raw": 0.25, "tools": 1.0}))
    assert (job.status, job.counts.planned, job.counts.scored, job.counts.running) == ("completed", 28, 28, 0)
    rows = list(store.iter_rows(job.id))
    assert {row.job_id for row in rows} == {job.id}
    assert store.trial(rows[0].trial_id).state == "done"
    assert (store.trace(rows[0].trial_id) or {})["response"] == '{"answer": "A"}'
    assert store.trace("t_none") is None
    assert len(store.refs(job.id)) == 14


def test_a_filed_job_that_breaks_off_leaves_nothing(store: Store, tmp_path: Path) -> None:
    spec = JobSpec.model_validate(SPEC)
    refs = open_spec(spec, MediaStore(tmp_path / "media")).samples.refs

    def broken() -> Iterator[tuple[Row, None]]:
        yield row_of(refs[0], "raw", 1.0), None
        raise OSError("the source went away")

    with pytest.raises(OSError, match="went away"):
        store.insert_finished_job(spec, refs, broken())
    assert store.jobs().items == ()


def test_scoring_again_keeps_the_old_job_and_makes_a_new_one(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file({"raw": 0.123, "tools": 0.123})
    assert gnomon("rescore", old, "--json") == 0
    found = said(capsys)
    assert (found["trials"], found["rescored"], found["changed"]) == (28, 28, 28)
    assert {row.score for row in store.iter_rows(old)} == {0.123}
    new = {row.score for row in store.iter_rows(found["new_job"])}
    assert new <= {0.0, 1.0}
    assert gnomon("rescore", found["new_job"], "--scoring", "strict", "--json") == 0
    assert said(capsys)["changed"] == 0


def test_an_answer_that_is_no_longer_understood_is_the_models_failure(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file({"raw": 1.0}, response="", arms=SPEC["arms"][:1])
    assert gnomon("rescore", old) == 0
    assert "14 of 14 scores changed" in capsys.readouterr().out
    [new] = [job.id for job in store.jobs().items if job.id != old]
    assert {row.outcome for row in store.iter_rows(new)} == {Outcome.MODEL_FAILED}


def test_a_trial_without_a_response_keeps_its_end(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = JobSpec.model_validate({**SPEC, "arms": SPEC["arms"][:1]})
    refs = open_spec(spec, MediaStore(tmp_path / "media")).samples.refs
    lost = {"outcome": Outcome.INFRA_MISSING, "stop_reason": "provider:rate_limit"}
    trace = {"prompt": [], "steps": [], "response": None}
    old = store.insert_finished_job(spec, refs, [(row_of(ref, "raw", None, **lost), trace) for ref in refs])
    assert gnomon("rescore", old, "--json") == 0
    found = said(capsys)
    assert (found["rescored"], found["changed"]) == (0, 0)
    assert {row.stop_reason for row in store.iter_rows(found["new_job"])} == {"provider:rate_limit"}


def test_a_job_that_still_runs_is_not_scored_again(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = JobSpec.model_validate(SPEC)
    job = store.create_job(spec, open_spec(spec, MediaStore(tmp_path / "media")).samples.refs)
    assert gnomon("rescore", job.id) == 2
    assert "queued" in capsys.readouterr().err


@pytest.mark.parametrize("args", [["rescore", "j_none"], ["diff", "j_none", "j_none"]])
def test_jobs_that_are_not_there_are_named(
    args: list[str], store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon(*args) == 2
    assert "j_none" in capsys.readouterr().err


def test_two_jobs_are_compared_sample_by_sample(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = file({"raw": 0.0, "tools": 1.0}), file({"raw": 1.0, "tools": 1.0}, scoring="official")
    assert gnomon("diff", one, other, "--json", "--out", "page.html") == 0
    found = said(capsys)
    assert found["samples"] == {"both": 14, "only_first": 0, "only_second": 0}
    assert found["spec_changes"] == [{"field": "scoring", "first": "strict", "second": "official"}]
    whole = {one["model"]: one for one in found["report"]["contrasts"] if one["scope"] == "all"}
    assert whole["reference / raw"]["diff"] == 1.0
    assert whole["reference / tools"]["diff"] == 0.0
    assert "<!doctype html>" in Path("page.html").read_text()


def test_a_cancelled_job_is_listed_with_what_is_in_flight(
    store: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = JobSpec.model_validate(SPEC)
    job = store.create_job(spec, open_spec(spec, MediaStore(tmp_path / "media")).samples.refs)
    store.lease(job.id, 0, worker="w", ttl_s=60.0)
    running = store.cancel(job.id).counts.running
    assert running > 0
    assert gnomon("jobs") == 0
    assert f"0 of 28 with a result, 0 missing, stopping: {running} in flight" in capsys.readouterr().out


def test_waiting_for_a_cancelled_job_says_once_what_is_in_flight(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gnomon_service.cli.progress.LINE_EVERY_S", 0.0)
    counts = {"scored": 1, "model_failed": 0, "infra_missing": 0}
    waiting = ["waiting for a/b: next result, 12 s"]
    jobs = [
        {"status": "cancelled", "counts": {**counts, "running": running}, "waiting": waiting}
        for running in (3, 1, 0)
    ]

    class Service:
        def wait(self, job_id: str, *, progress: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
            for job in jobs:
                progress(job)
            return jobs[-1]

    assert _wait_for_end(Service(), {"id": "j_1", "planned_trials": 9}) == jobs[-1]
    said = capsys.readouterr().err
    assert said.count("stopping: ") == 1
    assert "waiting for a/b: next result, 12 s, 0 missing" in said


def test_a_service_that_wants_a_key_says_where_it_is_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise error_of(httpx.Response(401), b'{"detail": "send Authorization: Bearer"}')

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Client, "submit", refuse)
    Path("spec.yaml").write_text(yaml.safe_dump(SPEC))
    assert gnomon("submit", "spec.yaml") == 2
    assert capsys.readouterr().err == "gnomon: GNOMON_API_KEY: needed: an API key of this service\n"


def test_a_job_compared_with_itself_is_said_to_be_the_same(
    file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    job = file({"raw": 0.0, "tools": 1.0})
    assert gnomon("diff", job, job) == 0
    assert capsys.readouterr().out == (
        f"FIRST and SECOND are the same job, {job}: there is no difference to show.\n"
    )
    assert gnomon("diff", job, job, "--json") == 0
    assert said(capsys)["changes"]["scores"] == 0


def test_a_rescored_job_is_named_by_its_scoring_and_time(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file({"raw": 0.0}, arms=SPEC["arms"][:1], name="first")
    assert gnomon("rescore", old, "--scoring", "official", "--json") == 0
    once = store.job(said(capsys)["new_job"])
    assert re.fullmatch(r"first, scored again \(official, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d\)", once.name)
    assert gnomon("rescore", once.id, "--scoring", "strict", "--json") == 0
    twice = store.job(said(capsys)["new_job"])
    assert twice.name.startswith("first, scored again (strict, ")


def test_equal_scores_of_two_jobs_are_said_to_be_equal(
    file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    one = file({"raw": 0.25, "tools": 1.0}, name="before")
    other = file({"raw": 0.25, "tools": 1.0}, name="after")
    assert gnomon("diff", one, other, "--json", "--out", "page.html") == 0
    found = said(capsys)
    assert found["sides"] == ["before", "after"]
    assert found["changes"] == {"trials": 28, "scores": 0, "answers": 0, "outcomes": 0, "listed": []}
    report = found["report"]
    assert report["job"]["models"] == ["reference"]
    assert {text.split(":")[0] for text in report["job"]["arm_texts"].values()} == {
        f"job {one}, completed",
        f"job {other}, completed",
    }
    for contrast in report["contrasts"]:
        assert (contrast["diff"], contrast["ci95"], contrast["p"]) == (0.0, None, None)
        assert contrast["verdict"] == "no_effect"
    assert report["summary"] == [
        f"reference / {arm}: 14 of 14 scores are equal in both jobs, a difference of exactly 0."
        for arm in ("raw", "tools")
    ]
    page = Path("page.html").read_text()
    assert "Two jobs over the same 14 questions of worlds (reference)" in page
    assert "without tools" not in page
    assert "cannot be told" not in page
    assert "Declared before any answer" not in page
    assert "<dt>95 % interval</dt><dd>–</dd>" in page


def test_a_difference_names_the_seed_of_the_selection_and_its_file(
    file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other = (file({"raw": 0.25}, arms=SPEC["arms"][:1], select={"seed": 3}) for _ in range(2))
    assert gnomon("diff", one, other, "--out", "page.html") == 0
    assert "report: page.html" in capsys.readouterr().out
    assert "selection 3" in Path("page.html").read_text()


def test_a_trial_and_its_rescore_cost_once(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    refs = store.refs(file({"raw": 1.0}, arms=SPEC["arms"][:1]))
    spec = JobSpec.model_validate({**SPEC, "arms": SPEC["arms"][:1]})
    spent = {"model_calls": 1, "prompt_tokens": 100, "completion_tokens": 10, "usd": 0.5}
    rows = [row_of(ref, "raw", 1.0, wall_s=1 + at / 7, **spent) for at, ref in enumerate(refs)]
    old = store.insert_finished_job(spec, refs, [(row, None) for row in rows])
    assert gnomon("rescore", old, "--json", "--out", "again") == 0
    new = said(capsys)["new_job"]
    assert gnomon("diff", old, new, "--json") == 0
    cost = said(capsys)["report"]["cost"]
    assert (cost["usd"], cost["prompt_tokens"], cost["model_calls"]) == (7.0, 1400, 14)


def test_only_trials_that_changed_are_listed(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = JobSpec.model_validate({**SPEC, "arms": SPEC["arms"][:1], "name": "twice"})
    one = file({"raw": 0.0}, arms=SPEC["arms"][:1], name="twice")
    refs = store.refs(one)
    rows = [row_of(ref, "raw", 0.0) for ref in refs]
    rows[0] = row_of(refs[0], "raw", 1.0, answer="B")
    rows[1] = row_of(refs[1], "raw", 0.0, answer="C")
    rows[2] = row_of(refs[2], "raw", None, outcome=Outcome.INFRA_MISSING, stop_reason="provider:refused")
    rows[3] = row_of(refs[3], "raw", 0.0, outcome=Outcome.MODEL_FAILED, stop_reason="no_answer")
    other = store.insert_finished_job(spec, refs, [(row, None) for row in rows])
    assert gnomon("diff", one, other, "--json") == 0
    found = said(capsys)
    assert found["sides"] == [one, other]  # their names are the same
    counts = {name: found["changes"][name] for name in ("trials", "scores", "answers", "outcomes")}
    assert counts == {"trials": 14, "scores": 2, "answers": 2, "outcomes": 2}
    assert {trial["sample_id"] for trial in found["changes"]["listed"]} == {ref.sample_id for ref in refs[:3]}
    [text] = found["report"]["summary"]
    assert text.startswith("1 of 13 scores changed.")
    assert f"in “{other}”" in text
    assert gnomon("diff", one, other) == 0
    printed = capsys.readouterr().out
    assert "scores 2, answers 2, outcomes 2" in printed
    assert f"{refs[0].sample_id}, reference / raw: 0.000 (no answer) → 1.000 ('B')" in printed


def test_missing_trials_leave_equal_scores_in_doubt(
    store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    one = file({"raw": 1.0}, arms=SPEC["arms"][:1])
    refs = store.refs(one)
    lost = {"outcome": Outcome.INFRA_MISSING, "stop_reason": "provider:refused"}
    rows = [
        row_of(ref, "raw", None, **lost) if at < 7 else row_of(ref, "raw", 1.0) for at, ref in enumerate(refs)
    ]
    other = store.insert_finished_job(store.job(one).spec, refs, [(row, None) for row in rows])
    assert gnomon("diff", one, other, "--json") == 0
    [text] = said(capsys)["report"]["summary"]
    assert "7 of 7 scores are equal in both jobs, a difference of exactly 0, but missing trials" in text


def test_an_outcome_that_changes_without_the_score_is_no_changed_score(
    file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file({"raw": 0.0}, response="", arms=SPEC["arms"][:1])
    assert gnomon("rescore", old, "--json") == 0
    found = said(capsys)
    assert (found["changed"], found["outcomes_changed"], found["changes"]) == (0, 14, [])


def test_only_common_samples_are_compared(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    one = file({"raw": 0.0, "tools": 1.0})
    other = file({"raw": 0.0, "tools": 1.0}, select={**SPEC["select"], "limit": 6})
    assert gnomon("diff", one, other) == 0
    text = capsys.readouterr().out
    assert "6 samples in both jobs; 8 only in" in text
    assert "select.limit: 14 → 6" in text


def test_jobs_that_share_nothing_are_refused(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    one = file({"raw": 0.0, "tools": 1.0})
    assert gnomon("diff", one, file({"raw": 0.0, "tools": 1.0}, select={"limit": 3, "seed": 99})) == 2
    assert "no sample in common" in capsys.readouterr().err
    arms = [{"name": "a", "agent": "direct"}, {"name": "b", "agent": "direct"}]
    assert gnomon("diff", one, file({"a": 0.0, "b": 1.0}, arms=arms)) == 2
    assert "share no model and arm" in capsys.readouterr().err


def test_one_arm_of_each_job_is_enough(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    one = file({"raw": 0.0}, arms=[{"name": "raw", "agent": "direct"}])
    other = file({"new": 1.0}, arms=[{"name": "new", "agent": "direct"}])
    assert gnomon("diff", one, other, "--json") == 0
    assert said(capsys)["report"]["contrasts"][0]["diff"] == 1.0


PRICED: dict[str, Any] = {
    **SPEC,
    "select": {"limit": 1},
    "models": [
        {"id": "reference"},
        {"id": "openai/x", "price": {"input": 1.0, "output": 10.0}},
        {"id": "openai/y"},
    ],
    "repeats": 2,
}


def test_a_plan_counts_prices_and_says_what_could_be_seen(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("spec.yaml").write_text(yaml.safe_dump(PRICED))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    found = said(capsys)
    assert (found["samples"], found["trials"]) == (1, 1 * 2 * 3 * 2)
    by_arm = {(arm["model"], arm["arm"]): arm for arm in found["arms"]}
    assert by_arm["reference", "tools"]["usd"] == 0.0
    assert by_arm["openai/y", "raw"]["usd"] is None
    assert found["usd"] is None
    priced = by_arm["openai/x", "tools"]
    assert priced["usd"] == pytest.approx(
        (priced["prompt_tokens"] + 10 * priced["completion_tokens"]) / 1e6, 1e-3
    )
    assert priced["usd"] < priced["usd_at_most"]
    assert by_arm["openai/x", "raw"]["usd"] < priced["usd"]
    assert [one["discordant"] for one in found["detectable"]] == [0.1, 0.2, 0.3, 0.4]
    assert [one["all"] for one in found["detectable"]] == [None] * 4
    assert all(one["all_note"] for one in found["detectable"])
    assert store.jobs().items == ()


@pytest.mark.usefixtures("store")
def test_a_plan_prices_every_turn(capsys: pytest.CaptureFixture[str]) -> None:
    tokens = {}
    for task in ("city-day", "changed-mind"):
        trips = {"benchmark": "itinerary", "select": {"tasks": [task], "limit": 3}}
        arms = [{"name": "raw", "agent": "direct"}]
        spec = {**trips, "models": [{"id": "reference"}], "arms": arms}
        Path("spec.yaml").write_text(yaml.safe_dump(spec))
        assert gnomon("plan", "spec.yaml", "--json") == 0
        tokens[task] = said(capsys)["arms"][0]["completion_tokens"]
    assert tokens["changed-mind"] >= 2 * tokens["city-day"]


@pytest.mark.usefixtures("store")
def test_a_plan_names_the_retry_policy_where_the_spec_sets_one(capsys: pytest.CaptureFixture[str]) -> None:
    one_arm = {**SPEC, "select": {"limit": 1}, "arms": SPEC["arms"][:1]}
    Path("spec.yaml").write_text(yaml.safe_dump(one_arm))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    assert "retry" not in said(capsys)
    Path("spec.yaml").write_text(yaml.safe_dump({**one_arm, "retry": {"max_attempts": 8}}))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    assert said(capsys)["retry"] == {"max_attempts": 8}
    assert gnomon("plan", "spec.yaml") == 0
    assert "Calls that failed are retried with max_attempts 8." in capsys.readouterr().out


def test_a_plan_says_what_its_tokens_are_and_for_what_no_price_is_known(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("spec.yaml").write_text(yaml.safe_dump(PRICED))
    assert gnomon("plan", "spec.yaml") == 0
    text = capsys.readouterr().out
    assert "1 sample in 1 cluster and 1 subset\n" in text
    assert "Expected tokens of all trials (prompts + replies), and what they cost:\n" in text
    assert re.search(r"openai/x / raw +2 trials .* tokens  about \$[\d.]+, at most \$[\d.]+\n", text)
    assert re.search(r"openai/y / raw +2 trials .* tokens  price unknown\n", text)
    assert "Total: unknown price; the job's limit in dollars: none.\n" in text
    assert "No table has a price for openai/y: `price: {input: …, output: …}`" in text


@pytest.mark.usefixtures("store")
def test_a_plan_that_is_too_small_says_why_and_how_many_samples_would_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    Path("spec.yaml").write_text(yaml.safe_dump({**SPEC, "select": {"limit": 2}}))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    document = said(capsys)
    sizes = document["enough"]["sizes"]
    assert [size["effect"] for size in sizes] == [0.2, 0.1]
    assert 2 < sizes[0]["samples"] < sizes[1]["samples"]
    assert gnomon("plan", "spec.yaml") == 0
    text = capsys.readouterr().out
    assert "Too small to compare arms. This design can never claim a difference: even if every " in text
    assert f"  for a true difference of 20 points: {sizes[0]['samples']} samples in " in text
    assert "Minimum detectable" not in text
    assert "smallest subset" not in text
    Path("spec.yaml").write_text(yaml.safe_dump({**SPEC, "select": {"limit": sizes[0]["samples"]}}))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    assert "enough" not in said(capsys), "so many are not too small"


@pytest.mark.usefixtures("store")
def test_a_job_that_may_stop_early_is_planned_somewhat_larger(capsys: pytest.CaptureFixture[str]) -> None:
    primary, samples = [arm["name"] for arm in SPEC["arms"][:2]], {}
    for sequential in (False, True):
        analysis = {"primary": primary, "cluster": "none", "sequential": sequential}
        spec = {**SPEC, "select": {"limit": 7}, "analysis": analysis}
        Path("spec.yaml").write_text(yaml.safe_dump(spec))
        assert gnomon("plan", "spec.yaml", "--json") == 0
        samples[sequential] = said(capsys)["enough"]["sizes"][-1]["samples"]
    assert 1.0 < samples[True] / samples[False] < 1.4


@pytest.mark.usefixtures("store")
@pytest.mark.parametrize(("samples", "can_claim"), [(5, False), (6, True)])
def test_a_plan_calls_a_job_too_small_only_where_its_report_could_claim_nothing(
    samples: int, can_claim: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [f"q{at},What is {at} and {at}?,{2 * at}" for at in range(samples)]
    Path("q.csv").write_text("\n".join(["id,question,answer", *lines]))
    written = {"benchmark": "questions", "data": "q.csv", "models": SPEC["models"], "arms": SPEC["arms"]}
    Path("spec.yaml").write_text(yaml.safe_dump(written))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    document = said(capsys)
    assert bool(document["never"]) is not can_claim
    assert (document["claims_from"] is not None) is can_claim
    assert gnomon("plan", "spec.yaml") == 0
    text = capsys.readouterr().out
    assert ("Too small to compare arms. " in text) is not can_claim
    large = re.search(r"This job is small\. It shows .* about \d+ points or more", text)
    assert bool(large) is can_claim
    spec = JobSpec.model_validate({**written, "models": [{"id": "m"}]})
    kept = {"job_id": "j", "trial_id": "t", "benchmark": "questions", "task": "q", "cell": "q", "cluster": ""}
    rows = [
        Row(
            **{**kept, "trial_id": f"{at}{arm.name}"},
            sample_id=f"q{at}",
            model="m",
            arm=arm.name,
            repeat=0,
            outcome=Outcome.SCORED,
            stop_reason="answered",
            score=float(arm is spec.arms[1]),
        )
        for at in range(samples)
        for arm in spec.arms
    ]
    report = build_report(job_id="j", spec=spec, status="completed", rows=rows, planned=2 * samples)
    assert (report["contrasts"][0]["verdict"] == "helps") is can_claim


@pytest.mark.usefixtures("store")
def test_a_plan_says_when_a_job_is_looked_at_and_how_much_of_it_runs(
    capsys: pytest.CaptureFixture[str],
) -> None:
    analysis = {"primary": [arm["name"] for arm in SPEC["arms"][:2]], "sequential": True}
    Path("spec.yaml").write_text(yaml.safe_dump({**SPEC, "select": {"limit": 100}, "analysis": analysis}))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    document = said(capsys)
    looks, clusters = document["sequential"]["looks"], document["clusters"]
    assert (len(looks), looks[-1]) == (6, clusters)
    assert document["sequential"]["share"] == pytest.approx(0.68, abs=0.04)
    for row, fixed in zip(document["sequential"]["detectable"], document["detectable"], strict=True):
        assert row["diff"] is None or fixed["all"] < row["diff"] < 1.1 * fixed["all"]
    assert gnomon("plan", "spec.yaml") == 0
    text = capsys.readouterr().out
    assert f"It stops early once decided: at most {document['trials']:,} trials, with looks after " in text
    assert "% of them run where 8 of 10 such jobs claim a difference:" in text


@pytest.mark.usefixtures("store")
def test_a_plan_of_one_arm_compares_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    Path("spec.yaml").write_text(yaml.safe_dump({**SPEC, "arms": SPEC["arms"][:1]}))
    assert gnomon("plan", "spec.yaml") == 0
    text = capsys.readouterr().out
    assert "One arm: there is nothing to compare.\n" in text
    assert "detectable" not in text.casefold()
    assert gnomon("plan", "spec.yaml", "--json") == 0
    assert said(capsys)["detectable"] == [], "nothing is simulated of it"


@pytest.mark.usefixtures("store")
def test_a_plan_says_which_margin_counts_and_refuses_a_subset_that_no_sample_is_in(
    capsys: pytest.CaptureFixture[str],
) -> None:
    margin = {"relative": 0.1, "subsets": {"indoor.GL": {"absolute": 0.02}}}
    spec = {**SPEC, "analysis": {"margin": margin}}
    Path("spec.yaml").write_text(yaml.safe_dump(spec))
    assert gnomon("plan", "spec.yaml") == 0
    words = "±10 % of the baseline's score; indoor.GL: ±2 points, narrower near 0 and 100 %"
    assert f"Differences that count as none (the margin): {words}" in capsys.readouterr().out
    spec["analysis"]["margin"]["subsets"] = {"indor.GL": {"absolute": 0.02}}
    Path("spec.yaml").write_text(yaml.safe_dump(spec))
    assert gnomon("plan", "spec.yaml") == 2
    assert "no subset 'indor.GL' among the selected samples; allowed: indoor.GL, " in capsys.readouterr().err


@pytest.mark.usefixtures("store")
def test_a_plan_and_the_report_of_such_a_job_name_the_same_effect(capsys: pytest.CaptureFixture[str]) -> None:
    spec = {**SPEC, "select": {"limit": 140, "seed": 5}, "repeats": 1}
    Path("spec.yaml").write_text(yaml.safe_dump(spec))
    assert gnomon("plan", "spec.yaml", "--icc", "0", "--json") == 0
    planned = next(row for row in said(capsys)["detectable"] if row["discordant"] == 0.4)
    job = JobSpec.model_validate(spec)
    refs, random = open_spec(job, MediaStore(Path("media"))).samples.refs, np.random.default_rng(3)
    rows: list[Row] = []
    for ref in refs:
        raw = float(random.random() < 0.5)
        tools = 1.0 - raw if random.random() < 0.4 else raw
        rows += [row_of(ref, "raw", raw), row_of(ref, "tools", tools)]
    report = build_report(job_id="j", spec=job, status="completed", rows=rows, planned=len(rows))
    contrast = report["contrasts"][0]
    assert contrast["mde"] == pytest.approx(planned["all"], abs=0.04)
    few = build_report(job_id="j", spec=job, status="completed", rows=rows[:28], planned=len(rows))
    Path("spec.yaml").write_text(yaml.safe_dump({**spec, "select": {"limit": 14, "seed": 5}}))
    assert gnomon("plan", "spec.yaml", "--icc", "0", "--json") == 0
    of_few = said(capsys)["detectable"][3]
    assert (of_few["all"], few["contrasts"][0]["mde"]) == (None, None)
    assert of_few["all_note"] == few["contrasts"][0]["mde_note"]


@pytest.mark.usefixtures("store")
def test_a_plan_with_losses_asks_for_more_and_says_what_it_assumes(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = [f"q{at},What is {at} and {at}?,{2 * at}" for at in range(2_001)]  # of so many few jobs are drawn
    Path("q.csv").write_text("\n".join(["id,question,answer", *lines]))
    written = {"benchmark": "questions", "data": "q.csv", "models": SPEC["models"], "arms": SPEC["arms"]}
    Path("spec.yaml").write_text(yaml.safe_dump(written))
    assert gnomon("plan", "spec.yaml", "--json") == 0
    whole = said(capsys)
    assert gnomon("plan", "spec.yaml", "--lost", "0.02", "--icc", "0.4", "--json") == 0
    lossy = said(capsys)
    pairs = zip(whole["detectable"], lossy["detectable"], strict=True)
    assert all(b["all"] is None or b["all"] > a["all"] for a, b in pairs)
    assert lossy["detectable"][-1]["all"] is not None
    assert "lost at random: 2 % of each arm's trials" in lossy["assumptions"]
    assert any(
        line.startswith("intraclass correlation of a cluster's samples 0.4:") for line in lossy["assumptions"]
    )


def test_a_pilot_replaces_what_was_assumed(file: File, capsys: pytest.CaptureFixture[str]) -> None:
    pilot = file({"raw": 0.0, "tools": 1.0})
    Path("spec.yaml").write_text(yaml.safe_dump(SPEC))
    assert gnomon("plan", "spec.yaml", "--pilot", pilot, "--json") == 0
    found = said(capsys)
    assert [arm["from_pilot"] for arm in found["arms"]] == [True, True]
    assert found["arms"][0]["prompt_tokens"] == 1400
    assert [one["samples"] for one in found["pilot"]["contrasts"]] == [14]
    assert gnomon("plan", "spec.yaml", "--pilot", pilot) == 0
    assert "by the pilot" in capsys.readouterr().out


@pytest.mark.parametrize("kind", ["rows", "inspect"])
def test_an_exported_job_can_be_imported_again(
    kind: str, store: Store, file: File, capsys: pytest.CaptureFixture[str]
) -> None:
    old = file({"raw": 0.25, "tools": 1.0})
    assert gnomon("export", old, "--format", kind, "--out", "out") == 0
    files = capsys.readouterr().out.split()
    assert len(files) == (1 if kind == "rows" else 2)
    more = ["--primary", "raw", "tools"]
    assert gnomon("import", *files, "--cluster", "cluster", "--cell", "cell", *more) == 0
    assert "28 trials of 14 samples; arms: raw, tools" in capsys.readouterr().out
    new = next(job.id for job in store.jobs().items if job.id != old)
    assert {(row.arm, row.score) for row in store.iter_rows(new)} == {("raw", 0.25), ("tools", 1.0)}
    assert {row.cluster for row in store.iter_rows(new)} == {row.cluster for row in store.iter_rows(old)}
    assert gnomon("report", new, "--format", "md") == 0
    assert "+75.0" in capsys.readouterr().out
    for options, says in (
        ((), "The answers were imported"),
        (("--format", "tex"), r"\begin{tabular}"),
        (("--format", "csv"), "model,arm,against"),
        (("--format", "json"), '"paragraph"'),
        (("--json",), '"paragraph"'),
    ):
        assert gnomon("report", new, "--methods", *options) == 0
        assert says in capsys.readouterr().out
    assert gnomon("report", new, "--methods", "--format", "html") == 2
    assert "allowed: json, md, csv, tex" in capsys.readouterr().err


def test_logs_of_an_unknown_benchmark_are_reported_but_not_scored_again(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"sample_id": f"s{n}", "arm": arm, "score": n % 2, "benchmark": "sums"}
        for n in range(4)
        for arm in "ab"
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert gnomon("import", "rows.jsonl", "--name", "mine") == 0
    [job] = store.jobs().items
    assert (job.name, job.counts.scored) == ("mine", 8)
    assert gnomon("rescore", job.id) == 2
    assert "'sums' was run elsewhere" in capsys.readouterr().err


@pytest.mark.parametrize("benchmark", ["sums", "worlds"])
def test_what_was_run_elsewhere_is_not_resumed_and_keeps_what_it_misses(
    store: Store, redis: Redis, benchmark: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [
        {"sample_id": f"s{n}", "arm": "a", "benchmark": benchmark, "score": n or None, "outcome": outcome}
        for n, outcome in enumerate(("infra_missing", "scored"))
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert gnomon("import", "rows.jsonl") == 0
    [job] = store.jobs().items
    rows = list(store.iter_rows(job.id))
    with pytest.raises(SpecError, match="run elsewhere"):
        resume(job.id, store=store, redis=redis)
    assert (store.job(job.id), list(store.iter_rows(job.id))) == (job, rows)
    assert job.counts.infra_missing == 1
    capsys.readouterr()
    assert gnomon("jobs") == 0
    assert "1 of 2 with a result, 1 missing" in capsys.readouterr().out
    row = job_row(job, now_s=0.0, verdict=None, is_verdict_due=False, per_second=None, missing=())
    assert not row["can_resume"]


def test_a_name_that_drives_a_terminal_is_not_imported(
    store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    line = {"sample_id": "s", "arm": "a\x1b[2J", "score": 1, "benchmark": "sums"}
    Path("rows.jsonl").write_text(json.dumps(line) + "\n")
    assert gnomon("import", "rows.jsonl") == 2
    assert "arms.0.name: holds a control character" in capsys.readouterr().err
    assert store.jobs().items == ()


@pytest.fixture
def played(store: Store) -> str:
    Path("rows.jsonl").write_text(json.dumps({"sample_id": "s", "arm": "a", "score": 1, "benchmark": "b"}))
    assert gnomon("import", "rows.jsonl") == 0
    return store.jobs().items[0].id


@pytest.mark.parametrize("kind", ["json", "csv"])
@pytest.mark.parametrize("has_target", [True, False])
def test_a_report_is_written_where_a_link_leads(played: str, kind: str, has_target: bool) -> None:
    Path("far").mkdir()
    target, link = Path("far") / "target", Path(f"link.{kind}")
    if has_target:
        target.write_text("old")
    link.symlink_to(target)
    assert gnomon("report", played, "--out", str(link)) == 0
    assert link.is_symlink()
    assert len(target.read_text()) > len("old")
    assert [path.name for path in Path("far").iterdir()] == ["target"]


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_a_report_goes_through_a_pipe(played: str, kind: str) -> None:
    os.mkfifo("pipe")
    with ThreadPoolExecutor() as pool:
        read = pool.submit(Path("pipe").read_text)
        assert gnomon("report", played, "--format", kind, "--out", "pipe") == 0
        assert len(read.result(timeout=20)) > 0
    assert Path("pipe").is_fifo()


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["import"], "Missing argument"),
        (["import", "notes.txt"], "neither a log nor a row file"),
        (["import", "nowhere.eval"], "cannot be read as a log"),
        (["export", "j_none", "--out", "x"], "j_none"),
    ],
)
def test_what_cannot_be_exchanged_is_named(
    args: list[str], says: str, store: Store, capsys: pytest.CaptureFixture[str]
) -> None:
    assert gnomon(*args) == 2
    assert says in capsys.readouterr().err
