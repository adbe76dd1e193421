"""The pairs of arms that a job compares, for its report and for a plan without any numbers."""

from dataclasses import dataclass

from gnomon.spec.job_spec import JobSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmPair:
    """Two groups to compare: a model's baseline and variant arms."""

    model: str
    baseline: str
    variant: str
    is_primary: bool
    isolates: str = ""
    also_differs: tuple[str, ...] = ()  # fields of the arms that are not meant to differ, but do

    @property
    def key(self) -> tuple[str, str, str]:
        return self.model, self.baseline, self.variant


def pairs(spec: JobSpec) -> list[ArmPair]:
    """What is compared: the spec's contrasts, model by model, primary ones first."""
    arms = {arm.name: arm for arm in spec.arms}
    declared = [
        (contrast, contrast.confounds(arms[contrast.baseline], arms[contrast.variant]))
        for contrast in spec.contrasts()
    ]
    compared = [
        ArmPair(
            model=model.label,
            baseline=contrast.baseline,
            variant=contrast.variant,
            is_primary=contrast.primary,
            isolates=contrast.isolates,
            also_differs=tuple(difference.field for difference in confounds),
        )
        for model in spec.models
        for contrast, confounds in declared
    ]
    return sorted(compared, key=lambda pair: not pair.is_primary)
