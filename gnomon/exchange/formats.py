"""The formats in which a job can be written, by name; each is a module that is imported when it is needed."""

import importlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gnomon.core.errors import SpecError
from gnomon.exchange.job_export import ExportedJob, ExportFile, zipped

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


FORMATS: Mapping[str, Format] = {
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
        module="gnomon.exchange.atif_write",
        about="trajectories.jsonl, one ATIF v1.7 document per trial",
        media_type=LINES,
        is_single=True,
        needs_questions=True,
    ),
    "otel": Format(
        module="gnomon.exchange.otel_write",
        about="spans.jsonl, OTLP/JSON spans of agents, chats and tools",
        media_type=LINES,
        is_single=True,
    ),
    "every-eval-ever": Format(
        module="gnomon.exchange.eee_write",
        about="records and samples of Every Eval Ever, per model and arm",
        needs_questions=True,
    ),
    "vlmevalkit": Format(
        module="gnomon.exchange.vlmevalkit_write",
        about="the questions as a TSV of VLMEvalKit, with their pictures",
        media_type="text/tab-separated-values",
        is_single=True,
        needs_questions=True,
    ),
    "chat": Format(
        module="gnomon.exchange.chat",
        about="chat.jsonl, messages for fine-tuning",
        media_type=LINES,
        is_single=True,
    ),
    "plans": Format(
        module="gnomon.exchange.plans_write",
        about="plans.jsonl, the trips for plan-pairs",
        media_type=LINES,
        is_single=True,
    ),
}


def format_called(name: str) -> Format:
    """The format of that name.

    Raises:
        SpecError: there is none; lists them.
    """
    if name not in FORMATS:
        raise SpecError(f"no format {name!r}; there are: {', '.join(FORMATS)}", field="format")
    return FORMATS[name]


def single_stream(form: Format, job: ExportedJob) -> Iterator[bytes]:
    """A job as one stream: the one file, or a zip of several. Its first piece is made at once.

    Raises:
        SpecError: the job has nothing that this format holds.
    """
    files = form.files(job)
    if form.is_single and not job.with_media:
        return iter(next(files).chunks)
    return zipped(files)
