"""Every preset that is found makes arms whose contrasts differ in what they name, and in no more."""

from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AGENTS, model_calls
from gnomon.core.arm import diff
from gnomon.core.errors import SpecError
from gnomon.spec.all_tools import with_tools_that_fit
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import PRESETS, plan_arms
from gnomon.spec.rules import parse_spec
from gnomon.statistics.coalitions import coalitions
from gnomon_conformance import checks
from gnomon_published.gazetteer.japan import Gazetteer
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.scene.scene import Scene
from gnomon_trips.itinerary.trip import Trip

DOCS = Path(__file__).parents[2] / "docs" / "presets.md"


def needed(name: str) -> dict[str, Any]:
    """The options without a default, from the preset's own example."""
    preset = PRESETS.get(name)
    fields = preset.options.model_fields
    return {option: value for option, value in preset.example.items() if fields[option].is_required()}


VARIED: list[tuple[str, dict[str, Any]]] = [
    *((name, needed(name)) for name in PRESETS.names()),
    ("blind", {"tools_too": True}),
    ("subsets", {"groups": {"a": ["speed"], "b": ["distance", "bearing"], "c": ["lookup"]}}),
    ("leave_one_out", {"groups": {"a": ["speed"], "b": ["distance", "bearing"]}, "max_tool_calls": 3}),
    ("dose", {"calls": [0, 30]}),
    ("choice", {"tools": ["speed"], "agent": "plan", "show": ["map"]}),
]


def spec_of(name: str, options: dict[str, Any], **more: Any) -> JobSpec:
    given = {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": {"preset": name, **options}}
    return parse_spec({**given, **more}, agents=AGENTS.names())


@pytest.mark.parametrize("name", PRESETS.names())
def test_a_preset_says_what_it_is_and_stands_in_the_documents_with_its_price(name: str) -> None:
    preset = PRESETS.get(name)
    assert preset.name == name
    for check in checks(preset):
        check()
    plan = plan_arms(name, preset.example, benchmark="worlds")
    ends = [model_calls(arm) for arm in plan.arms]
    least, most = (sum(side) for side in zip(*ends, strict=True))
    lines = DOCS.read_text().splitlines()
    row = next((line for line in lines if line.startswith(f"| [`{name}`]")), "")
    assert row, f"docs/presets.md has no row of {name}: run `make docs`"
    assert f"| {len(ends)} | {least} to {most} |" in row or f"| {len(ends)} | {least} |" in row


@pytest.mark.parametrize(("name", "options"), VARIED)
class TestPlan:
    def test_a_contrast_differs_in_the_factor_it_names_and_in_nothing_else(
        self, name: str, options: dict[str, Any]
    ) -> None:
        spec = spec_of(name, options)
        contrasts = spec.contrasts()
        assert any(one.primary for one in contrasts) or len(spec.arms) == 1
        for one in contrasts:
            baseline, variant = spec.arm(one.baseline), spec.arm(one.variant)
            assert one.isolates
            assert one.confounds(baseline, variant) == ()
            assert {found.field for found in diff(baseline, variant)} == set(one.factor)

    def test_all_arms_differ_and_all_are_compared_or_attributed(
        self, name: str, options: dict[str, Any]
    ) -> None:
        spec = spec_of(name, options)
        arms = [spec.arm(arm.name) for arm in spec.arms]
        assert all(diff(one, other) for at, one in enumerate(arms) for other in arms[:at])
        compared = {arm for one in spec.contrasts() for arm in (one.baseline, one.variant)}
        assert spec.analysis.attribution or len(arms) == 1 or compared == {arm.name for arm in arms}

    def test_the_frozen_spec_holds_arms_and_plan_and_reads_the_same_again(
        self, name: str, options: dict[str, Any]
    ) -> None:
        spec = spec_of(name, options)
        assert spec.analysis.preset == name
        assert parse_spec(spec.model_dump(mode="json"), agents=AGENTS.names()) == spec

    def test_it_serves_a_benchmark_that_knows_no_intermediate_steps(
        self, name: str, options: dict[str, Any]
    ) -> None:
        spec = spec_of(name, options, benchmark="gtr-bench", data="somewhere")
        assert not any("oracle" in arm.show for arm in spec.arms)


def test_the_ladder_says_where_the_true_steps_are_not_known() -> None:
    assert "oracle" in [arm.name for arm in spec_of("ladder", {}).arms]
    spec = spec_of("ladder", {}, benchmark="gtr-bench", data="somewhere")
    assert "oracle" not in [arm.name for arm in spec.arms]
    assert spec.analysis.notes == ["no oracle arm: gtr-bench does not know the truth of intermediate steps"]


def test_what_the_spec_says_of_its_analysis_goes_before_the_preset() -> None:
    spec = spec_of("ladder", {}, analysis={"primary": ["raw", "live"], "margin": 0.1})
    assert [one.variant for one in spec.contrasts() if one.primary] == ["live"]
    assert spec.analysis.margin == 0.1
    assert len(spec.contrasts()) == 9


def test_a_group_with_a_name_that_no_report_could_print_is_refused() -> None:
    with pytest.raises(SpecError, match="has 201 characters; allowed: 80"):
        plan_arms("leave_one_out", {"groups": {"g" * 201: ["speed"]}}, benchmark="worlds")


def test_without_a_lone_tool_is_without_any_so_none_too_adds_no_arm() -> None:
    alone, beside = (
        spec_of("leave_one_out", {"tools": ["speed"], "none_too": none_too}) for none_too in (False, True)
    )
    assert beside == alone
    assert [arm.tools for arm in beside.arms] == [("speed",), ()]
    assert len(beside.analysis.contrasts) == 1
    of_two = spec_of("leave_one_out", {"tools": ["speed", "distance"], "none_too": True})
    assert [len(arm.tools) for arm in of_two.arms] == [0, 2, 1, 1]


def test_few_groups_make_every_set_an_arm_and_many_those_that_drawn_orders_pass() -> None:
    groups = {name: [tool] for name, tool in zip("abcdef", TOOLS.names(), strict=False)}
    few = spec_of("subsets", {"groups": {name: groups[name] for name in "abcd"}})
    many = spec_of("subsets", {"groups": groups, "orders": 4})
    for spec, arms in ((few, 16), (many, None)):
        asked = spec.analysis.attribution
        assert asked is not None
        sets = coalitions(list(asked.players), asked.orders)
        assert [asked.coalition(spec.arm(arm.name).tools) for arm in spec.arms] == list(sets)
        assert arms in (None, len(spec.arms))
    assert many.analysis.attribution is not None
    orders = many.analysis.attribution.orders
    assert [order[::-1] for order in orders[::2]] == orders[1::2]
    assert len(many.arms) <= 4 * 5 + 2


def test_all_tools_are_those_that_the_samples_can_serve() -> None:
    for benchmark, offered in (("worlds", Scene), ("gtr-bench", Scene), ("vir-bench", Gazetteer)):
        spec = spec_of("choice", {}, benchmark=benchmark, data=None if benchmark == "worlds" else "somewhere")
        needs = {tool.needs for tool in spec.arm("auto").toolset()}
        assert offered in needs
        assert Trip not in needs


def test_all_tools_of_an_arm_are_those_that_fit_where_the_benchmark_says_which() -> None:
    def tools(benchmark: str, **select: object) -> list[str] | str:
        arms = [{"name": "a", "agent": "react", "tools": "all"}]
        written = {"benchmark": benchmark, "select": select, "arms": arms}
        spelled: list[str] | str = with_tools_that_fit(written, find_file=no_file)["arms"][0]["tools"]
        return spelled

    assert tools("judging") == "all"
    assert {TOOLS.get(name).needs for name in tools("worlds")} == {Scene}
    assert {TOOLS.get(name).needs for name in tools("worlds", frames=4)} == {Scene, Footage}
    assert {TOOLS.get(name).needs for name in tools("sti-bench")} == {Footage, None}
    assert {TOOLS.get(name).needs for name in tools("itinerary")} == {Trip}
    with pytest.raises(SpecError, match=r"no tool fits plan-pairs") as refused:
        tools("plan-pairs")
    assert refused.value.field == "arms.0.tools"


def no_file(path: str, field: str) -> Path:
    raise AssertionError(f"{field} names no file: {path}")


def test_doses_never_run_out_of_turns() -> None:
    assert {arm.max_turns for arm in spec_of("dose", {"calls": [0, 30]}).arms} == {32}


@pytest.mark.parametrize(
    ("arms", "field", "says"),
    [
        ({"preset": "lader"}, "arms.preset", "ladder"),
        ({}, "arms.preset", "ladder"),
        ({"preset": ["ladder"]}, "arms.preset", "ladder"),
        ({"preset": "ladder", "rate": 1}, "arms.rate", "allowed here: agent, tools"),
        ({"preset": "ladder", "tools": ["fly"]}, "arms.tools", "distance"),
        ({"preset": "ladder", "tools": "none"}, "arms.tools", "list"),
        ({"preset": "ladder", "agent": "magic"}, "arms.0.agent", "react"),
        ({"preset": "matched_compute"}, "arms.tokens", "required"),
        ({"preset": "faults", "rate": 2}, "arms.rate", "less than or equal to 1"),
        ({"preset": "dose", "calls": [2, 1]}, "arms.calls", "rise"),
        ({"preset": "scaffold", "agents": ["react"]}, "arms.agents", "at least 2"),
        ({"preset": "scaffold", "agents": ["react", "react"]}, "arms.agents", "twice"),
        ({"preset": "subsets", "orders": 3}, "arms.orders", "multiple of 2"),
        ({"preset": "subsets", "tools": ["speed"]}, "arms.groups", "two groups"),
        ({"preset": "subsets", "orders": 1000}, "arms.orders", "at most 256"),
        ({"preset": "subsets", "groups": {"a": ["speed"], "b": ["speed"]}}, "arms.groups", "two groups"),
        ({"preset": "subsets", "groups": {"a": []}}, "arms.groups", "empty"),
        ({"preset": "subsets", "groups": {"a": ["fly"]}}, "arms.groups", "distance"),
    ],
)
def test_a_bad_preset_names_the_field_and_what_is_allowed(
    arms: dict[str, Any], field: str, says: str
) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(
            {"benchmark": "worlds", "models": [{"id": "reference"}], "arms": arms}, agents=AGENTS.names()
        )
    assert caught.value.field == field
    assert says in caught.value.message


def test_a_preset_for_an_unknown_benchmark_names_the_benchmark() -> None:
    with pytest.raises(SpecError) as caught:
        spec_of("ladder", {}, benchmark="gtr")
    assert caught.value.field == "benchmark"
