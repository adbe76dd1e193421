"""The formats in which a job can be written, by name; each is a module that is imported when it is needed."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Literal

from gnomon.exchange.job_export import ExportedJob, ExportFile, zipped

FormatName = Literal[
    "rows",
    "inspect",
    "inspect-eval",
    "atif",
    "otel",
    "every-eval-ever",
    "vlmevalkit",
    "chat",
    "cassette",
    "plans",
]
ZIP = "application/zip"
LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format: the module whose `files` writes it, what it writes, and the media type of a single file.

    Several files are sent as one zip.
    """

    module: str
    about: str
    media_type: str = ZIP
    is_single: bool = False
    needs_questions: bool = False  # the job's data say what was asked, and what is right

    def files(self, job: ExportedJob) -> Iterator[ExportFile]:
        """The files of a job, in pieces that are made as they are read.

        Raises:
            SpecError: the job has nothing that this format holds.
        """
        files: Iterator[ExportFile] = importlib.import_module(self.module).files(job)
        return files


FORMATS: Mapping[FormatName, Format] = {
    "rows": Format(
        module="gnomon.exchange.rows_write", about="rows.ndjson", media_type=LINES, is_single=True
    ),
    "inspect": Format(
        module="gnomon.exchange.inspect_write",
        about="a .json log of Inspect AI per model and arm",
        needs_questions=True,
    ),
    "inspect-eval": Format(
        module="gnomon.exchange.inspect_archive",
        about="a .eval log of Inspect AI per model and arm",
        needs_questions=True,
    ),
    "atif": Format(
        module="gnomon_formats.atif_write",
        about="trajectories.jsonl, one ATIF v1.7 document per trial",
        media_type=LINES,
        is_single=True,
        needs_questions=True,
    ),
    "otel": Format(
        module="gnomon_formats.otel_write",
        about="spans.jsonl, OTLP/JSON spans of agents, chats and tools",
        media_type=LINES,
        is_single=True,
    ),
    "every-eval-ever": Format(
        module="gnomon_formats.eee_write",
        about="records and samples of Every Eval Ever, per model and arm",
        needs_questions=True,
    ),
    "vlmevalkit": Format(
        module="gnomon_formats.vlmevalkit_write",
        about="the questions as a TSV of VLMEvalKit, with their pictures",
        media_type="text/tab-separated-values",
        is_single=True,
        needs_questions=True,
    ),
    "chat": Format(
        module="gnomon_formats.chat",
        about="chat.jsonl, messages for fine-tuning",
        media_type=LINES,
        is_single=True,
    ),
    "cassette": Format(
        module="gnomon.exchange.cassette_write",
        about="cassette.jsonl, the calls of tool servers with their results",
        media_type=LINES,
        is_single=True,
    ),
    "plans": Format(
        module="gnomon_trips.plans_write",
        about="plans.jsonl, the trips for plan-pairs",
        media_type=LINES,
        is_single=True,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A job as one stream: the one file, or a zip of several."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


def single_stream(name: FormatName, job: ExportedJob) -> Stream:
    """A job in the format of that name. The first piece is made at once, so that what is wrong shows.

    Raises:
        SpecError: the job has nothing that this format holds.
    """
    form, files = FORMATS[name], FORMATS[name].files(job)
    if form.is_single and not job.with_media:
        file = next(files)
        title, media_type, chunks = file.name, form.media_type, iter(file.chunks)
    else:
        title, media_type, chunks = f"{name}.zip", ZIP, zipped(files)
    first = next(chunks, b"")
    return Stream(name=f"{job.job_id}-{title}", media_type=media_type, chunks=chain((first,), chunks))
