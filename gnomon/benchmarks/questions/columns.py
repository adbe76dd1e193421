"""The columns of a question file: their names, what else they are often called, and how a spec maps them."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from gnomon.benchmarks.questions.scorers.option import LETTERS
from gnomon.core.errors import SpecError

COLUMNS: Mapping[str, str] = {
    "id": "name of the question, unique in the file; its place in the file where there is none",
    "question": "what is asked",
    "context": "text that comes before the question",
    "options": "list of texts to choose from; or a column for each, called A, B, C, …",
    "answer": "what is right, as the scorer needs it: a letter or text of an option, a number, a text",
    "images": "picture or list of them: paths below the file's folder, base64, or the id of a row with them",
    "video": "path of a clip below the file's folder",
    "scene": "scene in GeoJSON: a path below the file's folder, or the object itself",
    "task": "kind of question; reports have a row for each",
    "cluster": "what makes questions kin, or a list, one by each factor; where it is empty, what they show",
    "tags": "list of words to select questions by",
    "rubric": "what a judge model shall hold replies to (`gnomon analyse judged_answers`)",
    "reply": "a reply that people have judged, to hold a judge model against them",
    "label": "whether that reply is right: 1 or 0, yes or no",
    "scorer": "how the answer is scored, where that differs from the spec's `scorer`",
}
ALIASES: Mapping[str, tuple[str, ...]] = {
    "id": ("index", "question_id"),
    "context": ("hint",),
    "options": ("choices",),
    "images": ("image", "image_path"),
    "video": ("clip",),
    "task": ("category",),
}
MAPPABLE = (*COLUMNS, *LETTERS)
Named = Mapping[str, str | tuple[str, ...]]


@dataclass(frozen=True, kw_only=True)
class ColumnNames:
    """The names under which the file may hold each column; the first that is there is taken.

    `cluster` may be the names of several columns: each is a factor by which questions are kin.
    """

    named: Named = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ours, theirs in self.named.items():
            is_several = not isinstance(theirs, str)
            if is_several and (ours != "cluster" or not theirs or len(set(theirs)) < len(theirs)):
                raise SpecError(
                    "allowed is the name of a column; for `cluster` also a list of different ones",
                    field=f"columns.{ours}",
                )
            if ours not in MAPPABLE:
                allowed = ", ".join(COLUMNS)
                raise SpecError(f"no column {ours!r}; allowed: {allowed}, A, B, C, …", field="columns")

    def ours(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """A row's values under our names, without empty ones."""
        row: dict[str, Any] = {}
        ranks: dict[str, int] = {}
        for column, value in values.items():
            if column not in self._ours or _is_empty(value):
                continue
            name, rank = self._ours[column]
            if rank <= ranks.get(name, rank):
                row[name], ranks[name] = value, rank
        if self._factors:
            names = [None if _is_empty(values.get(column)) else values[column] for column in self._factors]
            row |= {"cluster": names} if any(name is not None for name in names) else {}
        return row

    @cached_property
    def _factors(self) -> tuple[str, ...]:
        """The columns of `cluster` where several are named."""
        named = self.named.get("cluster", "")
        return () if isinstance(named, str) else named

    def unread(self, values: Mapping[str, Any]) -> list[str]:
        """The columns of a row that nothing reads."""
        return [column for column in values if column not in self._ours and column not in self._factors]

    @cached_property
    def _ours(self) -> Mapping[str, tuple[str, int]]:
        """Our name of each column that a file may have, and how early it is taken."""
        return {
            column: (name, rank)
            for name in MAPPABLE
            if name != "cluster" or not self._factors
            for rank, column in enumerate(self.candidates(name))
        }

    def candidates(self, name: str) -> tuple[str, ...]:
        """The names that the file may use for a column: the spec's alone, else ours, then other usual ones.

        >>> ColumnNames(named={"id": "nr"}).candidates("id"), ColumnNames().candidates("id")
        (('nr',), ('id', 'index', 'question_id'))
        """
        if name in self.named:
            named = self.named[name]
            return (named,) if isinstance(named, str) else named
        taken = {*self._factors, *self.named.values()}
        return tuple(column for column in (name, *ALIASES.get(name, ())) if column not in taken)


def _is_empty(value: object) -> bool:
    """Whether a cell holds nothing: also the NaN that data frames write for it."""
    if isinstance(value, str):
        return not value.strip()
    return value is None or (isinstance(value, float) and math.isnan(value))
