"""Queues of samples that people review, what a reviewer says of a sample, and answers of people."""

from dataclasses import dataclass
from typing import Literal, get_args

Choice = Literal["all", "random", "all_wrong", "disputed", "flagged", "doubtful"]  # of a queue's samples
Mode = Literal["judge", "answer"]  # answers and judges the truth; or answers only, and never sees the truth
Verdict = Literal["sound", "wrong_truth", "ambiguous", "drop"]
CHOICES: tuple[Choice, ...] = get_args(Choice)
MODES: tuple[Mode, ...] = get_args(Mode)
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewQueue:
    """Samples of one job that people review, in this order; `choice` says how they were chosen."""

    name: str
    job_id: str
    mode: Mode
    choice: Choice
    samples: tuple[str, ...]
    created_at: float = 0.0  # set by the store


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """What one reviewer said of a sample.

    `response` is the reviewer's own answer as it was given, before the truth was shown; None: no answer.
    `answer` and `score` are what the benchmark's scorer made of it. `decision` is None as long as the truth
    is not judged. `mended` is the right answer where the truth is wrong. A settlement was made by someone who
    had read the others' decisions; every other review is blind.
    """

    sample_id: str
    reviewer: str
    response: str | None = None
    answer: str | None = None
    score: float | None = None
    decision: Verdict | None = None
    mended: str | None = None
    note: str = ""
    seconds: float | None = None
    is_settlement: bool = False
    created_at: float = 0.0  # set by the store, as is the next
    updated_at: float = 0.0

    @property
    def judgement(self) -> tuple[Verdict | None, str]:
        """What reviewers agree or disagree on: the decision, and the answer that mends a wrong truth."""
        return self.decision, plain_answer(self.mended) if self.decision == "wrong_truth" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAnswer:
    """What one person answered before the truth was shown; `answer` is as the scorer read it."""

    person: str
    sample_id: str
    answer: str | None
    score: float


def plain_answer(answer: str | None) -> str:
    """An answer without differences of case and spaces, to be compared with others.

    >>> plain_answer(" B,  c ")
    'b, c'
    """
    return " ".join((answer or "").casefold().split())
