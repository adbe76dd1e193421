"""Writes a job's questions as a TSV of VLMEvalKit: one question per line, its pictures in it as base64.

Columns: `index`, `image`, `image_path`, `question`, options by their letters, `answer`, `category` (the
task), `l2-category` (the cell). A clip's frames are its pictures.
"""

import base64
import csv
import io
from collections.abc import Iterator

from gnomon.core.errors import SpecError
from gnomon.core.question_view import QuestionView
from gnomon.core.sample import SampleRef
from gnomon.exchange.job_export import ExportedJob, ExportFile, asked_of, file_name
from gnomon.exchange.pictures import FOLDER, path_of

FIRST = ("index", "image", "image_path", "question")
LAST = ("answer", "category", "l2-category")


def files(job: ExportedJob) -> Iterator[ExportFile]:
    """The one file, named by the benchmark."""
    yield ExportFile(name=f"{file_name(job.spec.benchmark)}.tsv", chunks=_lines(job))


def _lines(job: ExportedJob) -> Iterator[bytes]:
    """The lines of the questions that can be opened, with the letters that any of them has.

    Raises:
        SpecError: none can be opened.
    """
    letters = _letters(job)
    text = io.StringIO(newline="")
    writer = csv.writer(text, delimiter="\t", lineterminator="\n")
    writer.writerow([*FIRST, *letters, *LAST])
    for ref in job.refs():
        view = job.question(ref.sample_id, None)
        if view is not None:
            writer.writerow(_cells(job, ref, view, letters))
            yield text.getvalue().encode()
            text.seek(0)
            text.truncate()


def _letters(job: ExportedJob) -> list[str]:
    views = [job.question(ref.sample_id, None) for ref in job.refs()]
    if not any(view is not None for view in views):
        raise SpecError("the job's data are not here: no question can be written", field="JOB")
    return sorted({option.letter for view in views if view for option in view.options})


def _cells(job: ExportedJob, ref: SampleRef, view: QuestionView, letters: list[str]) -> list[str]:
    images = [picture.image for picture in view.pictures]
    images += [frame for clip in view.clips for frame in clip.frames]
    shown = [(image, data) for image in images if (data := job.picture(image.sha256)) is not None]
    texts = [base64.b64encode(data).decode("ascii") for _, data in shown]
    paths = [path_of(image.sha256, image.media_type).removeprefix(f"{FOLDER}/") for image, _ in shown]
    options = {option.letter: option.text for option in view.options}
    _, target = asked_of(view, None)
    return [
        ref.sample_id,
        _listed(texts),
        _listed(paths),
        view.question,
        *(options.get(letter, "") for letter in letters),
        target if isinstance(target, str) else "".join(target),
        ref.task,
        ref.cell,
    ]


def _listed(texts: list[str]) -> str:
    """One text as it is, several as VLMEvalKit reads a list."""
    return texts[0] if len(texts) == 1 else str(texts) if texts else ""
