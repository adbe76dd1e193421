"""Makes the card of a tool server: does it help, which tools carry it, which mislead.

[The card of a server](server-card.md) describes its arms and how to read it. `live − raw` is the only primary
contrast. `shapley: false` leaves out the arms for Shapley values, `leave_one_out: false` and `faults: false`
the arms of these names: the four that remain say whether a server helps, and by what.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from pydantic import Field

from gnomon.conditions.faults import can_be_wrong
from gnomon.core.arm import Arm, Contrast, FaultKind, Faults
from gnomon.core.benchmark import Benchmark
from gnomon.core.errors import SpecError
from gnomon.presets.subsets import EXACT, MOST_ARMS
from gnomon.spec.analysis_spec import AttributionSpec
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, PresetPage, contrast, steps_to_live
from gnomon_tools.core.toolbox import TOOLS
from gnomon_tools.servers.listing import SEPARATOR, server_in

MOST_PLAYERS = 8  # among whom the gain is divided, unless a spec names more groups
NAME_CHARS = 60
RAW, LIVE = "raw", "live"
WORDS: dict[FaultKind, str] = {
    "explicit": "tools that say they failed",
    "silent": "tools that are wrong and do not say so",
}


class McpCardOptions(GroupedOptions):
    """`orders` and `seed` draw the sets for Shapley values, `rate` is the share of calls that fails."""

    placebo: Literal["other_scene", "neutral"] = "other_scene"
    shapley: bool = True
    leave_one_out: bool = True
    faults: bool = True
    orders: int = Field(default=8, ge=2, le=1000, multiple_of=2)
    seed: int = Field(default=0, ge=0, lt=2**63)
    rate: float = Field(default=0.3, gt=0, le=1)


def plan(options: McpCardOptions, _: Benchmark) -> ArmPlan:
    """No tools and all tools, sets between them, each tool left out, no results, false results, faults.

    Raises:
        SpecError: there would be more than MOST_ARMS arms.
    """
    raw, live = options.arm(RAW), options.with_tools(LIVE)
    shown = dict(zip(options.tools, short_names(options.tools), strict=True))
    players = options.groups or _players(options.tools, shown)
    arms = {_set_of(arm): arm for arm in (live, raw)}
    attribution, notes = None, []
    if options.shapley and len(players) > 1:
        attribution = _add_sets(arms, options, players)
        if len(players) < len(options.tools) and not options.groups:
            made = "; ".join(
                f"{name}: {', '.join(shown[tool] for tool in players[name])}" for name in players
            )
            notes.append(f"Shapley values are of groups of tools ({made}); the option `groups` names others")
    lacking = {}
    if len(options.tools) > 1 and options.leave_one_out:
        for tool in options.tools:
            rest = tuple(other for other in options.tools if other != tool)
            arm = options.arm(f"all but {shown[tool]}", tools=rest)
            lacking[tool] = arms.setdefault(_set_of(arm), arm)
    full, steps, chain, more_notes = steps_to_live(options, placebo=options.placebo, primary=False)
    notes += more_notes
    contrasts = [
        contrast(RAW, LIVE, "all of it", "tools", is_primary=True),
        *steps,
        *(
            contrast(arm.name, LIVE, f"{shown[tool]}, given all others", "tools")
            for tool, arm in lacking.items()
        ),
    ]
    for kind in _possible_faults(options.tools, notes) if options.faults else ():
        name = f"{kind}_faults"
        full.append(options.with_tools(name, faults=Faults(kind=kind, rate=options.rate)))
        contrasts.append(contrast(LIVE, name, WORDS[kind], "faults"))
    _refuse_too_many(len(arms) + len(full))
    return ArmPlan(
        arms=(raw, live, *(arm for arm in arms.values() if arm not in (raw, live)), *full),
        contrasts=tuple(_each_once(contrasts)),
        chain=tuple(chain),
        attribution=attribution,
        notes=tuple(notes),
    )


def short_names(tools: Sequence[str]) -> list[str]:
    """Names of tools without the server that they share; unchanged where they are of several.

    >>> short_names(["calc__add", "calc__root"]), short_names(["calc__add", "git__log"])
    (['add', 'root'], ['calc__add', 'git__log'])
    """
    is_of_one = len({server_in(name) for name in tools}) == 1
    return [name.partition(SEPARATOR)[2] or name for name in tools] if is_of_one else list(tools)


def _set_of(arm: Arm) -> frozenset[str]:
    return frozenset(arm.tools)


def _players(tools: Sequence[str], shown: dict[str, str]) -> dict[str, list[str]]:
    """Each tool by itself; of more than MOST_PLAYERS, so many groups of tools with like names."""
    if len(tools) <= MOST_PLAYERS:
        return {shown[tool]: [tool] for tool in tools}
    by_word: dict[str, list[str]] = {}
    for tool in sorted(tools, key=lambda name: shown[name]):
        by_word.setdefault(_first_word(shown[tool]), []).append(tool)
    if not 1 < len(by_word) <= MOST_PLAYERS:
        ordered = [tool for alike in by_word.values() for tool in alike]
        cuts = [round(at * len(ordered) / MOST_PLAYERS) for at in range(MOST_PLAYERS + 1)]
        groups = [ordered[low:high] for low, high in pairwise(cuts)]
    else:
        groups = list(by_word.values())
    return {_group_name([shown[tool] for tool in group]): sorted(group) for group in groups}


def _first_word(name: str) -> str:
    """What a name begins with.

    >>> _first_word("list_directory"), _first_word("readFile"), _first_word("sum")
    ('list', 'read', 'sum')
    """
    return re.split(r"[^A-Za-z0-9]|(?<=[a-z0-9])(?=[A-Z])", name)[0].lower()


def _group_name(names: Sequence[str]) -> str:
    name = names[0] if len(names) == 1 else f"{names[0]} … {names[-1]}"
    return name if len(name) <= NAME_CHARS else f"{name[: NAME_CHARS - 1]}…"


def _add_sets(
    arms: dict[frozenset[str], Arm], options: McpCardOptions, players: dict[str, list[str]]
) -> AttributionSpec:
    """Add the arms that Shapley values need to those there are."""
    from gnomon.statistics.coalitions import antithetic_orders, coalitions  # late: with NumPy

    names = list(players)
    orders = antithetic_orders(names, options.orders, seed=options.seed) if len(names) > EXACT else ()
    sets = coalitions(names, orders)
    _refuse_too_many(len(sets))
    named = options.model_copy(update={"groups": players})
    for joined in sets:
        arm = named.coalition(joined)
        arms.setdefault(_set_of(arm), arm)
    return AttributionSpec(players=players, orders=[list(order) for order in orders])


def _refuse_too_many(arms: int) -> None:
    if arms > MOST_ARMS:
        message = f"makes {arms} arms, at most {MOST_ARMS} are allowed; name groups, fewer orders or tools"
        raise SpecError(message, field="arms.orders")


def _possible_faults(tools: Sequence[str], notes: list[str]) -> list[FaultKind]:
    """The kinds of faults that these tools can have; what a server's tool says can always be changed."""
    honest = [name for name in tools if name in TOOLS.names() and not can_be_wrong(TOOLS.get(name))]
    if len(honest) < len(tools):
        return ["explicit", "silent"]
    notes.append("no silent faults: none of the tools measures anything")
    return ["explicit"]


def _each_once(contrasts: Sequence[Contrast]) -> list[Contrast]:
    return list({(pair.baseline, pair.variant): pair for pair in reversed(contrasts)}.values())[::-1]


PAGE = PresetPage(word="Card of the server", path="card")
mcp_card = Preset(
    name="mcp_card",
    description="Makes the card of a tool server: whether it helps, which tools carry it, which mislead.",
    options=McpCardOptions,
    plan=plan,
    example={"tools": ["distance", "estimate_track", "interpolate"]},
    page=PAGE,
)
