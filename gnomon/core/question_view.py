"""What a person is shown of a question: its text, options, truth, pictures, clip and where it takes place.

Benchmarks make it (`ShowsQuestions` in `gnomon.core.benchmark`); the page, the report and the review desk
draw it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from gnomon.core.sample import ImageRef
from tools.core.sketch import Sketch


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
