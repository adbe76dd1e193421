"""Writes the prompt of each protocol, also of all questions of a clip together, and picks its frames."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.sample import Part
from gnomon.core.words import closing
from gnomon.media.clip_samples import ClipQuestion, Showing, with_shuffled_options
from gnomon.media.clip_samples import labelled_frames as labelled
from gnomon.media.clips import Frames
from gnomon.media.frame_rules import Stride, Uniform, as_asked
from gnomon_published.benchmarks.urbanvideo_bench.loader import split_question


def numbered(questions: Sequence[ClipQuestion]) -> list[ClipQuestion]:
    """Each question with its number among those of its clip, from 0, in the published order.

    >>> question = ClipQuestion(sample_id="1", task="", clip="a", text="", options={}, gold="A")
    >>> [placed.place for placed in numbered([question, question])]
    [0, 1]
    """
    counts: Counter[str] = Counter()
    placed = []
    for question in questions:
        placed.append(replace(question, place=counts[question.clip]))
        counts[question.clip] += 1
    return placed


def by_clip(questions: Sequence[ClipQuestion]) -> Mapping[str, Sequence[ClipQuestion]]:
    """The questions of each clip."""
    groups: dict[str, list[ClipQuestion]] = defaultdict(list)
    for question in questions:
        groups[question.clip].append(question)
    return groups


def text_of(questions: Sequence[ClipQuestion]) -> str:
    """The prompt's text; the published questions are quoted word for word, the other sentences are ours."""
    template = " ".join(f"QA{question.place}: Option: []; Reason: []" for question in questions)
    return "\n".join(
        (
            "The pictures are frames of one video: what a drone in a city saw in the first person.",
            "Answer these questions:",
            *(f"Question {question.place}: {question.text}" for question in questions),
            f"Answer by this template: {template}",
            "Each Option holds one letter from 'A' to 'E' and nothing else. Each Reason says why.",
        )
    )


def answer_to(place: int, response: str) -> str | None:
    """What a reply says to the question of that number; None if it does not say `QA<number>:`.

    >>> answer_to(1, "QA0: Option: [A]; Reason: x QA1: Option: [C]; Reason: y")
    'Option: [C]; Reason: y'
    >>> answer_to(1, "QA10: Option: [A]") is None
    True
    """
    match = re.search(rf"\bQA\s*{place}\s*[:：](.*?)(?=\bQA\s*\d+\s*[:：]|\Z)", response, re.DOTALL)
    return match[1].strip() if match else None


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
    """Text, then pictures. The template names A to E although questions have three to eight options.

    The published question is quoted word for word; the other sentences are ours.
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
    """The appendix's forms: one question after a sentence on the drone, or all of the clip, numbered."""
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
    lettered = displayed(question, "guarded")
    text = "\n".join(
        (
            f"Question: {split_question(question.text)[0]}",
            "Options:",
            *(f"{letter}. {words}" for letter, words in lettered.options.items()),
            closing("<option>", f"one of {', '.join(lettered.options)}"),
        )
    )
    return (*labelled(frames), Part(content=text))
