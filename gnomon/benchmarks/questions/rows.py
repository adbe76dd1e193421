"""Reads single rows: their values as a question, and everything that is wrong with them."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from gnomon.benchmarks.questions.columns import ColumnNames
from gnomon.benchmarks.questions.pictures import Source, check_picture, is_file_name, key_of, sources_in
from gnomon.benchmarks.questions.question import OwnQuestion
from gnomon.benchmarks.questions.scorers.option import OptionScorer, labels_in, options_in, right_letter
from gnomon.benchmarks.questions.scorers.scorer import Scorer
from gnomon.benchmarks.questions.scorers.scorers import make_scorer
from gnomon.core.clusters import cluster_names, cluster_text, read_cluster
from gnomon.core.errors import DataError, SpecError
from gnomon.core.ids import stable_hash
from gnomon.media.clip_frames import find_clip, no_file
from gnomon_tools.core.json_text import json_value
from gnomon_tools.scene.document import SceneError
from gnomon_tools.scene.format import read_scene, scene_from_json
from gnomon_tools.scene.scene import Scene

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
NAMED, MAX_NAME_CHARS = 5, 40  # columns that a fault names, and what is shown of each name
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How to read a file: the names of its columns, and the scorer of rows that name none."""

    columns: ColumnNames = field(default_factory=ColumnNames)
    scorer: Scorer | None = None  # None: `option` where there are options, else `text`


class RowReader:
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
        text = self._text(row, "question")
        if "question" not in row:
            self.faults.append(self._absent("question", values))
        options = self._try(lambda: options_in(row), {})
        scorer = self._try(lambda: self._scorer(row, options), None)
        gold, truth = "", None
        if "answer" not in row:
            self.faults.append(self._absent("answer", values))
        elif scorer is not None and not self._has_fault("options"):
            if isinstance(scorer, OptionScorer) and options:
                gold = self._try(lambda: right_letter(row["answer"], options, labels_in(row)), "")
            else:
                truth = self._try(lambda: scorer.truth(_bounded(row["answer"])), None)
        pictures = self._try(lambda: sources_in(row.get("images")), ())
        for source in pictures:
            self._check_picture(source)
        clip = self._clip(row)
        scene = self._scene(row)
        tags = self._try(lambda: _tags(row.get("tags")), ())
        task = self._text(row, "task") or TASK
        cluster = self._cluster(row)
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

    def _absent(self, name: str, values: Mapping[str, Any]) -> str:
        """The fault of a row without a column, with those of its columns that may be meant."""
        columns = self._reading.columns
        unread = [column for column in columns.unread(values) if column.isprintable()][:NAMED]
        if not unread or any(column in values for column in columns.candidates(name)):
            return f"{name}: is missing or empty"
        others = ", ".join(column[:MAX_NAME_CHARS] for column in unread)
        return f"{name}: is missing; where the file calls it otherwise ({others}?), `columns` says so"

    def _text(self, row: Mapping[str, Any], name: str) -> str:
        value = row.get(name)
        if value is None:
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

    def _cluster(self, row: Mapping[str, Any]) -> str:
        """The clusters of a row as one text; a factor without a name is filled in later."""
        written = read_cluster(row.get("cluster"))
        if not isinstance(written, str):
            return self._text(row, "cluster")
        names = [self._text({"cluster": name}, "cluster") for name in cluster_names(written)]
        return cluster_text(names) if any(names) else ""

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
            self.faults.append(f"video: {no_file(clip)}")
        return clip

    def _scene(self, row: Mapping[str, Any]) -> Mapping[str, Any] | str | None:
        written = written_scene(row)
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


def written_scene(row: Mapping[str, Any]) -> Any:
    """The scene of a row as it is written, JSON read; None where there is none."""
    written = row.get("scene")
    if isinstance(written, str) and written.lstrip().startswith("{"):
        return json_value(written)
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
                raise DataError(no_file(source), field="scene")
            return _scene(path, path.stat().st_mtime_ns)
        return _scene(json.dumps(source, sort_keys=True))
    except (SceneError, OSError, ValueError) as error:
        raise DataError(str(error), field="scene") from None


@lru_cache(maxsize=8)  # a large one takes 55 MB
def _scene(source: Path | str, _changed_ns: int = 0) -> Scene:
    return read_scene(source) if isinstance(source, Path) else scene_from_json(json.loads(source))


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
        listed = json_value(written) if written.lstrip().startswith("[") else None
        written = listed if isinstance(listed, list) else written.replace(";", ",").split(",")
    if not isinstance(written, list | tuple) or not all(isinstance(tag, str) for tag in written):
        raise SpecError("is no list of words", field="tags")
    tags = tuple(dict.fromkeys(tag.strip() for tag in written if tag.strip()))
    if len(tags) > MAX_TAGS or any(len(tag) > MAX_TEXT["task"] or not tag.isprintable() for tag in tags):
        raise SpecError(f"allowed are {MAX_TAGS} words of {MAX_TEXT['task']} characters", field="tags")
    return tags


LABELS = dict.fromkeys(("1", "yes", "true", "right"), True) | dict.fromkeys(
    ("0", "no", "false", "wrong"), False
)


def _label(written: object) -> bool | None:
    if written is None:
        return None
    label = LABELS.get(str(written).strip().casefold().removesuffix(".0"))
    if label is None:
        raise SpecError(f"{str(written)[:60]!r} is none of {', '.join(LABELS)}", field="label")
    return label
