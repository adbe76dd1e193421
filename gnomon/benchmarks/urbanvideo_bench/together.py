"""Together: all questions of a clip in one prompt, as the paper asked GPT-4o and Qwen."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from gnomon.media.clip_samples import ClipQuestion


def numbered(questions: Sequence[ClipQuestion]) -> list[ClipQuestion]:
    """Each question with its number among those of its clip, from 0, in the published order.

    >>> one = ClipQuestion(sample_id="1", task="", clip="a", text="", options={}, gold="A")
    >>> [question.place for question in numbered([one, one])]
    [0, 1]
    """
    seen: Counter[str] = Counter()
    found = []
    for question in questions:
        found.append(replace(question, place=seen[question.clip]))
        seen[question.clip] += 1
    return found


def by_clip(questions: Sequence[ClipQuestion]) -> Mapping[str, Sequence[ClipQuestion]]:
    """The questions of each clip."""
    found: dict[str, list[ClipQuestion]] = defaultdict(list)
    for question in questions:
        found[question.clip].append(question)
    return found


def text_of(questions: Sequence[ClipQuestion]) -> str:
    """The prompt's text; the published questions stand word for word, the other sentences are ours."""
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
    found = re.search(rf"\bQA\s*{place}\s*[:：](.*?)(?=\bQA\s*\d+\s*[:：]|\Z)", response, re.DOTALL)
    return found[1].strip() if found else None
