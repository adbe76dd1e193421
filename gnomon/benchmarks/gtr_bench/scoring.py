"""Score a response to a case, by the released rules or by sane ones."""

from gnomon.benchmarks.gtr_bench.case import Case
from gnomon.benchmarks.gtr_bench.official import score_official
from gnomon.benchmarks.gtr_bench.options import as_displayed
from gnomon.benchmarks.gtr_bench.strict import score_strict
from gnomon.core.benchmark import PromptProtocol, Scoring
from gnomon.core.score import Score


def score_case(
    case: Case, response: str | None, *, scoring: Scoring, protocol: PromptProtocol = "official"
) -> Score:
    """Score `response` against the options as the prompt of `protocol` displayed them; never raises."""
    rule = score_official if scoring == "official" else score_strict
    return rule(as_displayed(case, protocol), response)
