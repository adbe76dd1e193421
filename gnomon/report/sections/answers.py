"""Says what the job found for each model, in one sentence, and each primary finding in words."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from typing_extensions import TypedDict

from gnomon.report.contrast import ContrastReport, ContrastsPart, Verdict
from gnomon.report.section import ReportInput, Section
from gnomon.report.sections.contrasts import contrasts
from gnomon.report.sections.job import JobPart
from gnomon.report.text_formats import points

VERDICT_WORDS: dict[Verdict, str] = {
    "helps": "helps",
    "hurts": "hurts",
    "no_effect": "makes no difference",
}
NOTHING_TO_COMPARE = "One arm only: nothing to compare."


class AnswersPart(TypedDict):
    """The findings in words."""

    answers: list[str]  # one sentence a model
    summary: list[str]


class _Shown(JobPart, ContrastsPart, AnswersPart):
    """What the section shows."""


def _answers(report_input: ReportInput) -> AnswersPart:
    primary = _primary(report_input.part(contrasts))
    return {
        "answers": list(_by_model(primary, report_input.models, benchmark=report_input.spec.benchmark)),
        "summary": [contrast["verdict_text"] for contrast in primary],
    }


def _primary(report: ContrastsPart) -> list[ContrastReport]:
    return [contrast for contrast in report["contrasts"] if contrast["family"] == "primary"]


def _by_model(primary: Sequence[ContrastReport], models: Sequence[str], *, benchmark: str) -> Iterator[str]:
    """One sentence a model: its primary finding, or what each of several found, sorted by verdict."""
    for model in models:
        of_model = [contrast for contrast in primary if contrast["model"] == model]
        if len(of_model) == 1:
            yield f"{benchmark}: {of_model[0]['verdict_text']}"
        elif of_model:
            yield f"{benchmark}, {model}: {_sorted_by_verdict(of_model)}."


def _sorted_by_verdict(contrasts: Sequence[ContrastReport]) -> str:
    isolating = Counter(contrast["isolates"] for contrast in contrasts)

    def named(verdict: Verdict) -> list[str]:
        chosen = [contrast for contrast in contrasts if contrast["verdict"] == verdict]
        return [_named(contrast, is_alone=isolating[contrast["isolates"]] == 1) for contrast in chosen]

    parts = [f"{name} {words}" for verdict, words in VERDICT_WORDS.items() for name in named(verdict)]
    undecided = named("undecided")
    if undecided:
        parts.append(f"it can’t be told whether {' or '.join(undecided)} changes anything")
    return "; ".join(parts)


def _named(contrast: ContrastReport, *, is_alone: bool) -> str:
    """What a contrast isolates, with its arms unless it `is_alone` in that, and what came out."""
    arms = f"{contrast['variant']} against {contrast['baseline']}"
    name = contrast["isolates"] or arms
    more = [] if is_alone or name == arms else [arms]
    if contrast["next_step"]:
        more.append(contrast["reasons"][0])
    elif contrast["diff"] is not None and not contrast["withheld"]:
        more.append(f"{points(contrast['diff'])} points")
    return f"{name} ({', '.join(more)})" if more else name


def _view(report: _Shown) -> Mapping[str, object]:
    return {"primary": _primary(report)}


def _terminal(report: _Shown) -> Iterator[str]:
    trials = report["denominators"]["trials"]
    if trials["scored"] or trials["model_failed"] or not trials["infra_missing"]:
        yield from report["summary"] or [NOTHING_TO_COMPARE]
        yield ""


answers = Section(
    name="answers",
    title="Findings",
    question="What was found?",
    fields=AnswersPart,
    compute=_answers,
    place=20,
    view=_view,
    terminal=_terminal,
)
