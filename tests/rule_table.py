"""For each rule a spec that breaks it and no earlier one, with the field and words of the refusal."""

import shutil
from pathlib import Path
from typing import Any, NamedTuple

from gnomon_tools.servers.cassette import RecordedCall, cassette_lines
from gnomon_tools.servers.listing import ListedTool, Listing
from gnomon_tools.servers.server_spec import McpServer, ToolServer
from gnomon_worlds.generate import generate
from tests.published_clips import publish_urban

SPEC: dict[str, Any] = {
    "benchmark": "worlds",
    "select": {"limit": 4},
    "models": [{"id": "reference"}],
    "arms": [{"name": "raw", "agent": "direct"}, {"name": "tools", "agent": "react", "tools": ["speed"]}],
}
ARM = SPEC["arms"][0]
PUBLISHED = "the published folder"  # stands for a folder that the test makes
MAPS = "published maps, without their scenes"  # likewise
CLIPS = {"benchmark": "urbanvideo-bench", "data": PUBLISHED, "select": {}}
OWN = "a file of one's own questions"  # likewise
CASSETTE = "a cassette of other questions"  # likewise
MATCHED = {"preset": "matched_compute", "tokens_from": "j_none"}
MANY_ARMS = [{**ARM, "name": f"arm {number}"} for number in range(200)]
MANY_MODELS = [{"id": "reference", "name": f"model {number}"} for number in range(11)]
HILLS = ToolServer(
    mcp=McpServer(command=["hills"]),
    listing=Listing(tools=[ListedTool(shown="hills__height", name="height", parameters={"type": "object"})]),
)
HILL_CALL = RecordedCall(
    sample="hill 7",
    tool="hills__height",
    arguments="{}",
    n=0,
    model="m",
    arm="tools",
    repeat=0,
    under="live",
    result="120 m",
)


class Case(NamedTuple):
    """What is changed in SPEC, or stands in its place; the field of the refusal, and words of it."""

    change: Any
    field: str
    words: str


CASES: dict[str, Case] = {
    "mapping": Case([SPEC], "spec", "a spec has fields, such as `benchmark: worlds`; this has none"),
    "keys": Case(
        {"models": [{"id": "openai/m", "api_key_env": "sk-1234"}]},
        "models.0.api_key_env",
        "is no name of a variable, and is not shown here",
    ),
    "sizes": Case({"variant": "x" * 1_001}, "variant", "has 1,001 characters; allowed: 1,000"),
    "token_budget": Case({"arms": MATCHED}, "arms.tokens_from", "no job 'j_none'"),
    "servers": Case(
        {"arms": [{**ARM, "agent": "react", "tools": [{"mcp": {"command": []}}]}]},
        "arms.0.tools.0.mcp.command",
        "at least 1 entry",
    ),
    "preset": Case({"arms": {"preset": "lader"}}, "arms.preset", "no preset 'lader'; did you mean 'ladder'?"),
    "fields": Case({"repeats": 0}, "repeats", "greater than or equal to 1"),
    "labels": Case({"name": "a\x07"}, "name", "holds a control character"),
    "pairings": Case({"models": MANY_MODELS, "arms": MANY_ARMS}, "arms", "2,200 pairs of a model and an arm"),
    "plugins": Case(
        {"plugins": {"tools/speed": {"distribution": "speeds", "version": "2.1", "contract": "0" * 12}}},
        "plugins.tools/speed",
        "distribution '' here, 'speeds' in the job; version '' here, '2.1' in the job",
    ),
    "benchmark": Case({"benchmark": "gtr"}, "benchmark", "gtr-bench"),
    "own_files": Case(
        {"scorer": "number"}, "scorer", "worlds has its own; allowed with the benchmark questions"
    ),
    "published_files": Case({"benchmark": "gtr-bench"}, "data", "needs the folder of its published files"),
    "planning_request": Case({"select": {"request": {}}}, "select.request", "only the benchmark itinerary"),
    "protocol": Case({"protocol": "paper"}, "protocol", "no prompt of its paper's own"),
    "prompt_options": Case(
        {"select": {"together": True}}, "select.together", "worlds has no together to choose"
    ),
    "names": Case({"select": {"tasks": ["Cooking"]}}, "select.tasks", "no 'Cooking'; allowed: "),
    "agents": Case({"arms": [{**ARM, "agent": "magic"}]}, "arms.0.agent", "no agent 'magic'; there are: "),
    "outside_agents": Case(
        {"arms": [{"name": "raw", "agent": {"http": "http://127.0.0.1:1"}, "max_usd": 1}]},
        "arms.0.max_usd",
        "an outside agent's use cannot be limited from here",
    ),
    "oracle": Case({**CLIPS, "arms": [{**ARM, "show": ["oracle"]}]}, "arms.0.show", "no oracle to show"),
    "sequential": Case({"analysis": {"sequential": True}}, "analysis.sequential", "needs a primary contrast"),
    "transforms": Case(
        {"arms": [{**ARM, "transform": "change_units"}]},
        "arms.0.transform",
        "'change_units' does not fit the questions of ArrivalTimeInterval",
    ),
    "tools": Case({"arms": [{**ARM, "tools": ["fly"]}]}, "arms.0.tools", "no tool 'fly'; there are: "),
    "conditions": Case(
        {"arms": [{**ARM, "conditions": {"tired": {}}}]},
        "arms.0.conditions",
        "no condition 'tired'; there are: ",
    ),
    "replays": Case(
        {"arms": [{**ARM, "replay": {"job": "j_none", "arm": "tools"}}]},
        "arms.0.replay.job",
        "no job 'j_none'",
    ),
    "contracts": Case(
        {"arms": [{**ARM, "contract": "abc"}]}, "arms.0.contract", "'abc' is not what its tools"
    ),
    "storable": Case(
        {"models": [{"id": "openai/m", "options": {"stop": "\0"}}]}, "spec", "holds a NUL character"
    ),
    "data_path": Case({"data": "nowhere"}, "data", ""),  # the words depend on where the spec came from
    "endpoints": Case(
        {"models": [{"id": "openai/m", "options": {"api_key": "sk"}}]},
        "models.0.options.api_key",
        "keys and addresses are no options",
    ),
    "outside_places": Case(
        {"arms": [{"name": "raw", "agent": {"http": "http://example.org"}}]},
        "arms.0.agent.http",
        "'http://example.org' is not allowed; allowed: ",
    ),
    "model_ids": Case({"models": [{"id": "nobody/m"}]}, "models.0.id", "'nobody/m' names no provider"),
    "scripts": Case({"models": [{"id": "scripted"}]}, "models.0.options", "must hold at least one reply"),
    "prices": Case(
        {"models": [{"id": "openai/m"}], "limits": {"usd": 1}}, "models.0.price", "no table tells that of"
    ),
    "selection": Case({**CLIPS, "select": {"tasks": ["Cognitive Map"]}}, "select", "selects no sample"),
    "decoded_tasks": Case(
        {"benchmark": "questions", "data": OWN, "select": {}, "decoding": {"Cooking": {}}},
        "decoding",
        "no 'Cooking'; allowed: all, view",
    ),
    "judged": Case(
        {"benchmark": "questions", "data": OWN, "select": {}, "judge": {"id": "reference", "name": "judge"}},
        "judge",
        "no selected question has the scorer `judge`",
    ),
    "videos": Case(CLIPS, "data", "none of the 2 samples has its video"),
    "can_stop_early": Case(
        {"analysis": {"sequential": True, "primary": ["raw", "tools"]}},
        "analysis.sequential",
        "clusters can never decide: 6 must change",
    ),
    "transformable": Case(
        {"benchmark": "gtr-bench", "data": MAPS, "arms": [{**ARM, "transform": "rotate"}]},
        "arms.0.transform",
        "the published map is a picture",
    ),
    "trial_count": Case({"select": {"limit": 5_000_001}}, "select.limit", "10,000,002 trials; allowed: "),
    "cassettes": Case(
        {
            "arms": [
                {**ARM, "agent": "react", "tools": [{"server": "hills"}], "cassette": {"replay": CASSETTE}}
            ]
        },
        "arms.0.cassette.replay",
        "holds calls of other samples, such as 'hill 7', and none of the 4 that are asked, such as ",
    ),
    "margins": Case(
        {"analysis": {"margin": {"absolute": 0.05, "subsets": {"outdor.GL": 0.1}}}},
        "analysis.margin",
        "no subset 'outdor.GL' among the selected samples; allowed: ",
    ),
}


def breaking(rule: str, folder: Path) -> Any:
    """The spec that breaks this rule; questions without their videos are published in `folder`."""
    change = CASES[rule].change
    if not isinstance(change, dict):
        return change
    spec = {**SPEC, **change}
    if spec.get("data") == PUBLISHED:
        spec["data"] = str(publish_urban(folder, clips=False))
    if spec.get("data") == OWN:
        folder.mkdir(exist_ok=True)
        file = folder / "questions.jsonl"
        file.write_text('{"question": "What is that?", "answer": "a hill", "task": "view"}')
        spec["data"] = str(file)
    if spec.get("data") == MAPS:
        generate(folder / "maps", samples=1)
        shutil.rmtree(folder / "maps" / "data" / "outdoor" / "scenes")
        spec["data"] = str(folder / "maps")
    for arm in spec["arms"]:
        if isinstance(arm, dict) and arm.get("cassette") == {"replay": CASSETTE}:
            folder.mkdir(exist_ok=True)
            cassette = folder / "calls.jsonl"
            cassette.write_bytes(
                b"".join(cassette_lines({"hills": HILLS}, [HILL_CALL], dict[str, bytes]().__getitem__))
            )
            spec["arms"] = [{**arm, "cassette": {"replay": str(cassette)}}]
    return spec
