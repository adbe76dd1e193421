"""Counts dollars and tokens that were used; apart from the store, so it needs no SQLAlchemy."""

from typing import NamedTuple, Self

from gnomon.core.judging import judge_cost
from gnomon.core.model import Reply
from gnomon.core.row import MAX_TOKENS, MAX_USD, Row
from gnomon.core.trace import Trace


class Usage(NamedTuple):
    """What a trial has used; None where unknown."""

    usd: float | None
    tokens: int | None

    @property
    def known_usd(self) -> float:
        """Dollars as far as they are known."""
        return self.usd or 0.0

    @property
    def known_tokens(self) -> int:
        """Tokens as far as they are known."""
        return self.tokens or 0

    @property
    def known(self) -> Self:
        """The same with nothing where it is unknown."""
        return type(self)(self.known_usd, self.known_tokens)

    def beyond(self, counted: "Usage") -> Self:
        """What it is more than what was counted before; unknown where it is.

        >>> Usage(0.5, None).beyond(Usage(0.25, 7))
        Usage(usd=0.25, tokens=None)
        """
        usd = None if self.usd is None else max(0.0, self.usd - counted.known_usd)
        tokens = None if self.tokens is None else max(0, self.tokens - counted.known_tokens)
        return type(self)(usd, tokens)

    def without(self, part: "Usage") -> Self:
        """What is known of it beyond what is known of a part, never below nothing.

        >>> Usage(0.5, None).without(Usage(0.25, 7))
        Usage(usd=0.25, tokens=0)
        """
        usd, tokens = self.known_usd - part.known_usd, self.known_tokens - part.known_tokens
        return type(self)(max(0.0, usd), max(0, tokens))

    def plus(self, other: "Usage") -> Self:
        """Both together; unknown where one is.

        >>> Usage(0.5, None).plus(Usage(0.25, 7))
        Usage(usd=0.75, tokens=None)
        """
        usd = None if self.usd is None or other.usd is None else self.usd + other.usd
        tokens = None if self.tokens is None or other.tokens is None else self.tokens + other.tokens
        return type(self)(usd, tokens)

    @classmethod
    def by(cls, used: Row | Trace | Reply) -> Self:
        """What a finished row or a trace so far, its judge among it, or a reply has used."""
        prompt, completion = used.prompt_tokens, used.completion_tokens
        usd, tokens = used.usd, None if prompt is None or completion is None else prompt + completion
        match used:
            case Row():
                judge = judge_cost(used.metrics)
            case Trace():
                judge = judge_cost(used.judge_metrics)
            case _:
                judge = None
        if judge is not None:
            usd = None if usd is None or judge[0] is None else usd + judge[0]
            tokens = None if tokens is None or judge[1] is None else tokens + judge[1]
        return cls.countable(usd, tokens)

    @classmethod
    def paid(cls, trace: Trace) -> Self:
        """What the replies of a trace so far have cost that did not come from the cache."""
        replies = [reply for reply in trace.replies if not reply.cached]
        return cls.by(Trace(steps=[*replies], judge_metrics=trace.judge_metrics))

    @classmethod
    def countable(cls, usd: float | None, tokens: int | None) -> Self:
        """So much, where it can be counted; unknown where a number is negative, beyond reason or none at all.

        >>> Usage.countable(float("nan"), 10**30), Usage.countable(0.5, 7)
        (Usage(usd=None, tokens=None), Usage(usd=0.5, tokens=7))
        """
        return cls(
            usd if usd is not None and 0.0 <= usd <= MAX_USD else None,
            tokens if tokens is not None and 0 <= tokens <= MAX_TOKENS else None,
        )


NO_USAGE = Usage(0.0, 0)
UNKNOWN_USAGE = Usage(None, None)


def total(*spent: Usage) -> Usage:
    """What is known of several together."""
    return Usage(sum(usage.known_usd for usage in spent), sum(usage.known_tokens for usage in spent))
