"""The two released evaluators, to the letter: `v1` (January 2026, the paper's table) and the later `v2`.

They differ in how an answer is read; the verdict that follows is the same. Both are in the golden vectors.
"""

import difflib
import re
from dataclasses import dataclass

from gnomon.benchmarks.escherverse.item import FILL_IN, MULTIPLE, SINGLE, TRUE_FALSE
from gnomon.core.score import Score

VARIANTS = ("v1", "v2")
ENOUGH = 0.75  # similarity from which a filled-in phrase gets half a point
LONG_WORDS = 12  # a filled-in phrase that much longer than gold lists guesses rather than answers

_TAGGED = re.compile(r"<answer>(.*?)</answer>", re.DOTALL | re.IGNORECASE)
_LABEL_V2 = re.compile(r"(?<![A-Za-z0-9])([A-D])(?=[ \t]*(?:[).,:;/]|$|\band\b|&|\r?\n))")
_PHRASE_V2 = re.compile(r"\b(?:answer|option|choice)s?\s*(?:is|are|:)?\s*([A-D])\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What an evaluator writes down: the texts it compared, by which method, and the score."""

    score: float
    is_correct: bool
    prediction: str
    gold: str
    method: str
    similarity: float | None = None


def extract(response: str | None, variant: str) -> str:
    """The text that is taken for the answer.

    >>> extract("<answer>A</answer> <answer>B</answer>", "v1"), extract("<answer></answer>B", "v2")
    ('A', '<answer></answer>B')
    """
    if not response:
        return ""
    found = [text.strip() for text in _TAGGED.findall(response)]
    if variant == "v1":
        return found[0] if found else response.strip()
    return "\n".join(filter(None, found)) or response.strip()


def letters_of(text: str, *, several: bool, variant: str) -> str:
    """The option letters in an answer, comma-joined; the text itself where there are none.

    >>> letters_of("The answer is B", several=False, variant="v1")
    'A'
    >>> letters_of("The answer is B", several=False, variant="v2")
    'B'
    """
    text = text.strip()
    if variant == "v1":
        found = [letter.upper() for letter in re.findall(r"\b([A-D])\)?", text, re.IGNORECASE)]
        found = found if several else found[:1]
    else:
        found = [*_LABEL_V2.findall(text), *(letter.upper() for letter in _PHRASE_V2.findall(text))]
    return ",".join(sorted(set(found))) or text


def judge(answer: str, gold: str, question_type: str, *, variant: str) -> Verdict:
    """Compare an extracted answer with gold by the rule of the question's type."""
    answer, gold = answer.strip(), gold.strip()
    if question_type in {SINGLE, MULTIPLE}:
        several = question_type == MULTIPLE
        ours, theirs = (letters_of(text, several=several, variant=variant) for text in (answer, gold))
        same = ours == theirs if several else ours.upper() == theirs.upper()
        return _hard(same, ours, theirs)
    plain, wanted = plain_text(answer), plain_text(gold)
    if question_type == TRUE_FALSE:
        same = any(word in plain and word in wanted for word in ("true", "false"))
        return _hard(same, str("true" in plain), str("true" in wanted))
    if question_type == FILL_IN:
        return _filled_in(answer, gold, plain, wanted)
    return _hard(plain == wanted, answer, gold)


def _hard(same: bool, answer: str, gold: str) -> Verdict:
    return Verdict(score=float(same), is_correct=same, prediction=answer, gold=gold, method="hard_match")


def _filled_in(answer: str, gold: str, plain: str, wanted: str) -> Verdict:
    if plain == wanted or wanted in plain or plain in wanted:
        method = "hard_match" if plain == wanted else "substring_match"
        return Verdict(
            score=1.0, is_correct=True, prediction=answer, gold=gold, method=method, similarity=1.0
        )
    alike = similarity(answer, gold)
    return Verdict(
        score=0.5 if alike >= ENOUGH else 0.0,
        is_correct=False,
        prediction=answer,
        gold=gold,
        method="similarity",
        similarity=alike,
    )


def plain_text(text: str) -> str:
    """Lower case, single spaces."""
    return " ".join(text.lower().split())


def similarity(one: str, other: str) -> float:
    """0.5 of the words shared, 0.3 of difflib's ratio, 0.2 of the character trigrams shared; in [0, 1].

    >>> similarity("left", "LEFT "), similarity("", "left")
    (1.0, 0.0)
    """
    one, other = one.lower().strip(), other.lower().strip()
    if not one or not other:
        return 0.0
    words = _shared(set(one.split()), set(other.split()))
    order = difflib.SequenceMatcher(None, one, other).ratio()
    trigrams = _shared(*({text[at : at + 3] for at in range(len(text) - 2)} for text in (one, other)))
    return 0.5 * words + 0.3 * order + 0.2 * trigrams


def _shared(one: set[str], other: set[str]) -> float:
    return len(one & other) / len(one | other) if one | other else 0.0


def score_official(question_type: str, gold: str, response: str | None, *, variant: str) -> Score:
    """Score a response as the evaluator of that variant does; no response is an error, which scores 0."""
    if not response:
        return Score(value=0.0, metrics={"is_correct": 0.0}, flags=("no_response",))
    answer = extract(response, variant)
    verdict = judge(answer, gold, question_type, variant=variant)
    return Score(
        value=verdict.score,
        answer=verdict.prediction if question_type in {SINGLE, MULTIPLE} else answer,
        metrics=_metrics(verdict),
        flags=_flags(question_type, response, answer, verdict),
    )


def _metrics(verdict: Verdict) -> dict[str, float | str | None]:
    told = {} if verdict.similarity is None else {"similarity": verdict.similarity}
    return {"is_correct": float(verdict.is_correct), **told}


def _flags(question_type: str, response: str, answer: str, verdict: Verdict) -> tuple[str, ...]:
    """What a reader should know of a response that the rule rewards for its form."""
    flags = []
    plain, wanted = plain_text(answer), plain_text(verdict.gold)
    if not _TAGGED.search(response):
        flags.append("untagged")
    if question_type == TRUE_FALSE and "true" in plain and "false" in plain:
        flags.append("gamed:true_and_false")
    if question_type == SINGLE and len(set(re.findall(r"(?<![A-Za-z])[A-D](?![A-Za-z])", answer))) > 1:
        flags.append("several_letters")
    if question_type == FILL_IN and verdict.method == "substring_match":
        if f" {plain} " not in f" {wanted} " and plain in wanted:
            flags.append("gamed:fragment_of_gold" if plain else "gamed:empty_answer")
        elif len(plain.split()) > len(wanted.split()) + LONG_WORDS:
            flags.append("gamed:long_text_holds_gold")
    return tuple(flags)
