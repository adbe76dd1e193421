"""Two arms are told apart by everything that a model, or a reader, could notice."""

from typing import Any

import pytest

from gnomon.core.arm import FACTORS, Arm, Contrast, Faults, Replay, diff, differences
from gnomon.core.errors import SpecError
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.rules import parse_spec
from gnomon_tools.core.toolbox import TOOLS

ONE = Arm(name="one", agent="react", tools=("speed", "distance"))
CHANGES: dict[str, Any] = {
    "agent": "plan",
    "tools": ("speed",),
    "tool_choice": "required",
    "max_turns": 3,
    "max_tool_calls": 3,
    "max_tokens": 100,
    "max_usd": 0.5,
    "show": ("map",),
    "results": "neutral",
    "transform": "rotate",
    "replay": Replay(job="j_1", arm="tools"),
    "faults": Faults(kind="silent", lasting="permanent", rate=0.2),
    "wording": "plain",
    "instructions": "Measure first.",
    "tool_names": "renamed",
    "tool_order": "shuffled",
    "confidence": True,
    "conditions": {"fog": {"metres": 50}},
}


def changed(**changes: Any) -> Arm:
    """ONE with other values, read as a spec's are."""
    return Arm(**{**dict(ONE), **changes})


def test_every_field_of_an_arm_is_tried_here() -> None:
    assert set(CHANGES) == set(FACTORS) == set(Arm.model_fields) - {"name", "contract", "cassette", "repeats"}


@pytest.mark.parametrize("field", FACTORS)
def test_whatever_differs_is_listed_with_both_values(field: str) -> None:
    other = changed(name="other", **{field: CHANGES[field]})
    (found,) = diff(ONE, other)
    assert found.field == field
    assert found.baseline != found.variant
    assert Contrast(baseline="one", variant="other", factor=(field,)).confounds(ONE, other) == ()
    rest = tuple(name for name in FACTORS if name != field)
    assert Contrast(baseline="one", variant="other", factor=rest).confounds(ONE, other) == (found,)


def test_names_and_orders_are_no_difference() -> None:
    assert differences(ONE, changed(name="x", tools=("distance", "speed"))) == []
    assert differences(ONE, changed(show=tuple(reversed(ONE.show)))) == []


def test_the_same_tools_described_otherwise_are_a_difference() -> None:
    one, other = changed(contract="aaa"), changed(contract="bbb")
    assert differences(one, other) == ["contract"]
    assert Contrast(baseline="one", variant="other", factor=("tools",)).confounds(one, other)


def test_unless_told_otherwise_having_tools_is_the_treatment_and_what_is_shown_is_not() -> None:
    raw = Arm(name="raw", agent="direct", show=("media",))
    found = Contrast(baseline="raw", variant="one").confounds(raw, ONE)
    assert [one.field for one in found] == ["show"]


GIVEN: dict[str, Any] = {
    "benchmark": "worlds",
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": "all"}],
}
AGENTS = ("direct", "plan", "react", "text-react", "vote")


def test_a_frozen_spec_names_its_tools_and_their_contract_and_reads_the_same_again() -> None:
    spec = parse_spec(GIVEN, agents=AGENTS)
    tools = spec.arm("tools")
    assert tools.contract == tools.toolset_hash != ""
    assert spec.model_dump(mode="json")["arms"][1]["tools"] == list(tools.tools)
    assert parse_spec(spec.model_dump(mode="json"), agents=AGENTS) == spec


def test_an_arm_holds_names_and_is_stored_with_what_its_hash_is_made_of() -> None:
    every = Arm.model_validate({"name": "a", "agent": "react", "tools": "all"})
    assert every.tools == TOOLS.names()
    assert every.model_dump(mode="json")["tools"] == list(TOOLS.names())
    raw = Arm.model_validate({"name": "a", "agent": "react", "tools": "none"})
    assert raw.tools == ()
    assert raw.model_dump(mode="json")["tools"] == "none"
    assert raw.frozen(raw.toolset_hash).model_dump(mode="json")["tools"] == []
    assert Arm(name="a", agent="react", tools=("speed", "distance", "speed")).tools == ("distance", "speed")


# Written by earlier versions: a job that was frozen, one that was run elsewhere.
FROZEN = (
    '{"name":"","benchmark":"worlds","data":null,"select":{"tasks":["GeoLocation"],"scenes":[],"limit":3,'
    '"seed":0,"request":null,"frames":null,"fps":null,"language":null,"together":false},'
    '"protocol":"guarded","decoding":{},"scoring":"strict","variant":null,"models":[{"id":"reference",'
    '"name":"","api_base":null,"api_key_env":null,"api":"chat","temperature":null,"max_tokens":null,'
    '"price":null,"pictures":true,"rate":null,"client":"auto","reasoning_history":"auto",'
    '"prompt_cache":"auto","options":{}}],"arms":[{"name":"b","agent":"react","tools":["gone","speed"],'
    '"tool_choice":"auto","max_turns":24,"max_tool_calls":12,"max_tokens":null,"max_usd":null,'
    '"show":["map"],"results":"live","faults":{"kind":"silent","lasting":"transient","rate":0.3},'
    '"contract":"abc"}],"repeats":1,"concurrency":64,"preflight":true,"cache":true,"keep_reasoning":true,'
    '"queue":"default","priority":"normal","limits":{"usd":null,"tokens":null,"trial_seconds":300.0},'
    '"analysis":{"primary":null,"cluster":"auto","margin":0.05,"contrasts":[{"baseline":"b","variant":"c",'
    '"isolates":"","factor":["tools"],"primary":true}],"chain":[],"attribution":null,"preset":"","notes":[]}}'
)
ELSEWHERE = FROZEN.replace('["gone","speed"]', '"none"').replace('"contract":"abc"', '"contract":""')


@pytest.mark.parametrize("stored", [FROZEN, ELSEWHERE], ids=["frozen", "elsewhere"])
def test_a_stored_spec_is_stored_again_to_the_letter(stored: str) -> None:
    spec = JobSpec.model_validate_json(stored)
    assert spec.model_dump_json() == stored
    assert spec.arms[0].faults == Faults(kind="silent")
    assert spec.contrasts()[0].factor == ("tools",)


def test_a_spec_may_demand_a_contract_and_is_refused_where_tools_are_others() -> None:
    arms = [GIVEN["arms"][0], {**GIVEN["arms"][1], "contract": "0123456789ab"}]
    with pytest.raises(SpecError, match="not what its tools offer here") as caught:
        parse_spec({**GIVEN, "arms": arms}, agents=AGENTS)
    assert caught.value.field == "arms.1.contract"


@pytest.mark.parametrize(
    ("arm", "field", "says"),
    [
        ({"faults": {"kind": "loud"}}, "arms.0.faults.kind", "'explicit' or 'silent'"),
        ({"faults": {"kind": "silent", "rate": 0}}, "arms.0.faults.rate", "greater than 0"),
        ({"results": "none"}, "arms.0.results", "'live', 'neutral' or 'other_scene'"),
        ({"show": ["everything"]}, "arms.0.show.0", "'oracle'"),
    ],
)
def test_a_bad_arm_names_the_field_and_what_is_allowed(arm: dict[str, Any], field: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec({**GIVEN, "arms": [{"name": "raw", "agent": "direct", **arm}]}, agents=AGENTS)
    assert caught.value.field == field
    assert says in caught.value.message


def test_true_steps_are_refused_where_the_benchmark_does_not_know_them() -> None:
    arms = [{"name": "raw", "agent": "direct", "show": ["media", "oracle"]}]
    assert parse_spec({**GIVEN, "arms": arms}, agents=AGENTS).arms[0].show == ("media", "oracle")
    with pytest.raises(SpecError, match="does not know") as caught:
        parse_spec({**GIVEN, "benchmark": "gtr-bench", "data": "x", "arms": arms}, agents=AGENTS)
    assert caught.value.field == "arms.0.show"


@pytest.mark.parametrize(
    ("analysis", "field"),
    [
        ({"contrasts": [{"baseline": "raw", "variant": "cooked"}]}, "analysis.contrasts"),
        ({"contrasts": [{"baseline": "raw", "variant": "raw"}]}, "analysis.contrasts"),
        (
            {"contrasts": [{"baseline": "raw", "variant": "tools", "factor": ["colour"]}]},
            "analysis.contrasts.0.factor",
        ),
        ({"chain": ["raw", "cooked"]}, "analysis.chain"),
    ],
)
def test_a_plan_over_arms_that_are_not_there_is_refused(analysis: dict[str, Any], field: str) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec({**GIVEN, "analysis": analysis}, agents=AGENTS)
    assert caught.value.field == field


def test_declared_contrasts_replace_the_usual_ones_and_the_declared_pair_alone_is_primary() -> None:
    usual = parse_spec(GIVEN, agents=AGENTS).contrasts()
    assert [(one.baseline, one.variant, one.primary) for one in usual] == [("raw", "tools", True)]
    analysis = {
        "primary": ["raw", "tools"],
        "contrasts": [{"baseline": "tools", "variant": "raw", "factor": ["tools"], "primary": True}],
    }
    found = parse_spec({**GIVEN, "analysis": analysis}, agents=AGENTS).contrasts()
    assert [(one.baseline, one.variant, one.primary) for one in found] == [
        ("raw", "tools", True),
        ("tools", "raw", False),
    ]


def test_fields_at_a_default_of_today_are_not_stored() -> None:
    stored = Arm(name="a", agent="react").model_dump(mode="json")
    assert not stored.keys() & {"wording", "tool_names", "tool_order", "confidence"}
    asked = Arm(name="a", agent="react", wording="plain", confidence=True)
    assert Arm.model_validate(asked.model_dump(mode="json")) == asked
