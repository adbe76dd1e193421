"""Shows a person a question about a clip: the options, the clip with the frames of the prompt, the window."""

from collections.abc import Iterator, Mapping

from gnomon.core.question_view import (
    NO_ANSWER,
    Option,
    QuestionView,
    ShownClip,
    missing_fact,
    verdict_on_options,
)
from gnomon.core.sample import Sample
from gnomon.media.clip_frames import ClipFootage
from gnomon.media.clip_samples import ClipQuestion
from gnomon.reading.choices import read_choice
from gnomon_tools.core.sketch import Sketch, Span

MAX_QUOTED = 120  # characters of an answer that names no option


def clip_question_view(
    sample: Sample, question: ClipQuestion, text: str, *, facts: Mapping[str, str] | None = None
) -> QuestionView:
    """The question with the options as they were displayed; `text` is it without them."""
    right = question.options.get(question.gold)
    return QuestionView(
        question=text,
        options=tuple(clip_options(question)),
        truth_text=f"{question.gold}. {right}" if right else question.gold,
        clips=shown_clips(sample),
        seen=Sketch(spans=tuple(clip_spans(sample, question.start_s, question.end_s))),
        facts={"Clip": question.clip, **(facts or {}), **missing_fact(sample)},
    )


def clip_options(question: ClipQuestion) -> Iterator[Option]:
    """The options, the right one marked."""
    for letter, text in question.options.items():
        yield Option(letter=letter, text=text, right="right" if letter == question.gold else "")


def shown_clips(sample: Sample) -> tuple[ShownClip, ...]:
    """The sample's clip with the frames of its prompt; nothing where there is no file."""
    footage = sample.footage
    if not isinstance(footage, ClipFootage):
        return ()
    frames = footage.shown
    if frames is None:
        return (ShownClip(path=footage.path, caption=footage.path.name),)
    return (
        ShownClip(
            path=footage.path,
            caption=f"{footage.path.name}, {frames.seconds:.1f} s; {len(frames.images)} frames are shown",
            frame_times_s=frames.times_s,
            frames=frames.images,
        ),
    )


def clip_spans(sample: Sample, start_s: float | None = None, end_s: float | None = None) -> Iterator[Span]:
    """The whole clip, where its length is known, and the window that is asked about."""
    footage = sample.footage
    if isinstance(footage, ClipFootage) and footage.shown:
        yield Span(start_s=0.0, end_s=footage.shown.seconds, label="clip")
    if start_s is not None and end_s is not None:
        yield Span(start_s=min(start_s, end_s), end_s=max(start_s, end_s), label="asked about", role="asked")


def clip_verdict(question: ClipQuestion, answer: str, letter_read: float | str | None) -> str:
    """How an answer compares with the right option; `letter_read` is the scorer's own, where it kept one."""
    if isinstance(letter_read, str):
        letter: str | None = letter_read
    else:
        letter = answer if answer in question.options else read_choice(answer, question.options).value
    if letter is None:
        return NO_ANSWER
    if letter not in question.options:
        return f"Answered {letter[:MAX_QUOTED]}; right is {question.gold}."
    return verdict_on_options(clip_options(question), [letter])
