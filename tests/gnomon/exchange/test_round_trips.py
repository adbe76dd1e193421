"""What a job is written as comes back: whole from Inspect and ATIF, elsewhere all but what the docs name."""

import io
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import Row
from gnomon.exchange.conversation import Noted, Ran, Said, conversation
from gnomon.exchange.format import Reading, files_of, single_stream, written_names
from gnomon.exchange.imported_job import run_of
from gnomon.exchange.job_export import ExportedJob
from gnomon.exchange.named_field import NamedField
from gnomon.exchange.read_file import format_of, read_file
from tests.exchange_jobs import DRAWN, MAP, PNG, ROW, ROWS, TRACES, full_trace, small_job

TRACE_PARTS = ("prompt", "steps", "response")


def written(kind: str, folder: Path, job: ExportedJob) -> list[Path]:
    paths = []
    for file in files_of(kind, job):
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(file.chunks))
        paths.append(path)
    return paths


TOLD = {
    "reply_state": ReplyState.READ_CUT,
    "read_by": "json_field",
    "started_at": "2026-01-02T03:04:05.000Z",
    "ended_at": "2026-01-02T03:04:09.000Z",
    "model_version": "small-2026-01",
}


def read_back(paths: list[Path]) -> dict[str, tuple[Row, Any]]:
    ended = [each for path in paths for each in read_file(path, Reading())]
    return {row.trial_id: (row, trace) for row, trace in ended}


def test_every_format_writes_a_job(tmp_path: Path) -> None:
    assert len(written_names()) == 10
    for kind in written_names():
        if kind not in ("plans", "cassette"):  # this job has neither trips nor servers
            assert written(kind, tmp_path / kind, small_job())


@pytest.mark.parametrize("kind", ["inspect", "inspect-eval", "atif"])
@pytest.mark.parametrize("with_media", [False, True])
def test_rows_and_traces_come_back_as_they_were(kind: str, with_media: bool, tmp_path: Path) -> None:
    paths = [
        path for path in written(kind, tmp_path, small_job(with_media=with_media)) if path.suffix != ".png"
    ]
    back = read_back(paths)
    assert {trial: row for trial, (row, _) in back.items()} == {row.trial_id: row for row in ROWS}
    for trial, (_, trace) in back.items():
        if with_media and kind != "atif":
            continue  # pictures are bytes in the log, which a trace does not hold
        expected = TRACES[trial] or {"prompt": [], "steps": [], "response": None}
        assert TRACES[trial] is None or {part: trace[part] for part in TRACE_PARTS} == expected
    assert back["t_1"][1]["asked"] == {"choices": ["left", "up"], "target": "B"}


@pytest.mark.parametrize("kind", ["rows", "inspect", "inspect-eval", "atif", "every-eval-ever"])
def test_states_times_and_versions_come_back(kind: str, tmp_path: Path) -> None:
    rows = tuple(replace(row, **TOLD) for row in ROWS[:2])
    back = read_back(written(kind, tmp_path, small_job(rows=rows)))
    assert {trial: row for trial, (row, _) in back.items()} == {row.trial_id: row for row in rows}


@pytest.mark.parametrize("kind", ["inspect", "atif"])
def test_what_was_imported_is_written_with_its_target_again(kind: str, tmp_path: Path) -> None:
    traces = {trial: trace for trial, (_, trace) in read_back(written(kind, tmp_path, small_job())).items()}
    again = small_job(rows=ROWS[:2], view=None)
    object.__setattr__(again, "trace", traces.get)
    for sample in (json.loads(b"".join(file.chunks))["samples"][0] for file in files_of("inspect", again)):
        assert (sample["target"], sample["choices"]) == ("B", ["left", "up"])


def test_records_of_every_eval_ever_keep_rows_and_conversations(tmp_path: Path) -> None:
    paths = written("every-eval-ever", tmp_path, small_job())
    back = read_back([path for path in paths if path.suffix == ".json"])
    assert {trial: row for trial, (row, _) in back.items()} == {
        row.trial_id: row for row in ROWS if row.score is not None
    }, "a sample without a score has no place there"
    kinds = [step["kind"] for step in back["t_1"][1]["steps"]]
    assert kinds[:2] == ["reply", "note"], "what the prompt quotes of the assistant, and what follows it"
    assert kinds[2:] == [step["kind"] for step in full_trace()["steps"] if step["kind"] != "note"]
    assert back["t_1"][1]["asked"] == {"choices": ["left", "up"], "target": "B"}


def test_chat_lines_keep_messages_and_scores(tmp_path: Path) -> None:
    [path] = written("chat", tmp_path, small_job())
    ended = list(read_file(path, Reading()))
    assert [(row.sample_id, row.arm, row.score, row.cluster) for row, _ in ended] == [
        (row.sample_id, row.arm, row.score, row.cluster) for row in ROWS if TRACES[row.trial_id]
    ]
    _, trace = ended[0]
    assert trace is not None
    assert trace["prompt"] == full_trace()["prompt"][:2], "up to the first words of the assistant"
    assert [step["text"] for step in trace["steps"] if step["kind"] == "reply"][-3:] == ["", "look", "B"]


def test_pictures_are_data_urls_or_lie_beside(tmp_path: Path) -> None:
    names = {path.name: path for path in written("atif", tmp_path / "atif", small_job(with_media=True))}
    assert set(names) == {"trajectories.jsonl", f"{MAP}.png", f"{DRAWN}.png"}
    assert names[f"{MAP}.png"].read_bytes() == PNG
    assert f'"media/{MAP}.png"' in names["trajectories.jsonl"].read_text()
    for kind in ("chat", "inspect"):
        [path, *_] = written(kind, tmp_path / kind, small_job(rows=[ROW], with_media=True))
        assert "data:image/png;base64," in path.read_text()


def test_several_files_are_one_zip_and_one_is_itself() -> None:
    whole = single_stream("every-eval-ever", small_job())
    with zipfile.ZipFile(io.BytesIO(b"".join(whole.chunks))) as archive:
        assert archive.testzip() is None
        assert len(archive.namelist()) == 4
    assert whole.media_type == "application/zip"
    lines = single_stream("rows", small_job())
    assert (lines.name, lines.media_type) == ("j_1-rows.ndjson", "application/x-ndjson")
    assert len(b"".join(lines.chunks).splitlines()) == len(ROWS)


@pytest.mark.parametrize("kind", ["rows", "inspect-eval", "atif", "otel", "chat"])
def test_a_large_job_is_written_a_piece_at_a_time(kind: str) -> None:
    taken: list[int] = []
    job = small_job()

    def rows(_model: str | None, arm: str | None) -> Any:
        for number in range(1_000):
            taken.append(number)
            yield replace(ROW, arm=arm or ROW.arm, sample_id=str(number))

    object.__setattr__(job, "rows", rows)
    stream = single_stream(kind, job)
    before = len(taken)
    for _ in range(20):
        next(stream.chunks)
    assert len(taken) - before <= 20


def test_a_result_belongs_to_the_next_call_of_its_name() -> None:
    entries = list(conversation(full_trace()))
    assert [type(entry) for entry in entries] == [Noted, Said, Noted, Said, Ran, Said]
    said = [entry for entry in entries if isinstance(entry, Said)]
    assert [[ran.place if ran.step else None for ran in each.calls] for each in said] == [[2, 4], [6], [None]]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.jsonl", '{"schema_version": "ATIF-v1.7"}', "atif"),
        ("a.json", '{"schema_version": "ATIF-v1.5"}', "atif"),
        ("a.jsonl", '{"evaluation_id": "x"}', "every-eval-ever"),
        ("a.json", '{"schema_version": "0.3.0", "evaluation_id": "x"}', "every-eval-ever"),
        ("a.jsonl", '{"messages": []}', "chat"),
        ("a.ndjson", '{"sample_id": "x"}', "rows"),
        ("a.csv", "sample_id,arm,score\n", "rows"),
        ("a.json", '{"version": 2, "eval": {}}', "inspect"),
        ("a.eval", "", "inspect"),
        ("a.tsv", "index\n", "vlmevalkit"),
        ("a.csv", "index,prediction,hit\n", "vlmevalkit"),
        ("a.jsonl", '{"doc_id": 0, "filtered_resps": ["A"]}', "lm-eval"),
    ],
)
def test_a_file_says_what_it_is(name: str, text: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    assert format_of(tmp_path / name).name == kind


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.jsonl", '{"answer": "B"}', "first line has the fields answer; read are logs of Inspect"),
        ("a.csv", "question,answer\n", "has the columns question, answer; read are"),
        ("a.json", '{"results": {"gsm8k": {"exact_match": 1}}}', "scores of single samples are needed"),
        ("a.json", "[1]", "begins as none of them does; read are"),
    ],
)
def test_a_file_of_no_format_is_refused_with_those_that_are_read(
    name: str, text: str, says: str, tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(SpecError, match=says):
        format_of(tmp_path / name)


def a_trajectory(**changes: Any) -> dict[str, Any]:
    step = {"step_id": 1, "source": "user", "message": "?"}
    call = {"tool_call_id": "c", "function_name": "add", "arguments": {"x": 1}}
    found = {"results": [{"source_call_id": "c", "content": "2"}, {"content": "the door opens"}]}
    acted = {"step_id": 2, "source": "agent", "message": "hm", "tool_calls": [call], "observation": found}
    metrics = {"prompt_tokens": 5, "completion_tokens": 2}
    spoken = {"step_id": 3, "source": "agent", "message": "2", "metrics": metrics, "llm_call_count": 2}
    return {
        "schema_version": "ATIF-v1.7",
        "session_id": "run",
        "trajectory_id": "one",
        "agent": {"name": "terminus", "version": "2", "model_name": "openai/m"},
        "steps": [step, acted, spoken],
        "extra": {"reward": 0.5},
        **changes,
    }


def test_a_trajectory_of_another_program_becomes_a_row_and_a_trace(tmp_path: Path) -> None:
    path = tmp_path / "trajectory.json"
    path.write_text(json.dumps(a_trajectory()))
    [(row, trace)] = read_file(path, Reading())
    assert (row.sample_id, row.arm, row.model, row.score) == ("one", "terminus", "openai/m", 0.5)
    assert (row.model_calls, row.tool_calls, row.prompt_tokens, row.usd) == (3, 1, None, None)
    assert trace is not None
    assert [step["kind"] for step in trace["steps"]] == ["reply", "tool", "note", "reply"]
    assert trace["steps"][1]["arguments"] == '{"x": 1}'
    assert trace["response"] == "2"
    path.write_text(json.dumps([a_trajectory(), a_trajectory(trajectory_id="two", extra={})]))
    assert [row.stop_reason for row, _ in read_file(path, Reading())] == ["answered", "atif:unscored"]


def test_a_score_elsewhere_is_named_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps(a_trajectory(extra={"verifier": {"won": 1}, "map": "m1"})))
    [(row, _)] = read_file(
        path, Reading(scorer="extra.verifier.won", cluster=NamedField("--cluster", "extra.map"), arm="mine")
    )
    assert (row.score, row.cluster, row.arm) == (1.0, "m1", "mine")


def a_record(**changes: Any) -> dict[str, Any]:
    return {
        "schema_version": "0.3.0",
        "evaluation_id": "e",
        "model_id": "m/m",
        "evaluation_name": "sums",
        "sample_id": "1",
        "interaction_type": "single_turn",
        "input": {"raw": "1+1", "reference": ["2"]},
        "output": {"raw": ["2"]},
        "answer_attribution": [],
        "evaluation": {"score": 1.0, "is_correct": True},
        **changes,
    }


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (a_trajectory(schema_version="ATIF-v3"), "line 2: schema_version"),
        (a_trajectory(steps=7), "line 2: steps: "),
        (
            a_trajectory(steps=[{"step_id": 2, "source": "user", "message": ""}]),
            r"line 2: steps.0.step_id: 2",
        ),
        (a_trajectory(steps=[{"step_id": 1, "source": "robot", "message": ""}]), r"line 2: steps.0.source"),
        (a_trajectory(extra={"score": 7}), r"line 2: extra.score: 7; allowed"),
        (a_trajectory(extra={"gnomon": {"row": {"score": 1}}}), r"line 2: extra.gnomon.row: "),
        (a_record(evaluation={"score": 3, "is_correct": True}), r"line 2: evaluation.score: 3.0; allowed"),
        (a_record(input={"raw": "x"}), r"line 2: input.reference"),
        (a_record(evaluation_result_id="other"), "line 2, --scorer: .*several results"),
        ({"messages": []}, "line 2: messages"),
        ({"messages": [{"role": "robot", "content": ""}]}, r"line 2: messages.0.role"),
        ({"messages": [{"role": "user", "content": "?"}], "score": 2}, "line 2: score"),
    ],
)
def test_a_line_that_breaks_the_rules_is_named_with_its_field(
    line: dict[str, Any], says: str, tmp_path: Path
) -> None:
    good = a_trajectory() if "steps" in line else a_record() if "input" in line else None
    path = tmp_path / "f.jsonl"
    first = json.dumps(good or {"messages": [{"role": "user", "content": "?"}], "score": 1})
    path.write_text(f"{first}\n{json.dumps(line)}\n")
    with pytest.raises(SpecError, match=says):
        list(read_file(path, Reading()))


def test_where_nothing_has_a_score_the_field_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(json.dumps(a_trajectory(extra={})))
    with pytest.raises(SpecError, match="--scorer"):
        run_of([(path.name, read_file(path, Reading()))], name="x")


def test_samples_that_come_again_are_repeats_and_one_of_several_results_is_picked(tmp_path: Path) -> None:
    path = tmp_path / "x_samples.jsonl"
    lines = [
        a_record(evaluation_result_id="all"),
        a_record(evaluation_result_id="all"),
        a_record(evaluation_result_id="f1", evaluation={"score": 0, "is_correct": False}),
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert [row.repeat for row, _ in read_file(path, Reading(scorer="all"))] == [0, 1]
    assert [row.score for row, _ in read_file(path, Reading(scorer="f1"))] == [0.0]


def test_questions_go_out_as_a_table_with_their_pictures(tmp_path: Path) -> None:
    [path] = written("vlmevalkit", tmp_path, small_job())
    header, first, _ = (line.split("\t") for line in path.read_text().splitlines())
    line = dict(zip(header, first, strict=True))
    assert (line["index"], line["A"], line["B"], line["answer"]) == ("w/1", "left", "up", "B")
    assert len(line["image"]) > 64, "a shorter one would be taken for the index of another line"
    with pytest.raises(SpecError, match="data are not here"):
        written("vlmevalkit", tmp_path, small_job(view=None))


def workbook(path: Path, rows: list[list[Any]]) -> Path:
    """A workbook as Excel writes it: texts are shared, numbers are not."""
    texts = [cell for row in rows for cell in row if isinstance(cell, str)]
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    shared = "".join(f"<si><t>{text}</t></si>" for text in texts)
    number = iter(range(len(texts)))
    cells = [
        "".join(
            f'<c r="{"ABC"[at]}{row}" t="s"><v>{next(number)}</v></c>'
            if isinstance(cell, str)
            else f'<c r="{"ABC"[at]}{row}"><v>{cell}</v></c>'
            for at, cell in enumerate(line)
        )
        for row, line in enumerate(rows, start=1)
    ]
    sheet = "".join(f'<row r="{row}">{line}</row>' for row, line in enumerate(cells, start=1))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{main}">{shared}</sst>')
        archive.writestr(
            "xl/worksheets/sheet1.xml",
            f'<worksheet xmlns="{main}"><sheetData>{sheet}</sheetData></worksheet>',
        )
    return path


def test_results_of_vlmevalkit_are_rows(tmp_path: Path) -> None:
    lines: list[list[Any]] = [["index", "prediction", "hit"], [1, "A", 1], [2, "it is B", 0]]
    (tmp_path / "r.tsv").write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    for path in (tmp_path / "r.tsv", workbook(tmp_path / "r.xlsx", lines)):
        rows = [row for row, _ in read_file(path, Reading())]
        assert [(row.sample_id, row.answer, row.score, row.arm) for row in rows] == [
            ("1", "A", 1.0, "r"),
            ("2", "it is B", 0.0, "r"),
        ]
    (tmp_path / "r.tsv").write_text("index\tscore\n1\t12.5%\n")  # as a workbook shows a share
    assert [row.score for row, _ in read_file(tmp_path / "r.tsv", Reading())] == [0.125]
    (tmp_path / "r.tsv").write_text("index\tscore\n1\t70\n")
    with pytest.raises(SpecError, match="line 2: score: '70'; allowed"):
        list(read_file(tmp_path / "r.tsv", Reading()))
    (tmp_path / "r.tsv").write_text("index\tprediction\n1\tA\n")
    with pytest.raises(SpecError, match="--scorer: no column hit or score; there are: index, prediction"):
        list(read_file(tmp_path / "r.tsv", Reading()))


@pytest.mark.parametrize("content", [b"", b"no zip", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_workbook_is_refused(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "r.xlsx").write_bytes(content)
    with pytest.raises(SpecError, match="cannot be read as a workbook"):
        list(read_file(tmp_path / "r.xlsx", Reading()))


def test_a_workbook_with_entities_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "r.xlsx", "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>')
    with pytest.raises(SpecError, match="declares a document type"):
        list(read_file(tmp_path / "r.xlsx", Reading()))
