"""The full set of tools without each one: what each tool is worth when all others are there.

Each tool is a player by itself, unless `groups: {track: [estimate_track, project_track], …}` names sets of
tools that come and go together. Where tools replace one another, this preset sees nothing; `subsets` does.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, contrast


def plan(options: GroupedOptions, _: Benchmark) -> ArmPlan:
    """All tools, and all but each one."""
    players = options.players()
    full = options.coalition(players)
    lacking = {name: options.coalition(players.keys() - {name}) for name in players}
    return ArmPlan(
        arms=(full, *lacking.values()),
        contrasts=tuple(
            contrast(arm.name, full.name, f"{name}, given all others", "tools")
            for name, arm in lacking.items()
        ),
    )


leave_one_out = Preset(
    name="leave_one_out",
    description="Takes each tool away from the full set: which of them cannot be spared.",
    options=GroupedOptions,
    plan=plan,
    example={"groups": {"track": ["estimate_track"], "way": ["distance"], "when": ["interpolate"]}},
)
