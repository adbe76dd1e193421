"""Scores a reply as the released code of VSI-Bench does, or by Gnomon's own strict rule."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from gnomon.benchmarks.questions.scorers.number import MraScorer
from gnomon.benchmarks.questions.scorers.scorer import Truth
from gnomon.core.benchmark import Scoring
from gnomon.core.score import Score
from gnomon.reading.letter_score import score_letter

COMPUTED = "within 2 cm or 2 %"
NEAR_CM = {"m": 100.0, "cm": 1.0}  # centimetres in a unit; others have the 2 % alone
KEPT = 500  # characters of an answer that is kept


def released_word(reply: str) -> str:
    """What the released code reads: all before the first space, without full stops and space at its end.

    >>> released_word("A. left"), released_word("2 m"), released_word(" A"), released_word("A)")
    ('A', '2', '', 'A)')
    """
    return reply.split(" ")[0].rstrip(".").strip()


def released_mra(answer: float, truth: float) -> float:
    """Mean relative accuracy with the thresholds of the released code, in its floating point.

    >>> released_mra(1.2, 1.0), released_mra(12.0, 10.0), released_mra(150.0, 100.0)
    (0.7, 0.6, 0.1)
    """
    thresholds = np.linspace(0.5, 0.95, int((0.95 - 0.5) / 0.05 + 2))
    with np.errstate(all="ignore"):
        return float((np.abs(np.float64(answer) - truth) / truth <= 1 - thresholds).mean())


def score_number(truth: float, unit: str, response: object, *, scoring: Scoring) -> Score:
    """Mean relative accuracy, and whether the number is so near that it was computed."""
    reply = response if isinstance(response, str) else ""
    if scoring == "strict":
        scorer = MraScorer(unit=unit or None)
        score = scorer.score(Truth(value=truth, text=number_text(truth, unit)), reply)
        error = score.metrics.get("error")
        return _with_computed(
            score, float(error) if isinstance(error, int | float) else math.nan, truth, unit
        )
    word = released_word(reply)
    try:
        answer = float(word)
    except ValueError:
        return _with_computed(Score(value=0.0, flags=("no_answer",)), math.nan, truth, unit)
    score = Score(value=released_mra(answer, truth), answer=word[:KEPT])
    return _with_computed(score, answer - truth, truth, unit)


def _with_computed(score: Score, error: float, truth: float, unit: str) -> Score:
    slack = max(0.02 * truth, 2.0 / NEAR_CM[unit] if unit in NEAR_CM else 0.0)
    is_computed = abs(error) <= slack + 1e-9
    return replace(score, metrics={**score.metrics, COMPUTED: float(is_computed)})


def score_choice(options: Mapping[str, str], gold: str, response: object, *, scoring: Scoring) -> Score:
    """One letter."""
    if scoring == "strict":
        return score_letter(response, options, gold)
    word = released_word(response if isinstance(response, str) else "")
    letter = word.upper() if word.upper() in options else None
    return Score(
        value=float(word.lower() == gold.lower()),
        answer=letter,
        flags=() if letter else ("no_answer",),
    )


def number_text(value: float, unit: str) -> str:
    """A number with its unit, as people read it.

    >>> number_text(1.9, "m"), number_text(4.0, "")
    ('1.9 m', '4')
    """
    return f"{value:.10g} {unit}".strip()
