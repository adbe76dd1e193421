"""A stored job as export formats read it, and the files that they write."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gnomon.core.question_view import QuestionView
from gnomon.core.row import Row
from gnomon.core.sample import SampleRef
from gnomon.exchange.conversation import Json
from gnomon.exchange.pictures import ReadPicture
from gnomon.spec.job_spec import JobSpec

ReadQuestion = Callable[[str, str | None], QuestionView | None]
# The date of each member of a zip, so that the same job gives the same bytes.
EARLIEST = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportFile:
    """A file by its name, with slashes where it lies in a folder, and its bytes in pieces."""

    name: str
    chunks: Iterable[bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedJob:
    """A job that is being written. Rows and traces are read as they are written, never all at once.

    `rows` takes a model and an arm, or None for all; `question` takes a sample and the arm that asks it, or
    None for the original, and gives None for what cannot be opened here, as `picture` does for bytes that are
    gone. `with_media`: pictures are wanted in the files.
    """

    job_id: str
    spec: JobSpec
    created: str
    started: str
    version: str
    rows: Callable[[str | None, str | None], Iterator[Row]]
    trace: Callable[[str], Json | None]
    refs: Callable[[], Sequence[SampleRef]]
    question: ReadQuestion
    picture: ReadPicture
    report: Callable[[], Json]
    with_media: bool = False

    def groups(self) -> Iterator[tuple[str, str]]:
        """Model and arm of each group of the job that has rows."""
        for model in self.spec.models:
            for arm in self.spec.arms:
                if next(self.rows(model.label, arm.name), None) is not None:
                    yield model.label, arm.name

    def trials(self, model: str | None = None, arm: str | None = None) -> Iterator[tuple[Row, Json | None]]:
        for row in self.rows(model, arm):
            yield row, self.trace(row.trial_id)


def asked_of(view: QuestionView | None, trace: Json | None) -> tuple[list[str] | None, str | list[str]]:
    """The options' texts and the target: the right option's letter, those of several in their order, or the
    truth in words. Without a view, what the trace was imported with.
    """
    if view is None:
        asked = (trace or {}).get("asked") or {}
        return asked.get("choices"), asked.get("target") or ""
    right = sorted((option for option in view.options if option.right), key=lambda option: option.right)
    letters = [option.letter for option in right]
    target = view.truth_text if not letters else letters[0] if len(letters) == 1 else letters
    return [option.text for option in view.options] or None, target


def json_line(value: object) -> bytes:
    """A value as one line of JSON in ASCII."""
    return json.dumps(value, allow_nan=False).encode() + b"\n"


def file_name(*parts: str) -> str:
    """A name for a file made of texts from outside.

    >>> file_name("j_1", "openai/gpt-4o", "raw arm")
    'j_1_openai-gpt-4o_raw-arm'
    """
    return re.sub(r"[^\w.-]+", "-", "_".join(parts))


class _Sink(io.RawIOBase):
    """Takes what a zip writes until it is sent on."""

    def __init__(self) -> None:
        super().__init__()
        self._pieces: list[bytes] = []

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self._pieces.append(bytes(data))
        return len(data)

    def take(self) -> bytes:
        """What came since the last time."""
        taken = b"".join(self._pieces)
        self._pieces.clear()
        return taken


def zipped(files: Iterable[ExportFile]) -> Iterator[bytes]:
    """The files as the bytes of one zip, a piece at a time."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in files:
            info = zipfile.ZipInfo(file.name, EARLIEST)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w", force_zip64=True) as member:
                for chunk in file.chunks:
                    member.write(chunk)
                    yield sink.take()
            yield sink.take()
    yield sink.take()
