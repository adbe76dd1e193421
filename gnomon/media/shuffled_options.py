"""Dealing: options with letters given anew, so that a favourite place of the right one tells nothing."""

import re
from collections.abc import Mapping
from dataclasses import replace

from gnomon.core.ids import stable_hash
from gnomon.media.clip_samples import ClipQuestion

_LETTERS = "ABCDEFGHIJ"
_REFERS = re.compile(
    r"\b(?:all|none|both|any) of (?:the )?(?:above|these|them)\b"
    r"|\boptions?\s+[A-J]\b|\b[A-J] (?:and|or) [A-J]\b",
    re.IGNORECASE,
)


def shuffle_options(asked: str, options: Mapping[str, str], gold: str) -> tuple[dict[str, str], str]:
    """The options with letters given anew, in an order drawn from the question's words, and gold's letter.

    The draw does not know the right one. Options that refer to each other keep their order.

    >>> options, gold = shuffle_options("Where to?", {"A": "left", "B": "right", "C": "ahead"}, "B")
    >>> options[gold], sorted(options.values())
    ('right', ['ahead', 'left', 'right'])
    """
    if any(_REFERS.search(text) for text in options.values()):
        return dict(options), gold
    order = sorted(options, key=lambda letter: stable_hash(asked, options[letter]))
    letters = dict(zip(order, _LETTERS, strict=False))
    return {letters[old]: options[old] for old in order}, letters.get(gold, "")


def with_shuffled_options(question: ClipQuestion, asked: str) -> ClipQuestion:
    """A question with its options dealt anew; `asked` is its text without them."""
    options, gold = shuffle_options(asked, question.options, question.gold)
    return replace(question, options=options, gold=gold)
