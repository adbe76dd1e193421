"""Opens the questions of stored jobs, for the pages that show them."""

import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from cachetools import LRUCache

from gnomon.conditions.transform import question_under
from gnomon.core.errors import GnomonError
from gnomon.core.opened_question import OpenedQuestion, show_question
from gnomon.core.redaction import without_folders
from gnomon.exchange.job_export import ReadQuestion
from gnomon.spec.job_spec import JobSpec
from gnomon_tools.core.registry import UnknownPlugin
from gnomon_workers.open_job import OpenJob, media_of, open_spec

JOBS_KEPT = 4
LONGEST_TEXT = 1_000  # characters of a question that are searched and listed
MOST_TEXTS = 200_000  # of one job that are kept


def unknown_question(_sample_id: str, _arm: str | None) -> None:
    """The question of a sample that cannot be opened."""


class Questions:
    """The samples of the last jobs that were looked at stay open; the data may be gone since the job ran."""

    def __init__(self, data_dir: Path) -> None:
        self.media = media_of(data_dir)
        self._jobs: LRUCache[str, OpenJob] = LRUCache(JOBS_KEPT)
        self._texts: LRUCache[str, dict[str, str]] = LRUCache(JOBS_KEPT)
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

    def views(self, job_id: str, spec: JobSpec) -> ReadQuestion | None:
        """What a person is shown of a sample as an arm asks it (None: the original), None where it cannot be
        opened; None where none can, as the job's data are not here.
        """
        try:
            self._job(job_id, spec)
        except (GnomonError, UnknownPlugin, OSError, ValueError, KeyError):
            return None
        return lambda sample_id, arm: show_question(self.open(job_id, spec, sample_id, arm)).view

    def texts(
        self, job_id: str, spec: JobSpec, sample_ids: Iterable[str], *, patience_s: float
    ) -> Mapping[str, str]:
        """The beginnings of questions by sample, as far as they could be read within `patience_s` seconds:
        what was read stays read, so that asking again goes on. Empty: it cannot be opened.
        """
        with self._lock:
            known = self._texts.setdefault(job_id, {})
        unread = [sample_id for sample_id in sample_ids if sample_id not in known]
        if not unread:
            return known
        view = self.views(job_id, spec) or unknown_question
        until = time.monotonic() + patience_s
        for sample_id in unread:
            if len(known) >= MOST_TEXTS or time.monotonic() > until:
                break
            shown = view(sample_id, None)
            known[sample_id] = "" if shown is None else " ".join(shown.question.split())[:LONGEST_TEXT]
        return known

    def _job(self, job_id: str, spec: JobSpec) -> OpenJob:
        with self._lock:
            if job_id not in self._jobs:
                self._jobs[job_id] = open_spec(spec, self.media)
            return self._jobs[job_id]
