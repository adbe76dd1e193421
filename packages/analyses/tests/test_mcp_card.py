"""The arms of a server's card."""

import pytest

from gnomon.core.errors import SpecError
from gnomon.spec.preset import ArmPlan, plan_arms
from gnomon_analyses.presets.mcp_card import MOST_PLAYERS
from gnomon_tools.core.toolbox import TOOLS


def plan(*tools: str, **options: object) -> ArmPlan:
    return plan_arms("mcp_card", {"tools": list(tools), **options}, benchmark="worlds")


def names(planned: ArmPlan) -> list[str]:
    return [arm.name for arm in planned.arms]


def test_one_tool_has_no_sets_between_none_and_all() -> None:
    planned = plan("distance")
    assert names(planned) == ["raw", "live", "schema_only", "placebo", "explicit_faults", "silent_faults"]
    assert planned.attribution is None


def test_each_tool_is_left_out_and_the_verdict_alone_is_primary() -> None:
    planned = plan("distance", "interpolate", "lookup")
    lacking = {pair.baseline for pair in planned.contrasts if pair.variant == "live"}
    assert {"all but distance", "all but interpolate", "all but lookup"} <= lacking
    assert [(pair.baseline, pair.variant) for pair in planned.contrasts if pair.primary] == [("raw", "live")]
    assert planned.chain == ("raw", "schema_only", "placebo", "live")
    assert planned.attribution is not None
    assert planned.attribution.players == {name: [name] for name in ("distance", "interpolate", "lookup")}


def test_no_two_sound_arms_have_the_same_tools() -> None:
    planned = plan("distance", "interpolate", "lookup", "speed", "bearing", "dwell")
    sound = [arm.tools for arm in planned.arms if arm.results == "live" and not arm.faults]
    assert len(set(sound)) == len(sound) - 1  # schema_only lists all tools too


def test_tools_of_one_server_are_called_by_their_own_names() -> None:
    planned = plan("calc__add", "calc__root")
    assert names(planned)[:4] == ["raw", "live", "only add", "only root"]
    assert planned.arms[1].tools == ("calc__add", "calc__root")
    mixed = plan("calc__add", "distance")
    assert "only calc__add" in names(mixed)


def test_more_tools_than_players_are_grouped_and_the_notes_say_how() -> None:
    tools = [f"files__{verb}_{noun}" for verb in ("list", "read", "write") for noun in "abcd"]
    planned = plan(*tools)
    assert planned.attribution is not None
    assert sorted(planned.attribution.players) == ["list_a … list_d", "read_a … read_d", "write_a … write_d"]
    assert "list_a, list_b" in planned.notes[0]
    assert sum(name.startswith("all but ") and "…" not in name for name in names(planned)) == len(tools)
    many = plan(*list(TOOLS.names())[:40])
    assert many.attribution is not None
    assert len(many.attribution.players) == MOST_PLAYERS


def test_without_shapley_values_it_takes_one_arm_a_tool_and_six_more() -> None:
    planned = plan("distance", "interpolate", "lookup", "speed", shapley=False)
    assert len(planned.arms) == 4 + 6
    assert planned.attribution is None


def test_groups_of_the_spec_are_kept() -> None:
    planned = plan(
        "distance", "interpolate", "lookup", groups={"space": ["distance", "lookup"], "time": ["interpolate"]}
    )
    assert planned.attribution is not None
    assert planned.attribution.players == {"space": ["distance", "lookup"], "time": ["interpolate"]}


def test_tools_that_measure_nothing_have_no_silent_faults() -> None:
    planned = plan("lies_in")
    assert "silent_faults" not in names(planned)
    assert "silent" in planned.notes[0]


def test_more_arms_than_a_report_can_bear_are_refused() -> None:
    with pytest.raises(SpecError, match="at most 256"):
        plan(*list(TOOLS.names())[:8], orders=1000)


@pytest.mark.parametrize("preset", ["mcp_card", "ladder"])
def test_an_outside_agent_is_not_forbidden_to_call_and_the_notes_say_so(preset: str) -> None:
    planned = plan_arms(
        preset, {"tools": ["distance"], "agent": {"http": "http://127.0.0.1:1"}}, benchmark="worlds"
    )
    assert {arm.tool_choice for arm in planned.arms} == {"auto"}
    assert planned.chain[:3] == ("raw", "placebo", "live")
    arms = set(names(planned))
    assert {name for pair in planned.contrasts for name in (pair.baseline, pair.variant)} <= arms
    assert planned.notes == (
        "no schema_only arm: an agent from outside cannot be forbidden to call the tools it is handed",
    )
