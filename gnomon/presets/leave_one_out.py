"""Takes each tool out of the full set: what each is worth when all others are there.

`groups: {track: [estimate_track, project_track], …}` names tools that come and go together. Where tools
replace one another, use `subsets`. `none_too` adds an arm without any tool.
"""

from gnomon.core.benchmark import Benchmark
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, contrast


class LeaveOneOutOptions(GroupedOptions):
    """`none_too` adds an arm without any tool, and what all of them are worth together."""

    none_too: bool = False


def plan(options: LeaveOneOutOptions, _: Benchmark) -> ArmPlan:
    """All tools, and all but each one."""
    players = options.players()
    full = options.coalition(players)
    lacking = {name: options.coalition(players.keys() - {name}) for name in players}
    none = [options.coalition(())] if options.none_too and len(players) > 1 else []
    return ArmPlan(
        arms=(*none, full, *lacking.values()),
        contrasts=(
            *(contrast(arm.name, full.name, "all tools together", "tools") for arm in none),
            *(
                contrast(arm.name, full.name, f"{name}, given all others", "tools")
                for name, arm in lacking.items()
            ),
        ),
    )


leave_one_out = Preset(
    name="leave_one_out",
    description="Takes each tool away from the full set: which of them cannot be spared.",
    options=LeaveOneOutOptions,
    plan=plan,
    example={"groups": {"track": ["estimate_track"], "way": ["distance"], "when": ["interpolate"]}},
)
