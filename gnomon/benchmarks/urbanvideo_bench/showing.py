"""Showing: the frames and the prompt of each protocol."""

from gnomon.benchmark import PromptProtocol
from gnomon.benchmarks.urbanvideo_bench.options import shuffled, split_question
from gnomon.clip_samples import ClipQuestion, Showing
from gnomon.clip_samples import labelled_frames as labelled
from gnomon.media.clips import Frames
from gnomon.media.rules import Stride, Uniform
from gnomon.sample import Part

FRAMES = 32


def showing(protocol: PromptProtocol) -> Showing:
    """Official: every k-th frame, as released. Guarded: frames even in time, with times."""
    if protocol == "official":
        return Showing(rule=Stride(FRAMES, "up"), prompt=_official)
    return Showing(rule=Uniform(FRAMES), prompt=_guarded)


def displayed(question: ClipQuestion, protocol: PromptProtocol) -> ClipQuestion:
    """The question with the options as that protocol's prompt letters them, and gold among them."""
    if protocol == "official" or not question.options:
        return question
    options, gold = shuffled(split_question(question.text)[0], question.options, question.gold)
    return ClipQuestion(
        sample_id=question.sample_id,
        task=question.task,
        clip=question.clip,
        text=question.text,
        options=options,
        gold=gold,
    )


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
