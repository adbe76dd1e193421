"""How replies are drawn, as a benchmark's protocol sets it."""

from collections.abc import Mapping
from typing import Protocol, runtime_checkable

from pydantic import Field

from gnomon.core.validation import StrictModel

EVERY_TASK = "all"  # the name of a setting for all tasks


class Decoding(StrictModel):
    """Settings of a reply; None leaves one to the provider. `max_tokens` are those of one reply."""

    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    max_tokens: int | None = Field(default=None, gt=0)

    def known(self) -> dict[str, float | int]:
        """What is set, by name.

        >>> Decoding(temperature=0).known()
        {'temperature': 0.0}
        """
        return self.model_dump(exclude_none=True)


NO_DECODING = Decoding()


@runtime_checkable
class SetsDecoding(Protocol):
    """A benchmark whose released code or paper says how replies were drawn."""

    def decoding(self, protocol: str) -> Mapping[str, Decoding]:
        """By task, or once under EVERY_TASK; empty where the protocol sets nothing."""
        ...


def decoding_of(benchmark: object, protocol: str) -> dict[str, Decoding]:
    """What a benchmark's protocol sets; empty where the benchmark sets nothing.

    >>> decoding_of(object(), "official")
    {}
    """
    return dict(benchmark.decoding(protocol)) if isinstance(benchmark, SetsDecoding) else {}
