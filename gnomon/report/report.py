"""The report as one JSON document: every section's fields, in the order in which they are written.

One line for each section; what a field holds is described in docs/report.md.
"""

from gnomon.report.contrast import ContrastsPart
from gnomon.report.sections.alerts import AlertsPart
from gnomon.report.sections.answers import AnswersPart
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.sections.attribution import AttributionPart
from gnomon.report.sections.blinding import BlindingPart
from gnomon.report.sections.consistency import ConsistencyPart
from gnomon.report.sections.cost import CostPart
from gnomon.report.sections.difficulty import DifficultyPart
from gnomon.report.sections.drift import DriftPart
from gnomon.report.sections.effect_sizes import EffectSizesPart
from gnomon.report.sections.error_kinds import ErrorKindsPart
from gnomon.report.sections.extra_metrics import ExtraMetricsPart
from gnomon.report.sections.figures import FiguresPart
from gnomon.report.sections.flips import FlipsPart
from gnomon.report.sections.frontier import FrontierPart
from gnomon.report.sections.heuristics import HeuristicsPart
from gnomon.report.sections.integrity import IntegrityPart
from gnomon.report.sections.job import JobPart
from gnomon.report.sections.judge import JudgePart
from gnomon.report.sections.latency import LatencyPart
from gnomon.report.sections.letters import LettersPart
from gnomon.report.sections.methods import MethodsPart
from gnomon.report.sections.necessity import NecessityPart
from gnomon.report.sections.pair_verdicts import PairVerdictsPart
from gnomon.report.sections.people import PeoplePart
from gnomon.report.sections.plan import PlanPart
from gnomon.report.sections.plan_rates import PlanRatesPart
from gnomon.report.sections.pooled import PooledPart
from gnomon.report.sections.preflights import PreflightsPart
from gnomon.report.sections.prices import PricesPart
from gnomon.report.sections.published import PublishedPart
from gnomon.report.sections.question_dots import QuestionDotsPart
from gnomon.report.sections.reliability import ReliabilityPart
from gnomon.report.sections.replays import ReplaysPart
from gnomon.report.sections.replies import RepliesPart
from gnomon.report.sections.samples import SamplesPart
from gnomon.report.sections.seal import SealPart
from gnomon.report.sections.sequential import SequentialPart
from gnomon.report.sections.server_card import ServerCardPart
from gnomon.report.sections.tools import ToolsPart
from gnomon.report.sections.waterfall import WaterfallPart
from gnomon.report.sections.wording import WordingPart


class Report(
    JobPart,
    AlertsPart,
    AnswersPart,
    RepliesPart,
    JudgePart,
    ArmsPart,
    PlanRatesPart,
    ErrorKindsPart,
    ContrastsPart,
    SequentialPart,
    FlipsPart,
    SamplesPart,
    FiguresPart,
    ToolsPart,
    DifficultyPart,
    HeuristicsPart,
    ExtraMetricsPart,
    LettersPart,
    PublishedPart,
    PeoplePart,
    PairVerdictsPart,
    PlanPart,
    WaterfallPart,
    BlindingPart,
    AttributionPart,
    NecessityPart,
    ConsistencyPart,
    ReliabilityPart,
    ReplaysPart,
    WordingPart,
    ServerCardPart,
    FrontierPart,
    PooledPart,
    PreflightsPart,
    CostPart,
    DriftPart,
    IntegrityPart,
    SealPart,
    PricesPart,
    EffectSizesPart,
    QuestionDotsPart,
    LatencyPart,
    MethodsPart,
):
    """The whole report."""
