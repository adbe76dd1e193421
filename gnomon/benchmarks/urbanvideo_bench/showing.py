"""Showing: the frames and the prompt of each protocol."""

from collections.abc import Mapping, Sequence
from functools import partial

from gnomon.benchmarks.urbanvideo_bench.options import split_question
from gnomon.benchmarks.urbanvideo_bench.together import text_of
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon.media.clip_samples import ClipQuestion, Showing
from gnomon.media.clip_samples import labelled_frames as labelled
from gnomon.media.clips import Frames
from gnomon.media.rules import Stride, Uniform, as_asked
from gnomon.media.shuffled_options import with_shuffled_options

FRAMES = 32


def showing(
    protocol: PromptProtocol,
    *,
    frames: int | None = None,
    fps: float | None = None,
    together: Mapping[str, Sequence[ClipQuestion]] | None = None,
) -> Showing:
    """Official: every k-th frame, as released. Paper: the appendix's prompts, frames even in time. Guarded:
    frames even in time, with times. `together`: the questions of each clip, if one prompt holds them all.
    """
    if protocol == "official":
        rule = as_asked(partial(Stride, rounding="up"), FRAMES, frames=frames, fps=fps)
        return Showing(rule=rule, prompt=_official)
    rule = as_asked(Uniform, FRAMES, frames=frames, fps=fps)
    if protocol == "paper":
        return Showing(rule=rule, prompt=partial(_paper, together or {}))
    return Showing(rule=rule, prompt=_guarded)


def displayed(question: ClipQuestion, protocol: PromptProtocol) -> ClipQuestion:
    """The question with the options as that protocol's prompt letters them, and gold among them."""
    if protocol != "guarded" or not question.options:
        return question
    return with_shuffled_options(question, split_question(question.text)[0])


def _official(question: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    """Text, then pictures. The template speaks of A to E although questions have three to eight options.

    The published question stands word for word; the other sentences are ours.
    """
    text = (
        "These pictures are frames of a video. They are what an agent sees in the first person while it moves"
        " through its surroundings. Answer the question below.\n"
        "Answer by this template:\n"
        "Option: []; Reason: []\n"
        "Option holds one letter from 'A' to 'E' and nothing else. Reason says why you chose it.\n"
        f"{question.text}"
    )
    return _text_then_pictures(text, frames)


def _paper(
    together: Mapping[str, Sequence[ClipQuestion]], question: ClipQuestion, frames: Frames | None
) -> tuple[Part, ...]:
    """The appendix's forms: one question behind a word about the drone, or all of the clip's with numbers."""
    if question.place is not None:
        return _text_then_pictures(text_of(together[question.clip]), frames)
    text = (
        "The pictures are frames of a video: what a drone in a city saw in the first person."
        " Answer this question:\n"
        f"{question.text}\n"
        "Answer by this template:\n"
        "Option: [] (one letter from 'A' to 'E' and nothing else)\n"
        "Reason: [] (why you chose it)"
    )
    return _text_then_pictures(text, frames)


def _text_then_pictures(text: str, frames: Frames | None) -> tuple[Part, ...]:
    pictures = [Part(content=image, shown="media") for image in frames.images] if frames else []
    return (Part(content=text), *pictures)


def _guarded(question: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    shown = displayed(question, "guarded")
    text = "\n".join(
        (
            f"Question: {split_question(question.text)[0]}",
            "Options:",
            *(f"{letter}. {words}" for letter, words in shown.options.items()),
            f"Answer with one line: Option: <{', '.join(shown.options)}>; Reason: <why>",
        )
    )
    return (*labelled(frames), Part(content=text))
