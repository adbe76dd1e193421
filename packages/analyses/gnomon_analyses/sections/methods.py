"""Gives a paragraph of methods and a table to be pasted into a paper, made from the job itself."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from typing_extensions import TypedDict

from gnomon.core.decoding import EVERY_TASK, Decoding
from gnomon.core.model import is_built_in
from gnomon.exchange.imported_job import is_imported
from gnomon.report.contrast import comparisons
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.section import PairKey, ReportInput, Section, pair_key
from gnomon.report.sections.arms import arms
from gnomon.report.sections.contrasts import contrasts
from gnomon.report.sections.drift import drift
from gnomon.report.sections.integrity import integrity
from gnomon.report.sections.job import JobPart, job
from gnomon.report.sections.plan import plan
from gnomon.report.sections.prices import prices
from gnomon.report.sections.seal import seal
from gnomon.report.sections.sequential import sequential
from gnomon.report.text_formats import escape_markdown, settings_text
from gnomon.report.verdict import ALPHA
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon_analyses.paper.methods_text import ModelUsed, Told, paragraph
from gnomon_analyses.paper.paper_table import (
    HEAD,
    PaperRow,
    cells,
    escape_latex,
    table_csv,
    table_latex,
    table_markdown,
)

DRAWN = ("top_p", "top_k", "seed", "reasoning_effort")  # options of a model that say how replies are drawn


class Methods(TypedDict):
    """What a paper needs: the paragraph (empty where two jobs are compared), and the rows of the table."""

    paragraph: str
    table: list[PaperRow]
    models: list[ModelUsed]
    alpha: float


class MethodsPart(TypedDict):
    """The section's field."""

    methods: Methods


class _Shown(JobPart, MethodsPart):
    """What the section shows."""


def _methods(report_input: ReportInput) -> MethodsPart:
    parts: Sequence[Section[Any]] = (
        job,
        plan,
        seal,
        integrity,
        arms,
        contrasts,
        sequential,
        drift,
        prices,
    )
    fields: dict[str, Any] = {}
    for section in parts:
        fields |= report_input.part(section)
    told = cast(Told, fields)
    models = [_model_used(told, report_input.spec, model) for model in report_input.spec.models]
    return {
        "methods": {
            "paragraph": escape_surrogates(
                paragraph(told, models, alpha=ALPHA, imported=is_imported(report_input.spec))
            ),
            "table": list(_table(told)),
            "models": models,
            "alpha": ALPHA,
        }
    }


def _model_used(told: Told, spec: JobSpec, model: ModelSpec) -> ModelUsed:
    versions = [
        version for run in told["arm_runs"] if run["model"] == model.label for version in run["versions"]
    ]
    return {
        "model": model.label,
        "id": model.id,
        "decoding": "decoding that is not known" if is_imported(spec) else decoding_text(spec, model),
        "versions": list(dict.fromkeys(versions)),
    }


def decoding_text(spec: JobSpec, model: ModelSpec) -> str:
    """How a model's replies are drawn: its own settings, before those of the protocol by task."""
    if is_built_in(model.id):
        return "no decoding"
    own = Decoding(temperature=model.temperature, max_tokens=model.max_tokens).known()
    own |= {name: model.options[name] for name in DRAWN if name in model.options}
    by_task = spec.decoding or {EVERY_TASK: Decoding()}
    texts = {
        task: settings_text({**drawn.known(), **own}) or "the provider's default decoding"
        for task, drawn in by_task.items()
    }
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return "; ".join(f"{text} ({task})" for task, text in texts.items())


def _table(told: Told) -> Iterator[PaperRow]:
    """A row for each comparison of an arm over all samples; one alone for an arm without any."""
    ratios: dict[PairKey, float | None] = {
        pair_key(price): price["ratios"][0]["ratio"] for price in told["prices"]
    }
    for arm in told["arms"]:
        trials = arm["trials"]
        row: PaperRow = {
            "model": arm["model"],
            "arm": arm["arm"],
            "against": None,
            "family": None,
            "n": arm["n"],
            "score": arm["aggregate"],
            "score_ci95": arm["aggregate_ci95"],
            "difference": None,
            "difference_ci95": None,
            "p_adjusted": None,
            "withheld": False,
            "lost": trials["infra_missing"] / trials["finished"] if trials["finished"] else None,
            "tokens_ratio": None,
        }
        compared = [
            contrast
            for contrast in comparisons(told)
            if (contrast["model"], contrast["variant"]) == (arm["model"], arm["arm"])
        ]
        for contrast in compared:
            withheld = contrast["withheld"]
            yield {
                **row,
                "against": contrast["baseline"],
                "family": contrast["family"],
                "difference": None if withheld else contrast["diff"],
                "difference_ci95": None if withheld else contrast["ci95"],
                "p_adjusted": None if withheld else contrast["p_adjusted"],
                "withheld": withheld,
                "tokens_ratio": ratios.get(pair_key(contrast)),
            }
        if not compared:
            yield row


def caption(report: JobPart) -> str:
    """What the table shows, in a sentence."""
    what = report["job"]["benchmark"]
    return f"Scores on {what}, and differences from another arm over the same questions."


def _view(report: _Shown) -> Mapping[str, object] | None:
    methods = report.get("methods")  # absent from reports of older versions
    if not methods or not methods["table"]:
        return None
    return {
        "methods": methods,
        "head": HEAD,
        "rows": [cells(row) for row in methods["table"]],
        "copies": [
            (name, methods_text(report, kind))
            for name, kind in (("LaTeX", "tex"), ("CSV", "csv"), ("Markdown", "md"))
        ],
    }


def methods_in(report: JobPart) -> Methods:
    """The section's field of a report."""
    return cast(MethodsPart, report)["methods"]


def methods_text(report: JobPart, kind: str) -> str:
    """The paragraph and the table alone, as `md`, `tex` or `json`; as `csv` the table."""
    methods = methods_in(report)
    told, rows = methods["paragraph"], methods["table"]
    match kind:
        case "json":
            return json.dumps(methods, indent=2, ensure_ascii=False, allow_nan=False)
        case "csv":
            return table_csv(rows)
        case "tex":
            return f"{escape_latex(told)}\n\n{table_latex(rows, caption=caption(report))}"
        case _:
            return f"{escape_markdown(told)}\n\n{table_markdown(rows)}"


methods = Section(
    name="methods",
    title="For a paper",
    question="How can this job's methods and results be told in a paper?",
    fields=MethodsPart,
    compute=_methods,
    place=157,
    behind="latency",
    view=_view,
)
