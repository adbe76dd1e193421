"""The gate: NEW passes where it is shown to be not worse than BASE by the margin."""

import numpy as np
import pytest

from bench.gate_levels import STUDIES, row
from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.core.score import Outcome
from gnomon.statistics.equivalence import Margin
from gnomon_analyses.gate.gate import GateSide, gate
from gnomon_analyses.gate.gate_text import gate_markdown, gate_text


def result(sample, score, *, arm="a", model="m", repeat=0, answer="A", cluster=None, benchmark="quiz"):
    return Row(
        trial_id=f"{sample} {model} {arm} {repeat}",
        job_id="j",
        benchmark=benchmark,
        task="t",
        sample_id=f"s{sample:03}",
        cell="t",
        cluster=str(sample if cluster is None else cluster),
        model=model,
        arm=arm,
        repeat=repeat,
        outcome=Outcome.INFRA_MISSING if score is None else Outcome.SCORED,
        stop_reason="provider:timeout" if score is None else "answered",
        score=score,
        answer=None if score is None else answer,
    )


def side(scores, name="BASE", **given):
    of_side = {key: given.pop(key) for key in ("arm", "scoring", "status", "protocol") if key in given}
    rows = [result(at, score, arm=of_side.get("arm") or "a", **given) for at, score in enumerate(scores)]
    return GateSide(name=name, rows=rows, **of_side)


def judged(base, new, margin=0.05):
    size = Margin(kind="absolute", size=margin) if isinstance(margin, float) else margin
    return gate(base, new, margin=size, headline="mean_of_samples", clustered=True)


HALF = [1.0, 0.0] * 200


def test_what_has_not_changed_passes_however_few_samples_there_are():
    report = judged(side([1.0, 0.0, 1.0]), side([1.0, 0.0, 1.0], "NEW"))
    assert report["passed"]
    assert report["pairs"][0]["is_identical"]
    assert "nothing changed" in gate_text(report)


def test_other_answers_with_the_same_scores_are_tested():
    report = judged(side([1.0, 0.0, 1.0]), side([1.0, 0.0, 1.0], "NEW", answer="B"))
    assert not report["passed"]
    assert report["pairs"][0]["finding"] == "not_shown"


def test_a_small_fall_within_the_margin_passes_and_says_what_fell():
    new = [0.0, 0.0, 0.0, *HALF[3:-1], 1.0]
    report = judged(side(HALF), side(new, "NEW"))
    [pair] = report["pairs"]
    assert report["passed"]
    assert (pair["n"], pair["clusters"], pair["better"], pair["worse"]) == (400, 400, 1, 2)
    assert [(fall["sample_id"], fall["base"], fall["new"]) for fall in pair["regressed"]] == [
        ("s000", 1.0, 0.0),
        ("s002", 1.0, 0.0),
    ]
    assert pair["diff"] == pytest.approx(-1 / 400)
    assert pair["passes_from"] == pytest.approx(-pair["ci90"][0])
    assert pair["p"] < 0.05


def test_a_large_fall_is_worse_and_ten_samples_are_named():
    report = judged(side(HALF), side([0.0] * 100 + HALF[100:], "NEW"))
    [pair] = report["pairs"]
    assert (pair["finding"], report["passed"], pair["worse"], len(pair["regressed"])) == (
        "worse",
        False,
        50,
        10,
    )
    assert "50 samples scored lower and 0 higher, the first 10" in gate_text(report)
    assert "| s000 | t | 1.00 | 0.00 |" in gate_markdown(report)


def test_too_few_samples_show_nothing_and_it_says_what_margin_they_could_show():
    rng = np.random.default_rng(1)
    base, new = ((rng.random(30) < 0.5).astype(float) for _ in range(2))
    report = judged(side(base), side(new, "NEW"), margin=0.03)
    [pair] = report["pairs"]
    assert pair["finding"] == "not_shown"
    assert 0.1 < pair["could_show"] < 0.6
    assert "An equal NEW would pass a margin of" in gate_text(report)
    assert judged(side(base), side(new, "NEW"), margin=pair["passes_from"] + 0.001)["passed"]
    assert not judged(side(base), side(new, "NEW"), margin=pair["passes_from"] - 0.001)["passed"]


def test_clusters_are_what_counts():
    new = [0.0] * 6 + [1.0] * 2 + HALF[8:]
    alone = judged(side(HALF), side(new, "NEW"))
    together = judged(side(HALF, cluster="one"), side(new, "NEW", cluster="one"))
    assert alone["passed"]
    assert together["pairs"][0]["finding"] == "not_shown"
    assert "one cluster" in together["pairs"][0]["reasons"][0]


def test_clusters_that_weigh_as_few_cannot_show_that_nothing_fell():
    def of_sizes(sizes, name):
        clusters = [cluster for cluster, size in enumerate(sizes) for _ in range(size)]
        rows = [result(at, 1.0, cluster=of, answer=name) for at, of in enumerate(clusters)]
        return GateSide(name=name, rows=rows)

    def pair_of(*sizes):
        return judged(of_sizes(sizes, "BASE"), of_sizes(sizes, "NEW"), margin=0.45)["pairs"][0]

    assert pair_of(*[12] * 8)["finding"] == "not_worse"
    unequal = pair_of(40, 25, 15, 10, 8, 5, 4, 3)
    assert unequal["finding"] == "not_shown"
    assert "the clusters weigh as 4.5 equal ones" in unequal["reasons"][0]
    assert unequal["passes_from"] is None


def test_a_pass_over_clusters_names_what_it_does_not_guard():
    def of_clusters(cluster_of, name):
        rows = [result(at, at % 2, cluster=cluster_of(at), answer=name) for at in range(400)]
        return GateSide(name=name, rows=rows)

    def text_of(cluster_of):
        report = judged(of_clusters(cluster_of, "BASE"), of_clusters(cluster_of, "NEW"), margin=0.3)
        assert report["passed"]
        assert gate_text(report).split(": ", 1)[1] in gate_markdown(report).replace("\\", "")
        return gate_text(report)

    assert "7.2 % of all clusters is in none of these 40 in 1 of 20" in text_of(lambda at: f"v{at // 10}")
    crossed = text_of(lambda at: f'["scene{at // 10}","template{at % 10}"]')
    assert "400 samples in 40 clusters by one factor, 10 by another" in crossed
    assert "25.9 % of all clusters is in none of these 10 in 1 of 20" in crossed
    assert "Not guarded" not in text_of(lambda at: at)


def test_trials_that_only_new_lost_cannot_hide_a_fall():
    new = [None if at < 40 else score for at, score in enumerate(HALF)]
    report = judged(side(HALF), side(new, "NEW"))
    [pair] = report["pairs"]
    assert not report["passed"]
    assert pair["missing"] == {"base": 0.0, "new": pytest.approx(0.1)}
    assert any("have no score: at worst" in reason for reason in pair["reasons"])
    assert "10.0 % of NEW's trials have no score" in gate_text(report)


def test_one_arm_that_falls_fails_the_gate():
    rows = [result(at, score, arm=arm) for at, score in enumerate(HALF) for arm in "ab"]
    new = [result(at, 0.0 if arm == "b" else score, arm=arm) for at, score in enumerate(HALF) for arm in "ab"]
    report = judged(GateSide(name="B", rows=rows), GateSide(name="N", rows=new))
    assert [pair["finding"] for pair in report["pairs"]] == ["not_worse", "worse"]
    assert not report["passed"]
    assert "1 of 2 comparisons fail" in gate_text(report)
    assert judged(GateSide(name="B", rows=rows, arm="a"), GateSide(name="N", rows=new))["passed"]


def test_arms_of_other_names_are_compared_where_they_are_named():
    report = judged(side(HALF, arm="old"), side(HALF, "NEW", arm="new", answer="A"))
    assert report["pairs"][0]["label"] == "m / old → m / new"


def test_samples_and_repeats_that_only_one_side_has_are_left_out_and_counted():
    base = side(HALF)
    more = [
        *side(HALF[:300], "NEW").rows,
        *(result(at, 0.0, repeat=1) for at in range(300)),
        result(999, 0.0),
    ]
    report = judged(base, GateSide(name="NEW", rows=more, status="cancelled"))
    [pair] = report["pairs"]
    assert pair["samples"] == {"both": 300, "only_base": 100, "only_new": 1}
    assert pair["is_identical"]
    assert "did not complete (cancelled)" in gate_text(report)


@pytest.mark.parametrize(
    ("base", "new", "says"),
    [
        (side([1.0], benchmark="a"), side([1.0], benchmark="b"), "different benchmarks: a and b"),
        (side([1.0], scoring="strict"), side([1.0], scoring="official"), "different ways of scoring"),
        (
            side([1.0], arm="x"),
            GateSide(name="NEW", rows=side([1.0]).rows),
            "no arm 'x' in NEW; there are: a",
        ),
        (GateSide(name="BASE", rows=[]), side([1.0]), "BASE has no results"),
        (
            GateSide(name="B", rows=[result(1, 1.0)]),
            GateSide(name="N", rows=[result(2, 1.0)]),
            "no sample of",
        ),
        (
            GateSide(name="B", rows=[result(1, 1.0), result(1, 1.0, arm="b")]),
            GateSide(name="N", rows=[result(1, 1.0, arm="c")]),
            "name an arm of each",
        ),
    ],
)
def test_what_cannot_be_compared_is_refused(base, new, says):
    with pytest.raises(SpecError, match=says):
        judged(base, new)


def test_margins_relative_to_the_baseline_and_as_odds():
    new = [0.0, 0.0, *HALF[2:]]
    for margin, size in ((Margin(kind="relative", size=0.1), 0.05), (Margin(kind="odds", size=1.2), 0.0455)):
        [pair] = judged(side(HALF), side(new, "NEW"), margin=margin)["pairs"]
        assert pair["margin"] == pytest.approx(size, abs=1e-3)
        assert pair["finding"] == "not_worse"


def test_names_from_rows_are_text_in_markdown():
    rows = [result(at, score, model="m|`<b>`", answer="<script>\n|") for at, score in enumerate(HALF)]
    new = [result(at, 0.0, model="m|`<b>`", answer="<img>") for at, _ in enumerate(HALF)]
    text = gate_markdown(judged(GateSide(name="B", rows=rows), GateSide(name="N", rows=new)))
    assert "<script>" not in text
    assert "<img>" not in text
    assert "<b>" not in text


@pytest.mark.parametrize("name", ["100 samples, 60 %, margin 10", "8 clusters of 10, margin 10"])
def test_a_new_that_is_worse_by_the_margin_seldom_passes(name):
    worse, _, equal, *_ = row(STUDIES[name], rounds=60, seed=3)
    assert worse < 0.12  # 8 of 60 come once in 100 such tests at the level of 5 %
    assert equal > 3 * worse
