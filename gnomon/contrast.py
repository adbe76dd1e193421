"""Contrast: two arms of one job, and the one thing between them that is meant to differ."""

from dataclasses import dataclass, fields

from gnomon.core.arm import Arm, Difference, diff

FACTORS = tuple(field.name for field in fields(Arm) if field.name not in ("name", "frozen_toolset_hash"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Contrast:
    """Variant minus baseline. `isolates` says in words what the difference is the effect of.

    `factor` names the fields of an arm that are meant to differ; empty where nobody said so.
    """

    baseline: str
    variant: str
    isolates: str = ""
    factor: tuple[str, ...] = ()
    is_primary: bool = False

    def confounds(self, baseline: Arm, variant: Arm) -> tuple[Difference, ...]:
        """What else differs between the two arms: empty is what a reader hopes for.

        Where no factor is named, agent, tools, their choice, results and room to call them belong
        together as the treatment: an arm with tools needs all of these.

        >>> given = Contrast(baseline="a", variant="b", factor=("tools",))
        >>> one, other = Arm(name="a", agent="react"), Arm(name="b", agent="direct", tools=("speed",))
        >>> [found.field for found in given.confounds(one, other)]
        ['agent']
        """
        meant = self.factor or TREATMENT
        return tuple(found for found in diff(baseline, variant) if found.field not in meant)


TREATMENT = ("agent", "tools", "tool_choice", "max_turns", "max_tool_calls", "results")
