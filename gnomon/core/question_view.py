"""What a person is shown of a question: its text, options, truth, pictures, clip and where it takes place.

Benchmarks make it (`ShowsQuestions` in `gnomon.core.benchmark`); the page, the report and the review desk
draw it.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.core.sample import ImageRef, Sample
from gnomon_tools.core.sketch import Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """An option as it is offered. `right` is empty for a wrong one, else `right`, or its place (`1st`)."""

    letter: str
    text: str
    right: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPicture:
    """A picture of the question, and what it shows in words, for its caption and for who can't see it."""

    image: ImageRef
    caption: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownClip:
    """A clip that can be played, and the frames that the model gets of it: times in seconds, pictures."""

    path: Path
    caption: str
    frame_times_s: tuple[float, ...] = ()
    frames: tuple[ImageRef, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionView:
    """A question with its truth: `seen` is what the question shows in its scene, `truth` what is right."""

    question: str
    options: tuple[Option, ...] = ()
    truth_text: str = ""
    pictures: tuple[ShownPicture, ...] = ()
    clips: tuple[ShownClip, ...] = ()
    seen: Sketch = field(default_factory=Sketch)
    truth: Sketch = field(default_factory=Sketch)
    facts: Mapping[str, str] = field(default_factory=dict)  # other things worth knowing, by name


_SUFFIXES = {1: "st", 2: "nd", 3: "rd"}
MAX_SHOWN = 2_000  # characters of a target that is shown as it is
NO_ANSWER = "No answer could be read."
"""The verdict on a response in which no answer was found."""


def ordinal(number: int) -> str:
    """A place in an order.

    >>> ordinal(1), ordinal(2), ordinal(4), ordinal(11)
    ('1st', '2nd', '4th', '11th')
    """
    return f"{number}{'th' if number % 100 in (11, 12, 13) else _SUFFIXES.get(number % 10, 'th')}"


def missing_fact(sample: Sample) -> dict[str, str]:
    """What of the question's media is absent, or why it is, as a fact; nothing where all is there.

    >>> from gnomon.core.sample import SampleRef
    >>> ref = SampleRef(sample_id="1", task="", cell="", cluster="")
    >>> missing_fact(Sample(ref=ref, parts=(), target={}, missing=("a.mp4",)))
    {'Missing': 'a.mp4'}
    """
    reason = sample.broken or ", ".join(sample.missing)
    return {"Missing": reason} if reason else {}


def plain_view(sample: Sample) -> QuestionView:
    """A question as its prompt shows it, with its target as text, where a benchmark says no more."""
    texts = [part.content for part in sample.parts if isinstance(part.content, str)]
    pictures = [part.content for part in sample.parts if isinstance(part.content, ImageRef)]
    return QuestionView(
        question="\n\n".join(text.strip() for text in texts),
        truth_text=_readable(sample.target),
        pictures=tuple(
            ShownPicture(image=image, caption=f"Picture {number} of {len(pictures)}")
            for number, image in enumerate(pictures, start=1)
        ),
        facts=missing_fact(sample),
    )


def _readable(target: Mapping[str, object]) -> str:
    """A target's plain values by name; one without any as it is printed."""
    lines = [
        f"{name}: {value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)}"
        for name, value in target.items()
        if isinstance(value, str | int | float | bool | list | dict) and _is_json(value)
    ]
    return ("\n".join(lines) or str(dict(target)))[:MAX_SHOWN]


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def verdict_on_options(options: Iterable[Option], letters: Sequence[str]) -> str:
    """How an answer of these letters compares with the right options.

    >>> options = [Option(letter="A", text="left"), Option(letter="B", text="up", right="right")]
    >>> verdict_on_options(options, ["A"]), verdict_on_options(options, ["B"])
    ('Answered A; right is B.', 'Right: B.')
    >>> verdict_on_options(options, [])
    'No answer could be read.'
    """
    right = [option.letter for option in options if option.right]
    if not letters:
        return NO_ANSWER
    if not right:
        return f"Answered {', '.join(letters)}."
    if sorted(letters) == sorted(right):
        return f"Right: {', '.join(right)}."
    return f"Answered {', '.join(letters)}; right is {', '.join(right)}."


def plain_verdict(view: QuestionView, answer: str | None) -> str:
    """An answer beside the truth, for a benchmark that says no more.

    >>> plain_verdict(QuestionView(question="How far?", truth_text="90"), "45")
    'Answered 45; right is 90.'
    """
    if not answer:
        return NO_ANSWER
    letters = [letter.strip() for letter in answer.split(",")]
    offered = {option.letter for option in view.options}
    if view.options and offered.issuperset(letters):
        return verdict_on_options(view.options, letters)
    if answer == view.truth_text:
        return f"Right: {answer}."
    return f"Answered {answer}; right is {view.truth_text}." if view.truth_text else f"Answered {answer}."
