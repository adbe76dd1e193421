"""The analysis plan of a job: declared before there is any answer, frozen with the spec."""

import operator
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

from pydantic import Field, field_validator

from gnomon.core.arm import Contrast
from gnomon.core.validation import StrictModel
from gnomon.spec.margin_spec import MarginField, margin_of


class AttributionSpec(StrictModel):
    """Shapley values of groups of tools: every coalition that the orders pass through is an arm."""

    players: dict[str, list[str]] = Field(
        description="The names of the tools of each group, by the group's name."
    )
    orders: list[list[str]] = Field(
        default_factory=list,
        description=(
            "Orders in which the groups are added, in pairs of an order and the same backwards; empty: "
            "all coalitions are arms, and the values are exact."
        ),
    )

    def coalition(self, tools: Collection[str]) -> frozenset[str]:
        """The players whose tools are all among `tools`: the coalition of an arm with these."""
        return frozenset(name for name, own in self.players.items() if set(own) <= set(tools))


class AnalysisSpec(StrictModel):
    """Which contrasts are looked at and how."""

    primary: tuple[str, str] | None = Field(
        default=None,
        description=(
            "The two arms of the main contrast: baseline, then variant; null: the contrasts marked "
            "`primary`, else all."
        ),
    )
    cluster: Literal["auto", "none"] = Field(
        default="auto",
        description=(
            "What counts as independent: clusters of related samples as the benchmark states them, or "
            "each sample."
        ),
    )
    margin: MarginField = Field(
        default=0.05,
        description=(
            "The largest difference that counts as none, as a fraction of the score's scale (0.05 is 5 "
            "points, fewer near 0 and 100 %), or {absolute: 0.05}, {relative: 0.1} or {odds: 1.2}, with "
            "`subsets` for margins of their own."
        ),
    )
    sequential: bool = Field(
        default=False,
        exclude_if=operator.not_,
        description=(
            "Whether the job stops early, at one of up to ten planned looks, once every primary contrast "
            "is decided or unlikely to be; its intervals hold at all looks together."
        ),
    )
    contrasts: list[Contrast] = Field(
        default_factory=list,
        description=(
            "The pairs of arms that are compared; empty: every other arm with the primary baseline, else "
            "with the first arm."
        ),
    )
    chain: list[str] = Field(
        default_factory=list,
        description=(
            "Names of the arms that the report's waterfall climbs one after the other; empty: no waterfall."
        ),
    )
    attribution: AttributionSpec | None = Field(
        default=None, description="Groups of tools among which the gain is divided; null: it is not divided."
    )
    preset: str = Field(
        default="", description="The preset that wrote the arms, set when it is spelled out; empty: none."
    )
    notes: list[str] = Field(
        default_factory=list,
        description="Remarks for the report, such as what the preset could not offer here, and why.",
    )

    @field_validator("primary")
    @classmethod
    def _two_arms(cls, primary: tuple[str, str] | None) -> tuple[str, str] | None:
        if primary is not None and primary[0] == primary[1]:
            raise ValueError(f"names {primary[0]!r} twice; a contrast needs two arms")
        return primary

    @field_validator("contrasts")
    @classmethod
    def _each_once(cls, contrasts: list[Contrast]) -> list[Contrast]:
        pairs = set[tuple[str, str]]()
        for pair in map(_pair, contrasts):
            if pair[0] == pair[1]:
                raise ValueError(f"names {pair[0]!r} twice; a contrast needs two arms")
            if pair in pairs:
                raise ValueError(f"holds {pair[1]!r} against {pair[0]!r} twice")
            pairs.add(pair)
        return contrasts

    @property
    def nominal_margin(self) -> float:
        """The margin for all samples at a baseline of 50 %, as plots draw it."""
        return margin_of(self.margin, "all").around(0.5).high

    def named_arms(self) -> Mapping[str, Sequence[str]]:
        """The arms that the plan names, by field."""
        pairs = [name for contrast in self.contrasts for name in _pair(contrast)]
        return {
            "analysis.primary": self.primary or (),
            "analysis.contrasts": pairs,
            "analysis.chain": self.chain,
        }

    @property
    def declares_primary(self) -> bool:
        """Whether it says which contrasts are primary, so that not all are."""
        return self.primary is not None or any(contrast.primary for contrast in self.contrasts)

    def planned(self, arms: Sequence[str]) -> tuple[Contrast, ...]:
        """The contrasts over these arms, primary ones first.

        Where none is declared: every other arm with the declared pair's baseline, else with the first arm.
        Primary is the declared pair alone; without one, the contrasts that say so; without any, all.
        """
        contrasts = list(self.contrasts) or self._every_other(arms)
        if self.primary and self.primary not in [_pair(contrast) for contrast in contrasts]:
            contrasts.insert(0, Contrast(baseline=self.primary[0], variant=self.primary[1]))
        is_any_primary = any(contrast.primary for contrast in contrasts)
        marked = [
            contrast.model_copy(update={"primary": self._is_primary(contrast, is_any_primary)})
            for contrast in contrasts
        ]
        return tuple(sorted(marked, key=lambda contrast: not contrast.primary))

    def _every_other(self, arms: Sequence[str]) -> list[Contrast]:
        baseline = self.primary[0] if self.primary else arms[0]
        return [Contrast(baseline=baseline, variant=name) for name in arms if name != baseline]

    def _is_primary(self, contrast: Contrast, is_any_primary: bool) -> bool:
        if self.primary:
            return _pair(contrast) == self.primary
        return contrast.primary or not is_any_primary


def _pair(contrast: Contrast) -> tuple[str, str]:
    return contrast.baseline, contrast.variant
