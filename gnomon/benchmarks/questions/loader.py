"""Makes questions of a file's rows, and names all that is wrong with it at once, by line and column."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from gnomon.benchmarks.questions.columns import MAPPABLE, ColumnNames
from gnomon.benchmarks.questions.floors import UsualAnswers
from gnomon.benchmarks.questions.pictures import Source, is_file_name, key_of, sources_in
from gnomon.benchmarks.questions.question import Entry, OwnQuestion
from gnomon.benchmarks.questions.rows import Reading, RowReader, scene_at, written_scene
from gnomon.benchmarks.questions.scorers.judge import JudgeScorer
from gnomon.benchmarks.questions.tables import MAX_ROWS, SUFFIXES, Table, TableRow, open_table
from gnomon.core.clusters import cluster_names, cluster_text
from gnomon.core.errors import DataError, FaultyFile
from gnomon.core.ids import stable_hash
from gnomon.core.sample import UNUSED_COLUMNS, DataFault, SampleRef
from gnomon.core.shared_clusters import clusters_by_shared
from gnomon.media.clip_frames import find_clip, no_file
from gnomon.media.uploads import sheet_hint
from gnomon.stopping import counted
from gnomon_tools.scene.scene import Scene

MAX_QUOTED = 20  # faults that a message quotes
FAULTS_KEPT, COLUMNS_KEPT = 1_000, 10_000  # all other faults are counted, all other columns forgotten
SHOWN_CHARS = 80  # that are shown of a value


def find_file(data: Path) -> Path:
    """The question file: `data` itself, or the one in that folder, called `questions` if there are several.

    Raises:
        DataError: there is none, or it is not clear which.
    """
    if data.is_file():
        return data
    try:
        names = sorted(path.name for path in data.iterdir())
        files = [
            path for path in map(data.joinpath, names) if path.suffix.lower() in SUFFIXES and path.is_file()
        ]
    except OSError as error:
        raise DataError(f"{data} cannot be read: {error.strerror}", field="data") from None
    named = [path for path in files if path.stem.lower() == "questions"]
    candidates = named or files
    # A workbook beside another file is often what that was made of.
    chosen = [path for path in candidates if path.suffix.lower() != ".xlsx"] or candidates
    if not chosen:
        endings = ", ".join(SUFFIXES)
        hint = next(filter(None, map(sheet_hint, names)), "")
        message = f"{data} holds no file of questions; expected questions in {endings}{hint}"
        raise DataError(message, field="data")
    if len(chosen) > 1:
        some = ", ".join(path.name for path in chosen[:5])
        raise DataError(f"{data} holds several files: {some}; name the one as `data`", field="data")
    return chosen[0]


def held_columns(path: Path, columns: ColumnNames, sought: Collection[str]) -> set[str]:
    """Those of the sought columns that have a value in some row; the file is read no further than needed.

    Raises:
        DataError: the file cannot be read.
    """
    held: set[str] = set()
    table, left = open_table(path), set(sought)
    for row in table.rows():
        if table.same_columns and row.values:
            left = {name for name in left if any(each in row.values for each in columns.candidates(name))}
        held |= columns.ours(row.values).keys() & left
        if held == left:
            break
    return held


def holds_boxes(path: Path, columns: ColumnNames) -> bool:
    """Whether the scene of some row has boxes; the file is read no further than needed."""
    seen: set[str] = set()
    for row in open_table(path).rows():
        written = written_scene(columns.ours(row.values))
        if not isinstance(written, Mapping | str) or (name := stable_hash(written)) in seen:
            continue
        seen.add(name)
        with suppress(DataError):  # told where the row is read
            if scene_at(written, path.parent).boxes:
                return True
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFile:
    """A file that was read through: an entry for each question, whose row is read again when it is asked."""

    path: Path
    table: Table
    reading: Reading
    entries: Mapping[str, Entry]
    faults: tuple[DataFault, ...]
    pictures_of: Mapping[str, tuple[int, int]]  # where rows lie whose pictures other rows use
    usual: UsualAnswers

    @property
    def folder(self) -> Path:
        """Below it lie pictures, clips and scenes."""
        return self.path.parent

    def question(self, entry: Entry) -> OwnQuestion:
        """The question of an entry.

        Raises:
            DataError: the file has changed since it was opened.
        """
        reader = RowReader(self.reading, self.folder)
        question = reader.question(self.table.row(entry.at), entry.number)
        if question is None:
            raise DataError(f"{self.path.name} has changed since the job opened it", field="data")
        return question

    def questions(self, entries: Iterable[Entry]) -> Iterator[OwnQuestion]:
        reader, places = RowReader(self.reading, self.folder), {entry.at for entry in entries}
        for row in counted(self.table.rows(), "rows compared"):
            if row.at in places and (question := reader.question(row.values, row.number)) is not None:
                yield question

    def pictures(self, question: OwnQuestion) -> tuple[Source, ...]:
        """Its pictures, those of other rows among them."""
        sources: list[Source] = []
        for source in question.pictures:
            if isinstance(source, str) and source in self.pictures_of:
                row = self.reading.columns.ours(self.table.row(self.pictures_of[source]))
                sources += sources_in(row.get("images"))
            else:
                sources.append(source)
        return tuple(sources)

    def media(self, name: str) -> Iterator[str | Path]:
        """The file of that name, or the pictures of the row that is called so: files, or hashes."""
        if name in self.pictures_of:
            row = self.reading.columns.ours(self.table.row(self.pictures_of[name]))
            for source in sources_in(row.get("images")):
                yield (
                    key_of(source) if isinstance(source, bytes) else find_clip(self.folder, source) or source
                )
        else:
            yield find_clip(self.folder, name) or name

    def scene(self, question: OwnQuestion) -> Scene | None:
        """Its scene; one object for all questions that name the same file."""
        return None if question.scene_source is None else scene_at(question.scene_source, self.folder)


def read_file(path: Path, reading: Reading) -> QuestionFile:
    """Every question of the file.

    Raises:
        FaultyFile: rows cannot be asked; the message tells which and why, all together.
        DataError: the file cannot be read, or lacks a column that every question needs.
    """
    table = open_table(path)
    scan = _Scan(table, reading, path)
    for row in counted(table.rows(), "rows read"):
        scan.add(row)
    return scan.finished()


def read_beginning(path: Path, reading: Reading, *, rows: int) -> tuple[QuestionFile, Mapping[str, str]]:
    """The questions among the first rows of a file that can be asked, and its columns with their first value,
    cut short.

    Raises:
        DataError: the file cannot be read.
    """
    table = open_table(path)
    scan = _Scan(table, reading, path)
    columns: dict[str, str] = {}
    for row in islice(table.rows(), rows):
        scan.add(row)
        columns |= {name: _short(value) for name, value in row.values.items() if not columns.get(name)}
    return scan.readable(), columns


def _short(value: Any) -> str:
    if isinstance(value, bytes) or (isinstance(value, Mapping) and isinstance(value.get("bytes"), bytes)):
        return "a picture"
    text = " ".join(str(value).split()) if value is not None else ""
    return text if len(text) <= SHOWN_CHARS else f"{text[: SHOWN_CHARS - 1]}…"


class _Scan:
    """The results of reading a file through."""

    def __init__(self, table: Table, reading: Reading, path: Path) -> None:
        self._table, self._reading, self._path = table, reading, path
        self._reader = RowReader(reading, path.parent)
        self._seen: dict[str, tuple[int, tuple[int, int]]] = {}  # number and place of each id
        self._entries: dict[str, Entry] = {}
        self._kin: dict[str, tuple[str, ...]] = {}
        self._references: list[tuple[int, str]] = []
        self._columns: dict[str, None] = {}
        self._faults: list[tuple[int, str]] = []
        self._fault_count, self._faulty = 0, set[int]()  # faults, and numbers of rows with some
        self._usual = UsualAnswers()
        self._factors: tuple[int, int] | None = None  # how many make questions kin, and where that was read
        self._rows = 0

    def _fault(self, number: int, *faults: str) -> None:
        if faults:
            self._fault_count += len(faults)
            self._faulty.add(number)
            left = max(FAULTS_KEPT - len(self._faults), 0)
            self._faults += [(number, fault) for fault in faults[:left]]

    def add(self, row: TableRow) -> None:
        """Read a row; what is wrong with it is kept.

        Raises:
            DataError: there are too many.
        """
        self._rows += 1
        if self._rows > MAX_ROWS:
            raise DataError(f"{self._path.name} has more than {MAX_ROWS:,} rows", field="data")
        if row.fault:
            self._fault(row.number, row.fault)
            return
        if len(self._columns) < COLUMNS_KEPT:
            self._columns |= dict.fromkeys(row.values)
        reader = self._reader
        question = reader.question(row.values, row.number)
        self._fault(row.number, *reader.faults)
        sample_id = reader.sample_id
        if sample_id in self._seen:
            first = self._seen[sample_id][0]
            self._fault(row.number, f"id: {sample_id!r} is also that of {self._table.unit} {first}")
            return
        self._seen[sample_id] = (row.number, row.at)
        if question is None:
            return
        self._usual.add(question)
        references = [s for s in question.pictures if isinstance(s, str) and not self._is_file(s)]
        self._references += [(row.number, reference) for reference in references]
        self._entries[sample_id] = Entry(
            ref=SampleRef(
                sample_id=sample_id, task=question.task, cell=question.task, cluster=question.cluster
            ),
            at=row.at,
            number=row.number,
            has_options=bool(question.options),
            needs_judge=isinstance(question.scorer, JudgeScorer),
            tags=question.tags,
        )
        names = cluster_names(question.cluster)
        if not any(names[:1]):
            self._kin[sample_id] = tuple(_shared(question, references))
        if names:
            factors, named_at = self._factors = self._factors or (len(names), row.number)
            if len(names) != factors:
                fault = f"cluster: has {len(names)} names where {self._table.unit} {named_at} has {factors}"
                self._fault(row.number, fault)

    def _is_file(self, source: str) -> bool:
        return is_file_name(source) or find_clip(self._path.parent, source) is not None

    def finished(self) -> QuestionFile:
        """The file.

        Raises:
            FaultyFile, DataError: it cannot be asked.
        """
        self._check_columns()
        for number, reference in self._references:
            if reference not in self._seen:
                self._fault(number, f"images: {no_file(reference)}, nor a row of that id")
        if self._faults:
            raise FaultyFile(self._message(), field="data")
        if not self._entries:
            raise DataError(f"{self._path.name} holds no questions", field="data")
        return self.readable()

    def readable(self) -> QuestionFile:
        self._usual.done()
        named = {reference for _, reference in self._references}
        pictures_of = {name: self._seen[name][1] for name in named & self._seen.keys()}
        return QuestionFile(
            path=self._path,
            table=self._table,
            reading=self._reading,
            entries=self._clustered(),
            faults=tuple(self._unused()),
            pictures_of=pictures_of,
            usual=self._usual,
        )

    def _message(self) -> str:
        self._faults.sort(key=lambda fault: fault[0])
        count, unit = self._fault_count, self._table.unit
        lines = [f"  {unit} {number}: {fault}" for number, fault in self._faults[:MAX_QUOTED]]
        if count > MAX_QUOTED:
            lines.append(f"  and {count - MAX_QUOTED:,} more")
        units = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
        head = (
            f"{self._path.name}: {count:,} fault{'s'[: count > 1]}"
            f" in {len(self._faulty):,} of {self._rows:,} {units}"
        )
        return "\n".join((head, *lines))

    def _check_columns(self) -> None:
        named, there_are = self._reading.columns.named, ", ".join(list(self._columns)[:40])
        if not self._columns:
            return
        for ours in named:
            for theirs in self._reading.columns.candidates(ours):
                if theirs not in self._columns:
                    message = f"{self._path.name} has no column {theirs!r}; it has: {there_are}"
                    raise DataError(message, field=f"columns.{ours}")
        for name in ("question", "answer"):
            if not any(column in self._columns for column in self._reading.columns.candidates(name)):
                message = f"{self._path.name} has no column {name!r}; it has: {there_are}"
                how = f"columns: {{{name}: THEIR NAME}}"
                raise DataError(f"{message}. Say which one it is: {how}", field=f"columns.{name}")

    def _clustered(self) -> dict[str, Entry]:
        shared = clusters_by_shared(self._kin, "shares")
        for sample_id, entry in self._entries.items():
            cluster = self._cluster(entry.ref, shared)
            if cluster != entry.ref.cluster:
                self._entries[sample_id] = replace(entry, ref=replace(entry.ref, cluster=cluster))
        return self._entries

    def _cluster(self, ref: SampleRef, shared: Mapping[str, str]) -> str:
        """Its clusters; by the first factor also what it shares, where the file does not say."""
        first, *rest = cluster_names(ref.cluster) or ("",) * (self._factors or (1, 0))[0]
        own = shared[ref.sample_id] if self._kin.get(ref.sample_id) else ref.sample_id
        return cluster_text([first or own, *(name or ref.sample_id for name in rest)])

    def _unused(self) -> Iterable[DataFault]:
        used = {column for name in MAPPABLE for column in self._reading.columns.candidates(name)}
        unused = [column for column in self._columns if column and column not in used]
        if unused:
            yield DataFault(sample_id="", kind=UNUSED_COLUMNS, detail=", ".join(unused[:40]))


def _shared(question: OwnQuestion, references: Sequence[str]) -> Iterable[str]:
    """The things that join a question to others; `references` are the rows whose pictures it uses."""
    if question.pictures:
        yield f"pictures of {question.sample_id}"
    yield from (f"pictures of {reference}" for reference in references)
    yield from (f"picture {key_of(source)}" for source in question.pictures if source not in references)
    if question.clip:
        yield f"clip {question.clip}"
    if question.scene_source is not None:
        yield f"scene {stable_hash(question.scene_source)}"
