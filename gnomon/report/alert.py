"""What an alert of a report is, and its one line."""

from typing_extensions import TypedDict

from gnomon.report.row_formats import escape_surrogates


class Alert(TypedDict):
    """Something that must be known before any figure.

    Of the `n` trials that it is about the `share` is concerned, 0 to 1; both are null where it is not about
    trials. `model` and `arm` are null where it is about all of them.
    """

    model: str | None
    arm: str | None
    kind: str
    share: float | None
    n: int | None
    example: str  # a quotation; may be empty
    advice: str  # what to do next
    text: str  # all of it, in one line


def alert(
    kind: str,
    says: str,
    *,
    model: str | None = None,
    arm: str | None = None,
    concerned: int = 0,
    n: int | None = None,
    example: str = "",
    advice: str = "",
) -> Alert:
    """An alert about `concerned` of `n` trials; its line begins with whom it is about, and what it says.

    >>> print(alert("cut", "it was cut", model="m", arm="raw", example="To the", advice="Ask.")["text"])
    m, “raw”: it was cut: “To the”. Ask.
    """
    whom = ", ".join(part for part in (model, arm and f"“{arm}”") if part)
    line = f"{whom}: {says}" if whom else says
    line += f": “{example.rstrip('.')}”" if example else ""
    return {
        "model": model,
        "arm": arm,
        "kind": kind,
        "share": concerned / n if n else None,
        "n": n,
        "example": escape_surrogates(example),
        "advice": advice,
        "text": escape_surrogates(f"{line.rstrip('.')}. {advice}".strip()),
    }


def line_of(said: Alert | str) -> str:
    """The line of an alert; in reports of older versions it is all there is."""
    return said if isinstance(said, str) else said["text"]
