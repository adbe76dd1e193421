"""`gnomon_lab`: a job run from Python, its rows, traces and report, and what a notebook shows of them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

import gnomon_lab as lab
from gnomon.core.score import Outcome
from gnomon.exchange.imported_job import arms_from_elsewhere
from gnomon_lab import notebook
from gnomon_lab.job import missing_text
from gnomon_lab.local import draft_of, settings_of
from gnomon_lab.picture import report_svg
from gnomon_service.cli.main import main
from gnomon_tools.core.outside import reload_files
from gnomon_tools.core.toolbox import TOOLS
from gnomon_workers.store.store import Store
from tests.service.play import SPEC, finish_all

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("lab")


@pytest.fixture(scope="module")
def job(folder: Path) -> lab.Job:
    """A job that was run where an event loop runs already, as in a notebook's cell."""

    async def cell() -> lab.Job:
        return lab.run(SPEC, data_dir=folder, workers=1, progress=False)

    return asyncio.run(cell())


def test_a_tool_is_called_for_many_rows_on_arrays() -> None:
    scene = ROOT / "examples" / "scenes" / "small.geojson"
    ends = np.array([[0.0, 0.0], [3.0, 4.0]])
    from_file = lab.batch("distance", scene, start="c1", end=ends)
    from_geojson = lab.batch("distance", json.loads(scene.read_text()), start="c1", end=ends)
    assert from_file["straight_m"].tolist() == from_geojson["straight_m"].tolist()
    with pytest.raises(lab.SpecError) as refused:
        lab.batch("distance", scene, start="c1", end=[[0, 0], [0, np.nan]])
    assert refused.value.field == "args.end.1"


def test_a_job_runs_here_and_its_rows_are_frames(job: lab.Job) -> None:
    assert job.check() is job
    assert (job.status, job.counts["scored"], job.spec["benchmark"]) == ("completed", 12, "worlds")
    polars, pandas, arrow = job.rows(), job.rows("pandas"), job.rows("arrow")
    assert polars.height == len(pandas) == arrow.num_rows == 12
    assert polars.columns == list(pandas.columns) == arrow.column_names
    assert set(polars["arm"]) == {"raw", "tools"}
    assert str(pandas["prompt_tokens"].dtype) == "Int64"  # whole although unknown here
    assert pandas["prompt_tokens"].isna().all()
    assert polars["prompt_tokens"].null_count() == 12
    assert json.loads(polars["metrics"][0])["score"] == polars["score"][0]
    with pytest.raises(ValueError, match="allowed: polars, pandas, arrow"):
        job.rows("cudf")  # type: ignore[call-overload]


@pytest.mark.parametrize("kind", ["polars", "pandas"])
def test_a_frame_whose_library_is_absent_says_what_to_install(
    job: lab.Job, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, kind, None)
    with pytest.raises(lab.MissingPackage, match=f"`pip install {kind}`; .*'arrow' may be named instead"):
        job.rows(kind)


def test_the_report_has_its_fields_and_words(job: lab.Job, tmp_path: Path) -> None:
    report = job.report
    assert report.headline == " ".join(report["summary"])
    assert report.contrasts[0]["variant"] == "tools"
    assert [arm["arm"] for arm in report.arms] == ["raw", "tools"]
    assert report.headline in str(report)
    assert report.arms.to("arrow").num_rows == report.arms.to().height == 2
    assert "tools" in repr(report.contrasts)
    for ending, begin in ((".html", "<!doctype html>"), (".md", "# "), (".json", "{"), (".svg", "<svg ")):
        assert report.save(tmp_path / f"report{ending}").read_text().startswith(begin)
    with pytest.raises(lab.SpecError, match=r"allowed: \.html, \.md, \.json, \.svg"):
        report.save(tmp_path / "report.pdf")


def test_the_picture_is_whole_and_needs_nothing_else(job: lab.Job) -> None:
    svg = job.report._repr_svg_()
    root = ET.fromstring(svg)
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "● reference, tools" in texts
    assert "var(" not in svg
    assert "currentColor" in svg  # of a mark, whose group has a colour
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")
    page = job._repr_html_()
    assert 'src="data:image/svg+xml;base64,' in page
    assert report_svg(job.report._data, has_words=False) != svg


def test_what_models_and_specs_say_cannot_reach_a_notebook_as_markup(job: lab.Job) -> None:
    evil = '</text><script>alert(1)</script>"'
    data = json.loads(json.dumps(dict(job.report)).replace("reference", evil.replace('"', '\\"')))
    report = lab.Report({**data, "alerts": [evil]})
    for shown in (report._repr_html_(), report._repr_svg_(), report.contrasts._repr_html_()):
        assert "<script" not in shown
    ET.fromstring(report._repr_svg_())


def test_a_trial_is_found_by_its_sample_and_shown(job: lab.Job) -> None:
    sample = job.rows("arrow")["sample_id"][0].as_py()
    trace = job.trace(sample, arm="tools")
    assert trace.score == trace["row"]["score"]
    assert job.trace(trace["trial_id"]).answer == trace.answer
    assert trace["arm"] == "tools"
    assert any(step["kind"] == "tool" for step in trace.steps)
    assert "Answer" in str(trace)
    assert trace._repr_html_().startswith("<pre")
    with pytest.raises(lab.SpecError, match="arm: needed; there are: raw, tools"):
        job.trace(sample)
    with pytest.raises(lab.SpecError, match="no arm 'none'"):
        job.trace(sample, arm="none")
    with pytest.raises(lab.NotFound):
        job.trace("w9", arm="raw")


def test_two_jobs_are_compared_as_on_the_command_line(
    played: Store, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    specs = [{**SPEC, "select": {"limit": limit, "seed": 3}} for limit in (4, 3)]
    ids = [played.create_job(**_planned(tmp_path, spec)).id for spec in specs]
    assert [finish_all(played, job_id) for job_id in ids] == [8, 6]
    first, second = (lab.open(job_id, data_dir=tmp_path) for job_id in ids)
    difference = lab.diff(first, second)
    assert [change["field"] for change in difference["spec_changes"]] == ["select.limit"]
    assert difference["samples"] == {"both": 3, "only_first": 1, "only_second": 0}
    assert lab.Report(difference["report"]).headline
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["diff", first.id, second.id, "--data-dir", str(tmp_path), "--json"])
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(difference))


def test_stored_jobs_are_those_of_the_command_line(
    job: lab.Job, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert lab.open(data_dir=folder).id == lab.open(job.id[:8], data_dir=folder).id == job.id
    found = lab.jobs(data_dir=folder)
    assert [each.id for each in found] == [job.id]
    assert job.id in found._repr_html_()
    with pytest.raises(SystemExit):
        main(["jobs", "--data-dir", str(folder)])
    assert job.id in capsys.readouterr().out
    assert job.resume(progress=False, workers=1).counts["scored"] == 12
    with pytest.raises(lab.NotFound):
        lab.open("j_none", data_dir=folder)


def test_a_folder_without_jobs_is_not_made(tmp_path: Path) -> None:
    folder = tmp_path / "none"
    assert lab.jobs(data_dir=folder) == []
    with pytest.raises(lab.NotFound, match=r"data_dir: .* holds no jobs"):
        lab.open(data_dir=folder)
    assert not folder.exists()


def test_a_job_is_looked_at_before_it_runs(folder: Path) -> None:
    listed = lab.samples(SPEC, data_dir=folder)
    assert [set(sample) for sample in listed] == [{"sample_id", "task", "cell", "cluster"}] * 6
    assert lab.plan(SPEC, data_dir=folder)["trials"] == 12
    assert "12 trials" in str(lab.plan(SPEC, data_dir=folder))

    async def cell() -> tuple[lab.Prompt, lab.Trace]:  # an event loop runs
        shown = lab.show(SPEC, arm="tools", data_dir=folder)
        return shown, lab.try_(SPEC, arm="tools", sample=listed[1]["sample_id"], data_dir=folder)

    shown, tried = asyncio.run(cell())
    assert shown["sample_id"] == listed[0]["sample_id"]
    assert shown["messages"][0]["role"] in str(shown)
    assert shown.pictures()[0].startswith(b"\x89PNG")
    assert shown._repr_html_().count("<img ") == len(shown["images"]) > 0
    assert tried["sample_id"] == listed[1]["sample_id"]
    assert tried.score is not None
    with pytest.raises(lab.SpecError, match="arm: needed; there are: raw, tools"):
        lab.show(SPEC, data_dir=folder)


async def test_an_interrupted_cell_does_not_wait_for_its_trial(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_over, has_ended = threading.Event(), threading.Event()

    async def run_once(*_: object, **__: object) -> None:
        await asyncio.sleep(0.1)  # by then the cell waits
        os.kill(os.getpid(), signal.SIGINT)
        is_over.wait(5)
        has_ended.set()

    monkeypatch.setattr("gnomon_workbench.dry_run.run_once", run_once)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it
    try:
        with pytest.raises(KeyboardInterrupt):
            lab.try_(SPEC, arm="tools", data_dir=folder)
        assert not has_ended.is_set()
    finally:
        is_over.set()
        signal.signal(signal.SIGINT, before)


def test_what_a_spec_does_wrong_is_one_line_before_anything_is_made(tmp_path: Path) -> None:
    with pytest.raises(lab.SpecError) as wrong:
        lab.run({**SPEC, "repeats": 0}, data_dir=tmp_path / "none")
    assert wrong.value.field == "repeats"
    assert wrong.value._render_traceback_() == [f"SpecError: {wrong.value}"]
    assert not (tmp_path / "none" / "gnomon.db").exists()
    with pytest.raises(lab.SpecError, match="cannot be read"):
        lab.run(tmp_path / "absent.yaml")


PLUGIN = """
from pydantic import Field

from gnomon_tools.core.tool import Tool, ToolArgs, ToolResult


class Answer(ToolResult):
    answer: int = Field(description="the answer")


def run(_, args):
    return Answer(answer=42)


my_tool = Tool(name="my_tool", description="WORDS", args=ToolArgs, run=run, needs=None)
"""


@pytest.fixture
def no_plugins(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GNOMON_PLUGINS", "")
    yield
    monkeypatch.undo()
    reload_files()


def test_a_plug_in_file_is_loaded_and_again_after_an_edit(no_plugins: None, tmp_path: Path) -> None:
    file = tmp_path / "my_tool.py"
    file.write_text(PLUGIN.replace("WORDS", "Gives the answer."))
    lab.plugin(file)
    assert TOOLS.get("my_tool").description == "Gives the answer."
    file.write_text(PLUGIN.replace("WORDS", "Gives it anew."))
    lab.plugin(file)
    assert TOOLS.get("my_tool").description == "Gives it anew."
    mine = {"name": "mine", "agent": "react", "tools": ["my_tool"]}
    shown = lab.show({**SPEC, "arms": [SPEC["arms"][0], mine]}, arm="mine", data_dir=tmp_path)
    assert [tool["function"]["name"] for tool in shown["tools"]] == ["my_tool"]
    broken = tmp_path / "broken.py"
    broken.write_text("x = 1 / 0\n")
    with pytest.raises(lab.SpecError, match=r"broken\.py, line 1: ZeroDivisionError"):
        lab.plugin(broken)
    assert TOOLS.get("my_tool").description == "Gives it anew."


@pytest.fixture
def played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store in which a job is played to its end as soon as `lab.run` queues it: its trials are missing."""
    store = Store(f"sqlite:///{tmp_path / 'gnomon.db'}")

    def run_to_end(begin: Any, *_: Any, **__: Any) -> str:
        job_id: str = begin(SimpleNamespace(store=store, redis=None)).id
        changes = {"outcome": Outcome.INFRA_MISSING, "stop_reason": "provider:connection", "score": None}
        finish_all(store, job_id, **changes)
        return job_id

    monkeypatch.setattr("gnomon_service.run_job.run_to_end", run_to_end)
    monkeypatch.setattr("gnomon_workers.queue.enqueue_shards", lambda *_: None)
    yield store
    store.close()


def test_lost_trials_are_a_warning_and_check_refuses_them(played: Store, tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="0 of 12 trials have a result, 12 missing"):
        lost = lab.run(SPEC, data_dir=tmp_path, progress=False)
    with pytest.raises(lab.Incomplete, match=r"lab.open\(.*resume"):
        lost.check()
    assert "12 missing, of 12 trials" in lost._repr_html_()
    assert lost.report.contrasts[0]["diff"] is None


def test_a_job_that_was_run_elsewhere_is_not_said_to_be_resumed_here() -> None:
    counts = {"planned": 4, "scored": 3, "model_failed": 0, "infra_missing": 1}
    spec = {"benchmark": "quiz", "models": [{"id": "m"}], "arms": arms_from_elsewhere({"raw": 1, "tools": 1})}
    view: Any = {
        "id": "j_1",
        "name": "",
        "status": "completed",
        "counts": counts,
        "not_run": 0,
        "error": "",
        "spec": spec,
    }
    told = missing_text(view)
    assert "1 missing" in told
    assert "it was run elsewhere" in told
    assert "resume" not in told


def test_a_job_that_was_stopped_says_how_to_go_on(
    played: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(begin: Any, *_: Any, **__: Any) -> str:
        job_id: str = begin(SimpleNamespace(store=played, redis=None)).id
        return played.cancel(job_id).id

    monkeypatch.setattr("gnomon_service.run_job.run_to_end", stopped)
    with pytest.raises(KeyboardInterrupt, match=r"cancelled, 0 of 12 .*resume\(\)` runs what is missing"):
        lab.run(SPEC, data_dir=tmp_path, progress=False)
    stopped_job = lab.open(data_dir=tmp_path)
    assert "cancelled, 0 of 12 trials" in stopped_job._repr_html_()
    assert stopped_job._repr_svg_() is None
    waiting = lab.open(played.create_job(**_planned(tmp_path)).id, data_dir=tmp_path)
    with pytest.raises(TimeoutError, match="is queued after 0 s"):
        waiting.wait(progress=False, timeout_s=0)


def _planned(folder: Path, spec: dict[str, Any] = SPEC) -> dict[str, Any]:
    draft = draft_of(spec, settings_of(folder))
    return {"spec": draft.spec, "refs": draft.refs, "faults": draft.faults}


class Shell(InteractiveShell):
    """A shell that keeps what would be displayed, and is taken for a notebook's."""

    kernel = "played"


@pytest.fixture
def shell() -> Iterator[InteractiveShell]:
    yield Shell.instance()
    Shell.clear_instance()


def test_a_notebook_shows_the_picture_of_a_job_and_one_line_of_an_error(
    job: lab.Job, folder: Path, shell: InteractiveShell
) -> None:
    shell.push({"folder": str(folder)})
    cell = f"import gnomon_lab as lab\nlab.open('{job.id}', data_dir=folder)"
    result = shell.run_cell(cell, store_history=False)
    bundle, _ = shell.display_formatter.format(result.result)
    assert {"text/html", "image/svg+xml", "text/plain"} <= set(bundle)
    assert bundle["text/plain"] == f"job {job.id} (worlds): completed, 12 of 12 trials have a result"
    with capture_output() as captured:
        shell.run_cell("lab.run({'benchmark': 'nothing'})", store_history=False)
    assert "SpecError" in captured.stdout
    assert "Traceback" not in captured.stdout


def test_progress_in_a_notebook_is_one_bar_that_is_redrawn(shell: InteractiveShell) -> None:
    assert notebook.in_notebook()
    with capture_output() as captured, notebook.counter() as counter:
        for done in (0, 1, 2):
            counter.show(done, 2, "raw <0.5>")
    html = [output.data["text/html"] for output in captured.outputs if "text/html" in output.data]
    assert isinstance(counter, notebook.NotebookCounter)
    assert 'value="2"' in html[-1]
    assert "2 of 2 trials" in html[-1]
    assert "raw &lt;0.5&gt;" in html[-1]


def test_outside_a_notebook_nothing_of_it_is_loaded() -> None:
    code = (
        "import sys, gnomon_lab; heavy = {'IPython', 'polars', 'pandas', 'pyarrow', 'sqlalchemy', 'fastapi',"
        " 'litellm', 'langgraph', 'scipy'}; print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_is_documented() -> None:
    text = (ROOT / "docs" / "python.md").read_text(encoding="utf-8")
    kinds = {"Job", "Jobs", "Plan", "Prompt", "Records", "Report", "Trace", "Service", "AsyncClient"}
    kinds |= {"GnomonError", "DataError", "MissingPackage"}
    assert {name for name in lab.__all__ if f"lab.{name}" not in text} <= kinds


def test_warnings_of_a_spec_are_pythons(tmp_path: Path) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        lab.samples(SPEC, data_dir=tmp_path)
    assert caught == []
