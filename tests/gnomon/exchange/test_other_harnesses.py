"""Results of other harnesses with what goes wrong in them: missing stays missing, and no score is guessed."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.errors import SpecError
from gnomon.core.reply_state import ReplyState
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.format import Reading
from gnomon.exchange.imported_job import run_of
from gnomon.exchange.named_field import NamedField
from gnomon.exchange.read_file import read_file

Json = Mapping[str, Any]


def rows_of(path: Path, **how: Any) -> list[Row]:
    return [row for row, _ in read_file(path, Reading(**how))]


def refusal(path: Path, **how: Any) -> str:
    with pytest.raises(SpecError) as refused:
        run_of([(path.name, read_file(path, Reading(**how)))], name="x")
    return str(refused.value)


@pytest.fixture
def log(tmp_path: Path) -> Callable[..., Path]:
    """A log of Inspect with these samples."""

    def write(*samples: Json, **header: Any) -> Path:
        path = tmp_path / "log.json"
        plain = {"epoch": 1, "input": "?", "target": "A", "messages": [], "output": {}, "metadata": {}}
        written = [{**plain, "id": number, **sample} for number, sample in enumerate(samples)]
        about = {"task": "t", "model": "openai/m"}
        path.write_text(json.dumps({"version": 2, "eval": about, "samples": written, **header}))
        return path

    return write


def scored(value: Any, **score: Any) -> dict[str, Any]:
    return {"scores": {"acc": {"value": value, **score}}}


@pytest.mark.parametrize(
    ("value", "score"),
    [
        *(("C", 1.0), ("P", 0.5), ("I", 0.0), ("N", 0.0), ("yes", 1.0), ("No", 0.0), ("TRUE", 1.0)),
        *(("false", 0.0), ("0.5", 0.5), ("1e-1", 0.1), (True, 1.0), (1, 1.0), (float("nan"), None)),
        *((None, None), ([0.25], 0.25), ({"near": 0.5}, 0.5), ({"near": float("nan")}, None)),
    ],
)
def test_a_score_is_read_as_inspect_reads_it(
    value: Any, score: float | None, log: Callable[..., Path]
) -> None:
    [row] = rows_of(log(scored(value)))
    assert row.score == score
    assert row.outcome == (Outcome.INFRA_MISSING if score is None else Outcome.SCORED)


@pytest.mark.parametrize("value", ["great", "7.5", 7.5, "nan", "c", float("inf"), {"near": "far"}])
def test_what_is_no_score_is_refused(value: Any, log: Callable[..., Path]) -> None:
    assert "allowed: a number in [0, 1] or one of C, I, P, N, yes, true" in refusal(log(scored(value)))


def test_a_key_picks_one_of_the_scores_of_an_object(log: Callable[..., Path]) -> None:
    path = log(scored({"a": 0.25, "b": 1.0}), scored({"a": 0.5, "b": float("nan")}))
    assert "name one of their keys: acc.a, acc.b" in refusal(path)
    assert "no key 'c' in the scores of 'acc'; there are: acc.a, acc.b" in refusal(path, scorer="acc.c")
    taken: set[str] = set()
    assert [row.score for row in rows_of(path, scorer="acc.b", taken=taken)] == [1.0, None]
    assert taken == {"acc.b"}
    assert [row.score for row in rows_of(path, scorer="acc.a")] == [0.25, 0.5]


def test_a_scorer_may_have_a_dot_in_its_name_and_needs_no_key(log: Callable[..., Path]) -> None:
    path = log({"scores": {"my.scorer": {"value": 1}, "other": {"value": {"k": 0}}}})
    assert [row.score for row in rows_of(path, scorer="my.scorer")] == [1.0]
    assert [row.score for row in rows_of(path, scorer="other.k")] == [0.0]
    assert "no scorer 'third'; there are: my.scorer, other" in refusal(path, scorer="third")
    assert "have no keys; write my.scorer" in refusal(path, scorer="my.scorer.k")


def test_samples_with_scores_of_different_names_are_not_mixed(log: Callable[..., Path]) -> None:
    path = log(scored({"a": 1}), scored({"b": 0}))
    assert "several names; name one of acc.a, acc.b" in refusal(path)


def test_invalidated_samples_are_left_out_and_counted(log: Callable[..., Path]) -> None:
    mark = {"invalidation": {"timestamp": "2026-01-01T00:00:00+00:00", "author": "me"}}
    path = log(scored(1), {**scored(0), **mark}, scored(float("nan")), invalidated=True)
    run = run_of([(path.name, list(read_file(path, Reading())))], name="x")
    assert [row.sample_id for row, _ in run.ended] == ["0", "2"]
    assert (run.trials, run.left_out, run.missing) == (2, {"inspect:invalidated": 1}, {"inspect:unscored": 1})
    assert "1 of 1 trials are left out: inspect:invalidated" in refusal(log({**scored(0), **mark}))


def test_of_an_invalidated_log_that_does_not_say_which_samples_all_are_left_out(
    log: Callable[..., Path],
) -> None:
    path = log(scored(1), scored(0), invalidated=True)
    assert "2 of 2 trials are left out: inspect:invalidated" in refusal(path)
    whole = list(read_file(path, Reading(arm="whole")))
    good = list(read_file(log(scored(1)), Reading(arm="good")))
    run = run_of([("whole.json", whole), ("good.json", good)], name="x")
    assert (run.trials, run.left_out) == (1, {"inspect:invalidated": 2})


def output(stop_reason: str, text: str = "so") -> dict[str, Any]:
    choice = {"message": {"role": "assistant", "content": text}, "stop_reason": stop_reason}
    return {"output": {"model": "m-2026-01", "choices": [choice], "completion": text}}


def messages(text: str, *blocks: Json) -> dict[str, Any]:
    said = [*blocks, {"type": "text", "text": text}]
    return {**output("stop", text), "messages": [{"role": "assistant", "content": said}]}


@pytest.mark.parametrize(
    ("sample", "state"),
    [
        ({**scored("C", answer="A"), **output("max_tokens")}, ReplyState.READ_CUT),
        ({**scored("I"), **output("max_tokens")}, ReplyState.CUT),
        ({**scored("I", answer="so"), **output("length")}, ReplyState.CUT),  # the whole reply is no answer
        ({**scored("I", answer="B"), **output("model_length")}, ReplyState.READ_CUT),
        ({**scored("I"), **output("content_filter")}, ReplyState.REFUSED),
        ({**scored("I"), **output("stop")}, None),
        ({**scored("I"), **messages("")}, ReplyState.EMPTY),
        ({**scored("I"), **messages("<think>B, surely</think>")}, ReplyState.THOUGHT_ONLY),
        ({**scored("I"), **messages("", {"type": "reasoning", "reasoning": "B"})}, ReplyState.THOUGHT_ONLY),
        ({**scored("I"), **messages('{"name": "add", "arguments": {"x": 1}}')}, ReplyState.CALL_IN_TEXT),
        ({**scored("C"), **messages('{"name": "add", "arguments": {"x": 1}}')}, None),
        ({**output("stop"), "limit": {"type": "token", "limit": 9}}, ReplyState.LIMIT),
        ({**scored("I"), **output("stop"), "limit": {"type": "time", "limit": 9}}, ReplyState.LIMIT),
        ({**scored("I"), **output("stop"), "error": {"message": "429"}}, ReplyState.MISSING),
        ({**scored(float("nan")), **output("max_tokens")}, ReplyState.MISSING),
    ],
)
def test_a_log_tells_what_became_of_a_reply(
    sample: Json, state: ReplyState | None, log: Callable[..., Path]
) -> None:
    [row] = rows_of(log(sample))
    assert row.reply_state == state
    assert row.model_version == "m-2026-01"


def test_a_log_tells_when_a_sample_ran(log: Callable[..., Path]) -> None:
    times = {"started_at": "2026-01-02T03:04:05+01:00", "completed_at": "2026-01-02T02:05:00Z"}
    [row] = rows_of(log({**scored(1), **times}))
    assert (row.started_at, row.ended_at) == ("2026-01-02T02:04:05.000Z", "2026-01-02T02:05:00.000Z")
    for time in ("noon", "0001-01-01T00:00:00+01:00"):
        said = refusal(log({**scored(1), "started_at": time}))
        assert "not as Inspect writes it" in said
        assert "allowed: a time in ISO 8601" in said


def test_a_row_file_has_times_or_none(tmp_path: Path) -> None:
    line = {"sample_id": "a", "arm": "raw", "score": 1}
    path = tmp_path / "r.jsonl"
    path.write_text(json.dumps(line) + "\n" + json.dumps({**line, "started_at": "noon"}))
    assert "line 2: started_at: 'noon'; allowed: a time in ISO 8601" in refusal(path)


def table(path: Path, *lines: Sequence[object]) -> Path:
    path.write_text("".join("\t".join(map(str, line)) + "\n" for line in lines))
    return path


@pytest.mark.parametrize(
    "text",
    [
        *("Failed to obtain answer via API.", "Failed to obtain answer via API. ", "Failed to obtain answer"),
        *("Fail to obtain answer via API.", "Failed to obtain answer via bailingMM API."),
    ],
)
@pytest.mark.parametrize("hit", ["", "0", "1", "nan"])
def test_a_failed_request_of_vlmevalkit_is_missing(text: str, hit: str, tmp_path: Path) -> None:
    head = ("index", "prediction", "hit", "log")
    path = table(tmp_path / "r.tsv", head, (1, text, hit, ""), (2, "A", "1", "Match Log: A."))
    failed, other = rows_of(path)
    assert (failed.outcome, failed.score, failed.answer) == (Outcome.INFRA_MISSING, None, None)
    assert (failed.stop_reason, failed.reply_state) == ("vlmevalkit:failed", ReplyState.MISSING)
    assert (other.score, other.reply_state) == (1.0, None)


def test_a_score_that_vlmevalkit_drew_by_lot_is_none(tmp_path: Path) -> None:
    drawn = "Match Log: Failed to predict, thus randomly generate one. . "
    path = table(tmp_path / "r.tsv", ("index", "prediction", "hit", "log"), (1, "the left", 1, drawn))
    [row] = rows_of(path)
    assert (row.score, row.stop_reason, row.answer) == (None, "vlmevalkit:judge_failed", "the left")


def samples(path: Path, *lines: Json) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def lm_line(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A line as lm-eval 0.4.13 writes it."""
    return {
        "doc_id": number,
        "doc": {"question": "1+1?", "subject": "sums"},
        "target": "2",
        "arguments": {"gen_args_0": {"arg_0": "Q: 1+1?", "arg_1": {"until": ["Q:"]}}},
        "resps": [["It is 2."]],
        "filtered_resps": ["2"],
        "filter": "strict-match",
        "metrics": ["exact_match"],
        "doc_hash": "a",
        "exact_match": 1.0,
        **changes,
    }


def test_a_sample_of_lm_eval_is_a_row_with_its_question(tmp_path: Path) -> None:
    path = samples(tmp_path / "samples_gsm8k_2026-01-02T03-04-05.678901.jsonl", lm_line())
    taken: set[str] = set()
    [(row, trace)] = read_file(
        path, Reading(arm="raw", cluster=NamedField("--cluster", "subject"), taken=taken)
    )
    assert (row.benchmark, row.task, row.sample_id, row.arm, row.cluster) == (
        *("lm-eval", "gsm8k", "gsm8k/0", "raw", "sums"),
    )
    assert (row.score, row.answer, row.metrics, taken) == (1.0, "2", {"exact_match": 1.0}, {"exact_match"})
    assert trace is not None
    assert trace["prompt"] == [{"role": "user", "content": "Q: 1+1?"}]
    assert (trace["response"], trace["asked"]["target"]) == ("It is 2.", "2")


def test_of_several_filters_one_is_named(tmp_path: Path) -> None:
    other = {"filter": "flexible-extract", "exact_match": 0.0}
    unread = {"filtered_resps": ["[invalid]"], "exact_match": 0.0}
    path = samples(
        tmp_path / "a.jsonl", lm_line(0), lm_line(1, **unread), lm_line(0, **other), lm_line(1, **other)
    )
    names = "exact_match,strict-match, exact_match,flexible-extract"
    assert f"several filters; name one of: {names}" in refusal(path)
    for scorer in ("exact_match,strict-match", "strict-match"):
        rows = rows_of(path, scorer=scorer)
        assert [(row.sample_id, row.score) for row in rows] == [("0", 1.0), ("1", 0.0)]
        assert [row.reply_state for row in rows] == [None, ReplyState.UNREADABLE]
        assert (rows[1].outcome, rows[1].answer) == (Outcome.MODEL_FAILED, None)
    assert "no filter 'lenient'; there are: strict-match, flexible-extract" in refusal(
        path, scorer="exact_match,lenient"
    )


def test_a_prompt_in_messages_is_kept_as_messages(tmp_path: Path) -> None:
    chat = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "1+1?"}]
    line = lm_line(arguments={"gen_args_0": {"arg_0": [json.dumps(chat)], "arg_1": {}}})
    [(_, trace)] = read_file(samples(tmp_path / "a.jsonl", line), Reading())
    assert trace is not None
    assert trace["prompt"] == chat


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        ("It is two.", ReplyState.UNREADABLE),
        ("", ReplyState.EMPTY),
        ("<think>1 + 1 is", ReplyState.THOUGHT_ONLY),
        ('{"name": "add", "arguments": {"x": 1}}', ReplyState.CALL_IN_TEXT),
    ],
)
def test_what_no_filter_could_read_says_why_where_it_shows(
    reply: str, state: ReplyState, tmp_path: Path
) -> None:
    line = lm_line(resps=[[reply]], filtered_resps=["[invalid]"], exact_match=0.0)
    [row] = rows_of(samples(tmp_path / "a.jsonl", line))
    assert (row.reply_state, row.answer, row.score) == (state, None, 0.0)


def test_options_that_were_weighed_have_the_likeliest_as_the_answer(tmp_path: Path) -> None:
    weighed = {
        "target": "1",
        "arguments": {
            f"gen_args_{at}": {"arg_0": "Q?", "arg_1": f" {word}"} for at, word in enumerate("xyz")
        },
        "resps": [[["-3.0", "False"]], [["-1.0", "False"]], [["-2.0", "True"]]],
        "filtered_resps": [["-3.0", "False"], ["-1.0", "False"], ["-2.0", "True"]],
        "filter": "none",
        "metrics": ["acc", "acc_norm"],
        "acc": 1.0,
        "acc_norm": 0.0,
    }
    path = samples(tmp_path / "a.jsonl", lm_line(**weighed))
    assert "several metrics; name one of: acc, acc_norm" in refusal(path)
    assert "has no metric f1; there are: acc, acc_norm" in refusal(path, scorer="f1")
    [(row, trace)] = read_file(path, Reading(scorer="acc_norm"))
    assert (row.score, row.answer, row.metrics) == (0.0, "y", {"acc": 1.0, "acc_norm": 0.0})
    assert trace is not None
    assert trace["asked"] == {"choices": [" x", " y", " z"], "target": "y"}
    assert (trace["steps"], trace["response"]) == ([], None), "numbers are no reply"


def lmms_line(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A line as lmms-eval 0.7 writes it: what is there but once is no list."""
    fields = {"doc_id": number, "target": "A", "input": "Which?", "filtered_resps": "A", "doc_hash": "x"}
    return {**fields, "score": {"question_id": number, "score": 1.0, "subject": "s"}, **changes}


def test_a_sample_of_lmms_eval_is_scored_by_the_number_in_its_object(tmp_path: Path) -> None:
    path = samples(tmp_path / "20260102_030405_samples_mmstar.jsonl", lmms_line(0), lmms_line(1))
    taken: set[str] = set()
    rows = rows_of(path, taken=taken)
    assert [(row.benchmark, row.sample_id, row.score, row.answer) for row in rows] == [
        ("lmms-eval", "mmstar/0", 1.0, "A"),
        ("lmms-eval", "mmstar/1", 1.0, "A"),
    ]
    assert taken == {"score.score"}


def test_kinds_of_question_may_each_have_a_number_of_their_own(tmp_path: Path) -> None:
    of_choice, of_number = {"id": 5, "accuracy": 1.0}, {"id": 6, "MRA:.5:.95:.05": 0.4}
    path = samples(
        tmp_path / "a.jsonl", lmms_line(0, score=of_choice), lmms_line(1, score=of_number, other=None)
    )
    assert [row.score for row in rows_of(path, scorer="score")] == [1.0, 0.4]
    path = samples(tmp_path / "a.jsonl", lmms_line(0, score=of_choice, overall=of_choice))
    assert "several metrics; name one of: score.accuracy, overall.accuracy" in refusal(path)
    assert [row.score for row in rows_of(path, scorer="overall")] == [1.0]


def test_what_failed_or_has_no_score_in_them_is_missing(tmp_path: Path) -> None:
    failure = "[LMMS_EVAL_REQUEST_FAILED after 5 retries] Error code: 429"
    path = samples(
        tmp_path / "a.jsonl",
        lmms_line(0),
        lmms_line(1, filtered_resps=failure, score={"score": 0.0}),
        lmms_line(2, score={"score": float("nan")}),
        lmms_line(3, filtered_resps="[SAFETY_BLOCKED:x]", score={"score": 0.0}),
    )
    rows = rows_of(path)
    assert [row.stop_reason for row in rows] == ["answered", "lm-eval:failed", "lm-eval:unscored", "answered"]
    assert [row.score for row in rows] == [1.0, None, None, 0.0]
    assert rows[1].error == failure
    assert [row.reply_state for row in rows] == [None, "missing", "missing", "refused"]


def test_a_metric_beyond_one_is_no_score(tmp_path: Path) -> None:
    perplexity = {"metrics": ["word_perplexity"], "word_perplexity": 12.5}
    path = samples(tmp_path / "a.jsonl", lm_line(0, **perplexity), lm_line(1, **perplexity | {"x": 10**400}))
    assert "has no metric in [0, 1]; there are: word_perplexity" in refusal(path)
    assert "word_perplexity is not in [0, 1] everywhere" in refusal(path, scorer="word_perplexity")


CASES: dict[str, list[float | None]] = {
    "inspect-nan.json": [None, 1.0, 0.0],
    "inspect-string-scores.json": [1.0, 1.0, 1.0, 0.5, 1.0],
    "lm-eval-samples.jsonl": [1.0],
    "lmms-eval-samples.jsonl": [1.0, 0.0],
    "vlmevalkit-result.tsv": [1.0, 0.0, None, None],
}


@pytest.mark.parametrize("name", CASES)
def test_the_cases_are_read_as_they_are_meant(name: str, cases_dir: Path) -> None:
    assert [row.score for row in rows_of(cases_dir / name)] == CASES[name]


def test_cases_in_which_nothing_can_be_taken_say_why(cases_dir: Path) -> None:
    assert "acc.a, acc.b" in refusal(cases_dir / "inspect-dict-scores.json")
    assert [row.score for row in rows_of(cases_dir / "inspect-dict-scores.json", scorer="acc.a")] == [
        0.25,
        0.5,
    ]
    assert "2 of 2 trials are left out" in refusal(cases_dir / "inspect-invalidated.json")
