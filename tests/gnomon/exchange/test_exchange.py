"""Runs made elsewhere: read as they are, or refused; ours written so that others can read them."""

import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.errors import SpecError
from gnomon.core.question_view import Option, QuestionView
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.foreign import benchmark_called
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import Run, run_of
from gnomon.exchange.named_field import NamedField
from gnomon.exchange.row_file import read_rows
from gnomon.report.build import build_report
from gnomon.report.html import render_html
from gnomon.report.row_formats import rows_csv, rows_ndjson
from gnomon_formats.inspect_read import read_log
from gnomon_formats.inspect_write import header_of, sample_of

VIDEO = NamedField("--cluster", "video")
REAL = Path(__file__).parent / "two_samples.eval"  # written by Inspect AI 0.3.285 with its mock model


def a_sample(number: int, value: Any = "C", **changes: Any) -> dict[str, Any]:
    call = {"id": "c1", "function": "add", "arguments": {"x": 1}, "type": "function"}
    return {
        "id": f"s{number}",
        "epoch": 1,
        "input": "?",
        "target": "A",
        "messages": [
            {"role": "user", "content": "?"},
            {"role": "assistant", "content": [{"type": "text", "text": "hm"}], "tool_calls": [call]},
            {"role": "tool", "content": "2", "function": "add", "tool_call_id": "c1"},
            {"role": "assistant", "content": "A"},
        ],
        "output": {"completion": "A"},
        "scores": {"match": {"value": value, "answer": "A"}},
        "metadata": {"video": f"v{number // 2}", "kind": "near"},
        "model_usage": {"m": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}},
        "total_time": 1.5,
        **changes,
    }


def a_log(samples: list[dict[str, Any]], **changes: Any) -> dict[str, Any]:
    about = {"task": "sums", "model": "openai/m", "run_id": "r", "solver": "react"}
    return {"version": 2, "status": "success", "eval": {**about, **changes}, "samples": samples}


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    def write_log(log: dict[str, Any], name: str = "log.json") -> Path:
        path = tmp_path / name
        if path.suffix == ".json":
            path.write_text(json.dumps(log))
            return path
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("header.json", json.dumps({**log, "samples": None}))
            for sample in log["samples"]:
                archive.writestr(f"samples/{sample['id']}_epoch_{sample['epoch']}.json", json.dumps(sample))
        return path

    return write_log


@pytest.mark.parametrize("name", ["log.json", "log.eval"])
def test_a_log_becomes_rows_and_traces(name: str, write: Callable[..., Path]) -> None:
    path = write(a_log([a_sample(0), a_sample(1, "I", epoch=2)]), name)
    (row, trace), (other, _) = read_log(path, Reading(cluster=VIDEO, cell=NamedField("--cell", "kind")))
    assert (row.benchmark, row.model, row.arm, row.sample_id, row.cluster) == (
        "sums",
        "openai/m",
        "react",
        "s0",
        "v0",
    )
    assert (row.cell, row.score, row.answer, row.outcome) == ("near", 1.0, "A", Outcome.SCORED)
    assert (row.prompt_tokens, row.completion_tokens, row.usd, row.wall_s) == (7, 3, None, 1.5)
    assert (row.model_calls, row.tool_calls, row.tool_errors) == (2, 1, 0)
    assert dict(row.tools_used) == {"add": {"calls": 1, "bad_arguments": 0, "errors": 0}}
    assert (other.score, other.repeat) == (0.0, 1)
    assert trace is not None
    assert [step["kind"] for step in trace["steps"]] == ["reply", "tool", "reply"]
    assert trace["steps"][1]["arguments"] == '{"x": 1}'
    assert trace["response"] == "A"


def test_a_log_that_inspect_has_written_and_packed_with_zstandard_is_read() -> None:
    rows = [row for row, _ in read_log(REAL, Reading(cluster=VIDEO))]
    assert [(row.sample_id, row.cluster, row.score, row.tool_calls) for row in rows] == [
        ("a", "v1", 1.0, 2),
        ("b", "v1", 0.0, 0),
    ]


@pytest.mark.parametrize(
    ("changes", "outcome", "score", "reason"),
    [
        ({"scores": None, "error": {"message": "429"}}, Outcome.INFRA_MISSING, None, "inspect:error"),
        ({"error": {"message": "late"}}, Outcome.INFRA_MISSING, None, "inspect:error"),
        ({"scores": None, "limit": {"type": "token", "limit": 9}}, Outcome.MODEL_FAILED, 0.0, "limit:token"),
        ({"limit": {"type": "message", "limit": 9}}, Outcome.SCORED, 1.0, "limit:message"),
        ({"scores": {}}, Outcome.INFRA_MISSING, None, "inspect:unscored"),
        ({"scores": {"x": {"value": 0.25}}}, Outcome.SCORED, 0.25, "answered"),
        ({"scores": {"x": {"value": True}}}, Outcome.SCORED, 1.0, "answered"),
    ],
)
def test_an_error_is_not_the_models_and_a_limit_is(
    changes: dict[str, Any], outcome: Outcome, score: float | None, reason: str, write: Callable[..., Path]
) -> None:
    [(row, _)] = read_log(write(a_log([a_sample(0, **changes)])), Reading())
    assert (row.outcome, row.score, row.stop_reason) == (outcome, score, reason)


@pytest.mark.parametrize(
    ("log", "says"),
    [
        (a_log([a_sample(0, 7.5)]), "has the score 7.5; allowed"),
        (a_log([a_sample(0, "great")]), "has the score 'great'; allowed"),
        (
            a_log([a_sample(0, scores={"a": {"value": 1}, "b": {"value": 0}})]),
            "several scorers; name one of a, b",
        ),
        (a_log([]), "holds no samples"),
        ({"eval": {}}, "no `eval.task`"),
        ({"anything": 1}, "no `eval.task`"),
    ],
)
def test_a_log_that_cannot_be_used_says_why(
    log: dict[str, Any], says: str, write: Callable[..., Path]
) -> None:
    with pytest.raises(SpecError, match=says.replace("(", r"\(")):
        list(read_log(write(log), Reading()))


@pytest.mark.parametrize("content", [b"", b"not a zip", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_log_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x.eval"
    path.write_bytes(content)
    with pytest.raises(SpecError, match="cannot be read as a log"):
        list(read_log(path, Reading()))


def test_two_logs_are_two_arms_of_one_report(write: Callable[..., Path]) -> None:
    raw = write(a_log([a_sample(n, "I") for n in range(20)]), "raw.json")
    tools = write(a_log([a_sample(n, "C") for n in range(20)]), "tools.eval")
    ended = [
        *read_log(raw, Reading(arm="raw", cluster=VIDEO)),
        *read_log(tools, Reading(arm="tools", cluster=VIDEO)),
    ]
    run = run_of([("log", ended)], name="mine", primary=("raw", "tools"))
    report = report_of(run)
    assert report["contrasts"][0]["diff"] == 1.0
    assert report["contrasts"][0]["clusters"] == 10
    assert [tool["tool"] for tool in report["tools"]] == ["add"]
    assert report["job"]["benchmark_version"] == "imported"
    assert "was run elsewhere" in render_html(report)


def report_of(run: Run) -> Any:
    rows = [row for row, _ in run.ended]
    return build_report(job_id="j", spec=run.spec, status="completed", rows=rows, planned=len(rows))


def test_trials_that_cannot_be_told_apart_are_refused(write: Callable[..., Path]) -> None:
    twice = [
        *read_log(write(a_log([a_sample(0)])), Reading()),
        *read_log(write(a_log([a_sample(0)])), Reading()),
    ]
    with pytest.raises(SpecError, match="stands twice under openai/m / react"):
        run_of([("log", twice)], name="x")
    with pytest.raises(SpecError, match="no arm 'raw'; there are: react"):
        run_of([("log", twice[:1])], name="x", primary=("raw", "react"))
    with pytest.raises(SpecError, match="no rows"):
        run_of([], name="x")
    (row, trace) = twice[0]
    with pytest.raises(SpecError, match="several benchmarks: sums, tiny"):
        run_of([("log", [(row, trace)]), ("x", [(replace(row, arm="b", benchmark="tiny"), trace)])], name="x")


@pytest.mark.parametrize(
    ("what", "option"), [("cluster", "--cluster"), ("cell", "--cell"), ("task", "--cell")]
)
def test_a_sample_that_differs_between_files_says_in_what_and_the_way_out(
    what: str, option: str, write: Callable[..., Path]
) -> None:
    [(row, trace)] = read_log(write(a_log([a_sample(0)])), Reading())
    later = replace(row, arm="b", **{what: "z"})
    message = (
        f"sample 's0' has the {what} {getattr(row, what)!r} in a.json and 'z' in b.json, and may have "
        f"only one; name a field that is the same in both by {option}"
    )
    with pytest.raises(SpecError, match=re.escape(message)):
        run_of([("a.json", [(row, trace)]), ("b.json", [(later, trace)])], name="x")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (
            "r.ndjson",
            '{"sample_id": "a", "arm": "r", "score": 1}\n\n{"sample_id": "b", "arm": "r", "score": null}\n',
        ),
        ("r.csv", "sample_id,arm,score\na,raw,1\nb,raw,\n"),
    ],
)
def test_sample_arm_and_score_are_enough(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    one, other = read_rows(tmp_path / name)
    assert (one.score, one.outcome, one.cell, one.model) == (1.0, Outcome.SCORED, "imported", "model")
    assert (other.score, other.outcome) == (None, Outcome.INFRA_MISSING)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ('{"sample_id": "a", "arm": "raw"}', "line 1: score: Field required"),
        ('{"sample_id": "a", "arm": "raw", "score": 2}', "line 1: score: .*less than or equal to 1"),
        ('{"sample_id": "a", "arm": "raw", "score": NaN}', "line 1: score: "),
        (
            '{"sample_id": "a", "arm": "raw", "score": 1, "colour": 3}',
            "line 1: colour: not permitted; allowed: sample_id",
        ),
        (
            '{"sample_id": "a", "arm": "raw", "score": 1, "outcome": "infra_missing"}',
            "line 1: a score is null",
        ),
        ('{"sample_id": "a", "arm": "raw", "score": 1, "flags": "cut"}', "line 1: flags: .*list"),
        (
            '{"sample_id": "a", "arm": "raw", "score": 1, "started_at": "yesterday"}',
            "line 1: started_at: 'yesterday'; allowed: .*, such as 2026-11-28T12:00:00Z$",
        ),
        (
            '{"sample_id": "a", "arm": "raw", "score": 1, "ended_at": "0001-01-01T00:00:00+05:00"}',
            "line 1: ended_at: '0001-01-01T00:00:00.05:00'; allowed: ",
        ),
        (
            '{"sample_id": "a", "arm": "b", "score": 1, "started_at": "20260102", "ended_at": "20260101"}',
            "line 1: ended_at: 2026-01-01T00:00:00.000Z is before started_at, 2026-01-02T00:00:00.000Z",
        ),
        ("[1]", "line 1: "),
        ("{", "line 1: not JSON"),
    ],
)
def test_a_line_that_is_no_row_is_named(line: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "r.jsonl").write_text(line + "\n")
    with pytest.raises(SpecError, match=says):
        read_rows(tmp_path / "r.jsonl")


texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
rows = st.builds(
    Row,
    job_id=st.just("j"),
    trial_id=st.just("t"),
    benchmark=st.just("quiz"),
    task=texts.filter(bool),
    cell=texts.filter(bool),
    sample_id=texts.filter(bool),
    cluster=texts,
    model=texts.filter(bool),
    arm=texts.filter(bool),
    repeat=st.integers(0, 3),
    outcome=st.just(Outcome.SCORED),
    stop_reason=st.just("answered"),
    score=st.floats(0, 1),
    metrics=st.dictionaries(texts, st.floats(0, 1) | texts | st.none(), max_size=2),
    answer=st.none() | texts.filter(bool),
    flags=st.lists(texts.filter(bool), max_size=2).map(tuple),
    usd=st.none() | st.floats(0, 9),
    prompt_tokens=st.none() | st.integers(0, 99),
)


@given(st.lists(rows, min_size=1, max_size=4))
def test_our_own_rows_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, given_rows: list[Row]
) -> None:
    path = tmp_path_factory.mktemp("rows") / "rows.ndjson"
    with path.open("w", encoding="utf-8") as file:
        rows_ndjson(given_rows, file)
    assert read_rows(path) == given_rows


def test_our_own_csv_comes_back(write: Callable[..., Path], tmp_path: Path) -> None:
    [(row, _)] = read_log(write(a_log([a_sample(0)])), Reading())
    with (tmp_path / "rows.csv").open("w", encoding="utf-8", newline="") as file:
        rows_csv([row], file)
    assert read_rows(tmp_path / "rows.csv") == [row]


def test_a_cell_of_csv_may_be_long(tmp_path: Path) -> None:
    answer = "B" * 200_000
    path = tmp_path / "rows.csv"
    path.write_text(f"sample_id,arm,score,answer\na,raw,1,{answer}\n", encoding="utf-8")
    assert [row.answer for row in read_rows(path)] == [answer]


def log_of(
    rows: list[Row], traces: Sequence[Mapping[str, Any] | None], view: QuestionView | None = None
) -> dict[str, Any]:
    header = header_of(rows, job_id="j", created="2026-11-21T10:00:00Z").as_json()
    samples = [sample_of(row, trace, view) for row, trace in zip(rows, traces, strict=True)]
    return {**header, "samples": samples}


def test_a_log_of_ours_is_read_back(write: Callable[..., Path]) -> None:
    ended = list(read_log(write(a_log([a_sample(n, n / 4) for n in range(4)])), Reading(cluster=VIDEO)))
    lost = replace(ended[0][0], outcome=Outcome.INFRA_MISSING, score=None, stop_reason="provider:x", repeat=1)
    traces = {row.sample_id: trace for row, trace in ended}
    given_rows = [replace(row, trial_id=row.sample_id) for row in [*(row for row, _ in ended), lost]]
    log = log_of(given_rows, [traces[row.sample_id] for row in given_rows])
    assert log["results"]["scores"][0]["metrics"]["mean"]["value"] == pytest.approx(0.375)
    back = list(
        read_log(
            write(log), Reading(cluster=NamedField("--cluster", "cluster"), cell=NamedField("--cell", "cell"))
        )
    )
    assert [row.score for row, _ in back] == [0.0, 0.25, 0.5, 0.75, None]
    assert [row.cluster for row, _ in back] == [row.cluster for row in given_rows]
    assert back[4][0].outcome == Outcome.INFRA_MISSING
    assert (back[1][1] or {})["steps"][1]["arguments"] == '{"x": 1}'


def test_reasoning_travels_to_inspects_logs_and_back(write: Callable[..., Path]) -> None:
    (row, _), *_ = read_log(write(a_log([a_sample(0)])), Reading())
    steps = [{"kind": "reply", "text": "A", "reasoning": "hm"}, {"kind": "reply", "text": "B"}]
    trace = {"prompt": [], "steps": steps, "response": "B"}
    log = log_of([row], [trace])
    (_, back), *_ = read_log(write(log), Reading())
    assert [(step["text"], step["reasoning"]) for step in (back or {})["steps"]] == [("A", "hm"), ("B", "")]


def test_a_foreign_benchmark_can_be_reported_but_not_run() -> None:
    foreign = benchmark_called("sums")
    assert foreign.published() == ()
    with pytest.raises(SpecError, match="was run elsewhere"):
        foreign.score_record({}, scoring="strict")
    assert benchmark_called("worlds").name == "worlds"


def test_a_log_carries_input_options_and_target_where_the_question_is_known(
    write: Callable[..., Path],
) -> None:
    prompt = [
        {"role": "user", "content": [
            {"type": "text", "text": "Which way?"},
            {"type": "image", "sha256": "ab", "media_type": "image/png"},
        ]},
    ]  # fmt: skip
    options = (Option(letter="A", text="left"), Option(letter="B", text="up", right="right"))
    view = QuestionView(question="Which way?", options=options, truth_text="B. up")
    [(row, _)] = read_log(write(a_log([a_sample(0)])), Reading())
    log = log_of([row], [{"prompt": prompt}], view)
    sample = log["samples"][0]
    texts = [block["text"] for block in sample["input"][0]["content"]]
    assert texts == ["Which way?", "<image/png ab>"]
    assert sample["messages"] == sample["input"]
    assert (sample["choices"], sample["target"]) == (["left", "up"], "B")
    plain = log_of([row], [None], view)["samples"][0]
    assert plain["input"] == "Which way?"
    unknown = log_of([row], [{"prompt": prompt}])
    assert unknown["samples"][0]["target"] == ""
    assert unknown["samples"][0]["choices"] is None
    ordered = QuestionView(
        question="?",
        options=(Option(letter="A", text="x", right="2nd"), Option(letter="B", text="y", right="1st")),
    )
    both = log_of([row], [None], ordered)
    assert both["samples"][0]["target"] == ["B", "A"]
