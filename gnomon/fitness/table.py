"""Holds the table of what an endpoint is fit for, and puts it into words."""

from typing import Literal

from typing_extensions import TypedDict

State = Literal["fit", "unfit", "not_needed", "unknown"]
STATE_WORDS = {"fit": "fit", "unfit": "not fit", "not_needed": "not needed", "unknown": "not known"}


SEE_REASONING = "No words came: see `reasoning`."


class Finding(TypedDict):
    """One row: what was asked and came, whether that is fit, what the report will say, and what helps."""

    check: str
    asked: str
    came: str
    state: State
    advice: str


class Fitness(TypedDict):
    """What is known of an endpoint: whether it is `fit` for what is asked of it, and for native calls of
    tools, in one sentence and row by row; what the calls took (None: unknown).
    """

    model: str
    fit: bool
    native_tools: State
    sentence: str
    findings: list[Finding]
    calls: int
    seconds: float
    prompt_tokens: int | None
    completion_tokens: int | None
    usd: float | None
    seconds_per_100_prompt_tokens: float | None
    seconds_per_10_reply_tokens: float | None


def unfit_text(fitness: Fitness) -> str:
    """In one line that an endpoint is not fit, and what follows from it."""
    faults = [row["advice"] for row in fitness["findings"] if row["state"] == "unfit"]
    advice = [words for words in faults if words not in ("", SEE_REASONING)]
    return " ".join([fitness["sentence"], *advice[:1]])
