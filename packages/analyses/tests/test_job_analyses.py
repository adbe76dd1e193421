"""Analyses of one job: planted jobs whose truth is known, counts by hand, and what is refused."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.exchange.foreign import benchmark_called
from gnomon.spec.job_spec import JobSpec
from gnomon_analyses.kinds import ANALYSES, ComputedFromJob
from gnomon_analyses.stored_job import StoredJob

ARMS = [
    {"name": "raw", "agent": "direct"},
    {"name": "tools", "agent": "react", "tools": ["distance", "bearing"]},
]


def a_job(
    rows: list[Row],
    traces: Mapping[str, Any] | None = None,
    *,
    models: int = 1,
    repeats: int = 1,
    arms: list[dict[str, Any]] | None = None,
    **more: Any,
) -> StoredJob:
    spec = JobSpec.model_validate(
        {
            "benchmark": "questions",
            "data": "questions.csv",
            "models": [{"id": f"m{number}"} for number in range(models)],
            "arms": arms or ARMS,
            "repeats": repeats,
            "analysis": {"primary": ["raw", "tools"]},
        }
    )
    return StoredJob(
        job_id="j",
        spec=spec,
        status="completed",
        rows=rows,
        benchmark=benchmark_called("questions"),
        trace=(traces or {}).get,
        sample=lambda _: None,
        **more,
    )


def a_row(
    sample: int, arm: str, score: float | None, *, model: int = 0, repeat: int = 0, per: int = 5
) -> Row:
    return Row(
        job_id="j",
        trial_id=f"t{model}-{arm}-{sample}-{repeat}",
        benchmark="questions",
        task="planted",
        cell="planted",
        sample_id=f"s{sample:04}",
        cluster=f"v{sample // per}",
        model=f"m{model}",
        arm=arm,
        repeat=repeat,
        outcome=Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
        stop_reason="answered",
        score=score,
    )


Chance = Callable[[np.ndarray, int, str], np.ndarray]  # of easiness, model and arm


def planted(
    chance: Chance, *, items: int = 300, models: int = 2, repeats: int = 1, seed: int = 1
) -> Iterator[Row]:
    random = np.random.default_rng(seed)
    ease = random.normal(0, 1, items)
    for model in range(models):
        for arm in ("raw", "tools"):
            for repeat in range(repeats):
                hits = random.random(items) < chance(ease, model, arm)
                for sample, hit in enumerate(hits):
                    yield a_row(sample, arm, float(hit), model=model, repeat=repeat)


def count(name: str, job: StoredJob) -> dict[str, Any]:
    analysis = ANALYSES.get(name)
    assert isinstance(analysis, ComputedFromJob)
    result = analysis.count(job)
    assert all(isinstance(line, str) for line in analysis.lines(result))
    return result


def odds(effects: dict[tuple[int, str], float]) -> Chance:
    return lambda ease, model, arm: expit(-0.4 + ease + effects.get((model, arm), 0.0))


def test_the_mixed_model_finds_the_planted_odds_and_their_interaction() -> None:
    rows = list(planted(odds({(0, "tools"): 0.8, (1, "tools"): 2.0}), items=300))
    result = count("mixed_model", a_job(rows, models=2))
    first, second = result["effects"]
    assert first["odds_ratio_ci95"][0] < np.exp(0.8) < first["odds_ratio_ci95"][1]
    assert second["odds_ratio_ci95"][0] < np.exp(2.0) < second["odds_ratio_ci95"][1]
    [interaction] = result["interactions"]
    assert interaction["odds_ratio"] == pytest.approx(second["odds_ratio"] / first["odds_ratio"])
    assert interaction["odds_ratio_ci95"][0] < np.exp(1.2) < interaction["odds_ratio_ci95"][1]
    assert interaction["p"] < 0.01
    assert result["convergence"]["converged"]
    means = {(c["model"], c["arm"]): c for c in result["conditions"]}
    for condition in means.values():
        assert condition["fitted"] == pytest.approx(condition["mean"], abs=0.01)
    raw, tools = means["m0", "raw"]["fitted"], means["m0", "tools"]["fitted"]
    assert first["average_effect"] == pytest.approx(tools - raw)


def test_the_mixed_model_refuses_what_it_cannot_fit() -> None:
    graded = [a_row(n, arm, 0.3 + 0.1 * (n % 3)) for n in range(60) for arm in ("raw", "tools")]
    with pytest.raises(SpecError, match="--threshold: 120 scores of 120 are neither 0 nor 1"):
        count("mixed_model", a_job(graded))
    with pytest.raises(SpecError, match=r"m0 under raw is always wrong \(60 trials\).*separation"):
        count("mixed_model", a_job(graded, threshold=0.9))
    mended = [
        a_row(n, arm, float(n % 3 == 0 or (arm == "tools" and n % 7 > 0)))
        for n in range(60)
        for arm in ("raw", "tools")
    ]
    with pytest.raises(SpecError, match="separation"):
        count("mixed_model", a_job(mended))
    with pytest.raises(SpecError, match="15 items; this analysis needs 20"):
        count("mixed_model", a_job([row for row in mended if row.sample_id < "s0015"]))


def test_a_threshold_makes_graded_scores_right_or_wrong() -> None:
    rows = list(planted(odds({(0, "tools"): 1.0}), models=1))
    graded = [replace(row, score=0.9 if row.score else 0.2) for row in rows]
    expected = count("mixed_model", a_job(rows))["effects"]
    assert count("mixed_model", a_job(graded, threshold=0.5))["effects"] == expected


def test_leaving_out_a_cluster_names_the_one_that_carries_the_result() -> None:
    rows = [
        a_row(n, arm, float((arm == "tools" and n < 5) or n % 2))
        for n in range(40)
        for arm in ("raw", "tools")
    ]
    [pair] = count("leave_one_cluster_out", a_job(rows))["pairs"]
    assert (pair["clusters"], pair["samples"]) == (8, 40)
    assert pair["diff"] == pytest.approx(3 / 40)
    assert pair["lowest"] == 0.0
    assert pair["highest"] == pytest.approx(3 / 35)
    first = pair["most_moving"][0]
    assert (first["cluster"], first["samples"], first["diff_without"]) == ("v0", 5, 0.0)
    assert pair["judged"] == 8


def test_a_verdict_that_one_cluster_turns_is_said_to_turn() -> None:
    rows = [
        a_row(n, arm, float(arm == "tools" and n % 10 < (9 if n < 50 else 2)), per=10)
        for n in range(60)
        for arm in ("raw", "tools")
    ]
    steady = [a_row(n, arm, float(arm == "tools")) for n in range(60) for arm in ("raw", "tools")]
    [kept] = count("leave_one_cluster_out", a_job(steady))["pairs"]
    assert (kept["verdict"], kept["turned"]) == ("helps", 0)
    job = a_job(rows)
    [pair] = count("leave_one_cluster_out", job)["pairs"]
    without = {
        f"v{code}": job.verdicts(job.scores_of([row for row in rows if row.cluster != f"v{code}"]))[0][
            "verdict"
        ]
        for code in range(6)
    }
    turned = {name for name, verdict in without.items() if verdict != pair["verdict"]}
    assert {cluster["cluster"] for cluster in pair["turned_by"]} == turned


def test_the_wild_bootstrap_is_beside_what_the_report_says() -> None:
    job = a_job(list(planted(odds({(0, "tools"): 1.0}), models=1, items=100)))
    [pair] = count("wild_bootstrap", job)["pairs"]
    contrast = job.verdicts(job.scores)[0]
    assert pair["report"]["p"] == contrast["p"]
    assert pair["p"] == pytest.approx(contrast["p"], abs=0.02)
    low, high = pair["ci95"]
    assert low < pair["diff"] < high
    with pytest.raises(SpecError, match="2 clusters; this analysis needs 3"):
        count("wild_bootstrap", a_job([row for row in job.rows if row.sample_id < "s0010"]))


def points(slope: float) -> Chance:
    """On the scale of points: an effect of 15, and so much more on an item of difficulty 1 than of 0."""

    def chance(ease: np.ndarray, model: int, arm: str) -> np.ndarray:
        hard = 0.25 + 0.3 * (ease > 0)
        return 1 - hard - (0.15 if arm == "raw" else -slope * (hard - 0.4))

    return chance


@pytest.mark.parametrize(("models", "repeats"), [(4, 1), (1, 6)])
def test_difficulty_comes_from_other_trials_and_fakes_no_slope(models: int, repeats: int) -> None:
    rows = list(planted(points(0.0), items=900, models=models, repeats=repeats))
    result = count("dose_response", a_job(rows, models=models, repeats=repeats))
    assert len(result["pairs"]) == models
    pair = result["pairs"][0]
    assert pair["slope"]["ci95"][0] < 0 < pair["slope"]["ci95"][1]
    assert ("under raw in the other half" if models == 1 else "of m1, m2, m3 under raw") in pair["difficulty"]
    assert sum(band["items"] for band in pair["bands"]) == 900 * (2 if models == 1 else 1)
    own = np.array([row.score for row in rows if row.model == "m0" and row.arm == "raw" and not row.repeat])
    with_tools = np.array(
        [row.score for row in rows if row.model == "m0" and row.arm == "tools" and not row.repeat]
    )
    assert np.polyfit(1 - own, with_tools - own, 1)[0] > 0.5  # what its own trial would have made of it


def test_a_planted_slope_is_found() -> None:
    rows = list(planted(points(1.0), items=900, models=8))
    pair = count("dose_response", a_job(rows, models=8))["pairs"][0]
    assert pair["slope"]["ci95"][0] > 0.1
    low, high = pair["slope_without_noise"]["ci95"]
    assert low < 1.0 < high
    assert pair["slope_without_noise"]["value"] == pytest.approx(pair["slope"]["value"] / pair["reliability"])
    bands = pair["bands"]
    assert bands[-1]["diff"] > bands[0]["diff"]


def test_where_no_other_trials_tell_the_difficulty_there_is_no_slope() -> None:
    with pytest.raises(SpecError, match="needs another model, 2 repeats or another arm without tools"):
        count("dose_response", a_job(list(planted(points(0.0), models=1))))


def test_another_arm_without_tools_tells_the_difficulty() -> None:
    rows = list(planted(points(0.0), models=1))
    more = [replace(row, arm="facts", trial_id=f"f{row.trial_id}") for row in rows if row.arm == "raw"]
    job = a_job(rows + more, arms=[*ARMS, {"name": "facts", "agent": "direct", "show": ["media", "facts"]}])
    assert count("dose_response", job)["pairs"][0]["difficulty"] == "wrong answers of m0 under facts"


def a_trace(response: str, *calls: tuple[str, str, str, str | None]) -> dict[str, Any]:
    steps = [
        {"kind": "tool", "name": name, "arguments": arguments, "observation": observation, "error": error}
        for name, arguments, observation, error in calls
    ]
    prompt = [{"role": "user", "content": "How far is c6 from c2? Once it was 777 m."}]
    return {"prompt": prompt, "steps": [{"kind": "reply", "text": ""}, *steps], "response": response}


def test_the_path_counts_each_step_by_hand() -> None:
    call = ("distance", '{"to": "c6"}', '{"path_m": 310.36}', None)
    failed = ("distance", '{"to": "c9"}', '{"error": "no such camera"}', "bad_arguments")
    chained = (
        ("distance", "{}", '{"path_m": 418.2}', None),
        ("bearing", '{"m": 418.2}', '{"deg": 266.8}', None),
    )
    kinds = [
        (a_trace("It is 310 m.", call), 1.0),  # used, right
        (a_trace("It is 777 m.", call), 0.0),  # the prompt's number: not used, wrong
        (a_trace("It is 310 m.", failed), 0.0),  # no right result
        (a_trace("A guess: 310 m."), 1.0),  # no call
        (a_trace("Towards 267°.", *chained), 1.0),  # the second is used, and by it the first
    ]
    rows, traces = [], {}
    for n in range(50):
        trace, score = kinds[n % 5]
        rows += [a_row(n, "raw", float(n % 5 == 3)), a_row(n, "tools", score)]
        traces[rows[-1].trial_id] = trace
    result = count("call_path", a_job(rows, traces))
    [arm] = result["arms"]
    counts = {name: (node["n"], node["of"], node["right"]) for name, node in arm["nodes"].items()}
    assert counts == {
        "all": (50, 50, 30),
        "not_called": (10, 50, 10),
        "called": (40, 50, 20),
        "no_right_result": (10, 40, 0),
        "right_result": (30, 40, 20),
        "not_used": (10, 30, 0),
        "used": (20, 30, 20),
    }
    assert arm["nodes"]["not_called"]["baseline_right_share"] == 1.0
    assert arm["nodes"]["called"]["baseline_right_share"] == 0.0
    tools = {tool["tool"]: (tool["called"], tool["right_result"], tool["used"]) for tool in arm["tools"]}
    assert tools == {"distance": (40, 30, 20), "bearing": (10, 10, 10)}


def test_a_result_that_the_arm_replaced_is_not_right() -> None:
    trace = a_trace("It is 310 m.", ("distance", '{"to": "c6"}', '{"path_m": 310.36}', None))
    trace["steps"][1]["injected"] = "scale"
    rows = [a_row(n, "tools", 0.0) for n in range(20)]
    traces = {row.trial_id: trace for row in rows}
    [arm] = count("call_path", a_job(rows, traces))["arms"]
    assert arm["nodes"]["right_result"]["n"] == 0
    neutral = [ARMS[0], {**ARMS[1], "results": "neutral"}]
    del trace["steps"][1]["injected"]
    [arm] = count("call_path", a_job(rows, traces, arms=neutral))["arms"]
    assert arm["nodes"]["right_result"]["n"] == 0


def test_traces_are_read_up_to_the_limit_and_too_few_are_refused() -> None:
    rows = [a_row(n, "tools", 0.0) for n in range(40)]
    traces = {row.trial_id: a_trace("no") for row in rows[:35]}
    result = count("call_path", a_job(rows, traces))
    assert (result["read"], result["without_trace"], result["not_read"]) == (35, 5, 0)
    assert count("call_path", a_job(rows[:35], traces, limit=25))["not_read"] == 10
    with pytest.raises(SpecError, match="0 trials with tools, a score and a trace; this analysis needs 20"):
        count("call_path", a_job(rows))
