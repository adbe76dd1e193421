"""Counts what became of each arm's replies, and by which rules they were read."""

from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import TypedDict

from gnomon.core.reply_state import ReplyState
from gnomon.report.reply_words import STATE_WORDS, WORTH_SAYING
from gnomon.report.section import ReportInput, Section, by_count
from gnomon.report.sections.alerts import AlertsPart
from gnomon.report.sections.job import JobPart
from gnomon.report.text_formats import count, counted_causes


class ArmReplies(TypedDict):
    """What became of the replies of a model under an arm, among its ended `trials`; where that was not
    recorded, as of imported results, a trial is in no state.
    """

    model: str
    arm: str
    trials: int
    states: dict[str, int]
    read_by: dict[str, int]


class RepliesPart(TypedDict):
    """What became of replies, by model and arm."""

    replies: list[ArmReplies]


class _Shown(JobPart, AlertsPart, RepliesPart):
    """What the section shows."""


def _replies(report_input: ReportInput) -> RepliesPart:
    scores = report_input.scores
    return {
        "replies": [
            {
                "model": model,
                "arm": arm,
                "trials": totals.trials,
                "states": {state.value: totals.states[state] for state in ReplyState if totals.states[state]},
                "read_by": by_count(totals.read_by),
            }
            for (model, arm), totals in zip(scores.groups, scores.totals, strict=True)
        ]
    }


def _recorded(report: RepliesPart) -> list[ArmReplies]:
    """Those of which states are known; reports of older versions have none."""
    return [arm for arm in report.get("replies", []) if arm["states"]]


def _are_notable(report: _Shown) -> bool:
    """Whether some state but `read` has a twentieth of an arm's trials, or there is an alert."""
    return bool(report["alerts"]) or any(
        n >= WORTH_SAYING * arm["trials"]
        for arm in _recorded(report)
        for state, n in arm["states"].items()
        if state != ReplyState.READ
    )


def _states(arms: Sequence[ArmReplies]) -> list[tuple[str, str]]:
    """The states that occur, with their words."""
    return [
        (state.value, words)
        for state, words in STATE_WORDS.items()
        if any(state in arm["states"] for arm in arms)
    ]


def _view(report: _Shown) -> Mapping[str, object] | None:
    arms = _recorded(report)
    if not arms:
        return None
    return {
        "arms": arms,
        "states": _states(arms),
        "are_notable": _are_notable(report),
        "causes": counted_causes,
    }


def _terminal(report: _Shown) -> Iterator[str]:
    arms = _recorded(report)
    if arms and _are_notable(report):
        for arm in arms:
            states = {STATE_WORDS[ReplyState(state)]: n for state, n in arm["states"].items()}
            trials = count(arm["trials"], "trial")
            yield f"{arm['model']} / {arm['arm']}, replies of {trials}: {counted_causes(states)}"
        yield ""


replies = Section(
    name="replies",
    title="What became of the replies",
    question="What became of the replies, and by which rules were they read?",
    fields=RepliesPart,
    compute=_replies,
    place=22,
    view=_view,
    terminal=_terminal,
)
