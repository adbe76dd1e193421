"""Shows the beginning of a question file: its columns, and its first questions as a model sees them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gnomon.benchmarks.questions.columns import ColumnNames
from gnomon.benchmarks.questions.loader import find_file, read_beginning
from gnomon.benchmarks.questions.rows import Reading
from gnomon.benchmarks.questions.samples import FRAMES, OwnSamples
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.errors import DataError
from gnomon.core.sample import Sample
from gnomon.media import MediaStore
from gnomon.media.frame_rules import Uniform

ROWS = 200  # in which questions are looked for
SHOWN = 5
SHOWN_COLUMNS = 100  # that are told


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """The file's columns with a value of each, which of them is read as which, and questions."""

    file: str
    columns: Mapping[str, str]
    read_as: Mapping[str, str]  # theirs by ours
    samples: Sequence[Sample]


def preview(data: Path, reading: Reading, *, protocol: PromptProtocol, media: MediaStore) -> Preview:
    """The first SHOWN questions that can be asked, of the first ROWS rows.

    Raises:
        DataError: there is no file of questions, or it cannot be read.
    """
    path = find_file(data)
    file, values = read_beginning(path, reading, rows=ROWS)
    samples = OwnSamples(
        file=file, entries=file.entries, protocol=protocol, rule=Uniform(FRAMES), media=media
    )
    shown: list[Sample] = []
    for sample_id in file.entries:
        if len(shown) == SHOWN:
            break
        try:
            shown.append(samples.get(sample_id))
        except DataError:  # such as the picture of a later row
            continue
    columns = dict(list(values.items())[:SHOWN_COLUMNS])
    return Preview(file=path.name, columns=columns, read_as=_read_as(reading.columns, columns), samples=shown)


def _read_as(columns: ColumnNames, there_are: Mapping[str, str]) -> dict[str, str]:
    read: dict[str, str] = {}
    for ours in columns.ours(dict.fromkeys(there_are, "1")):
        theirs = next((name for name in columns.candidates(ours) if name in there_are), "")
        read[ours] = theirs
    return read
