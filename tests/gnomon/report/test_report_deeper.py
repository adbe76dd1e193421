"""The report's deeper sections: traces side by side, steps, tools' worth, reliability, costs, the plan."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnomon.core.row import Row
from gnomon.report.html import render_html
from gnomon.report.report import Report
from gnomon.report.sections.flips import align
from gnomon.spec.job_spec import JobSpec
from gnomon.statistics.design import design
from gnomon.statistics.paired import ratio_of_means

Reporter = Callable[..., Report]
MakeRow = Callable[..., Row]
Pairs = Callable[..., Iterator[Row]]
MakeSpec = Callable[..., JobSpec]
EVIL = "<script>alert(1)</script>"


def reply(text: str, **more: Any) -> dict[str, Any]:
    return {"kind": "reply", "text": text, "tool_calls": [], **more}


def tool(name: str, observation: str = "1") -> dict[str, Any]:
    return {"kind": "tool", "name": name, "arguments": "{}", "observation": observation, "error": None}


def test_traces_stand_side_by_side_and_part_where_they_differ() -> None:
    one = {"steps": [reply("hm"), tool("bearing"), reply("A")]}
    other = {"steps": [reply("hm"), tool("bearing"), tool("distance"), reply("B")]}
    found = align(one, other)
    assert found is not None
    assert [row["same"] for row in found["steps"]] == [True, True, False, False]
    assert found["diverges_at"] == 2
    gap = found["steps"][2]
    assert gap["baseline"] is None
    assert gap["variant"] is not None
    assert gap["variant"]["title"] == "distance({})"


def test_equal_traces_never_part_and_lost_ones_are_not_aligned() -> None:
    trace = {"steps": [reply("A", tool_calls=[{"function": {"name": "x", "arguments": "{}"}}])]}
    found = align(trace, trace)
    assert found is not None
    assert found["diverges_at"] is None
    assert align(trace, None) is None


kinds = st.sampled_from(
    [reply("a"), reply("b"), tool("t"), tool("u"), tool("t", "2"), {"kind": "note", "text": ""}]
)


@given(st.lists(kinds, max_size=6), st.lists(kinds, max_size=6))
def test_no_step_is_lost_and_order_is_kept(left: list[Any], right: list[Any]) -> None:
    found = align({"steps": left}, {"steps": right})
    assert found is not None
    shown = [row["baseline"]["text"] for row in found["steps"] if row["baseline"]]
    assert shown == [step.get("text", step.get("observation")) for step in left]
    assert sum(row["variant"] is not None for row in found["steps"]) == len(right)


def test_a_flip_opens_both_traces_and_what_they_say_stays_text(report_of: Reporter, pairs: Pairs) -> None:
    def trace(_: str) -> Mapping[str, Any]:
        return {"steps": [reply(EVIL), tool(EVIL, EVIL)]}

    report = report_of(pairs([(0, 1)] * 3), trace=trace)
    [flip] = report["flips"]
    assert (flip["traced"], len(flip["samples"])) == (3, 3)
    assert flip["samples"][0]["aligned"] is not None
    page = render_html(report)
    assert "<script" not in page
    assert "alert(1)" in page


def test_arms_that_lose_unequally_get_no_headline_figure(report_of: Reporter, pairs: Pairs) -> None:
    report = report_of(pairs([(0, 1)] * 8 + [(1, 1)] * 22 + [(1, None)] * 10))
    [finding] = report["summary"]
    assert report["contrasts"][0]["withheld"]
    assert "no figure is given" in finding
    assert "26.7" not in finding


def test_a_sentence_names_both_scores(report_of: Reporter, pairs: Pairs) -> None:
    [finding] = report_of(pairs([(0, 1)] * 20 + [(1, 1)] * 20))["summary"]
    assert "100.0 % against 50.0 %" in finding


def test_needed_and_called_are_counted_apart(report_of: Reporter, row: MakeRow) -> None:
    cases = [(0, 1, 2), (0, 0, 0), (1, 1, 1), (1, 0, 0), (1, 1, 0)]
    rows = [
        made
        for sample, (raw, tools, calls) in enumerate(cases)
        for made in (row(sample, "raw", raw), row(sample, "tools", tools, tool_calls=calls))
    ]
    [found] = report_of(rows)["called_needed"]
    counts = {key: found[key]["n"] for key in found if key.startswith(("needed", "not_"))}  # type: ignore[literal-required]
    assert counts == {
        "needed_called": 1,
        "needed_not_called": 1,
        "not_needed_called": 1,
        "not_needed_not_called": 2,
    }
    assert found["not_needed_not_called"]["variant_mean"] == 0.5


def test_reliability_falls_with_k_and_needs_repeats(
    report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    random = np.random.default_rng(1)
    rows = [
        row(sample, arm, float(random.random() < rate), repeat=repeat)
        for sample in range(40)
        for arm, rate in (("raw", 0.5), ("tools", 0.9))
        for repeat in range(4)
    ]
    found = report_of(rows, spec=spec(repeats=4))["reliability"]
    for curve in found["curves"]:
        means = [point["mean"] for point in curve["points"]]
        assert [point["k"] for point in curve["points"]] == [1, 2, 3, 4]
        assert means == sorted(means, key=lambda mean: -(mean or 0))
    [change] = found["changes"]
    assert change["diff"] > 0.3
    [split] = found["variance"]
    assert split["within_samples"] > split["between_samples"]
    assert split["advice"] == "either"
    assert report_of([row(0, "raw", 1.0), row(0, "tools", 1.0)])["reliability"]["curves"] == []


def test_a_gain_has_a_price_unless_a_cost_is_unknown(report_of: Reporter, row: MakeRow) -> None:
    random = np.random.default_rng(2)
    rows = [
        made
        for sample in range(60)
        for made in (
            row(sample, "raw", 0.0, usd=0.001, wall_s=1.0),
            row(sample, "tools", float(random.random() < 0.6), usd=0.011, wall_s=2 + random.random()),
        )
    ]
    [gain] = report_of(rows)["frontier"]["gains"]
    rate = np.mean([one.score for one in rows if one.arm == "tools"])
    assert gain["per_usd"]["extra"] == pytest.approx(0.01)
    assert gain["per_usd"]["gain_per_unit"] == pytest.approx(rate / 0.01)
    ends = gain["per_second"]["ci95"]
    assert ends is not None
    assert ends[0] < (gain["per_second"]["gain_per_unit"] or 0) < ends[1]
    rows[1] = row(0, "tools", 1.0, usd=None)
    [unknown] = report_of(rows)["frontier"]["gains"]
    assert (unknown["per_usd"]["gain_per_unit"], unknown["per_usd"]["note"]) == (
        None,
        "some dollars are unknown",
    )


def test_what_lost_trials_cost_counts(report_of: Reporter, row: MakeRow) -> None:
    random = np.random.default_rng(5)
    rows = [
        made
        for sample in range(120)
        for made in (
            row(sample, "raw", float(random.random() < 0.2), usd=0.002),
            row(sample, "tools", None, usd=0.06, wall_s=9.0)
            if sample % 4 == 0
            else row(sample, "tools", float(random.random() < 0.8), usd=0.01),
        )
    ]
    frontier = report_of(rows)["frontier"]
    [gain] = frontier["gains"]
    assert gain["per_usd"]["extra"] == pytest.approx((30 * 0.06 + 90 * 0.01) / 120 - 0.002)
    tools = next(arm for arm in frontier["arms"] if arm["arm"] == "tools")
    assert tools["usd"] == pytest.approx((30 * 0.06 + 90 * 0.01) / 120)
    assert tools["wall_s"] == pytest.approx((30 * 9.0 + 90 * 0.5) / 120)
    [contrast] = [one for one in report_of(rows)["contrasts"] if one["scope"] == "all"]
    assert gain["per_usd"]["gain_per_unit"] == pytest.approx(contrast["diff"] / gain["per_usd"]["extra"])


def test_a_trial_that_never_began_makes_no_arm_cheaper(report_of: Reporter, row: MakeRow) -> None:
    rows = [row(sample, arm, 1.0, usd=0.01) for sample in range(20) for arm in ("raw", "tools")]
    rows[1] = row(0, "tools", None, stop_reason="budget", model_calls=0, usd=0.0, wall_s=0.0)
    prices = {arm["arm"]: arm["usd"] for arm in report_of(rows)["frontier"]["arms"]}
    assert prices == {"raw": pytest.approx(0.01), "tools": pytest.approx(0.01)}


@pytest.mark.parametrize(
    ("right", "usd", "note"),
    [
        (0.5, (0.010, 0.011), "whether it gains anything is not sure"),
        (0.95, (0.0001, 0.02), "whether it takes more dollars is not sure"),
        (0.95, (0.005, 0.02), ""),
    ],
)
def test_a_ratio_that_is_noise_is_not_named(
    report_of: Reporter, row: MakeRow, right: float, usd: tuple[float, float], note: str
) -> None:
    random = np.random.default_rng(3)
    rows = [
        made
        for sample in range(60)
        for made in (
            row(
                sample,
                "raw",
                float(random.random() < 0.5),
                usd=random.uniform(0, 0.02) if usd[0] < 0.001 else 0.002,
            ),
            row(sample, "tools", float(random.random() < right), usd=random.uniform(*usd)),
        )
    ]
    [gain] = report_of(rows)["frontier"]["gains"]
    assert gain["per_usd"]["note"] == note
    assert (gain["per_usd"]["gain_per_unit"] is None) == (gain["per_usd"]["ci95"] is None) == bool(note)


def test_the_ratios_interval_is_that_of_many_bootstrap_draws() -> None:
    random = np.random.default_rng(3)
    costs = random.uniform(1, 3, 300)
    gains = 0.1 * costs + random.normal(0, 0.2, 300)
    found = ratio_of_means(gains, costs, design(np.zeros(300, dtype=np.intp), np.arange(300)))
    drawn = random.integers(0, 300, (4000, 300))
    ratios = gains[drawn].mean(axis=1) / costs[drawn].mean(axis=1)
    assert found is not None
    assert found.ci95 == pytest.approx(tuple(np.quantile(ratios, [0.025, 0.975])), abs=0.003)
    assert (
        ratio_of_means(gains, random.normal(0, 1, 300), design(np.zeros(300, dtype=np.intp), np.arange(300)))
        is None
    )


ARMS: list[dict[str, Any]] = [
    {"name": "none", "agent": "react"},
    {"name": "b", "agent": "react", "tools": ["bearing"]},
    {"name": "s", "agent": "react", "tools": ["speed"]},
    {"name": "both", "agent": "react", "tools": ["bearing", "speed"]},
]
WORTH = {"none": 0.0, "b": 0.5, "s": 0.5, "both": 0.5}  # either will do


def stand_ins(row: MakeRow) -> list[Row]:
    return [
        row(sample, arm, float(sample < 20) if worth else 0.0)
        for sample in range(40)
        for arm, worth in WORTH.items()
    ]


def test_a_stand_in_hides_a_tool_from_leave_one_out_but_not_from_shapley(
    report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    plan = {"players": {"b": ["bearing"], "s": ["speed"]}}
    given_spec = spec(arms=ARMS, analysis={"attribution": plan})
    report = report_of(stand_ins(row), spec=given_spec)
    for tool_report in report["tools"]:
        assert tool_report["leave_one_out"] == pytest.approx(0.0)
        assert tool_report["add_one_in"] == pytest.approx(0.5)
        assert tool_report["shapley"] == pytest.approx(0.25)
    [attribution] = report["attributions"]
    assert attribution["total"] == pytest.approx(0.5)
    assert attribution["gap"] == pytest.approx(0.0, abs=1e-12)
    assert "What each tool adds" in render_html(report)


def test_a_coalition_without_an_arm_makes_no_attribution(
    report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    plan = {"players": {"b": ["bearing"], "s": ["speed"]}}
    rows = [one for one in stand_ins(row) if one.arm != "s"]
    report = report_of(
        rows, spec=spec(arms=[arm for arm in ARMS if arm["name"] != "s"], analysis={"attribution": plan})
    )
    assert report["attributions"] == []


def test_the_steps_of_a_waterfall_add_up(report_of: Reporter, row: MakeRow, spec: MakeSpec) -> None:
    random = np.random.default_rng(4)
    chain = ["none", "b", "both"]
    rows = [
        row(sample, arm, None if random.random() < 0.01 else float(random.random() < rate))
        for sample in range(80)
        for arm, rate in zip(chain, (0.2, 0.5, 0.7), strict=True)
    ]
    arms = [arm for arm in ARMS if arm["name"] in chain]
    report = report_of(rows, spec=spec(arms=arms, analysis={"chain": chain}))
    [found] = report["waterfalls"]
    assert sum(step["diff"] for step in found["steps"]) == pytest.approx(found["end"] - found["start"])
    assert [step["variant"] for step in found["steps"]] == chain[1:]
    assert "step by step" in render_html(report)


def test_the_plan_says_where_the_job_has_left_it(report_of: Reporter, row: MakeRow, spec: MakeSpec) -> None:
    rows = [row(0, "b", 1.0), row(0, "none", 0.0), row(1, "stray", 1.0)]
    report = report_of(
        rows, spec=spec(arms=ARMS, repeats=2, analysis={"cluster": "none"}), planned=16, status="cancelled"
    )
    said = " | ".join(report["plan"]["deviations"])
    for part in ("no primary comparison", "independent", "13 of 16", "m / stray", "fewer than 2 repeats"):
        assert part in said
    clean = report_of([row(0, "raw", 1.0), row(0, "tools", 1.0)])["plan"]
    assert clean["deviations"] == []


def test_several_findings_make_one_sentence_a_model(
    report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    arms = [{"name": name, "agent": "react"} for name in ("raw", "facts", "live")]
    steps = [("raw", "facts", "the data"), ("facts", "live", "the calculation")]
    contrasts = [
        {"baseline": one, "variant": other, "isolates": what, "primary": True} for one, other, what in steps
    ]
    rows = [
        row(sample, arm, float(arm == "live")) for sample in range(40) for arm in ("raw", "facts", "live")
    ]
    report = report_of(rows, spec=spec(arms=arms, analysis={"contrasts": contrasts}))
    (answer,) = report["answers"]
    assert answer.startswith("quiz, m: the calculation (+100.0 points) helps")
    assert answer.endswith("it can’t be told whether the data (0.0 points) changes anything.")
    page = render_html(report)
    assert page.index("the calculation (+100.0 points) helps") < page.index('class="finding')
    one = report_of([row(0, "raw", 1.0), row(0, "tools", 1.0)])
    assert one["answers"] == [f"quiz: {one['summary'][0]}"]
    alike = [{**contrast, "isolates": "a result"} for contrast in contrasts]
    (answer,) = report_of(rows, spec=spec(arms=arms, analysis={"contrasts": alike}))["answers"]
    assert "a result (live against facts, +100.0 points) helps" in answer
    assert answer.endswith("whether a result (facts against raw, 0.0 points) changes anything.")


@pytest.mark.parametrize(("spent", "says"), [(90, ""), (60, "not equal"), (None, "tokens are unknown")])
def test_matched_compute_says_where_tokens_do_not_match(
    spent: int | None, says: str, report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    arms = [{"name": name, "agent": "react"} for name in ("matched", "tools")]
    rows = [
        row(sample, arm, 1.0, prompt_tokens=prompt, completion_tokens=0)
        for sample in range(3)
        for arm, prompt in (("matched", spent), ("tools", 100))
    ]
    plan = report_of(rows, spec=spec(arms=arms, analysis={"preset": "matched_compute"}))["plan"]
    assert len(plan["deviations"]) == bool(says)
    assert says in "".join(plan["deviations"])


def test_pooled_cells_lie_between_their_own_difference_and_the_common_one(
    report_of: Reporter, many: Callable[..., Iterator[Row]]
) -> None:
    report = report_of(many(samples=240, arms=("raw", "tools"), seed=5))
    [pooled] = report["pooled"]
    own = {one["scope"]: one["diff"] for one in report["contrasts"]}
    for cell in pooled["cells"]:
        low, high = sorted((own[cell["scope"]] or 0.0, pooled["mean"]))
        assert low - 1e-9 <= cell["diff"] <= high + 1e-9


def test_a_difference_besides_the_factor_stands_in_the_headline(
    report_of: Reporter, pairs: Pairs, spec: MakeSpec
) -> None:
    arms = [
        {"name": "raw", "agent": "direct"},
        {"name": "tools", "agent": "react", "tools": ["bearing"], "show": ["map"]},
    ]
    report = report_of(pairs([(0, 1)] * 30), spec=spec(arms=arms))
    assert report["contrasts"][0]["also_differs"] == ["show"]
    assert "Beware: the arms also differ in show." in report["summary"][0]


def test_an_arm_with_more_repeats_than_another_is_a_whole_design(
    report_of: Reporter, row: MakeRow, spec: MakeSpec
) -> None:
    arms = [{**ARMS[0], "name": "raw", "repeats": 5}, {**ARMS[0], "name": "tools"}]
    rows = [
        row(sample, arm, float(score), repeat=repeat)
        for sample in range(30)
        for arm, repeats in (("raw", 5), ("tools", 1))
        for repeat in range(repeats)
        for score in [repeat == sample % 5 if arm == "raw" else sample % 10 > 0]
    ]
    report = report_of(rows, spec=spec(arms=arms, analysis={"cluster": "none"}), planned=180)
    [contrast] = [each for each in report["contrasts"] if each["scope"] == "all"]
    assert (contrast["verdict"], contrast["withheld"], contrast["n"]) == ("helps", False, 30)
    assert contrast["diff"] == pytest.approx(0.9 - 0.2), "each sample weighs the same"
    assert report["denominators"]["trials"]["pending"] == 0
    assert [(arm["planned"], arm["trials"]["planned"]) for arm in report["arms"]] == [(30, 150), (30, 30)]
    assert [len(curve["points"]) for curve in report["reliability"]["curves"]] == [5, 1]
    assert report["reliability"]["changes"] == []
    assert "repeats: raw 5, tools 1" in report["methods"]["paragraph"]
    assert "repeats: raw 5, tools 1" in render_html(report)
    assert not any("repeats" in text for text in report["plan"]["deviations"])
