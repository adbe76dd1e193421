"""Names who posts a job, and what their jobs may cost in a month."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Poster:
    """The name of a key, whose it is, and what jobs posted with it may cost in a calendar month (UTC); None:
    any. Without keys all of it is empty.
    """

    name: str = ""
    owner: str = ""
    usd: float | None = None
    tokens: int | None = None

    @property
    def has_budget(self) -> bool:
        return self.usd is not None or self.tokens is not None


NOBODY = Poster()
