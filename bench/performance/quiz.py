"""A benchmark of one question in many copies, text only, so that a trial costs only the harness."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.performance.workload import QUESTION
from gnomon.core.benchmark import PromptProtocol, Published, SampleSet, Scoring
from gnomon.core.sample import DataFault, Part, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.job_context import JobContext
from gnomon_tools.core.inputs import held
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from gnomon_workers.open_job import OpenJob

BARE = Scene(
    id="bare", frame=Frame(), kind="outdoor"
)  # the tool is offered on a scene only, and looks at none


def refs(count: int) -> list[SampleRef]:
    """Samples q0, q1, …"""
    return [SampleRef(sample_id=f"q{i}", task="Q", cell="Q", cluster=f"q{i}") for i in range(count)]


@dataclass(frozen=True, slots=True, kw_only=True)
class QuizSet:
    """The copies."""

    refs: Sequence[SampleRef]
    faults: Sequence[DataFault] = ()

    def get(self, sample_id: str) -> Sample:
        ref = SampleRef(sample_id=sample_id, task="Q", cell="Q", cluster=sample_id)
        return Sample(ref=ref, parts=(Part(content=QUESTION),), target={"answer": "B"}, inputs=held(BARE))


class Quiz:
    """`select.limit` copies of the question; the answer is B."""

    name, version = "quiz", "1"
    tasks: tuple[str, ...] = ("Q",)
    scenes: tuple[str, ...] = ()
    variants: tuple[str, ...] = ()
    needs_data = False
    headline = "mean_of_samples"

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        return QuizSet(refs=refs(select.limit or 1))

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        return Score(value=float("B" in response), answer="B" if "B" in response else None)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        raise AssertionError("not used here")

    def published(self) -> Sequence[Published]:
        return ()


def open_quiz(spec: JobSpec, media: MediaStore) -> OpenJob:
    """The quiz, made ready to run, as `gnomon_workers.open_job.open_spec` does it for plug-ins."""
    quiz = Quiz()
    samples = quiz.open(data=None, select=spec.select, protocol=spec.protocol, media=media)
    return OpenJob(bench=JobContext(spec=spec, benchmark=quiz, media=media), samples=samples)
