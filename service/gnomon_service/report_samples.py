"""Opens the samples and trials of a stored job again, for its report as a page."""

from collections.abc import Sequence

from gnomon.core.errors import NotFound
from gnomon.core.opened_question import OpenedQuestion
from gnomon.report.sample_cards import ShownTrial
from gnomon.trials.trial_plan import trial_id
from gnomon_service.web.questions import Questions
from gnomon_workers.store.store import Store


class StoredSamples:
    """The samples of one job."""

    def __init__(self, store: Store, job_id: str, questions: Questions) -> None:
        """Raises: NotFound: the job does not exist."""
        self._store, self._questions = store, questions
        self._job = store.job(job_id)

    def open(self, sample_id: str) -> OpenedQuestion:
        """The question, or why it cannot be opened here."""
        return self._questions.open(self._job.id, self._job.spec, sample_id)

    def trials(self, sample_id: str, model: str) -> Sequence[ShownTrial]:
        """Of each arm the first repeat that has ended, with its trace; else without a row."""
        spec = self._job.spec
        ids = {
            arm.name: [
                trial_id(self._job.id, sample_id, model, arm.name, repeat)
                for repeat in range(spec.repeats_of(arm.name))
            ]
            for arm in spec.arms
        }
        rows = self._store.rows_by_trial([name for names in ids.values() for name in names])
        trials = []
        for place, arm in enumerate(spec.arms):
            first = next((name for name in ids[arm.name] if name in rows), None)
            trials.append(
                ShownTrial(
                    arm=arm.name,
                    place=place,
                    row=rows[first] if first else None,
                    trace=self._store.trace(first) if first else None,
                )
            )
        return trials

    def picture(self, sha256: str) -> bytes | None:
        """A picture of the job's media; None where it is gone."""
        try:
            return self._questions.media.read(sha256)
        except (NotFound, OSError):
            return None
