"""Opens the questions of stored jobs, for the pages that show them."""

import threading
from collections.abc import Callable
from pathlib import Path

from cachetools import LRUCache

from gnomon.conditions.transform import question_under
from gnomon.core.errors import GnomonError
from gnomon.core.opened_question import OpenedQuestion, show_question
from gnomon.core.question_view import QuestionView
from gnomon.core.redaction import without_folders
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_workers.open_job import OpenJob, media_of, open_spec

JOBS_KEPT = 4


class Questions:
    """The samples of the last jobs that were looked at stay open; the data may be gone since the job ran."""

    def __init__(self, data_dir: Path) -> None:
        self.media = media_of(data_dir)
        self._jobs: LRUCache[str, OpenJob] = LRUCache(JOBS_KEPT)
        self._lock = threading.Lock()

    def open(self, job_id: str, spec: JobSpec, sample_id: str, arm: str | None = None) -> OpenedQuestion:
        """The question, as the arm asks it if one is named, or why it is not opened; never an exception."""
        try:
            job = self._job(job_id, spec)
            sample, benchmark = job.samples.get(sample_id), job.bench.benchmark
            condition = next((each for each in spec.arms if each.name == arm), None)
            if condition is None or condition.transform is None:
                return OpenedQuestion(sample=sample, benchmark=benchmark)
            question = question_under(condition, sample, job.bench)
            return OpenedQuestion(sample=question, benchmark=benchmark, transform=condition.transform)
        except (GnomonError, UnknownPlugin, OSError, ValueError, KeyError) as error:
            return OpenedQuestion(problem=without_folders(str(error)) or type(error).__name__)

    def views(self, job_id: str, spec: JobSpec) -> Callable[[str, str | None], QuestionView | None]:
        """What a person is shown of a sample as an arm asks it (None: the original); None where it cannot be
        opened.
        """
        try:
            self._job(job_id, spec)
        except (GnomonError, UnknownPlugin, OSError, ValueError, KeyError):
            return lambda _sample_id, _arm: None
        return lambda sample_id, arm: show_question(self.open(job_id, spec, sample_id, arm)).view

    def _job(self, job_id: str, spec: JobSpec) -> OpenJob:
        with self._lock:
            if job_id not in self._jobs:
                self._jobs[job_id] = open_spec(spec, self.media)
            return self._jobs[job_id]
