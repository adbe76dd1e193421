"""The ability of a benchmark to ask a question in another guise, and what its data may say against it."""

from collections.abc import Collection, Mapping
from typing import Protocol, runtime_checkable

from gnomon.core.sample import Sample, Shown, Transform
from gnomon.media import MediaStore


@runtime_checkable
class Transforms(Protocol):
    """Can ask a question in another guise, whose right answer changes in a known way.

    An arm may then set `transform`. Prompt, map, scene and target of the new question belong together: tools
    work on the new scene. The report compares answers with those to the original.

    Example: `transforms = {"permute_options": frozenset(tasks)}`.
    """

    @property
    def transforms(self) -> Mapping[Transform, frozenset[str]]:
        """By transform, the tasks whose questions it can change exactly."""

    def transformed(
        self, sample: Sample, transform: Transform, *, seed: int, show: Collection[Shown], media: MediaStore
    ) -> Sample:
        """The question after the transform; equal seeds give equal questions.

        `show` is what the arm shows of it.

        Raises:
            DataError: this question cannot be changed exactly.
        """

    def answer_in_original(self, sample: Sample, response: str) -> Mapping[str, str | None]:
        """What a response to `sample` says in the terms of the original question, as metrics of its row.

        `original_answer` is the answer, None where there is none; `original_times` the times, where they are
        asked for. The sample may be the original itself.
        """


@runtime_checkable
class RefusesTransforms(Protocol):
    """A sample set that knows before any sample is built that its data do not allow a transform."""

    def cannot(self, transform: Transform, show: Collection[Shown]) -> str:
        """Why questions cannot be changed so for an arm that shows this; empty where they can."""
