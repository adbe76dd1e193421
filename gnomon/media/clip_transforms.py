"""Deals a clip question's options out to other letters, in prompt and truth, and maps answers back."""

import re
from collections.abc import Collection, Mapping
from dataclasses import replace
from random import Random

from gnomon.core.derangement import derangement
from gnomon.core.errors import DataError
from gnomon.core.ids import stable_seed
from gnomon.core.sample import Part, Sample
from gnomon.media.clip_samples import ClipQuestion
from gnomon.reading.choices import read_choice

_REFERS = re.compile(r"\b(?:of the above|of these|[Bb]oth [A-J]\b|[A-J] (?:and|or) [A-J]\b|other options)")


def permuted(sample: Sample, question: ClipQuestion, *, seed: int) -> Sample:
    """The sample with every option under another letter; `question` is as its prompt shows it.

    Raises:
        DataError: an option speaks of other options, or the prompt does not list them line by line.
    """
    if question.place is not None or any(_REFERS.search(words) for words in question.options.values()):
        raise DataError(f"{sample.ref.sample_id}: its options cannot be dealt out to other letters")
    rng = Random(stable_seed("transform", "permute_options", seed, sample.ref.sample_id))
    letters = derangement(list(question.options), rng)
    options = {new: question.options[old] for new, old in letters.items()}
    gold = next(new for new, old in letters.items() if old == question.gold)
    dealt = replace(question, options=options, gold=gold, is_dealt=True)
    parts = _with_options(sample.parts, question.options, options)
    if parts is None:
        raise DataError(f"{sample.ref.sample_id}: its prompt does not list the options line by line")
    target = {**sample.target, "question": dealt, "letters": letters}
    return replace(sample, parts=parts, target=target)


def _with_options(
    parts: Collection[Part], shown: Mapping[str, str], dealt: Mapping[str, str]
) -> tuple[Part, ...] | None:
    """The parts with the block of options replaced; None where it is not there exactly once."""
    for mark in (". ", " "):
        before, after = (
            "\n".join(f"{letter}{mark}{words}" for letter, words in options.items())
            for options in (shown, dealt)
        )
        texts = [part.content for part in parts if isinstance(part.content, str)]
        if sum(text.count(f"\n{before}\n") for text in texts) == 1:
            return tuple(
                replace(part, content=part.content.replace(f"\n{before}\n", f"\n{after}\n"))
                if isinstance(part.content, str)
                else part
                for part in parts
            )
    return None


def answer_in_original(sample: Sample, question: ClipQuestion, response: str) -> Mapping[str, str | None]:
    """The letter that a response chooses, in the original's terms; `question` is as its prompt shows it."""
    letter = read_choice(response, question.options).value
    letters: Mapping[str, str] = sample.target.get("letters", {})
    return {"original_answer": None if letter is None else letters.get(letter, letter)}
