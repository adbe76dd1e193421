"""Reads and checks one published question."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gnomon.core.errors import DataError

CATEGORIES = {  # by number: the name in reports and in `select.tasks`, as the published table calls it
    1: "object_permanence",
    2: "dynamic_spatial",
    3: "action_intent",
    4: "predictive_counterfactual",
    5: "deformation_state",
    6: "ego_allo",
}
SCENES = {"human-centric": "human_centric", "object-centric": "object_centric"}
SINGLE, MULTIPLE, TRUE_FALSE, FILL_IN = QUESTION_TYPES = (
    "Single-Choice",
    "Multiple-Select",
    "True/False",
    "Fill-in-the-Blank",
)
LETTERS = "ABCDEFGH"

_LABEL = re.compile(r"\s*\[([^\]\n]{1,40})\]\s*")
_OPTIONS = re.compile(r"\[Options?\]\s*:?", re.IGNORECASE)
_OPTION = re.compile(r"(?:^|(?<=\s))([A-H])[).]\s+")
_CATEGORY = re.compile(r"category\s*(\d)", re.IGNORECASE)
_PARTS_OF_NAME = 3  # of a clip: number, start and end follow the video's id


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A question: `body` without its type's label and options; `options` in the published order, if read."""

    index: str
    clip: str
    question: str
    answer: str
    question_type: str  # as published: the official evaluators compare it to the letter
    kind: str  # the same, its usual misspellings corrected
    category: str
    scene: str
    body: str
    options: tuple[str, ...]

    @property
    def video(self) -> str:
        """The id of the video that the clip was cut from; its questions are not independent.

        >>> import dataclasses
        >>> item = item_from_json({"index": 1, "P": "a_b_03_0_12.mp4", "Q": "Q?", "A": "left"})
        >>> item.video
        'a_b'
        """
        stem = self.clip.rpartition(".")[0] or self.clip
        return stem.rsplit("_", _PARTS_OF_NAME)[0]

    @property
    def is_choice(self) -> bool:
        return self.kind in {SINGLE, MULTIPLE} and bool(self.options)


def item_from_json(entry: object) -> Item:
    """Check an entry of the published file. Labels may be misspelt, texts must be present.

    Raises:
        DataError: the entry is not an object, or `P`, `Q` or `A` is not a text; names the field.
    """
    if not isinstance(entry, Mapping):
        raise DataError(f"not an object but {type(entry).__name__}")
    clip, question, answer = (_text(entry, name) for name in ("P", "Q", "A"))
    body, options = split_question(question)
    return Item(
        index=str(entry.get("index", "")).strip(),
        clip=clip,
        question=question,
        answer=answer,
        question_type=str(entry.get("question_type", "Unknown")),
        kind=kind_of(entry.get("question_type") or _label(question)),
        category=category_of(entry.get("C")),
        scene=SCENES.get(str(entry.get("scene_type", "")).strip().lower(), "unknown"),
        body=body,
        options=options,
    )


def _text(entry: Mapping[str, Any], name: str) -> str:
    value = entry.get(name)
    if not isinstance(value, str) or not value.strip():
        raise DataError(f"no text but {value!r:.40}", field=name)
    return value


def _label(question: str) -> str:
    match = _LABEL.match(question)
    return match[1] if match else ""


def kind_of(question_type: object) -> str:
    """The question type, its usual misspellings corrected; unchanged if it is not one of the four.

    >>> kind_of("single choice"), kind_of("True/False "), kind_of("Ordering")
    ('Single-Choice', 'True/False', 'Ordering')
    """
    text = str(question_type or "").strip()
    plain = {re.sub(r"[^a-z]", "", name.lower()): name for name in QUESTION_TYPES}
    return plain.get(re.sub(r"[^a-z]", "", text.lower()), text)


def category_of(label: object) -> str:
    """The category by its number, however the rest of the label is spelt.

    >>> category_of("Category 6:Egocentric vs. Allocentric Reference Frames"), category_of(None)
    ('ego_allo', 'unknown')
    """
    match = _CATEGORY.search(str(label or ""))
    return CATEGORIES.get(int(match[1]), "unknown") if match else "unknown"


def split_question(question: str) -> tuple[str, tuple[str, ...]]:
    r"""The question's own text and its options; none if they do not read A, B, C … in order.

    >>> split_question("[Single-Choice] Where? [Options] A) left B) right")
    ('Where?', ('left', 'right'))
    >>> split_question("[True/False] It moves.")
    ('It moves.', ())
    """
    markers = list(_OPTIONS.finditer(question))
    marker = markers[-1] if markers else None
    text = question[: marker.start()] if marker else question
    body = _LABEL.sub("", text, count=1).strip() if _LABEL.match(text) else text.strip()
    if marker is None:
        return body, ()
    listed = question[marker.end() :]
    starts: list[re.Match[str]] = []
    for match in _OPTION.finditer(listed):  # a letter out of turn is part of an option's text
        if match[1] == LETTERS[len(starts) : len(starts) + 1]:
            starts.append(match)
    if len(starts) < 2:
        return body, ()
    ends = [match.start() for match in starts[1:]] + [len(listed)]
    return body, tuple(listed[a.end() : end].strip() for a, end in zip(starts, ends, strict=True))
