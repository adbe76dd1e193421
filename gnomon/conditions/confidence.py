"""Asks for a stated confidence on the last line of a reply, and reads it off before the answer is scored."""

import re
from collections.abc import Mapping

from gnomon.core.answers import answers_of, joined_answers
from gnomon.core.arm import Arm
from gnomon.core.message import Message, blocks_of
from gnomon.core.sample import Sample
from gnomon.trials.condition import Condition, Situation

METRIC = "confidence"  # of a row: 0 to 1; None where none was stated
REQUEST = (
    "After your answer, write one last line of the form `Confidence: NN`, where NN is how likely you think it"
    " is, in percent from 0 to 100, that your answer is right."
)
_LINE = re.compile(
    r"^[\s>*_`#-]*confidence[*_`]*\s*[:=][\s*_`]*(\d+(?:\.\d+)?)\s*(%?)[\s*_`.]*$", re.IGNORECASE
)


def read_confidence(response: str) -> tuple[str, float | None]:
    r"""The response without its last line that states a confidence, and that as a share of 1.

    Where several lines state one the last holds, and all are taken out: the scorer sees none of them. A
    number below 1 with a point is read as a share, others as percent; above 100 none is stated.
    """
    kept: list[str] = []
    stated: float | None = None
    for line in response.splitlines():
        match = _LINE.match(line)
        if match is None:
            kept.append(line)
            continue
        stated = _share(match[1], is_percent=bool(match[2]))
    return (response, None) if len(kept) == len(response.splitlines()) else ("\n".join(kept).rstrip(), stated)


def _share(digits: str, *, is_percent: bool) -> float | None:
    value = float(digits)
    if "." in digits and value <= 1.0 and not is_percent:
        return value
    return value / 100.0 if value <= 100.0 else None


class Confidence(Condition):
    """Asks for a last line with a confidence, which becomes the metric `confidence` of the row."""

    name = "confidence"
    description = "asks for a stated confidence, which is read off before the answer is scored"

    def is_of(self, arm: Arm) -> bool:
        return arm.confidence

    def on_prompt(self, messages: list[Message], sample: Sample, now: Situation) -> list[Message]:  # noqa: ARG002
        """The last message, with the request."""
        own = blocks_of(messages[-1]["content"])
        return [*messages[:-1], {**messages[-1], "content": [*own, {"type": "text", "text": REQUEST}]}]

    def read_off(
        self,
        response: str,
        sample: Sample,
        now: Situation,  # noqa: ARG002
    ) -> tuple[str, Mapping[str, float | str | None]]:
        """The response without the lines; the last answer's confidence, where there are several."""
        if not sample.follow_ups:
            kept, stated = read_confidence(response)
            return kept, {METRIC: stated}
        read = [read_confidence(answer) for answer in answers_of(response)]
        return joined_answers([answer for answer, _ in read]), {METRIC: read[-1][1]}


confidence = Confidence()
