"""Attributes the gain of all tools to each of them, by Shapley values.

The Shapley value of a tool is what it adds on average over all orders in which tools could be added. It sees
tools that replace one another as well as tools that need one another. Tools are grouped as in
`leave_one_out`.

Up to four groups all 2^T sets are arms and the values are exact. With more, `orders` (8) are drawn by `seed`
in pairs of an order and the same backwards: at most orders × (T − 1) + 2 arms, never more than 256. Fewer
than eight orders give values without intervals. The values add up to `all − none`; missing trials open a
*gap*, which is reported.
"""

from pydantic import Field

from gnomon.core.benchmark import Benchmark
from gnomon.core.errors import SpecError
from gnomon.spec.analysis_spec import AttributionSpec
from gnomon.spec.preset import ArmPlan, GroupedOptions, Preset, contrast

EXACT = 4  # groups up to which all 2^T sets are arms
MOST_ARMS = 256


class SubsetsOptions(GroupedOptions):
    """`orders` are drawn by `seed`, in pairs of an order and the same backwards."""

    orders: int = Field(default=8, ge=2, le=1000, multiple_of=2)
    seed: int = Field(default=0, ge=0, lt=2**63)


def plan(options: SubsetsOptions, _: Benchmark) -> ArmPlan:
    """All sets of up to four groups; with more groups, the sets that the drawn orders pass through.

    Raises:
        SpecError: there is but one group, or there would be more than MOST_ARMS arms.
    """
    from gnomon.statistics.coalitions import antithetic_orders, coalitions  # late: with NumPy

    players = options.players()
    names = list(players)
    if len(names) < 2:
        raise SpecError(f"needs at least two groups of tools, got {len(names)}", field="arms.groups")
    orders = antithetic_orders(names, options.orders, seed=options.seed) if len(names) > EXACT else ()
    sets = coalitions(names, orders)
    if len(sets) > MOST_ARMS:
        message = f"makes {len(sets)} arms, at most {MOST_ARMS} are allowed; name fewer groups or orders"
        raise SpecError(message, field="arms.orders")
    arms = tuple(options.coalition(joined) for joined in sets)
    return ArmPlan(
        arms=arms,
        contrasts=(contrast(arms[0].name, arms[-1].name, "all tools together", "tools", is_primary=True),),
        attribution=AttributionSpec(players=players, orders=[list(order) for order in orders]),
    )


subsets = Preset(
    name="subsets",
    description="Attributes the gain of all tools to each of them (Shapley values).",
    options=SubsetsOptions,
    plan=plan,
    example={"groups": {"track": ["estimate_track"], "way": ["distance"], "when": ["interpolate"]}},
)
