"""Formats in which jobs are written and from which trials are read; each is found by its name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path

from gnomon.core.errors import SpecError
from gnomon.core.row import Row
from gnomon.exchange.imported_job import Ended
from gnomon.exchange.job_export import ExportedJob, ExportFile, zipped
from gnomon.exchange.named_field import NamedField
from gnomon_tools.core.registry import Registry

ZIP = "application/zip"
LINES = "application/x-ndjson"


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How files are read: the arm's name, the score's, and those of the fields with cluster and cell.

    `taken` collects the names of the scores that were read.
    """

    arm: str | None = None
    scorer: str | None = None
    cluster: NamedField | None = None
    cell: NamedField | None = None
    taken: set[str] = field(default_factory=set)

    def check_own(self, row: Row) -> None:
        """Of a format with fields of its own for cluster and cell: no others can be named.

        Raises:
            SpecError: another is named.
        """
        if self.cluster:
            self.cluster.of({"cluster": row.cluster})
        if self.cell:
            self.cell.of({"cell": row.cell})


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """How a file begins: the fields of its first line, the columns of its header, or its first bytes."""

    ending: str
    fields: Mapping[str, object] = field(default_factory=dict)
    columns: Sequence[str] = ()
    document: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format. With `files` jobs are written in it, with `read` trials are read from it.

    Several files are sent as one zip. `is_of` tells by its start whether a file is of this format; one
    that is only written says in `unread` why. `reasons` are those for trials without a score, in words.
    """

    name: str
    about: str
    files: Callable[[ExportedJob], Iterator[ExportFile]] | None = None
    media_type: str = ZIP
    is_single: bool = False
    needs_questions: bool = False  # the job's data say what was asked, and what is right
    is_of: Callable[[Start], bool] = lambda _: False
    read: Callable[[Path, Reading], Iterator[Ended]] | None = None
    unread: str = ""
    reasons: Mapping[str, str] = field(default_factory=dict)


FORMATS: Registry[Format] = Registry(
    "gnomon.exchange.formats",
    "format",
    group="gnomon.formats",
    accepts=lambda item: isinstance(item, Format),
)


def written_names() -> tuple[str, ...]:
    """The names of the formats in which jobs are written."""
    return tuple(each.name for each in FORMATS if each.files)


def read_names() -> tuple[str, ...]:
    """The names of the formats from which trials are read."""
    return tuple(each.name for each in FORMATS if each.read)


def format_called(name: str, allowed: Sequence[str]) -> Format:
    """The format of that name; `allowed` are the names that a refusal lists.

    Raises:
        SpecError: there is no such format.
    """
    if name not in FORMATS:
        raise SpecError(f"no format {name!r}; allowed: {', '.join(allowed)}", field="format")
    return FORMATS.get(name)


def files_of(name: str, job: ExportedJob) -> Iterator[ExportFile]:
    """The files of a job in that format, in pieces that are made as they are read.

    Raises:
        SpecError: there is no such format, or the job has nothing that it holds.
    """
    files = format_called(name, written_names()).files
    if files is None:
        raise SpecError(
            f"{name} is read and not written; allowed: {', '.join(written_names())}", field="format"
        )
    return files(job)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stream:
    """A job as one stream: the one file, or a zip of several."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


def single_stream(name: str, job: ExportedJob) -> Stream:
    """A job in the format of that name. The first piece is made at once, so that what is wrong shows.

    Raises:
        SpecError: there is no such format, or the job has nothing that it holds.
    """
    files, form = files_of(name, job), FORMATS.get(name)
    if form.is_single and not job.with_media:
        file = next(files)
        title, media_type, chunks = file.name, form.media_type, iter(file.chunks)
    else:
        title, media_type, chunks = f"{name}.zip", ZIP, zipped(files)
    first = next(chunks, b"")
    return Stream(name=f"{job.job_id}-{title}", media_type=media_type, chunks=chain((first,), chunks))
