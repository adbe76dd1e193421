"""Explains in words why trials are missing: how many of each model, the provider's message, what to do."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gnomon.core.redaction import redactor_here, without_folders

MAX_ERROR_CHARS = 600
MAX_LINE_CHARS = 160
NAMED = 3  # models that one message names
TRIAL_IS_OVER = "no reply within the trial's seconds"  # where a call waited when the trial's clock ended
# By stop reason: what a user can do about it.
ADVICE = {
    "provider:auth": "Check the key and what it may use (`api_key_env`, `api_base`).",
    "provider:no_api_key": "Set that variable where the workers run, or name another as `api_key_env`.",
    "provider:not_found": "Check the model's `id` and its `api_base`.",
    "provider:connection": "Check `api_base`, or the agent's address, and that the workers can reach it.",
    "provider:quota": "Top up the provider's account, or use another key.",
    "provider:bad_request": "Compare what the endpoint takes with what `gnomon show` prints.",
    "provider:rate_limit": "Lower `rate` or `concurrency`, or wait.",
    "provider:server_error": "The provider failed: try again later.",
    "provider:timeout": "The provider was too slow: try again later, or raise the model's `call_seconds`.",
    "agent:start": "Check `command`, and that the program is installed where the workers run.",
    "agent:exit": "Run the command by hand with a question of docs/outside-agents.md on its stdin.",
    "agent:bad_json": "Compare what the agent answers with the contract in docs/outside-agents.md.",
    "agent:bad_shape": "Compare what the agent answers with the contract in docs/outside-agents.md.",
    "agent:too_large": "Let the agent answer with fewer or shorter steps.",
    "agent:timeout": "Raise the agent's `timeout_seconds`, or see what it waits for.",
    "judge:unreadable": "See what the judge wrote in a trace; another `judge` may keep to the form.",
    "judge:timeout": "The judge was too slow: try again later, or raise `judge.call_seconds`.",
    "judge:auth": "Check the judge's key (`judge.api_key_env`, `judge.api_base`).",
    "judge:no_api_key": "Set the judge's key where the workers run, or name another as `judge.api_key_env`.",
    "server:start": "See `gnomon tools list --server …`: the tool server must start where the workers run.",
    "server:died": "See the tool server's own words; `gnomon resume` runs the trial again.",
    "server:changed": "The tool server offers other tools than when the job was frozen: run a new job.",
    "cassette:miss": "The cassette does not hold this call: record it again, or run the arm without one.",
    "budget": "Raise `limits`.",
    "data": "Check the folder that `data` names.",
    "setup": "See the job's error.",
}
# Causes that only a change of the spec removes, or most likely so.
IN_SPEC = frozenset(
    {"provider:auth", "provider:bad_request", "provider:not_found", "judge:auth", "agent:timeout", "budget"}
)
RESUME = "Then `gnomon resume` runs what is missing; with the spec changed, run the job anew."
ANEW = "With the spec changed, run the job anew: `gnomon resume` keeps to the old one."


def advice_on(cause: str, error: str = "") -> str:
    """What helps against that stop reason, with that error; empty where nobody knows.

    >>> advice_on("provider:timeout", "no reply within 120 s")
    "The provider was too slow: try again later, or raise the model's `call_seconds`."
    >>> advice_on("provider:timeout", TRIAL_IS_OVER), advice_on("unheard-of")
    ('The provider was too slow: try again later, or raise `limits.trial_seconds`.', '')
    """
    advice = ADVICE.get(cause, "")
    return (
        advice.replace("the model's `call_seconds`", "`limits.trial_seconds`")
        if TRIAL_IS_OVER in error
        else advice
    )


def next_step(causes: Iterable[str]) -> str:
    """How trials that are missing for these reasons are run once the advice has been followed.

    >>> next_step(["provider:timeout"]) == RESUME, next_step(["provider:not_found"]) == ANEW
    (True, True)
    """
    in_spec = {cause in IN_SPEC for cause in causes}
    steps = [RESUME] if in_spec != {True} else []
    if True in in_spec:
        steps.append(ANEW)
    return " ".join(steps)


@dataclass(frozen=True, slots=True, kw_only=True)
class MissingCause:
    """Trials of one model that are missing for one reason, of all its planned trials; `error` is what was
    said most often, without secrets, and may be empty.
    """

    model: str
    cause: str  # the rows' stop reason
    trials: int
    planned: int
    error: str = ""

    def sentence(self) -> str:
        """How many, why, in whose words, and what helps.

        >>> print(MissingCause(model="m", cause="unheard-of", trials=4, planned=14, error="no").sentence())
        m: 4 of 14 trials are missing, unheard-of: “no”.
        """
        said = f": “{self.error.rstrip('.')}”" if self.error else ""
        return f"{self.model}: {self.loss()}{said}. {advice_on(self.cause, self.error)}".strip()

    def loss(self) -> str:
        """How many, and why."""
        lost = f"{self.trials:,} of {self.planned:,} trial{'s' if self.planned != 1 else ''}"
        return f"{lost} {'are' if self.trials != 1 else 'is'} missing, {self.cause}"


def said_in_short(words: str) -> str:
    r"""A provider's words in quotation marks, on one line, shortened to MAX_LINE_CHARS.

    >>> print(said_in_short("HTTP 429: slow\n  down."))
    “HTTP 429: slow down”
    """
    return f"“{beginning(words.rstrip().rstrip('.'), MAX_LINE_CHARS)}”"


def beginning(words: str, chars: int) -> str:
    """Words on one line, and of a longer one the beginning.

    >>> beginning("a  b", 3), beginning("a  bc", 3)
    ('a b', 'a …')
    """
    line = " ".join(words.split())
    return line if len(line) <= chars else f"{line[: chars - 1]}…"


def largest(causes: Iterable[MissingCause]) -> list[MissingCause]:
    """Of each model the reason for which most of its trials are missing, in the order of the models."""
    by_model: dict[str, MissingCause] = {}
    for cause in causes:
        largest_yet = by_model.get(cause.model, cause)
        by_model[cause.model] = min(largest_yet, cause, key=lambda each: (-each.trials, each.cause))
    return list(by_model.values())


def said_most(errors: Mapping[str, int]) -> str:
    """The error that came most often; of several, the first in the alphabet; empty if none came."""
    return min(errors, key=lambda error: (-errors[error], error), default="")


def failure_text(causes: Iterable[MissingCause]) -> str:
    """Why a job failed whose models came to nothing: the largest reason of each, of the first NAMED."""
    lost = largest(causes)
    more = f" So for {len(lost) - NAMED} more models." if len(lost) > NAMED else ""
    return " ".join(cause.sentence() for cause in lost[:NAMED]) + more


def keepable(error: str) -> str:
    """A message as rows, jobs and preflights keep it: plain, without this process' secrets, and without the
    folders of this machine, as it may be read elsewhere.

    >>> keepable("/srv/data/a.json cannot be read with sk-abcdefghijk")
    'a.json cannot be read with [secret]'
    """
    return plain(without_folders(redactor_here().redact_text(error))) if error else ""


def plain(error: str) -> str:
    r"""A message as rows keep it: one line of at most MAX_ERROR_CHARS, without what drives a terminal or
    what a database cannot hold.

    >>> plain("no file \ud800\0\n of that name")
    'no file of that name'
    """
    text = "".join(char if char.isprintable() else " " for char in error)
    return " ".join(text.split())[:MAX_ERROR_CHARS]
