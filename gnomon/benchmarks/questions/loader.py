"""Makes questions of a file's rows, and names all that is wrong with it at once, by line and column."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnomon.benchmarks._clusters import clusters_by_shared
from gnomon.benchmarks.questions.columns import COLUMNS, ColumnNames
from gnomon.benchmarks.questions.floors import UsualAnswers
from gnomon.benchmarks.questions.pictures import (
    Source,
    check_picture,
    is_file_name,
    key_of,
    sources_in,
)
from gnomon.benchmarks.questions.question import Entry, OwnQuestion
from gnomon.benchmarks.questions.reading import as_json
from gnomon.benchmarks.questions.scorers.option import OptionScorer, options_in, right_letter
from gnomon.benchmarks.questions.scorers.scorer import Scorer
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.benchmarks.questions.tables import SUFFIXES, FoundRow, Table, open_table
from gnomon.core.errors import DataError, FaultyFile, NotFound, SpecError
from gnomon.core.ids import stable_hash
from gnomon.core.sample import DataFault, SampleRef
from gnomon.media.clip_frames import find_clip
from tools.scene.document import SceneError
from tools.scene.format import read_scene, scene_from_json
from tools.scene.scene import Scene

TASK = "question"  # of a row that names none
MAX_TEXT = {
    "id": 200,
    "question": 100_000,
    "context": 1_000_000,
    "task": 100,
    "cluster": 200,
    "answer": 20_000,
    "rubric": 20_000,
    "reply": 100_000,
}
MAX_TAGS = 50
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
FIRST = 20  # faults that a message quotes


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How a file is to be read: what it calls its columns, and how it is scored where a row does not say."""

    columns: ColumnNames = field(default_factory=ColumnNames)
    scorer: Scorer | None = None  # None: `option` where there are options, else `text`


def find_file(data: Path) -> Path:
    """The question file: `data` itself, or the one in that folder, called `questions` if there are several.

    Raises:
        DataError: there is none, or it is not clear which.
    """
    if data.is_file():
        return data
    try:
        files = sorted(path for path in data.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file())
    except OSError as error:
        raise DataError(f"{data} cannot be read: {error.strerror}", field="data") from None
    named = [path for path in files if path.stem.lower() == "questions"]
    chosen = named or files
    if not chosen:
        endings = ", ".join(SUFFIXES)
        raise DataError(f"{data} holds no file of questions; expected questions in {endings}", field="data")
    if len(chosen) > 1:
        names = ", ".join(path.name for path in chosen[:5])
        raise DataError(f"{data} holds several files: {names}; name the one as `data`", field="data")
    return chosen[0]


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
        reader = _RowReader(self.reading, self.folder)
        question = reader.question(self.table.row(entry.at), entry.number)
        if question is None:
            raise DataError(f"{self.path.name} has changed since the job opened it", field="data")
        return question

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
    walk = _Scan(table, reading, path)
    for found in table.rows():
        walk.add(found)
    return walk.finished()


class _Scan:
    """What is gathered while a file is read through."""

    def __init__(self, table: Table, reading: Reading, path: Path) -> None:
        self._table, self._reading, self._path = table, reading, path
        self._reader = _RowReader(reading, path.parent)
        self._seen: dict[str, tuple[int, tuple[int, int]]] = {}  # number and place of each id
        self._entries: dict[str, Entry] = {}
        self._kin: dict[str, tuple[str, ...]] = {}
        self._references: list[tuple[int, str]] = []
        self._columns: dict[str, None] = {}
        self._faults: list[tuple[int, str]] = []
        self._usual = UsualAnswers()
        self._rows = 0

    def add(self, found: FoundRow) -> None:
        """Read a row; what is wrong with it is kept."""
        self._rows += 1
        if found.fault:
            self._faults.append((found.number, found.fault))
            return
        self._columns |= dict.fromkeys(found.values)
        reader = self._reader
        question = reader.question(found.values, found.number)
        self._faults += [(found.number, fault) for fault in reader.faults]
        sample_id = reader.sample_id
        if sample_id in self._seen:
            first = self._seen[sample_id][0]
            self._faults.append(
                (found.number, f"id: {sample_id!r} is also that of {self._table.unit} {first}")
            )
            return
        self._seen[sample_id] = (found.number, found.at)
        if question is None:
            return
        self._usual.add(question)
        references = [s for s in question.pictures if isinstance(s, str) and not self._is_file(s)]
        self._references += [(found.number, reference) for reference in references]
        self._entries[sample_id] = Entry(
            ref=SampleRef(
                sample_id=sample_id, task=question.task, cell=question.task, cluster=question.cluster
            ),
            at=found.at,
            number=found.number,
            has_options=bool(question.options),
            has_scene=question.scene_source is not None,
            tags=question.tags,
        )
        if not question.cluster:
            self._kin[sample_id] = tuple(_shared(question, references))

    def _is_file(self, source: str) -> bool:
        return is_file_name(source) or find_clip(self._path.parent, source) is not None

    def finished(self) -> QuestionFile:
        """The file.

        Raises:
            FaultyFile, DataError: it cannot be asked.
        """
        self._check_columns()
        pictures_of: dict[str, tuple[int, int]] = {}
        for number, reference in self._references:
            if reference in self._seen:
                pictures_of[reference] = self._seen[reference][1]
            else:
                fault = f"images: no file {reference!r} in the folder of the questions, nor a row of that id"
                self._faults.append((number, fault))
        if self._faults:
            raise FaultyFile(self._message(), field="data")
        if not self._entries:
            raise DataError(f"{self._path.name} holds no questions", field="data")
        self._usual.done()
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
        count, unit = len(self._faults), self._table.unit
        lines = [f"  {unit} {number}: {fault}" for number, fault in self._faults[:FIRST]]
        if count > FIRST:
            lines.append(f"  and {count - FIRST:,} more")
        units = f"{unit[:-1]}ies" if unit.endswith("y") else f"{unit}s"
        faulty = len({number for number, _ in self._faults})
        head = f"{self._path.name}: {count:,} fault{'s'[: count > 1]} in {faulty:,} of {self._rows:,} {units}"
        return "\n".join((head, *lines))

    def _check_columns(self) -> None:
        named, there_are = self._reading.columns.named, ", ".join(list(self._columns)[:40])
        if not self._columns:
            return
        for ours, theirs in named.items():
            if theirs not in self._columns:
                message = f"{self._path.name} has no column {theirs!r}; it has: {there_are}"
                raise DataError(message, field=f"columns.{ours}")
        for name in ("question", "answer"):
            if not any(column in self._columns for column in self._reading.columns.candidates(name)):
                message = f"{self._path.name} has no column {name!r}; it has: {there_are}"
                how = f"columns: {{{name}: THEIR NAME}}"
                raise DataError(f"{message}. Say which one it is: {how}", field="data")

    def _clustered(self) -> dict[str, Entry]:
        clusters = clusters_by_shared(self._kin, "shares")
        return {
            sample_id: entry
            if entry.ref.cluster
            else Entry(
                ref=SampleRef(
                    sample_id=sample_id,
                    task=entry.ref.task,
                    cell=entry.ref.cell,
                    cluster=clusters[sample_id] if self._kin[sample_id] else sample_id,
                ),
                at=entry.at,
                number=entry.number,
                has_options=entry.has_options,
                has_scene=entry.has_scene,
                tags=entry.tags,
            )
            for sample_id, entry in self._entries.items()
        }

    def _unused(self) -> Iterable[DataFault]:
        used = {
            column
            for name in (*COLUMNS, *"ABCDEFGHIJKLMNOPQRSTUVWXYZ")
            for column in self._reading.columns.candidates(name)
        }
        unused = [column for column in self._columns if column and column not in used]
        if unused:
            yield DataFault(sample_id="", kind="unused_columns", detail=", ".join(unused[:40]))


def _shared(question: OwnQuestion, references: Sequence[str]) -> Iterable[str]:
    """What makes a question kin to others; `references` are the rows whose pictures it uses."""
    if question.pictures:
        yield f"pictures of {question.sample_id}"
    yield from (f"pictures of {reference}" for reference in references)
    yield from (f"picture {key_of(source)}" for source in question.pictures if source not in references)
    if question.clip:
        yield f"clip {question.clip}"
    if question.scene_source is not None:
        yield f"scene {stable_hash(question.scene_source)}"


class _RowReader:
    """Reads rows one after another; `faults` and `sample_id` are those of the last one."""

    def __init__(self, reading: Reading, folder: Path) -> None:
        self._reading, self._folder = reading, folder
        self._checked: dict[str, str] = {}  # what is wrong with each file, by its kind and name
        self.faults: list[str] = []
        self.sample_id = ""

    def question(self, values: Mapping[str, Any], number: int) -> OwnQuestion | None:
        """The question of a row; None where something is wrong with it."""
        self.faults = []
        row = self._reading.columns.ours(values)
        self.sample_id = self._text(row, "id") or f"{number}"
        text = self._text(row, "question", is_needed=True)
        options = self._try(lambda: options_in(row), {})
        scorer = self._try(lambda: self._scorer(row, options), None)
        gold, truth = "", None
        if "answer" not in row:
            self.faults.append("answer: is missing or empty")
        elif scorer is not None and not self._has_fault("options"):
            if isinstance(scorer, OptionScorer) and options:
                gold = self._try(lambda: right_letter(row["answer"], options), "")
            else:
                truth = self._try(lambda: scorer.truth(_bounded(row["answer"])), None)
        pictures = self._try(lambda: sources_in(row.get("images")), ())
        for source in pictures:
            self._check_picture(source)
        clip = self._clip(row)
        scene = self._scene(row)
        tags = self._try(lambda: _tags(row.get("tags")), ())
        task = self._text(row, "task") or TASK
        cluster = self._text(row, "cluster")
        context = self._text(row, "context")
        rubric, reply = self._text(row, "rubric"), self._text(row, "reply")
        label = self._try(lambda: _label(row.get("label")), None)
        if (label is None) != (not reply) and not self._has_fault("label"):
            self.faults.append("label: goes with a reply, and a reply with its label")
        if self.faults or scorer is None:
            return None
        return OwnQuestion(
            sample_id=self.sample_id,
            task=task,
            clip=clip,
            text=text,
            options=options if isinstance(scorer, OptionScorer) else {},
            gold=gold,
            scorer=scorer,
            answer=truth,
            context=context,
            pictures=pictures,
            scene_source=scene,
            cluster=cluster,
            tags=tags,
            rubric=rubric,
            reply=reply,
            label=label,
        )

    def _scorer(self, row: Mapping[str, Any], options: Mapping[str, str]) -> Scorer:
        if "scorer" in row:
            return make_scorer(row["scorer"])
        return self._reading.scorer or make_scorer("option" if options else "text")

    def _try(self, read: Any, otherwise: Any) -> Any:
        try:
            return read()
        except SpecError as error:
            self.faults.append(str(error))
            return otherwise

    def _has_fault(self, field: str) -> bool:
        return any(fault.startswith(f"{field}:") for fault in self.faults)

    def _text(self, row: Mapping[str, Any], name: str, *, is_needed: bool = False) -> str:
        value = row.get(name)
        if value is None:
            if is_needed:
                self.faults.append(f"{name}: is missing or empty")
            return ""
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            self.faults.append(f"{name}: is no text but {type(value).__name__}")
            return ""
        text = str(value).strip()
        fault = _unstorable(text) or _too_long(text, name)
        if not fault and name in ("id", "task", "cluster") and not text.isprintable():
            fault = "holds a control character"
        if fault:
            self.faults.append(f"{name}: {fault}")
            return ""
        return text

    def _check_picture(self, source: Source) -> None:
        if isinstance(source, str) and not is_file_name(source) and find_clip(self._folder, source) is None:
            return  # perhaps the id of another row, which is looked for at the end
        name = f"picture {key_of(source)}"
        if name not in self._checked:
            try:
                check_picture(source, self._folder)
                self._checked[name] = ""
            except SpecError as error:
                self._checked[name] = str(error)
        if self._checked[name]:
            self.faults.append(self._checked[name])

    def _clip(self, row: Mapping[str, Any]) -> str:
        clip = self._text({"id": row.get("video")}, "id") if "video" in row else ""
        if clip and find_clip(self._folder, clip) is None:
            self.faults.append(f"video: no file {clip!r} in the folder of the questions")
        return clip

    def _scene(self, row: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
        written = row.get("scene")
        if isinstance(written, str) and written.lstrip().startswith("{"):
            written = as_json(written)
        if written is None and "scene" not in row:
            return None
        if not isinstance(written, Mapping | str):
            self.faults.append("scene: is neither a path nor a GeoJSON object")
            return None
        name = f"scene {written}" if isinstance(written, str) else f"scene {stable_hash(written)}"
        if name not in self._checked:
            try:
                scene_at(written, self._folder)
                self._checked[name] = ""
            except DataError as error:
                self._checked[name] = f"scene: {error.message}"
        if self._checked[name]:
            self.faults.append(self._checked[name])
        return written


def scene_at(source: Mapping[str, Any] | str, folder: Path) -> Scene:
    """The scene of a path below the folder, or of a GeoJSON object.

    Raises:
        DataError: it is absent, leads out of the folder, or is no scene.
    """
    try:
        if isinstance(source, str):
            path = find_clip(folder, source)
            if path is None:
                raise DataError(f"no file {source[:200]!r} in the folder of the questions", field="scene")
            return _scene_file(path, path.stat().st_mtime_ns)
        return _inline_scene(json.dumps(source, sort_keys=True))
    except (SceneError, OSError, ValueError) as error:
        raise DataError(str(error), field="scene") from None


@lru_cache(maxsize=64)
def _scene_file(path: Path, _changed_ns: int) -> Scene:
    return read_scene(path)


@lru_cache(maxsize=64)
def _inline_scene(text: str) -> Scene:
    return scene_from_json(json.loads(text))


def _bounded(answer: object) -> object:
    text = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    fault = _unstorable(text) or _too_long(text, "answer")
    if fault:
        raise SpecError(fault, field="answer")
    return answer


def _unstorable(text: str) -> str:
    if _UNSTORABLE.search(text):
        return "holds what no database can hold: a NUL or a lone surrogate"
    return ""


def _too_long(text: str, name: str) -> str:
    most = MAX_TEXT[name]
    return f"has {len(text):,} characters; allowed: {most:,}" if len(text) > most else ""


def _tags(written: object) -> tuple[str, ...]:
    if written is None:
        return ()
    if isinstance(written, str):
        listed = as_json(written) if written.lstrip().startswith("[") else None
        written = listed if isinstance(listed, list) else written.replace(";", ",").split(",")
    if not isinstance(written, list | tuple) or not all(isinstance(tag, str) for tag in written):
        raise SpecError("is no list of words", field="tags")
    tags = tuple(dict.fromkeys(tag.strip() for tag in written if tag.strip()))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TEXT["task"] or not tag.isprintable() for tag in tags):
        raise SpecError(f"allowed are {MAX_TAGS} words of {MAX_TEXT['task']} characters", field="tags")
    return tags


LABELS = {"1": True, "yes": True, "true": True, "right": True} | {
    "0": False,
    "no": False,
    "false": False,
    "wrong": False,
}


def _label(written: object) -> bool | None:
    if written is None:
        return None
    label = LABELS.get(str(written).strip().casefold().removesuffix(".0"))
    if label is None:
        raise SpecError(f"{str(written)[:60]!r} is none of {', '.join(LABELS)}", field="label")
    return label


def entry_called(entries: Mapping[str, Entry], sample_id: str) -> Entry:
    """The entry of that id.

    Raises:
        NotFound: it is not among them.
    """
    if sample_id not in entries:
        raise NotFound(f"no sample {sample_id!r} in this selection")
    return entries[sample_id]
