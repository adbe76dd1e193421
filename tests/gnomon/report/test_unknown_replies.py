"""No claim rests on replies of which nobody knows the answer: it holds however they count."""

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.reply_state import UNKNOWN_STATES, ReplyState
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.core.score import Outcome
from gnomon.report.html import render_html
from gnomon.report.look import take_look
from gnomon.report.markdown import render_markdown
from gnomon.report.score_matrix import read_scores
from gnomon.report.terminal import summary_text
from gnomon.report.trial_index.columns import STORED_COLUMNS
from gnomon.report.trial_index.index import TrialIndex
from gnomon.statistics.equivalence import Margin
from gnomon_analyses.board.ranks import ranked
from gnomon_analyses.comparing.compared_jobs import IndexedJob, compare_jobs, group_means
from gnomon_analyses.comparing.job_diff import DiffedJob, diff_jobs
from gnomon_analyses.gate.gate import GateSide, gate
from gnomon_analyses.gate.gate_text import gate_text
from gnomon_service.derived_kinds import verdict_in
from tests.gnomon.report.conftest import Reporter, a_row, a_spec, build

SAMPLES = 40
TRACE = {"response": "Let me look at the map first, then", "steps": []}


def answered(sample: int, arm: str, score: float, **changes: Any) -> Row:
    known = {"reply_state": ReplyState.READ, "read_by": "declared", "cluster": f"c{sample // 2:03}"}
    return a_row(sample, arm, score, **{**known, **changes})


def unknown(sample: int, arm: str, state: ReplyState = ReplyState.CUT, **changes: Any) -> Row:
    known = {"reply_state": state, "read_by": "", "outcome": Outcome.MODEL_FAILED, "stop_reason": "no_answer"}
    return answered(sample, arm, 0.0, **{**known, **changes})


def half_right(arm: str = "raw", **changes: Any) -> Iterator[Row]:
    return (answered(at, arm, float(at % 2), **changes) for at in range(SAMPLES))


def broken(state: ReplyState, n: int = SAMPLES, arm: str = "tools") -> Iterator[Row]:
    for at in range(SAMPLES):
        yield unknown(at, arm, state) if at < n else answered(at, arm, float(at % 2))


def primary(report: Any) -> Any:
    return next(contrast for contrast in report["contrasts"] if contrast["family"] == "primary")


def test_without_the_rule_the_planted_arm_does_worse(report_of: Reporter) -> None:
    unrecorded = [*half_right(), *(answered(at, "tools", 0.0, reply_state=None) for at in range(SAMPLES))]
    found = primary(report_of(unrecorded))
    assert (found["verdict"], found["diff"], found["unknown_ci95"]) == ("hurts", -0.5, None)


@pytest.mark.parametrize(
    ("state", "words"),
    [
        (ReplyState.CUT, "cut"),
        (ReplyState.CALL_IN_TEXT, "calls written as text"),
        (ReplyState.THOUGHT_ONLY, "thought only"),
        (ReplyState.UNREADABLE, "unreadable"),
        (ReplyState.REFUSED, "refused"),
        (ReplyState.REPEATED, "spent on the same call"),
    ],
)
def test_an_arm_whose_replies_are_not_known_gets_no_verdict_and_an_alert(
    report_of: Reporter, state: ReplyState, words: str
) -> None:
    report = report_of([*half_right(), *broken(state, 36)], trace=lambda _: TRACE)
    found = primary(report)
    why = f"36 of 40 replies of “tools” were {words}"
    assert (found["verdict"], found["reasons"][0], found["withheld"]) == ("undecided", why, False)
    assert found["unknown_ci95"][0] < -0.3
    assert found["unknown_ci95"][1] > 0.3
    assert found["verdict_text"].startswith(
        f"It cannot be told whether m does better under “tools” than under “raw”: {why}."
    )
    assert found["next_step"] in found["verdict_text"]
    [told] = report["alerts"]
    assert (told["model"], told["arm"], told["kind"], told["share"], told["n"]) == (
        "m",
        "tools",
        state,
        0.9,
        40,
    )
    assert told["example"] == TRACE["response"]
    assert told["text"].startswith(f"m, “tools”: 36 of 40 replies were {words}: “Let me look")
    assert told["text"].endswith(told["advice"])
    for text in (
        render_html(report).replace("&#39;", "'"),
        render_markdown(report).replace("\\", ""),
        summary_text(report),
        report["answers"][0],
    ):
        assert why in text
    verdict = verdict_in(report)
    assert verdict is not None
    assert (verdict.word, verdict.reasons[0]) == ("undecided", why)


def test_a_few_unknown_replies_leave_a_large_effect_standing(report_of: Reporter) -> None:
    tools = (unknown(at, "tools") if at == 0 else answered(at, "tools", 1.0) for at in range(SAMPLES))
    report = report_of([*(answered(at, "raw", float(at % 4 == 0)) for at in range(SAMPLES)), *tools])
    assert (primary(report)["verdict"], report["alerts"]) == ("helps", [])
    assert primary(report)["next_step"] == ""


def test_unknown_replies_that_might_decide_what_is_undecided_are_named_first(report_of: Reporter) -> None:
    raw = (answered(at, "raw", 0.0) for at in range(SAMPLES))
    found = primary(report_of([*raw, *broken(ReplyState.CUT)]))
    assert found["reasons"][0] == "40 of 40 replies of “tools” were cut"


def test_several_states_and_both_arms_are_named_the_worse_arm_first(report_of: Reporter) -> None:
    raw = (unknown(at, "raw") if at == 0 else answered(at, "raw", 1.0) for at in range(SAMPLES))
    tools = (
        unknown(at, "tools", ReplyState.CUT if at < 30 else ReplyState.UNREADABLE) for at in range(SAMPLES)
    )
    report = report_of([*raw, *tools])
    assert primary(report)["reasons"][0] == (
        "30 of 40 replies of “tools” were cut and 10 were unreadable, 1 of 40 replies of “raw” was cut"
    )
    assert [(alert["arm"], alert["kind"]) for alert in report["alerts"]] == [
        ("tools", "cut"),
        ("tools", "unreadable"),
    ]


def test_no_equality_is_claimed_of_replies_that_nobody_knows(report_of: Reporter) -> None:
    spec = a_spec(analysis={"margin": 0.4})
    equal = [answered(at, arm, 1.0) for at in range(SAMPLES) for arm in ("raw", "tools")]
    assert primary(report_of(equal, spec=spec))["verdict"] == "no_effect"
    both = [*broken(ReplyState.CUT, arm="raw"), *broken(ReplyState.CUT)]
    found = primary(report_of(both, spec=spec))
    assert (found["verdict"], found["reasons"][0]) == (
        "undecided",
        "40 of 40 replies of “raw” were cut, 40 of 40 replies of “tools” were cut",
    )


def test_cells_follow_the_rule_with_their_own_denominators(report_of: Reporter) -> None:
    rows = [
        row_of
        for at in range(SAMPLES)
        for cell in ("near", "far")
        for row_of in (
            answered(at, "raw", 1.0, cell=cell, sample_id=f"{cell}{at}", trial_id=f"{cell}{at}r"),
            (unknown if cell == "far" else lambda *of, **changes: answered(*of, 0.0, **changes))(
                at, "tools", cell=cell, sample_id=f"{cell}{at}", trial_id=f"{cell}{at}t"
            ),
        )
    ]
    by_scope = {contrast["scope"]: contrast for contrast in report_of(rows)["contrasts"]}
    assert by_scope["near"]["verdict"] == "hurts"
    assert by_scope["far"]["reasons"][0] == "40 of 40 replies of “tools” were cut"
    assert by_scope["all"]["verdict"] == "hurts"  # however the cut ones count


@pytest.mark.parametrize("broken_side", [0, 1])
def test_a_gate_neither_passes_nor_blames_a_build_whose_replies_are_not_known(broken_side: int) -> None:
    sides = [list(half_right("a")), list(half_right("a"))]
    sides[broken_side] = list(broken(ReplyState.CUT, arm="a"))
    base, new = (GateSide(name=name, rows=rows) for name, rows in zip(("BASE", "NEW"), sides, strict=True))
    report = gate(
        base, new, margin=Margin(kind="absolute", size=0.05), headline="mean_of_samples", clustered=True
    )
    [pair] = report["pairs"]
    assert (report["passed"], pair["finding"]) == (False, "not_shown")
    assert pair["reasons"][0] == f"40 of 40 replies of “{('base', 'new')[broken_side]}” were cut"
    assert "Raise `models[].max_tokens`." in gate_text(report)


def test_a_gate_does_not_pass_what_was_as_broken_before() -> None:
    sides = [GateSide(name=name, rows=list(broken(ReplyState.CUT, arm="a"))) for name in ("BASE", "NEW")]
    report = gate(
        *sides, margin=Margin(kind="absolute", size=0.05), headline="mean_of_samples", clustered=True
    )
    assert not report["passed"]
    assert "nothing changed" not in gate_text(report)


def test_a_gate_adds_up_unknown_replies_of_all_states() -> None:
    states = [ReplyState.CUT, ReplyState.CUT, ReplyState.UNREADABLE, ReplyState.UNREADABLE]
    rows = [
        unknown(at, "a", states[at]) if at < len(states) else answered(at, "a", 1.0) for at in range(SAMPLES)
    ]
    base, new = (GateSide(name=name, rows=rows) for name in ("BASE", "NEW"))
    report = gate(
        base, new, margin=Margin(kind="absolute", size=0.05), headline="mean_of_samples", clustered=True
    )
    assert not report["passed"]
    assert "2 of 40 replies of “base” were cut and 2 were unreadable" in gate_text(report)


def test_two_jobs_that_read_nothing_are_not_called_equal() -> None:
    spec = a_spec(benchmark="worlds", analysis={"margin": 0.2})
    rows = [*half_right(), *broken(ReplyState.UNREADABLE)]
    jobs = [DiffedJob(job_id=name, spec=spec, status="completed", rows=rows) for name in ("a", "b")]
    found = {contrast["model"]: contrast for contrast in diff_jobs(*jobs)["report"]["contrasts"]}
    assert found["m / raw"]["verdict"] == "no_effect"
    assert found["m / tools"]["verdict"] == "undecided"
    assert "40 of 40 replies of “a” were unreadable" in found["m / tools"]["verdict_text"]


@pytest.mark.parametrize(("state", "is_decided"), [(ReplyState.READ, True), (ReplyState.CUT, False)])
def test_a_sequential_job_does_not_stop_on_unknown_replies(state: ReplyState, is_decided: bool) -> None:
    spec = a_spec(benchmark="worlds", analysis={"sequential": True, "primary": ["raw", "tools"]})
    refs = [
        SampleRef(sample_id=f"s{at}", task="near", cell="near", cluster=f"c{at // 2}") for at in range(400)
    ]
    ended = [
        trial
        for at in range(400)
        for trial in (
            (f"s{at}", "m", "raw", float(at % 2), "read"),
            (f"s{at}", "m", "tools", 0.0, state.value),
        )
    ]
    look = take_look(spec, refs, ended, headline="mean_of_samples")
    assert look["decided"] is is_decided
    assert look["contrasts"][0]["verdict"] == ("hurts" if is_decided else "undecided")


def test_a_look_and_the_report_give_the_same_numbers() -> None:
    spec = a_spec(benchmark="worlds", analysis={"sequential": True, "primary": ["raw", "tools"]})
    drawn = [(7 * at) % 40 for at in range(40)]  # clusters in the order drawn
    refs = [
        SampleRef(sample_id=f"s{cluster:02}{at}", task="near", cell="near", cluster=f"c{cluster:02}")
        for cluster in drawn
        for at in range(3)
    ]
    score = {"raw": lambda at: float(at % 3 == 0), "tools": lambda at: float(at % 5 < 3)}
    ended = [
        (ref.sample_id, "m", arm, of(at), "read") for at, ref in enumerate(refs) for arm, of in score.items()
    ]
    look = take_look(spec, refs, ended, headline="mean_of_cells")
    rows = [
        a_row(0, arm, value, sample_id=name, cluster=name[:3].replace("s", "c"))
        for name, _, arm, value, _ in ended
    ]
    stored = {**look, "decided": True, "at": "2026-11-29T10:00:00Z"}
    report = build(rows, spec=spec, planned_samples=refs, looks=[stored], planned=300)
    [seen], contrast = look["contrasts"], report["contrasts"][0]
    assert (seen["ci95"], seen["p_adjusted"]) == (contrast["ci95"], contrast["p_adjusted"])
    assert contrast["verdict"] == "helps"
    assert "studies of this size" not in contrast["verdict_text"]
    assert not report["plan"]["deviations"]


@pytest.mark.parametrize(("state", "verdict"), [(ReplyState.READ, "hurts"), (ReplyState.CUT, "undecided")])
def test_jobs_compared_by_their_indexes_follow_the_rule(state: ReplyState, verdict: str) -> None:
    sides = [list(half_right("a")), [*broken(state, arm="a")]]
    base, other = (
        IndexedJob(
            job_id=name,
            spec=a_spec(benchmark="worlds", arms=[{"name": "a", "agent": "direct"}]),
            index=TrialIndex.empty(["m"], ["a"]).extended([list(stored(rows))]),
        )
        for name, rows in zip(("one", "two"), sides, strict=True)
    )
    [compared], _ = compare_jobs(base, [other])
    assert compared.contrast["verdict"] == verdict
    first, second = ranked([base, other])
    assert (first.rank, second.rank) == (((1, 1), (2, 2)) if verdict == "hurts" else ((1, 2), (1, 2)))
    low, high = (group_means(other, unknown_as=value)["m", "a"].mean for value in (0.0, 1.0))
    assert (low, high) == ((0.0, 0.0) if verdict == "hurts" else (0.0, 1.0))


def stored(rows: list[Row]) -> Iterator[tuple[Any, ...]]:
    """Rows as the store gives them to an index."""
    for seq, row in enumerate(rows, start=1):
        values = {**asdict(row), "flags": "[]", "tools_used": "{}"}
        yield seq, *(values[name] for name in STORED_COLUMNS[1:])


def test_states_and_rules_are_counted_by_arm_and_shown_where_they_are_not_rare(report_of: Reporter) -> None:
    report = report_of([*half_right(), *broken(ReplyState.CUT, 3)])
    assert report["replies"] == [
        {"model": "m", "arm": "raw", "trials": 40, "states": {"read": 40}, "read_by": {"declared": 40}},
        {
            "model": "m",
            "arm": "tools",
            "trials": 40,
            "states": {"read": 37, "cut": 3},
            "read_by": {"declared": 37},
        },
    ]
    assert "m / tools, replies of 40 trials: read 37, cut 3" in summary_text(report)
    assert "| m | tools | 40 | 37 | 3 |" in render_markdown(report)
    rare = report_of([*half_right(), *broken(ReplyState.CUT, 1)])
    assert "What became" not in summary_text(rare)
    assert "## What became" not in render_markdown(rare)
    assert "<summary>What became of the replies" in render_html(rare)
    unrecorded = report_of([a_row(0, "raw", 1.0)])
    assert "What became" not in render_html(unrecorded)


def test_an_arm_that_was_offered_tools_and_called_none_is_named(report_of: Reporter) -> None:
    rows = [*half_right(tools_offered=0), *half_right("tools", tools_offered=1)]
    report = report_of(rows)
    [told] = report["alerts"]
    assert (told["arm"], told["kind"], told["share"], told["n"]) == ("tools", "never_called", 1.0, 40)
    assert told["text"] in summary_text(report)
    for shown in (summary_text(report), render_markdown(report), render_html(report), report["answers"][0]):
        assert "No tool was ever called under “tools”." in shown
    called = [*half_right(tools_offered=0), *half_right("tools", tools_offered=1, tool_calls=1)]
    assert report_of(called)["alerts"] == []
    untold = [*half_right(tools_offered=0), *half_right("tools", tools_offered=1, tool_calls=None)]
    assert report_of(untold)["alerts"] == []


def test_an_endpoint_that_keeps_no_limit_is_named(report_of: Reporter) -> None:
    spec = a_spec(models=[{"id": "m", "max_tokens": 200}])
    rows = [*half_right(), *half_right("tools", flags=("over_max_tokens",))]
    [told] = report_of(rows, spec=spec)["alerts"]
    assert (told["arm"], told["kind"], told["share"]) == ("tools", "over_max_tokens", 1.0)
    assert "longer than the model's `max_tokens` of 200" in told["text"]


def test_an_arm_whose_replies_are_kept_ones_is_named(report_of: Reporter) -> None:
    kept = list(half_right(model_calls=1, cache_hits=1))
    [told] = report_of([*kept, *half_right("tools", model_calls=2)])["alerts"]
    assert (told["arm"], told["kind"], told["share"], told["n"]) == ("raw", "kept_replies", 1.0, SAMPLES)
    assert f"of “tools” 0 of {2 * SAMPLES}" in told["text"]
    assert report_of([*kept, *half_right("tools", model_calls=2, cache_hits=2)])["alerts"] == []
    assert report_of([*kept, *half_right("tools", model_calls=0)])["alerts"] == []


ARM = {"name": "tools", "agent": "react", "tools": ["bearing"]}
CALLED = {"response": '{"name": "bearing", "arguments": {}}', "steps": []}
QUOTED = {"response": f"I call\n{CALLED['response']}\nand wait for what it returns.", "steps": []}
FULL = {"steps": [{"kind": "reply", "text": "Let me", "finish_reason": "model_context_window_exceeded"}]}


@pytest.mark.parametrize(
    ("arm", "advice"),
    [
        ({}, "Give the arm `agent: text-react`, or set `tool_choice: required`"),
        ({"tool_choice": "required"}, "Give the arm `agent: text-react`, or try"),
        ({"agent": "text-react"}, "Set `tool_choice: required`, or try"),
        ({"agent": "text-react", "tool_choice": "required"}, "Try other words (`gnomon wording`)."),
        (
            {"agent": {"command": ["./agent"], "hands_tools": "mcp"}},
            "See whether the agent asks the tool server that it is handed (docs/outside-agents.md).",
        ),
    ],
)
def test_what_is_advised_where_no_tool_is_called_is_not_done_already(
    report_of: Reporter, arm: dict[str, Any], advice: str
) -> None:
    spec = a_spec(arms=[{"name": "raw", "agent": "direct"}, {**ARM, **arm}])
    rows = [*half_right(tools_offered=0), *half_right("tools", tools_offered=1)]
    [told] = report_of(rows, spec=spec)["alerts"]
    assert told["kind"] == "never_called"
    assert told["advice"].startswith(advice)


@pytest.mark.parametrize(
    ("model", "arm", "state", "trace", "advice"),
    [
        ({}, {}, ReplyState.CALL_IN_TEXT, CALLED, "Set the model's `tool_calls: text`"),
        ({"tool_calls": "text"}, {}, ReplyState.CALL_IN_TEXT, CALLED, "Raise the arm's `max_tool_calls`"),
        ({}, {}, ReplyState.CALL_IN_TEXT, QUOTED, "Give the arm `agent: text-react`"),
        ({"tool_calls": "text"}, {}, ReplyState.CALL_IN_TEXT, QUOTED, "Give the arm `agent: text-react`"),
        ({}, {"agent": "text-react"}, ReplyState.CALL_IN_TEXT, CALLED, "Give the arm `agent: react`"),
        ({}, {"agent": "direct", "tools": []}, ReplyState.CALL_IN_TEXT, CALLED, "The arm runs no tools"),
        ({}, {}, ReplyState.CUT, FULL, "The model's context was full"),
    ],
)
def test_what_is_advised_on_unknown_replies_is_not_done_already(
    report_of: Reporter,
    model: dict[str, Any],
    arm: dict[str, Any],
    state: ReplyState,
    trace: dict[str, Any],
    advice: str,
) -> None:
    spec = a_spec(models=[{"id": "m", **model}], arms=[{"name": "raw", "agent": "direct"}, {**ARM, **arm}])
    [told] = report_of([*half_right(), *broken(state)], spec=spec, trace=lambda _: trace)["alerts"]
    assert told["advice"].startswith(advice)


def test_calls_that_the_server_cannot_read_are_told_with_what_helps(report_of: Reporter) -> None:
    malformed = {"stop_reason": "model:malformed_call"}
    rows = [unknown(at, "tools", ReplyState.UNREADABLE, **malformed) for at in range(SAMPLES)]
    trace = {"steps": [{"kind": "note", "text": "HTTP 500: no format that is known"}]}
    [told] = report_of([*half_right(), *rows], trace=lambda _: trace)["alerts"]
    assert (told["kind"], told["example"]) == ("unreadable", "HTTP 500: no format that is known")
    assert told["advice"] == "The server could not read the model's calls: give the arm `agent: text-react`."


def test_a_trial_that_said_nothing_is_told_by_its_last_call(report_of: Reporter) -> None:
    rows = [unknown(at, "tools", ReplyState.REPEATED, flags=("repeated_calls",)) for at in range(SAMPLES)]
    trace = {"steps": [{"kind": "tool", "name": "bearing", "arguments": '{"a": 1}'}]}
    [told] = report_of([*half_right(), *rows], trace=lambda _: trace)["alerts"]
    assert (told["kind"], told["example"]) == ("repeated_calls", 'bearing {"a": 1}')


def test_one_reply_in_six_is_told_in_good_english(report_of: Reporter) -> None:
    rows = [unknown(0, "tools"), *(answered(at, "tools", 1.0) for at in range(1, 6))]
    [told] = report_of(rows)["alerts"]
    assert told["text"] == "m, “tools”: 1 of 6 replies was cut. Raise `models[].max_tokens`."


@given(
    st.lists(
        st.tuples(
            st.integers(0, 5), st.integers(0, 1), st.sampled_from([None, *ReplyState]), st.floats(0, 1)
        ),
        max_size=40,
    ),
    st.randoms(use_true_random=False),
)
def test_unknown_replies_are_counted_whatever_order_they_come_in(trials: Any, dice: Any) -> None:
    arms = ("raw", "tools")
    rows = [
        answered(sample, arms[arm], score, reply_state=state, repeat=at)
        for at, (sample, arm, state, score) in enumerate(trials)
    ]
    scores = read_scores(rows, [("m", arm) for arm in arms])
    dice.shuffle(rows)
    again = read_scores(rows, [("m", arm) for arm in arms])
    for group, arm in enumerate(arms):
        for value in (0.0, 1.0):
            expected = [
                np.mean(
                    [value if row.reply_state in UNKNOWN_STATES else row.score or 0.0 for row in of_sample]
                )
                for name in scores.samples
                if (of_sample := [row for row in rows if (row.arm, row.sample_id) == (arm, name)])
            ]
            means = scores.means(group, unknown_as=value)
            assert np.allclose(means[~np.isnan(means)], expected)
            np.testing.assert_array_equal(means, again.means(group, unknown_as=value))
