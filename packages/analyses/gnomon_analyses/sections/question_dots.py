"""Draws each question as a dot where scores are graded: the baseline's score against the variant's."""

from collections.abc import Mapping

import numpy as np
from typing_extensions import TypedDict

from gnomon.report.charts import paired_plot
from gnomon.report.pairs import ArmPair
from gnomon.report.score_matrix import ScoreMatrix
from gnomon.report.section import PairKey, ReportInput, Section, pair_key
from gnomon.stopping import while_wanted
from gnomon_analyses.sections.effect_sizes import is_right_or_wrong

FINE, COARSE = 0.01, 0.04  # grids of scores: the coarse one where the fine one has too many dots
MOST_DOTS = 600


class QuestionDots(TypedDict):
    """The `n` questions of a comparison: in `dots` scores of baseline and variant, rounded to the `grid`, and
    how many questions have them.
    """

    model: str
    baseline: str
    variant: str
    n: int
    grid: float
    dots: list[tuple[float, float, int]]


class QuestionDotsPart(TypedDict):
    """Comparisons of graded scores."""

    question_dots: list[QuestionDots]


def _question_dots(report_input: ReportInput) -> QuestionDotsPart:
    drawn = [_dots(report_input.scores, pair) for pair in while_wanted(report_input.pairs)]
    return {"question_dots": [dots for dots in drawn if dots]}


def _dots(scores: ScoreMatrix, pair: ArmPair) -> QuestionDots | None:
    """The dots of a pair; None where its trials are right or wrong and nothing in between."""
    groups = scores.groups_of(pair)
    of_pair = np.stack([scores.means(group) for group in groups])
    of_pair = of_pair[:, np.isfinite(of_pair).all(axis=0)]
    if not of_pair.size or all(is_right_or_wrong(scores, group) for group in groups):
        return None
    for grid in (FINE, COARSE):
        places, counts = np.unique(np.rint(of_pair / grid), axis=1, return_counts=True)
        if len(counts) <= MOST_DOTS:
            break
    rounded = (places * grid).round(2).tolist()
    return {
        "model": pair.model,
        "baseline": pair.baseline,
        "variant": pair.variant,
        "n": of_pair.shape[1],
        "grid": grid,
        "dots": list(zip(*rounded, counts.tolist(), strict=True)),
    }


def _view(report: QuestionDotsPart) -> Mapping[PairKey, Mapping[str, object]]:
    return {
        pair_key(of_pair): {
            "of_pair": of_pair,
            "plot": paired_plot(
                of_pair["dots"],
                title="{variant} against {baseline} ({model}), each question, percent".format_map(of_pair),
                names=(of_pair["baseline"], of_pair["variant"]),
            ),
        }
        for of_pair in report.get("question_dots", ())  # absent from reports of older versions
    }


question_dots = Section(
    name="question_dots",
    title="Each question",
    question="What did each question score under either arm, where scores are graded?",
    fields=QuestionDotsPart,
    compute=_question_dots,
    place=48,
    behind="effect_sizes",
    html="""
<h3>{{ section.title }}</h3>
<p class="lead legend">A dot is a question, a larger one several ({{ of_pair.n|count("question") }}, scores to
{{ "%g"|format(100 * of_pair.grid) }} %). Above the line: {{ whole.variant }} scored more.</p>
{{ plot }}
""",
    view=_view,
    per_comparison=True,
)
