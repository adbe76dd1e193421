"""Asks an arm's question in another guise, and maps answers back to the original's terms."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from gnomon.core.arm import Arm, differences
from gnomon.core.errors import DataError, SpecError
from gnomon.core.sample import Sample
from gnomon.core.transforms import Transforms

if TYPE_CHECKING:
    from gnomon.trials.run_trial import JobContext


def question_under(arm: Arm, sample: Sample, bench: "JobContext") -> Sample:
    """The question that the arm asks: the sample, or the sample after the arm's transform.

    The same question for all models, repeats and arms of a job with this transform.

    Raises:
        SpecError: the benchmark has no transforms.
        DataError: this sample cannot be transformed exactly, or nothing that the arm shows would change.
    """
    if arm.transform is None:
        return sample
    if not isinstance(bench.benchmark, Transforms):
        raise SpecError(f"{bench.benchmark.name} has no {arm.transform!r}", field="transform")
    question = bench.benchmark.transformed(
        sample, arm.transform, seed=bench.spec.select.seed, show=arm.show, media=bench.media
    )
    is_same_scene = question.scene is sample.scene or not arm.tools
    if is_same_scene and question.messages(arm.show) == sample.messages(arm.show):
        message = f"{arm.transform} changes nothing of {sample.ref.sample_id} that the arm {arm.name} shows"
        raise DataError(message)
    return question


def mapped_back(arm: Arm, question: Sample, response: str, bench: "JobContext") -> Mapping[str, str | None]:
    """The metrics by which answers of transformed and untransformed arms are compared.

    A transformed arm's also name its transform and the arm of the job that asks the original. Empty for jobs
    in which no arm has a transform.
    """
    is_metamorphic = any(other.transform for other in bench.spec.arms)
    if not is_metamorphic or not isinstance(bench.benchmark, Transforms):
        return {}
    answers = bench.benchmark.answer_in_original(question, response)
    if arm.transform is None:
        return answers
    return {"transform": arm.transform, "original_arm": original_of(arm, bench.spec.arms), **answers}


def original_of(arm: Arm, arms: Sequence[Arm]) -> str | None:
    """The name of the first arm that differs from this one in the transform alone, and has none."""
    names = (
        other.name for other in arms if other.transform is None and differences(other, arm) == ["transform"]
    )
    return next(names, None)
