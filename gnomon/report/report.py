"""The report as one JSON document: the fields of our sections, in the order in which they are written.

One line for each section; what a field holds is described in docs/report.md. A section of a package adds its
fields, behind the one that it names, without a line here: whoever reads them has their TypedDict.
"""

from gnomon.report.contrast import ContrastsPart
from gnomon.report.sections.alerts import AlertsPart
from gnomon.report.sections.answers import AnswersPart
from gnomon.report.sections.arms import ArmsPart
from gnomon.report.sections.attribution import AttributionPart
from gnomon.report.sections.cost import CostPart
from gnomon.report.sections.drift import DriftPart
from gnomon.report.sections.flips import FlipsPart
from gnomon.report.sections.integrity import IntegrityPart
from gnomon.report.sections.job import JobPart
from gnomon.report.sections.letters import LettersPart
from gnomon.report.sections.plan import PlanPart
from gnomon.report.sections.preflights import PreflightsPart
from gnomon.report.sections.prices import PricesPart
from gnomon.report.sections.published import PublishedPart
from gnomon.report.sections.replies import RepliesPart
from gnomon.report.sections.samples import SamplesPart
from gnomon.report.sections.seal import SealPart
from gnomon.report.sections.sequential import SequentialPart
from gnomon.report.sections.tools import ToolsPart


class Report(
    JobPart,
    AlertsPart,
    AnswersPart,
    RepliesPart,
    ArmsPart,
    ContrastsPart,
    SequentialPart,
    FlipsPart,
    SamplesPart,
    ToolsPart,
    LettersPart,
    PublishedPart,
    PlanPart,
    AttributionPart,
    PreflightsPart,
    CostPart,
    DriftPart,
    IntegrityPart,
    SealPart,
    PricesPart,
):
    """What every report holds; one that was built beside packages holds their fields too."""
