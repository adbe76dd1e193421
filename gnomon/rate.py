"""Rate: how fast a provider key may be used."""

from typing import Self

from pydantic import Field

from gnomon.core.validation import StrictModel


class Rate(StrictModel):
    """The most that may be asked of a provider key, by all workers together; None: no limit of that kind."""

    requests_per_minute: int | None = Field(default=None, ge=1, le=10_000_000)
    tokens_per_minute: int | None = Field(default=None, ge=1, le=100_000_000_000)
    in_flight: int | None = Field(default=None, ge=1, le=100_000)

    def within(self, other: Self) -> Self:
        """The stricter of two, limit by limit.

        >>> Rate(in_flight=8).within(Rate(in_flight=4, requests_per_minute=60))
        Rate(requests_per_minute=60, tokens_per_minute=None, in_flight=4)
        """
        both = {name: (getattr(self, name), getattr(other, name)) for name in type(self).model_fields}
        least = {name: [one for one in pair if one is not None] for name, pair in both.items()}
        return self.model_copy(update={name: min(given, default=None) for name, given in least.items()})
