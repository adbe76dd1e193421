"""Reports who judged the replies, how far that judge agrees with people, and what it cost."""

from collections.abc import Hashable, Iterator, Mapping

from typing_extensions import TypedDict

from gnomon.core.judging import JUDGE_PREFIX, LABEL, SAID_OF_LABELLED, judge_cost
from gnomon.core.row_batch import RowBatch
from gnomon.report.section import Interval, ReportInput, Section, interval
from gnomon.report.text_formats import count, dollars
from gnomon_analyses.statistics.agreement import agreement

FEW_LABELS = 30  # below, the interval of kappa is wide: the report says so


class JudgeFigures(TypedDict):
    """The judge's verdicts on the trials, on replies that people have labelled, and its cost.

    `right_of_right` and `wrong_of_wrong` are [agreed, of]: labelled replies that people call right, or wrong,
    and how many of them the judge calls so too.
    """

    model: str
    id: str
    answers_too: list[str]
    judged: int
    unjudged: dict[str, int]
    labelled: int
    without_verdict: int
    same: float | None
    kappa: float | None
    kappa_ci95: Interval
    right_of_right: list[int]
    wrong_of_wrong: list[int]
    usd: float | None
    tokens: int | None


class JudgePart(TypedDict):
    """The judge; None where a rule scores every reply."""

    judge: JudgeFigures | None


class JudgeVerdicts:
    """Gathers what rows tell of the judge."""

    def __init__(self) -> None:
        self.judged = 0
        self.unjudged: dict[str, int] = {}
        self.usd: float | None = 0.0
        self.tokens: int | None = 0
        self.labelled: dict[str, tuple[bool, bool | None]] = {}  # by sample: people's label, the judge's

    def add(self, batch: RowBatch) -> None:
        causes = batch.distinct("stop_reason")
        for cause, rows in zip(causes.values, causes.counts.tolist(), strict=True):
            if cause.startswith(JUDGE_PREFIX.strip()):
                self.unjudged[cause] = self.unjudged.get(cause, 0) + rows
        asked = batch.distinct("metrics").places(lambda metrics: judge_cost(metrics) is not None)
        for row in batch.rows(asked):
            usd, tokens = judge_cost(row.metrics) or (None, None)
            self.judged += row.score is not None
            self.usd = None if self.usd is None or usd is None else self.usd + usd
            self.tokens = None if self.tokens is None or tokens is None else self.tokens + tokens
            label, said = row.metrics.get(LABEL), row.metrics.get(SAID_OF_LABELLED)
            if isinstance(label, int | float):
                verdict = bool(said) if isinstance(said, int | float) else None
                self.labelled[row.sample_id] = (bool(label), verdict)


def _judge(report_input: ReportInput) -> JudgePart:
    spec, found = report_input.spec, report_input.collected(JudgeVerdicts)
    if spec.judge is None:
        return {"judge": None}
    pairs = [(label, said) for label, said in found.labelled.values() if said is not None]
    items: list[list[tuple[str, Hashable]]] = [[("people", a), ("judge", b)] for a, b in pairs]
    agreed = agreement(items)
    return {
        "judge": {
            "model": spec.judge.label,
            "id": spec.judge.id,
            "answers_too": [model.label for model in spec.models if model.id == spec.judge.id],
            "judged": found.judged,
            "unjudged": found.unjudged,
            "labelled": len(found.labelled),
            "without_verdict": len(found.labelled) - len(pairs),
            "same": agreed.share,
            "kappa": agreed.coefficient,
            "kappa_ci95": interval(agreed.ci95),
            "right_of_right": _agreed(pairs, of=True),
            "wrong_of_wrong": _agreed(pairs, of=False),
            "usd": found.usd,
            "tokens": found.tokens,
        }
    }


def _agreed(pairs: list[tuple[bool, bool]], *, of: bool) -> list[int]:
    said = [said for label, said in pairs if label is of]
    return [sum(verdict is of for verdict in said), len(said)]


def _sentences(judge: JudgeFigures) -> Iterator[str]:
    """What a reader must know before believing a score."""
    lost = sum(judge["unjudged"].values())
    missing = (
        f"; {count(lost, 'trial')} {'is' if lost == 1 else 'are'} missing for want of a verdict"
        if lost
        else ""
    )
    yield f"{judge['model']} judged {count(judge['judged'], 'trial')}{missing}."
    if judge["answers_too"]:
        own = ", ".join(judge["answers_too"])
        yield f"It is also among the models that answer ({own}): it judges its own replies."
    known = judge["labelled"] - judge["without_verdict"]
    if not judge["labelled"]:
        yield "Nobody has checked it: no question has a `reply` with people's `label`."
    elif not known:
        yield f"It gave no verdict on any of {judge['labelled']} labelled replies: it is unchecked."
    else:
        (rights, of_right), (wrongs, of_wrong) = judge["right_of_right"], judge["wrong_of_wrong"]
        kappa = (
            "none, as one of both says the same of all" if judge["kappa"] is None else f"{judge['kappa']:.2f}"
        )
        ends = judge["kappa_ci95"]
        between = f" [{ends[0]:.2f}, {ends[1]:.2f}]" if ends else ""
        yield (
            f"It agrees with people on {rights + wrongs} of {known} labelled replies "
            f"(Cohen's kappa {kappa}{between}): on {rights} of {of_right} that they call right, "
            f"and on {wrongs} of {of_wrong} that they call wrong."
        )
        if judge["without_verdict"]:
            yield f"On {judge['without_verdict']} of {judge['labelled']} labelled replies it gave no verdict."
        if known < FEW_LABELS:
            yield f"{known} labels are few: label {FEW_LABELS} or more."
    usd = "unknown dollars" if judge["usd"] is None else dollars(judge["usd"])
    tokens = "unknown tokens" if judge["tokens"] is None else f"{judge['tokens']:,} tokens"
    yield f"It cost {usd} and {tokens}, beside what the arms cost."


def _view(report: JudgePart) -> Mapping[str, object] | None:
    judge = report.get("judge")
    return None if judge is None else {"sentences": list(_sentences(judge))}


def _terminal(report: JudgePart) -> Iterator[str]:
    judge = report.get("judge")
    if judge is not None:
        yield "judge: " + " ".join(_sentences(judge))


judge = Section(
    name="judge",
    title="The judge",
    question="Who says whether replies are right, and how far do people agree?",
    fields=JudgePart,
    compute=_judge,
    collector=lambda *_: JudgeVerdicts(),
    place=25,
    behind="replies",
    html="""
<section>
  <h2>{{ section.title }}</h2>
  {% for sentence in sentences %}<p{% if loop.first %} class="lead"{% endif %}>{{ sentence }}</p>
  {% endfor %}
</section>
""",
    view=_view,
    terminal=_terminal,
)
