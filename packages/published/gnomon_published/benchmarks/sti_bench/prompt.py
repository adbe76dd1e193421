"""Writes the prompt of each protocol and picks its frames."""

from functools import partial

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon.core.words import LETTER, closing
from gnomon.media.clip_samples import ClipQuestion, Showing, labelled_frames, with_shuffled_options
from gnomon.media.clips import Frames, Look
from gnomon.media.frame_rules import Stride, Uniform, as_asked

FRAMES = 30


def showing(protocol: PromptProtocol, *, frames: int | None = None, fps: float | None = None) -> Showing:
    """Official: the API script, its frames in its colours. Paper: the same words, frames even in time, right
    colours. Guarded: frames even in time, each with its time; letters dealt anew. `frames` or `fps` changes
    their number.
    """
    if protocol == "official":
        rule = as_asked(partial(Stride, rounding="down"), FRAMES, frames=frames, fps=fps)
        return Showing(rule=rule, look=Look(swap_red_blue=True), prompt=_official, blind_runs=True)
    rule = as_asked(Uniform, FRAMES, frames=frames, fps=fps)
    return Showing(rule=rule, prompt=_paper if protocol == "paper" else _guarded)


def displayed(question: ClipQuestion, protocol: PromptProtocol) -> ClipQuestion:
    """The question with the options as that protocol's prompt letters them, and gold among them."""
    return with_shuffled_options(question, question.text) if protocol == "guarded" else question


def _official(question: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    """Without a clip the released script says 0.00 FPS and asks all the same."""
    return _asked(question, frames, _fps(frames))


def _paper(question: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    """The paper spreads frames evenly and states their rate: their number over the clip's seconds."""
    return _asked(question, frames, len(frames.images) / frames.seconds if frames and frames.seconds else 0.0)


def _asked(question: ClipQuestion, frames: Frames | None, fps: float) -> tuple[Part, ...]:
    """Text, then pictures. The published question is quoted word for word; the other sentences are ours."""
    text = "\n".join(
        (
            f"Use the frames below to answer. They were taken from a video at about {fps:.2f} FPS.",
            f"Question: From {question.start_s} seconds to {question.end_s} seconds. {question.text}",
            *(f"{letter} {words}" for letter, words in question.options.items()),
            "Output nothing but the option you choose!",
        )
    )
    pictures = [Part(content=image, shown="media") for image in frames.images] if frames else []
    return (Part(content=text), *pictures)


def _fps(frames: Frames | None) -> float:
    """The rate that the released script states: the clip's, divided by the step."""
    if frames is None:
        return 0.0
    step = frames.indices[1] - frames.indices[0] if len(frames.indices) > 1 else 1
    return frames.fps / step


def _guarded(published: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    question = displayed(published, "guarded")
    text = "\n".join(
        (
            f"Question, about {question.start_s:g} s to {question.end_s:g} s of the clip: {question.text}",
            "Options:",
            *(f"{letter}. {words}" for letter, words in question.options.items()),
            closing(LETTER),
        )
    )
    return (*labelled_frames(frames), Part(content=text))
