"""A job that has run goes out in every format, over the command line and REST, and comes back."""

import io
import json
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from starlette.testclient import TestClient

from gnomon.core.row import Row
from gnomon.exchange.format import written_names
from gnomon.exchange.imported_job import run_of
from gnomon_service.cli.main import main
from gnomon_service.reports import report_of
from gnomon_workers.store.store import Store, open_store
from tests.exchange_jobs import ROWS, TRACES

SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 2, "seed": 3},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
    "analysis": {"primary": ["raw", "tools"]},
}

NOTHING = ("plans", "vlmevalkit", "cassette")  # formats that hold nothing of an imported job


def command(*args: str) -> int:
    with pytest.raises(SystemExit) as end:
        main(list(args))
    assert isinstance(end.value.code, int)
    return end.value.code


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory, run_gnomon: Callable[..., "subprocess.CompletedProcess[str]"]
) -> Path:
    """The data folder of a job that real workers have run."""
    root = tmp_path_factory.mktemp("exchange")
    (root / "spec.yaml").write_text(yaml.safe_dump(SPEC))
    done = run_gnomon("run", str(root / "spec.yaml"), "--data-dir", str(root / "data"), "--workers", "1")
    assert done.returncode == 0, done.stderr
    return root / "data"


@pytest.fixture
def ran(data: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Its id."""
    monkeypatch.setenv("GNOMON_DATA_DIR", str(data))
    store = open_store(f"sqlite:///{data / 'gnomon.db'}")
    try:
        return store.jobs().items[-1].id
    finally:
        store.close()


def rows_of(data: Path, job: str) -> tuple[list[Row], list[Any]]:
    """A job's rows without ids, and its traces, in the order of trials."""
    store = open_store(f"sqlite:///{data / 'gnomon.db'}")
    try:
        rows = sorted(store.iter_rows(job), key=lambda row: (row.sample_id, row.arm))
        traces = [store.trace(row.trial_id) or {} for row in rows]
    finally:
        store.close()
    return [replace(row, job_id="", trial_id="") for row in rows], [
        {part: trace.get(part) for part in ("prompt", "steps", "response")} for trace in traces
    ]


@pytest.mark.parametrize("kind", ["rows", "inspect", "inspect-eval", "atif", "every-eval-ever", "chat"])
def test_a_job_comes_back_from_every_format_that_is_read(
    kind: str, ran: str, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("export", ran, "--format", kind, "--out", str(tmp_path / "out")) == 0
    files = [
        path for path in capsys.readouterr().out.split() if kind != "every-eval-ever" or "_samples" in path
    ]
    assert command("import", *files, "--primary", "raw", "tools", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["trials"], document["samples"]) == (4, 2)
    before, after = rows_of(data, ran), rows_of(data, document["job_id"])
    if kind == "chat":
        assert [(row.sample_id, row.arm, row.score) for row in after[0]] == [
            (row.sample_id, row.arm, row.score) for row in before[0]
        ]
    else:
        assert after[0] == before[0]
    if kind in ("inspect", "inspect-eval", "atif"):
        assert after[1] == before[1]
    assert command("report", document["job_id"], "--format", "md") == 0
    assert "raw" in capsys.readouterr().out


def test_one_file_goes_to_stdout_whole(ran: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert command("export", ran, "--format", "otel", "--out", "-") == 0
    lines = capsysbinary.readouterr().out.splitlines()
    assert len(lines) == 4
    assert all("resourceSpans" in json.loads(line) for line in lines)
    assert command("export", ran, "--format", "inspect", "--out", "-") == 0
    with zipfile.ZipFile(io.BytesIO(capsysbinary.readouterr().out)) as archive:
        assert len(archive.namelist()) == 2


def test_the_table_of_questions_has_their_pictures_and_is_read_as_own_questions(
    ran: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("export", ran, "--format", "vlmevalkit", "--out", str(tmp_path)) == 0
    header, *lines = (tmp_path / "worlds.tsv").read_text().splitlines()
    assert header.split("\t")[:4] == ["index", "image", "image_path", "question"]
    assert len([line for line in lines if line.startswith("w3-")]) == 2
    assert "iVBORw0KGgo" in lines[0]
    questions = {"benchmark": "questions", "data": str(tmp_path / "worlds.tsv"), "models": SPEC["models"]}
    (tmp_path / "spec.yaml").write_text(yaml.safe_dump({**questions, "arms": SPEC["arms"][:1]}))
    assert command("samples", str(tmp_path / "spec.yaml"), "--data-dir", str(tmp_path / "data")) == 0
    assert "2 samples" in capsys.readouterr().err


def test_a_trip_is_asked_for_where_there_is_none(
    ran: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("export", ran, "--format", "plans", "--out", str(tmp_path)) == 2
    assert "holds no planned trip" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [], "nothing is left of a file that was not finished"


@pytest.fixture
def kept(store: Store) -> str:
    """A job with all that a trace can hold, in the store of the API."""
    run = run_of([("", [(row, TRACES[row.trial_id]) for row in ROWS])], name="kept")
    return store.insert_finished_job(run.spec, run.refs, run.ended)


def test_repeats_that_were_not_run_elsewhere_were_not_planned(store: Store) -> None:
    of_raw = {"a": (0, 1, 2), "b": (0,), "c": (1, 2)}
    rows = [replace(ROWS[0], sample_id=name, arm="raw", repeat=n) for name, ns in of_raw.items() for n in ns]
    rows += [replace(ROWS[0], sample_id=name, arm="tools", repeat=0) for name in ("a", "b")]
    run = run_of([("", [(row, None) for row in rows])], name="uneven")
    assert run.spec.repeats_by_arm == {"raw": 3, "tools": 1}
    job = store.job(store.insert_finished_job(run.spec, run.refs, run.ended))
    assert (job.counts.planned, job.counts.done) == (9, 8), "one trial of c under tools is not there"
    report = report_of(store, job.id)
    assert report["denominators"]["trials"]["pending"] == 1
    assert report["job"]["repeats_by_arm"] == {"raw": [1, 3], "tools": [1, 1]}
    assert not any("repeats" in text for text in report["plan"]["deviations"])
    assert [arm["trials"]["planned"] for arm in report["arms"]] == [6, 3]


@pytest.mark.parametrize("kind", [name for name in written_names() if name not in NOTHING])
def test_rest_and_pages_give_the_same_files(kind: str, kept: str, api: TestClient) -> None:
    answer = api.get(f"/v1/jobs/{kept}/export", params={"format": kind})
    assert answer.status_code == 200
    assert answer.headers["content-disposition"].startswith(f'attachment; filename="{kept}-')
    if answer.headers["content-type"].startswith("application/zip"):
        with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
            assert archive.testzip() is None
            assert archive.namelist()
    else:
        assert len([json.loads(line) for line in answer.text.splitlines()]) in (3, 4)
    page = api.get(f"/ui/jobs/{kept}/export/{kind}")
    assert page.content == answer.content


def test_what_cannot_be_exported_is_a_problem_with_its_field(kept: str, api: TestClient) -> None:
    for kind in NOTHING:
        answer = api.get(f"/v1/jobs/{kept}/export", params={"format": kind})
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")
    assert api.get("/v1/jobs/j_none/export").status_code == 404
    unknown = api.get(f"/v1/jobs/{kept}/export", params={"format": "excel"})
    assert unknown.status_code == 422
    assert "format" in unknown.text


def test_an_import_tells_what_it_took_and_what_it_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    values = [1, 0, float("nan"), None, 1]
    samples: list[dict[str, Any]] = [
        {"id": number, "epoch": 1, "scores": {"acc": {"value": value}}} for number, value in enumerate(values)
    ]
    samples[4]["invalidation"] = {"author": "me"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"eval": {"task": "t"}, "samples": samples}))
    assert command("import", f"raw={path}", f"tools={path}") == 0
    said = capsys.readouterr().out
    assert "8 trials of 4 samples; arms: raw, tools\nscores: acc\n" in said
    assert "4 of 8 trials have no score and are missing: unscored in the log 4\n" in said
    assert "2 of 10 trials are left out: invalidated in the log 2\n" in said
    assert "no clusters: each sample stands for itself\n" in said
    assert said.endswith("--out report.html` compares them\n")
    assert command("import", str(path), "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document.pop("job_id")
    assert document == {
        "trials": 4,
        "samples": 4,
        "scored": 2,
        "scores": ["acc"],
        "missing": {"inspect:unscored": 2},
        "left_out": {"inspect:invalidated": 1},
        "clusters": 0,
        "lacking": {},
    }
    assert command("import", str(path)) == 0
    assert capsys.readouterr().out.endswith("--out report.html` reports it\n")


def test_an_import_of_which_nothing_is_left_ends_with_1_and_other_files_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    samples = [{"id": number, "epoch": 1, "scores": {"acc": {"value": number}}} for number in range(2)]
    log = {"eval": {"task": "t"}, "samples": samples}
    (tmp_path / "bad.json").write_text(json.dumps(log | {"invalidated": True}))
    (tmp_path / "good.json").write_text(json.dumps(log))
    assert command("import", str(tmp_path / "bad.json")) == 1
    assert capsys.readouterr().err == "2 of 2 trials are left out: invalidated in the log 2\n"
    assert not (tmp_path / "data").exists()
    assert command("import", f"a={tmp_path / 'bad.json'}", f"b={tmp_path / 'good.json'}") == 0
    said = capsys.readouterr().out
    assert "2 trials of 2 samples; arms: b\n" in said
    assert "2 of 4 trials are left out: invalidated in the log 2\n" in said


RECORD: dict[str, Any] = {
    "evaluation_id": "e",
    "model_id": "m",
    "evaluation_name": "t",
    "interaction_type": "single_turn",
    "input": {"raw": "?", "reference": ["A"]},
    "evaluation": {"score": 1},
}
TRAJECTORY: dict[str, Any] = {
    "schema_version": "ATIF-v1.5",
    "agent": {"name": "a", "version": "1"},
    "steps": [{"step_id": 1, "source": "agent", "message": "A"}],
}
NAMED: dict[str, Callable[[int, dict[str, str]], Any]] = {  # a trial with these fields, by its file's name
    "log.json": lambda n, fields: {"id": n, "scores": {"acc": {"value": 1}}, "metadata": fields},
    "lmms.jsonl": lambda n, fields: {"doc_id": n, "doc": fields, "target": "A", "acc": 1.0},
    "samples.jsonl": lambda n, fields: {**RECORD, "sample_id": f"s{n}", "metadata": fields},
    "atif.jsonl": lambda n, fields: {**TRAJECTORY, "extra": {"sample_id": f"s{n}", "score": 1, **fields}},
    "result.csv": lambda n, fields: f"{n},1,{fields.get('video', '')}",
}


@pytest.mark.parametrize("option", ["--cluster", "--cell"])
@pytest.mark.parametrize("name", NAMED)
def test_a_field_that_no_sample_has_is_refused_and_one_that_some_lack_is_counted(
    name: str,
    option: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    trials = [NAMED[name](n, {"video": f"v{n // 2}"} if n < 3 else {}) for n in range(4)]
    text = "".join(json.dumps(trial) + "\n" for trial in trials)
    if name == "log.json":
        text = json.dumps({"eval": {"task": "t"}, "samples": trials})
    elif name == "result.csv":
        text = "\n".join(["index,hit,video", *trials]) + "\n"
    (tmp_path / name).write_text(text)
    prefix = "extra." if name == "atif.jsonl" else ""
    assert command("import", str(tmp_path / name), option, f"{prefix}vidoe") == 2
    said = capsys.readouterr().err
    assert f"{option}: none of 4 trials has the field '{prefix}vidoe'; there are: " in said
    assert f"{prefix}video" in said
    assert not (tmp_path / "data").exists()
    assert command("import", str(tmp_path / name), option, f"{prefix}video") == 0
    said = capsys.readouterr().out
    assert f"1 of 4 trials do not have the field '{prefix}video'\n" in said
    assert (f"2 clusters, by '{prefix}video'\n" in said) is (option == "--cluster")
    assert command("import", str(tmp_path / name), option, f"{prefix}video", "--json") == 0
    assert json.loads(capsys.readouterr().out)["lacking"] == {f"{prefix}video": 1}


@pytest.mark.parametrize(
    "line",
    [
        {"sample_id": "a", "arm": "raw", "score": 1, "cluster": "x", "cell": "y"},
        {"messages": [{"role": "user", "content": "?"}], "score": 1, "cluster": "x", "cell": "y"},
    ],
)
def test_rows_and_chat_lines_have_their_own_fields_for_cluster_and_cell(
    line: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "a.jsonl").write_text(json.dumps(line) + "\n")
    for own in ("cluster", "cell"):
        assert command("import", str(tmp_path / "a.jsonl"), f"--{own}", "video") == 2
        assert f"has the field 'video'; there are: {own}\n" in capsys.readouterr().err
    assert command("import", str(tmp_path / "a.jsonl")) == 0
    assert "1 cluster, by 'cluster'\n" in capsys.readouterr().out


def test_two_results_of_vlmevalkit_are_compared_whatever_their_files_are_called(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    for name, kind in (("plain", "near"), ("tools", "far")):
        (tmp_path / f"{name}_Bench.tsv").write_text(f"index\thit\tkind\n0\t1\t{kind}\n")
    files = [str(tmp_path / f"{name}_Bench.tsv") for name in ("plain", "tools")]
    assert command("import", *files) == 0
    assert "2 trials of 1 sample; arms: plain_Bench, tools_Bench\n" in capsys.readouterr().out
    assert command("import", *files, "--cell", "kind") == 2
    said = capsys.readouterr().err
    assert f"sample '0' has the cell 'near' in {files[0]} and 'far' in {files[1]}, and may have only" in said
    assert "by --cell" in said


def test_samples_of_a_harness_become_a_report_of_two_arms(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    for arm, score in (("raw", 0.0), ("tools", 1.0)):
        lines = [{"doc_id": n, "filtered_resps": ["B"], "filter": "none", "acc": score} for n in range(30)]
        (tmp_path / f"{arm}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    files = [f"{arm}={tmp_path / arm}.jsonl" for arm in ("raw", "tools")]
    assert command("import", *files, "--primary", "raw", "tools", "--json") == 0
    job_id = json.loads(capsys.readouterr().out)["job_id"]
    assert command("report", job_id, "--format", "md") == 0
    assert "does better under “tools” than under “raw”, by 100.0 points" in capsys.readouterr().out


def test_an_import_takes_clusters_by_two_factors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GNOMON_DATA_DIR", str(tmp_path / "data"))
    fields = [{"video": f"v{n % 3}", "kind": f"k{n // 3}"} if n else {"kind": "k0"} for n in range(6)]
    samples = [{"id": n, "scores": {"a": {"value": 1}}, "metadata": field} for n, field in enumerate(fields)]
    (tmp_path / "log.json").write_text(json.dumps({"eval": {"task": "t"}, "samples": samples}))
    assert command("import", str(tmp_path / "log.json"), "--cluster", "video", "--cluster", "kind") == 0
    said = capsys.readouterr()
    assert "2 clusters, by 'video' and 'kind'\n1 of 6 trials do not have the field 'video'\n" in said.out
    assert "samples are kin by 2 factors, in 4 and 2 clusters" in said.err
    lines = [{"sample_id": f"{n}", "arm": "a", "score": 1, "cluster": [f"v{n}", "k"]} for n in range(2)]
    (tmp_path / "rows.ndjson").write_text("\n".join(map(json.dumps, lines)))
    assert command("import", str(tmp_path / "rows.ndjson"), "--json") == 0
    assert "in 2 and 1 clusters" in json.loads(capsys.readouterr().out)["warnings"][0]
    (tmp_path / "bad.ndjson").write_text(json.dumps({**lines[0], "cluster": [{}]}))
    assert command("import", str(tmp_path / "bad.ndjson")) == 2
    assert "cluster" in capsys.readouterr().err
