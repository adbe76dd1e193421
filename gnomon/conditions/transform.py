"""Asks an arm's question in another guise, and maps answers back to the original's terms."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from gnomon.core.arm import Arm, differences
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.transforms import Transforms
from gnomon.media import MediaStore
from gnomon.trials.condition import Condition, Situation

if TYPE_CHECKING:
    from gnomon.trials.job_context import JobContext


def question_under(arm: Arm, sample: Sample, bench: "JobContext") -> Sample:
    """The question that the arm asks: the sample, or the sample after the arm's transform.

    The same question for all models, repeats and arms of a job with this transform.

    Raises:
        SpecError: the benchmark has no transforms.
        DataError: this sample cannot be transformed exactly, or nothing that the arm shows would change.
    """
    now = Situation(arm=arm, spec=bench.spec, benchmark=bench.benchmark, media=bench.media)
    return transform.on_sample(sample, now)


class TransformCondition(Condition):
    """Asks the question in another guise, and keeps what an answer says in the terms of the original."""

    name = "transform"
    description = "asks the same question in another guise, whose right answer changes exactly so"
    looks_at_all_arms = True

    def is_of(self, arm: Arm) -> bool:
        return arm.transform is not None

    def on_sample(self, sample: Sample, now: Situation) -> Sample:
        """The question in the other guise.

        Raises:
            SpecError, DataError: as `question_under`.
        """
        arm = now.arm
        if arm.transform is None:
            return sample
        benchmark = now.benchmark
        if benchmark is None or not isinstance(benchmark, Transforms):
            name = benchmark.name if benchmark else "the benchmark"
            raise SpecError(f"{name} has no {arm.transform!r}", field="transform")
        seed = now.spec.select.seed if now.spec else 0
        media = cast(MediaStore, now.media)
        question = benchmark.transformed(sample, arm.transform, seed=seed, show=arm.show, media=media)
        is_same_scene = question.scene is sample.scene or not arm.tools
        if is_same_scene and question.messages(arm.show) == sample.messages(arm.show):
            message = (
                f"{arm.transform} changes nothing of {sample.ref.sample_id} that the arm {arm.name} shows"
            )
            raise DataError(message)
        return question

    def on_score(self, score: Score, sample: Sample, response: str, now: Situation) -> Score:
        """The score with the metrics by which transformed and untransformed answers are compared."""
        back = mapped_back(sample, response, now)
        return replace(score, metrics={**score.metrics, **back}) if back else score


transform = TransformCondition()


def mapped_back(question: Sample, response: str, now: Situation) -> Mapping[str, str | None]:
    """The metrics by which answers of transformed and untransformed arms are compared.

    A transformed arm's also name its transform and the arm of the job that asks the original. Empty for jobs
    in which no arm has a transform.
    """
    benchmark = now.benchmark
    if benchmark is None or not isinstance(benchmark, Transforms):
        return {}
    if not any(arm.transform for arm in now.arms):
        return {}
    arm = now.arm
    answers = benchmark.answer_in_original(question, response)
    if arm.transform is None:
        return answers
    return {"transform": arm.transform, "original_arm": original_of(arm, now.arms), **answers}


def original_of(arm: Arm, arms: Sequence[Arm]) -> str | None:
    """The name of the first arm that differs from this one in the transform alone, and has none."""
    names = (
        other.name for other in arms if other.transform is None and differences(other, arm) == ["transform"]
    )
    return next(names, None)
