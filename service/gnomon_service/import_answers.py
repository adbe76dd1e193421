"""Adds answers of people to a stored job, as models of a new job."""

from itertools import chain
from pathlib import Path

from gnomon.core.errors import Conflict, SpecError
from gnomon.exchange.answers import read_answers, scored_answers
from gnomon.report.text_formats import count
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.pins import require_benchmark
from gnomon_service.settings import Settings
from gnomon_workers.open_job import media_of, open_spec
from gnomon_workers.store.records import OPEN
from gnomon_workers.store.store import Store


def add_answers(store: Store, job_id: str, file: Path, settings: Settings, *, arm: str | None) -> str:
    """Score a file of answers as the job scores, and keep them with the job's rows; the new job's id.

    Raises:
        NotFound: the job does not exist, or has no such sample.
        Conflict: it still runs.
        SpecError, DataError: the file has no answers, the arm does not exist, a model has a person's name, or
            the job's samples can no longer be read.
    """
    job = store.job(job_id)
    if job.status in OPEN:
        raise Conflict(f"job {job_id} is {job.status}; wait for its end, or cancel it", field="--into")
    require_benchmark(job.spec, field="--into")
    lines = read_answers(file)
    name = job.spec.arm(arm or job.spec.arms[0].name).name
    spec = _with_people(job.spec, list(dict.fromkeys(line.model for line in lines)))
    last = max(line.repeat for line in lines)
    repeats = spec.repeats_of(name)
    if last >= repeats:
        message = f"repeat {last} of an arm with {count(repeats, 'repeat')}, counted from 0"
        raise SpecError(message, field="repeat")
    opened = open_spec(job.spec, media_of(settings.data_dir))
    refs = {ref.sample_id: ref for ref in store.refs(job_id)}
    answered = scored_answers(lines, arm=name, bench=opened.bench, refs=refs, sample=opened.samples.get)
    kept = ((row, store.trace(row.trial_id)) for row in store.iter_rows(job_id))
    return store.insert_finished_job(spec, list(refs.values()), chain(kept, answered), faults=job.faults)


def _with_people(spec: JobSpec, people: list[str]) -> JobSpec:
    taken = [model.label for model in spec.models if model.label in people]
    if taken:
        raise SpecError(
            f"the job has a model called {taken[0]!r}; give the people another name", field="model"
        )
    models = [*spec.models, *(ModelSpec(id=name) for name in people)]
    name = f"{spec.name or spec.benchmark}, with {', '.join(people)}"[:200]
    return spec.model_copy(update={"models": models, "name": name})
