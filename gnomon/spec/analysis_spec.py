"""The analysis plan of a job: declared before any answer is seen, frozen with the spec."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from pydantic import Field, field_validator

from gnomon.contrast import FACTORS, Contrast
from gnomon.core.validation import StrictModel


class ContrastSpec(StrictModel):
    """Two arms to compare, what that isolates, and which fields of an arm are meant to differ."""

    baseline: str
    variant: str
    isolates: str = Field(default="", max_length=200)
    factor: list[str] = Field(default_factory=list)
    primary: bool = False

    @field_validator("factor")
    @classmethod
    def _fields_of_an_arm(cls, factor: list[str]) -> list[str]:
        for name in factor:
            if name not in FACTORS:
                raise ValueError(f"no {name!r}; allowed: {', '.join(FACTORS)}")
        return factor

    def contrast(self) -> Contrast:
        """The kernel's form."""
        return Contrast(
            baseline=self.baseline,
            variant=self.variant,
            isolates=self.isolates,
            factor=tuple(self.factor),
            is_primary=self.primary,
        )


class AttributionSpec(StrictModel):
    """Shapley values of groups of tools: every coalition that the orders pass through is an arm.

    `players` names the tools of each group. `orders` come in antithetic pairs (each second one is the
    first backwards); empty: all coalitions are arms, and the values are exact.
    """

    players: dict[str, list[str]]
    orders: list[list[str]] = Field(default_factory=list)

    def coalition(self, tools: Collection[str]) -> frozenset[str]:
        """The players whose tools are all among `tools`: the coalition that an arm with these stands for."""
        return frozenset(name for name, own in self.players.items() if set(own) <= set(tools))


class AnalysisSpec(StrictModel):
    """Which contrasts are looked at and how. `primary`: baseline, then variant."""

    primary: tuple[str, str] | None = None
    cluster: Literal["auto", "none"] = "auto"
    margin: float = Field(default=0.05, gt=0, lt=1)
    contrasts: list[ContrastSpec] = Field(default_factory=list)
    chain: list[str] = Field(default_factory=list)  # arms that a waterfall climbs one after the other
    attribution: AttributionSpec | None = None
    preset: str = ""  # the preset that wrote the arms
    notes: list[str] = Field(default_factory=list)  # what the preset could not offer here, and why

    @field_validator("primary")
    @classmethod
    def _two_arms(cls, primary: tuple[str, str] | None) -> tuple[str, str] | None:
        if primary is not None and primary[0] == primary[1]:
            raise ValueError(f"names {primary[0]!r} twice; a contrast needs two arms")
        return primary

    @field_validator("contrasts")
    @classmethod
    def _each_once(cls, contrasts: list[ContrastSpec]) -> list[ContrastSpec]:
        seen = set[tuple[str, str]]()
        for pair in ((one.baseline, one.variant) for one in contrasts):
            if pair[0] == pair[1]:
                raise ValueError(f"names {pair[0]!r} twice; a contrast needs two arms")
            if pair in seen:
                raise ValueError(f"holds {pair[1]!r} against {pair[0]!r} twice")
            seen.add(pair)
        return contrasts

    def named_arms(self) -> Mapping[str, Sequence[str]]:
        """The arms that the plan names, by field."""
        pairs = [name for one in self.contrasts for name in (one.baseline, one.variant)]
        return {
            "analysis.primary": self.primary or (),
            "analysis.contrasts": pairs,
            "analysis.chain": self.chain,
        }

    def planned(self, arms: Sequence[str]) -> tuple[Contrast, ...]:
        """The contrasts over these arms, primary ones first.

        Where none is declared: every other arm with the declared pair's baseline, else with the first arm.
        Primary is the declared pair alone; without one, the contrasts that say so; without any, all.
        """
        found = [one.contrast() for one in self.contrasts] or self._every_other(arms)
        if self.primary and self.primary not in [(one.baseline, one.variant) for one in found]:
            found.insert(0, Contrast(baseline=self.primary[0], variant=self.primary[1]))
        is_any_primary = any(one.is_primary for one in found)
        chosen = [self._is_primary(one, is_any_primary) for one in found]
        marked = [replace(one, is_primary=is_primary) for one, is_primary in zip(found, chosen, strict=True)]
        return tuple(sorted(marked, key=lambda one: not one.is_primary))

    def _every_other(self, arms: Sequence[str]) -> list[Contrast]:
        baseline = self.primary[0] if self.primary else arms[0]
        return [Contrast(baseline=baseline, variant=name) for name in arms if name != baseline]

    def _is_primary(self, one: Contrast, is_any_primary: bool) -> bool:
        if self.primary:
            return (one.baseline, one.variant) == self.primary
        return one.is_primary or not is_any_primary
