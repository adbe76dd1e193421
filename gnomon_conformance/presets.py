"""What every preset keeps."""

from typing import Any

from gnomon.core.arm import diff
from gnomon.core.benchmark import BENCHMARKS
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.preset import ArmPlan, Preset, plan_of
from gnomon_conformance.check import ensure
from gnomon_tools.core.registry import ALLOWED_NAME, NAME

BENCHMARK = "worlds"


class PresetSuite:
    """A preset makes arms that differ, and contrasts that differ in what they name and in no more."""

    def __init__(self, preset: Preset[Any]) -> None:
        self._preset = preset

    def says_what_it_is(self) -> None:
        """A name that is allowed, a description that ends with a full stop."""
        ensure(NAME.fullmatch(self._preset.name), f"name {self._preset.name!r}; allowed: {ALLOWED_NAME}")
        ensure(self._preset.description.endswith("."), "description: ends with a full stop")

    def makes_arms_that_all_differ(self) -> None:
        """No two arms are the same but for their names."""
        arms = self._plan().arms
        ensure(arms, "plan: at least one arm")
        for at, arm in enumerate(arms):
            for other in arms[:at]:
                ensure(diff(arm, other), f"arms {other.name!r} and {arm.name!r} are the same")

    def compares_or_attributes_all_arms(self) -> None:
        """Each arm is in a contrast, unless the plan asks for Shapley values."""
        plan = self._plan()
        if plan.attribution or len(plan.arms) == 1:
            return
        compared = {arm for contrast in plan.contrasts for arm in (contrast.baseline, contrast.variant)}
        left = sorted({arm.name for arm in plan.arms} - compared)
        ensure(not left, f"arms that no contrast compares: {', '.join(left)}")

    def contrasts_differ_in_what_they_name_alone(self) -> None:
        """`factor` holds all fields in which the two arms of a contrast differ."""
        plan = self._plan()
        arms = {arm.name: arm for arm in plan.arms}
        for contrast in plan.contrasts:
            title = f"contrast {contrast.baseline} → {contrast.variant}"
            ensure(
                {contrast.baseline, contrast.variant} <= arms.keys(), f"{title}: names arms that are not made"
            )
            ensure(contrast.isolates, f"{title}: say what it isolates")
            differing = {part.field for part in diff(arms[contrast.baseline], arms[contrast.variant])}
            message = f"{title}: names {sorted(contrast.factor)}, and differs in {sorted(differing)}"
            ensure(differing == set(contrast.factor), message)

    def makes_a_spec_that_reads_the_same_again(self) -> None:
        """The plan as a job's spec, written down and read: the same."""
        plan = self._plan()
        spec = JobSpec.model_validate(
            {
                "benchmark": BENCHMARK,
                "models": [{"id": "reference"}],
                "arms": [arm.model_dump(mode="json") for arm in plan.arms],
                "analysis": {"contrasts": [contrast.model_dump(mode="json") for contrast in plan.contrasts]},
            }
        )
        ensure(
            JobSpec.model_validate(spec.model_dump(mode="json")) == spec, "the spec changes when it is read"
        )

    def _plan(self) -> ArmPlan:
        return plan_of(self._preset, self._preset.example, BENCHMARKS.get(BENCHMARK))
