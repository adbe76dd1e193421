"""Asks for a stated confidence on the last line of a reply, and reads it off before the answer is scored."""

import re

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

    >>> read_confidence('{"answer": "A"}\nConfidence: 80')
    ('{"answer": "A"}', 0.8)
    >>> read_confidence("B")
    ('B', None)
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
