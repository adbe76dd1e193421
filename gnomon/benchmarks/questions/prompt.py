"""Writes the prompt: pictures and frames, then the context, the question, its options, and how to answer."""

from collections.abc import Iterator, Sequence

from gnomon.benchmarks.questions.question import OwnQuestion
from gnomon.core.sample import ImageRef, Part
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import Frames

FRAMES = 16  # of a clip, evenly in time, unless the job says otherwise


def parts_of(question: OwnQuestion, pictures: Sequence[ImageRef], frames: Frames | None) -> tuple[Part, ...]:
    """The prompt in parts; both protocols use the same words, and differ in the order of options alone."""
    return (*_pictures(pictures), *labelled_frames(frames), Part(content=_words(question)))


def _pictures(pictures: Sequence[ImageRef]) -> Iterator[Part]:
    for number, picture in enumerate(pictures, start=1):
        if len(pictures) > 1:
            yield Part(content=f"Picture {number} of {len(pictures)}:", shown="media")
        yield Part(content=picture, shown="media")


def _words(question: OwnQuestion) -> str:
    lines = [question.context] if question.context else []
    lines.append(f"Question: {question.text}")
    if question.options:
        lines += ["Options:", *(f"{letter}. {words}" for letter, words in question.options.items())]
    return "\n".join((*lines, question.scorer.form(question.truth)))
