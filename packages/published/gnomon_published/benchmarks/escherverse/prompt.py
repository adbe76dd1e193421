"""Writes the prompt of a question: the options in the protocol's order, in the authors' words or guarded."""

import re
from dataclasses import replace

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash
from gnomon.core.sample import Part
from gnomon.core.words import tagged_closing
from gnomon.media.clip_samples import labelled_frames
from gnomon.media.clips import Frames
from gnomon_published.benchmarks.escherverse.item import FILL_IN, LETTERS, MULTIPLE, SINGLE, TRUE_FALSE, Item

OFFICIAL_LETTERS = 4  # A to D


def as_shown(item: Item, protocol: PromptProtocol) -> Item:
    """Official and paper: as published. Guarded: the options in an order drawn from their own text, so that
    the place of the right one among the published options reveals nothing; gold letters follow.

    An option that refers to the others by place or letter (`All of the above`, `Both A and C`) keeps its
    question as published, and so does one with more options than the official evaluators have letters for.
    """
    gold = gold_letters(item)
    if protocol != "guarded" or not item.is_choice or gold is None:
        return item
    if len(item.options) > OFFICIAL_LETTERS or _refers_to_others(item):
        return item
    order = sorted(range(len(item.options)), key=lambda at: stable_hash(item.body, item.options[at], at))
    letters = sorted(LETTERS[order.index(LETTERS.index(letter))] for letter in gold)
    return replace(item, options=tuple(item.options[at] for at in order), answer=",".join(letters))


def gold_letters(item: Item) -> list[str] | None:
    """The right letters; None if gold is not a list of letters of its options."""
    letters = re.findall(r"[A-Za-z]+", item.answer.upper())
    offered = LETTERS[: len(item.options)]
    return letters if letters and all(letter in offered and len(letter) == 1 for letter in letters) else None


def _refers_to_others(item: Item) -> bool:
    pattern = r"\b(?:of the above|of these|both [A-H]\b|[A-H] and [A-H]\b|above|other options)"
    return any(re.search(pattern, option) for option in item.options)


_FORMS = {
    SINGLE: "the letter of the one right option",
    MULTIPLE: "the letters of all right options, separated by commas",
    TRUE_FALSE: "True or False",
    FILL_IN: "the words that fill the blank",
}


def parts_of(item: Item, protocol: PromptProtocol, frames: Frames | None) -> tuple[Part, ...]:
    """The prompt: text, then pictures; `item` as that protocol shows it."""
    if protocol != "guarded":
        pictures = tuple(Part(content=image, shown="media") for image in frames.images) if frames else ()
        return (Part(content=_official_text(item)), *pictures)
    absent = () if frames else (Part(content="Frames of the clip: not available.", shown="media"),)
    return (*absent, *labelled_frames(frames), Part(content=_guarded_text(item)))


def _official_text(item: Item) -> str:
    return (
        "Look closely at the frames of the video given here, then answer the question below.\n"
        "Put the final answer, and nothing else, between `<answer>` and `</answer>`.\n\n"
        f"Question: {item.question}"
    )


def _guarded_text(item: Item) -> str:
    lines = [f"Question: {item.body}"]
    lines += [f"{LETTERS[at]}) {option}" for at, option in enumerate(item.options)]
    form = _FORMS.get(item.kind, "the answer")
    lines.append(tagged_closing(form))
    return "\n".join(lines)
