"""The errors that a provider of places and ways may answer with.

PlaceError
├── NoSuchPlace      nothing of that name or id is known here
├── AmbiguousPlace   several places fit; `candidates` are they
├── Unreachable      there are both places, but no way between them
├── Unsupported      this provider has no such mode or area
├── RateLimited      asked too often; `retry_after_s` says when to come back, if it is known
├── Unavailable      the provider is away, slow or talks nonsense
└── BadArgument      the question itself makes no sense
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from gnomon_trips.itinerary.place import PlaceHit


class PlaceError(Exception):
    """Root; `code` is what a model is told, `retryable` whether asking again may help."""

    code: ClassVar[str] = "failed"
    retryable: ClassVar[bool] = False


class NoSuchPlace(PlaceError):
    """Nothing of that name or id is known here."""

    code = "not_found"


class AmbiguousPlace(PlaceError):
    """Several places fit equally well."""

    code = "ambiguous"

    def __init__(self, message: str, candidates: "Sequence[PlaceHit]" = ()) -> None:
        super().__init__(message)
        self.candidates = tuple(candidates)


class Unreachable(PlaceError):
    """No way joins the two."""

    code = "unreachable"


class Unsupported(PlaceError):
    """Not a mode or an area of this provider."""

    code = "unsupported"


class RateLimited(PlaceError):
    """Asked too often."""

    code, retryable = "rate_limited", True

    def __init__(self, message: str, retry_after_s: float | None = None) -> None:
        super().__init__(message)
        self.retry_after_s = retry_after_s


class Unavailable(PlaceError):
    """The provider is away, slow or talks nonsense."""

    code, retryable = "unavailable", True


class BadArgument(PlaceError):
    """The question itself makes no sense."""

    code = "bad_argument"
