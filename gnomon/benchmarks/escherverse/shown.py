"""Shown: the question as a prompt of a protocol lists it, and gold to match."""

import re
from dataclasses import replace

from gnomon.benchmarks.escherverse.item import LETTERS, Item
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.ids import stable_hash

OFFICIAL_LETTERS = 4  # A to D


def as_shown(item: Item, protocol: PromptProtocol) -> Item:
    """Official and paper: as published. Guarded: the options in an order drawn from their own text, so that
    the place of the right one among the published options tells nothing; gold letters follow.

    An option that speaks of the others by place or letter (`All of the above`, `Both A and C`) keeps its
    question as published, and so do more options than the official evaluators know letters for.

    >>> from gnomon.benchmarks.escherverse.item import item_from_json
    >>> item = item_from_json({"index": 1, "P": "v_1_0_5.mp4", "A": "A", "question_type": "Single-Choice",
    ...                        "Q": "[Single-Choice] Where? [Options] A) left B) right C) up D) down"})
    >>> shown = as_shown(item, "guarded")
    >>> shown.options[LETTERS.index(shown.answer)], sorted(shown.options) == sorted(item.options)
    ('left', True)
    """
    gold = gold_letters(item)
    if protocol != "guarded" or not item.is_choice or gold is None:
        return item
    if len(item.options) > OFFICIAL_LETTERS or _speaks_of_others(item):
        return item
    order = sorted(range(len(item.options)), key=lambda at: stable_hash(item.body, item.options[at], at))
    letters = sorted(LETTERS[order.index(LETTERS.index(letter))] for letter in gold)
    return replace(item, options=tuple(item.options[at] for at in order), answer=",".join(letters))


def gold_letters(item: Item) -> list[str] | None:
    """The right letters; None if gold is not a list of letters of its options."""
    letters = re.findall(r"[A-Za-z]+", item.answer.upper())
    known = LETTERS[: len(item.options)]
    return letters if letters and all(letter in known and len(letter) == 1 for letter in letters) else None


def _speaks_of_others(item: Item) -> bool:
    pattern = r"\b(?:of the above|of these|both [A-H]\b|[A-H] and [A-H]\b|above|other options)"
    return any(re.search(pattern, option) for option in item.options)
