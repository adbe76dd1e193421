"""The scorers by name, made of what a spec or a row names: `number`, or `{number: {tolerance: 0.5}}`."""

import json
from collections.abc import Mapping
from functools import lru_cache

from pydantic import ValidationError

from gnomon.benchmarks.questions.scorers.angle import AngleScorer
from gnomon.benchmarks.questions.scorers.entries import ListScorer, OrderedListScorer, SetScorer
from gnomon.benchmarks.questions.scorers.interval import IntervalScorer
from gnomon.benchmarks.questions.scorers.judge import JudgeScorer
from gnomon.benchmarks.questions.scorers.moment import DateScorer, TimeScorer
from gnomon.benchmarks.questions.scorers.number import MraScorer, NumberScorer
from gnomon.benchmarks.questions.scorers.option import OptionScorer
from gnomon.benchmarks.questions.scorers.point import PointScorer
from gnomon.benchmarks.questions.scorers.scorer import Scorer
from gnomon.benchmarks.questions.scorers.text import TextScorer
from gnomon.core.errors import SpecError
from gnomon.core.validation import first_validation_error
from gnomon_tools.core.json_text import json_value

SCORERS: Mapping[str, type[Scorer]] = {
    scorer.kind: scorer
    for scorer in (
        OptionScorer,
        NumberScorer,
        TextScorer,
        ListScorer,
        SetScorer,
        OrderedListScorer,
        IntervalScorer,
        PointScorer,
        AngleScorer,
        DateScorer,
        TimeScorer,
        MraScorer,
        JudgeScorer,
    )
}


def make_scorer(written: object) -> Scorer:
    """The scorer of a name, or of a mapping of one name to its parameters, also as JSON text.

    Raises:
        SpecError: the name or a parameter is not allowed; the message says what is.
    """
    if isinstance(written, str) and written in SCORERS:
        return _made(written, "{}")
    if isinstance(written, str) and written.lstrip().startswith("{"):
        written = json_value(written)
    if isinstance(written, str):
        written = {written.strip(): {}}
    if not isinstance(written, Mapping) or len(written) != 1:
        allowed = (
            f"{', '.join(SCORERS)}, or one of them with parameters, such as {{number: {{tolerance: 1}}}}"
        )
        raise SpecError(f"{allowed}", field="scorer")
    name, parameters = next(iter(written.items()))
    if name not in SCORERS:
        raise SpecError(f"no {str(name)[:60]!r}; allowed: {', '.join(SCORERS)}", field="scorer")
    if parameters is True:  # `{mra: true}`
        parameters = {}
    if not isinstance(parameters or {}, Mapping):
        raise SpecError("parameters are a mapping, such as {tolerance: 1}", field=f"scorer.{name}")
    try:
        return _made(name, json.dumps(parameters or {}, sort_keys=True))
    except (TypeError, ValueError) as error:
        if isinstance(error, ValidationError):
            fault = first_validation_error(error, SCORERS[name])
            raise SpecError(fault.message, field=f"scorer.{name}.{fault.field}") from None
        raise SpecError("parameters must be plain values", field=f"scorer.{name}") from None


@lru_cache(maxsize=256)
def _made(name: str, parameters: str) -> Scorer:
    return SCORERS[name].model_validate_json(parameters)
