"""Real processes: a service that is up, and a job run from the command line."""

import asyncio
import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

import gnomon_lab as lab
from gnomon.core.agent import AGENTS
from gnomon.core.sample import SampleRef
from gnomon.media import MediaStore
from gnomon.spec.rules import parse_spec
from gnomon_service.cli.main import main
from gnomon_workers.store.store import Store
from tests.service.play import SPEC
from tests.workers.conftest import wait_until

PATIENCE_S = 100.0
Command = Callable[..., "subprocess.CompletedProcess[str]"]


def environment(data_dir: Path, **more: str) -> dict[str, str]:
    return {**os.environ, "GNOMON_DATA_DIR": str(data_dir), **more}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, warm_path: str) -> Iterator[httpx.Client]:
    """A service on a free port with two workers, shared by the tests of this module."""
    folder = tmp_path_factory.mktemp("up")
    command = ["gnomon", "up", "--port", "0", "--workers", "2"]
    environ = environment(folder, PATH=warm_path)
    quiet: dict[str, Any] = {"stderr": subprocess.DEVNULL, "text": True, "env": environ}
    with subprocess.Popen(command, stdout=subprocess.PIPE, **quiet) as process:
        try:
            assert process.stdout is not None
            found = re.match(r"(http://\S+)", process.stdout.readline())
            assert found
            with httpx.Client(base_url=found[1], timeout=60.0, headers={"X-Folder": str(folder)}) as api:
                until_s = time.monotonic() + PATIENCE_S
                while not _answers(api):
                    assert time.monotonic() < until_s
                    time.sleep(0.05)
                yield api
            process.send_signal(signal.SIGINT)
            assert process.wait(timeout=60) == 0
        finally:
            process.terminate()


def _answers(api: httpx.Client) -> bool:
    try:
        return api.get("/readyz").is_success
    except httpx.TransportError:
        return False


def ended(api: httpx.Client, job_id: str) -> dict[str, Any]:
    until_s = time.monotonic() + PATIENCE_S
    while True:
        job: dict[str, Any] = api.get(f"/v1/jobs/{job_id}").json()
        if job["status"] not in ("queued", "running"):
            return job
        assert time.monotonic() < until_s, job["counts"]
        time.sleep(0.2)


def test_a_service_that_is_up_runs_a_posted_job_on_two_workers(up: httpx.Client) -> None:
    posted = up.post("/v1/jobs", json={**SPEC, "select": {"limit": 8, "seed": 1}, "concurrency": 8})
    assert (posted.status_code, posted.json()["planned_trials"]) == (202, 16)
    job_id = posted.json()["id"]
    seen: dict[str, set[str]] = {}
    event = ""
    with up.stream("GET", f"/v1/jobs/{job_id}/events") as events:
        for line in events.iter_lines():
            name, _, value = line.partition(": ")
            if name == "event":
                event = value
            elif name == "data":
                seen.setdefault(event, set()).add(json.loads(value).get("trial_id", ""))
    job = ended(up, job_id)
    assert job["status"] == "completed"
    assert job["counts"]["scored"] + job["counts"]["model_failed"] == 16
    rows = up.get(f"/v1/jobs/{job_id}/trials?limit=10000").json()["items"]
    assert len({row["trial_id"] for row in rows}) == len(rows) == 16
    assert seen["trial"] == {row["trial_id"] for row in rows}
    assert "done" in seen
    report = up.get(f"/v1/jobs/{job_id}/report").json()
    assert {arm["arm"]: arm["n"] for arm in report["arms"]} == {"raw": 8, "tools": 8}
    assert len({worker["pid"] for worker in up.get("/v1/workers").json()}) == 2


def test_a_spec_is_submitted_and_its_report_printed(
    up: httpx.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = str(up.base_url)
    assert gnomon("submit", _written(tmp_path), "--url", url, "--wait", "--json") == 0
    assert json.loads(capsys.readouterr().out)["arms"]
    assert gnomon("submit", _written(tmp_path, repeats=0), "--url", url) == 2
    assert capsys.readouterr().err.startswith("gnomon: repeats: ")


async def test_a_job_of_a_service_is_the_same_object_in_python(up: httpx.Client) -> None:
    url = str(up.base_url)
    with lab.connect(url) as service:
        job = await asyncio.to_thread(service.run, SPEC, progress=False)
        assert job.check().counts["scored"] == 12
        assert job.rows("arrow").num_rows == 12
        assert job.report.headline in job.report._repr_html_()
        assert job.trace(job.rows("arrow")["sample_id"][0].as_py(), arm="tools").steps
        assert service.open(job.id).id == job.id
    async with lab.connect_async(url) as client:
        posted = await client.submit({**SPEC, "repeats": 2})
        names = [event.name async for event in client.events(posted["id"])]
        assert (names.count("trial"), names[-1]) == (24, "done")
        assert [row.repeat async for row in client.rows(posted["id"])].count(1) == 12


def test_a_submitted_job_that_cannot_work_says_why(
    up: httpx.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nobody = {"id": "openai/m", "api_base": "http://127.0.0.1:9/v1"}
    url = str(up.base_url)
    assert gnomon("submit", _written(tmp_path, models=[nobody]), "--url", url, "--wait") == 1
    said = capsys.readouterr().out
    assert "! The job failed. openai/m: 12 of 12 trials are missing, provider:connection" in said
    assert "Check `api_base`" in said


def test_a_folder_that_is_in_use_is_not_taken(
    up: httpx.Client, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = up.headers["X-Folder"]
    assert gnomon("run", _written(tmp_path), "--data-dir", folder) == 2
    assert "in use by another gnomon" in capsys.readouterr().err


def _written(folder: Path, **changes: Any) -> str:
    path = folder / "spec.yaml"
    path.write_text(yaml.safe_dump({**SPEC, **changes}))
    return str(path)


def gnomon(*args: str) -> object:
    """Run a command in this process; its exit code."""
    with pytest.raises(SystemExit) as end:
        main(list(args))
    return end.value.code


def abandoned_job(data_dir: Path) -> str:
    """What a killed command leaves: a job that nobody runs."""
    data_dir.mkdir()
    store = Store(f"sqlite:///{data_dir / 'gnomon.db'}")
    ref = SampleRef(sample_id="s", task="GeoLocation", cell="outdoor.GL", cluster="c")
    job = store.create_job(parse_spec(SPEC, agents=AGENTS.names()), [ref])
    store.close()
    return job.id


def test_a_run_writes_its_report_and_leaves_it_to_be_asked_again(
    tmp_path: Path, run_gnomon: Command, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    abandoned = abandoned_job(tmp_path / "data")
    out = tmp_path / "out"
    done = run_gnomon("run", _written(tmp_path), "--out", str(out), "--json", "--workers", "1")
    assert done.returncode == 0
    assert f"job {abandoned} (worlds) was left unfinished" in done.stderr
    report = json.loads(done.stdout)
    assert {file.name for file in out.iterdir()} == {
        "report.json", "report.html", "report.md", "rows.ndjson", "rows.csv",
    }  # fmt: skip
    assert json.loads((out / "report.json").read_text()) == report
    assert len((out / "rows.ndjson").read_text().splitlines()) == 12
    job_id = report["job"]["id"]
    assert job_id in done.stderr
    for kind in ("json", "html", "md", "csv", "parquet"):
        again = tmp_path / f"again.{kind}"
        assert gnomon("report", job_id, "--out", str(again)) == 0
        assert again.stat().st_size > 0
    assert (tmp_path / "again.csv").read_text() == (out / "rows.csv").read_text()
    assert gnomon("report", job_id) == 0
    assert json.loads(capfd.readouterr().out) == report
    assert gnomon("report", abandoned) == 0
    assert json.loads(capfd.readouterr().out)["job"]["status"] == "cancelled"
    assert gnomon("report", "j_none") == 2
    assert "no job 'j_none'" in capfd.readouterr().err


def test_a_run_with_missing_trials_ends_with_1(tmp_path: Path, run_gnomon: Command) -> None:
    down = {"id": "scripted", "options": {"replies": [{"fault": "refused", "transient": False}]}}
    spec = _written(tmp_path, models=[down], select={"limit": 1})
    done = run_gnomon("run", spec, "--json", "--workers", "1", "--data-dir", str(tmp_path / "data"))
    assert done.returncode == 1
    assert json.loads(done.stdout)["integrity"]["missing_by_cause"] == {"provider:refused": 2}
    assert "2 missing" in done.stderr


def test_ctrl_c_cancels_and_reports_what_there_is(
    tmp_path: Path, warm_path: str, run_gnomon: Command
) -> None:
    slow = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 0.5}}
    spec = _written(tmp_path, models=[slow], select={"limit": 6}, concurrency=1)
    with subprocess.Popen(
        ["gnomon", "run", spec, "--json", "--workers", "1"],
        env=environment(tmp_path / "data", PATH=warm_path, GNOMON_GRACE_SECONDS="1"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        while "job j_" not in process.stderr.readline():
            assert process.poll() is None
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "Traceback" not in err
    assert json.loads(out)["job"]["status"] == "cancelled"
    job = re.search(r"`gnomon resume (j_\w+)` runs what is missing", err)
    assert job
    resumed = run_gnomon("resume", job[1], "--json", "--workers", "1", "--data-dir", str(tmp_path / "data"))
    assert resumed.returncode == 0, resumed.stderr
    assert json.loads(resumed.stdout)["job"]["status"] == "completed"
    assert gnomon("resume", "j_none", "--data-dir", str(tmp_path / "data")) == 2


def test_the_second_ctrl_c_ends_the_wait_and_reports_all_the_same(tmp_path: Path, warm_path: str) -> None:
    slow = {"id": "scripted", "options": {"replies": ["A"], "delay_s": 60}}
    spec = _written(tmp_path, models=[slow], select={"limit": 2}, concurrency=1)
    with subprocess.Popen(
        ["gnomon", "run", spec, "--json", "--workers", "1"],
        env=environment(tmp_path / "data", PATH=warm_path, GNOMON_GRACE_SECONDS="60"),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        while (line := process.stderr.readline()) and "job j_" not in line:
            pass
        job_id = re.search(r"j_\w+", line)[0]  # type: ignore[index]
        store = Store(f"sqlite:///{tmp_path / 'data' / 'gnomon.db'}")
        wait_until(lambda: store.job(job_id).counts.running > 0)
        process.send_signal(signal.SIGINT)
        wait_until(lambda: store.job(job_id).status == "cancelled")
        time.sleep(0.5)  # now it waits for the trial
        store.close()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert json.loads(out)["job"]["status"] == "cancelled"
    assert "gnomon resume j_" in err
    stopping, cancelled = (
        line for line in err.splitlines() if line.startswith(("stopping: ", f"job {job_id} cancelled"))
    )
    assert stopping == "stopping: 1 trial in flight"  # the next, which its worker holds too, is not
    assert cancelled.endswith(": 0 of 4 trials have a result, 0 missing")


def test_a_resumed_job_is_not_said_to_be_left_behind(tmp_path: Path, run_gnomon: Command) -> None:
    data_dir = tmp_path / "data"
    data_dir.mkdir()
    spec = parse_spec(SPEC, agents=AGENTS.names())
    refs = spec.plugin().open(
        data=None, select=spec.select, protocol="guarded", media=MediaStore(tmp_path / "media")
    ).refs[:1]  # fmt: skip
    store = Store(f"sqlite:///{data_dir / 'gnomon.db'}")
    mine, other = store.create_job(spec, refs), store.create_job(spec, refs)
    store.close()
    done = run_gnomon("resume", mine.id, "--json", "--workers", "1", "--data-dir", str(data_dir))
    assert done.returncode == 0
    assert json.loads(done.stdout)["job"]["status"] == "completed"
    assert f"job {other.id} (worlds) was left unfinished" in done.stderr
    assert f"job {mine.id} (worlds) was left unfinished" not in done.stderr


def test_ctrl_c_before_any_trial_begins_ends_at_once(tmp_path: Path, warm_path: str) -> None:
    with subprocess.Popen(
        ["gnomon", "run", _written(tmp_path)], env=environment(tmp_path / "data", PATH=warm_path),
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stderr is not None
        while "job j_" not in process.stderr.readline():
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 1, err
    assert "stopping: " not in err, "it waits for no trial"
    assert "0 of" in err
    assert "gnomon resume j_" in err


@pytest.mark.parametrize("verb", ["show", "try"])
def test_a_sample_can_be_looked_at_without_queue_or_store(
    tmp_path: Path, verb: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    spec = parse_spec(SPEC, agents=AGENTS.names())
    media = MediaStore(tmp_path / "media")
    samples = spec.plugin().open(data=None, select=spec.select, protocol="guarded", media=media)
    sample = samples.refs[0].sample_id
    assert gnomon(verb, _written(tmp_path), "--sample", sample, "--arm", "tools", "--json") == 0
    assert sample in str(json.loads(capfd.readouterr().out))
    assert not (tmp_path / "data" / "gnomon.db").exists()
