"""Bounds what a call may cost before it is made."""

from gnomon.core.model import Request
from gnomon.price_table import price_entry
from gnomon.spec.model_spec import ModelSpec
from gnomon.tokens import REPLY_TOKENS, TokenEstimator
from gnomon_workers.budget.usage import Usage


def price_of(spec: ModelSpec) -> tuple[float, float] | None:
    """The most dollars that the spec, else LiteLLM's shipped table, asks for a token of the prompt and one of
    the reply; None where neither says.

    >>> price_of(ModelSpec(id="openai/m", price={"input": 1, "output": 2}))
    (1e-06, 2e-06)
    >>> price_of(ModelSpec(id="openai/m")) is None
    True
    """
    entry = price_entry(spec)
    return None if entry is None else entry.dearest


class CostBound:
    """The most that a call of one model costs: by the model's price and its `max_tokens`.

    Where one of them is not known, nothing is until a first reply has come, and then the most that was seen
    holds, in proportion to the prompt: `shares` (of tokens, of dollars). It also holds where a call has cost
    more than it could.
    """

    def __init__(self, spec: ModelSpec, *, needs_price: bool) -> None:
        named = [spec.max_tokens, spec.options.get("max_completion_tokens")]
        most_tokens = max((most for most in named if isinstance(most, int)), default=None)
        self._reply_tokens = most_tokens or REPLY_TOKENS
        self._price = price_of(spec)
        self._prices = self._price or (1.0, 1.0)  # without a known price, a token is a dollar
        self._tokens = TokenEstimator(pictures=spec.pictures)
        is_firm = most_tokens is not None and (self._price is not None or not needs_price)
        firm = (1.0, 0.0 if self._price is None else 1.0)
        self.shares = firm if is_firm else (0.0, 0.0)

    def nominal_cost(self, request: Request) -> Usage:
        """The cost of a call with the longest reply allowed; one dollar a token where no price is known."""
        prompt, reply = self._tokens.prompt_at_most(request), self._reply_tokens
        return Usage(prompt * self._prices[0] + reply * self._prices[1], prompt + reply)

    def upper_bound(self, planned: Usage) -> Usage | None:
        """The most that a call so planned may cost; None where that is unknown."""
        if self.shares == (0.0, 0.0):
            return None
        return Usage(planned.known_usd * self.shares[1], round(planned.known_tokens * self.shares[0]))

    def estimate(self, planned: Usage) -> Usage:
        """What is planned, but no dollars without a known price."""
        return planned if self._price is not None else Usage(0.0, planned.known_tokens)

    def observe(self, planned: Usage, spent: Usage) -> bool:
        """Take note of what a call has cost; return whether that was more than any before."""
        usd = spent.known_usd / planned.known_usd if planned.known_usd else 0.0
        tokens = spent.known_tokens / planned.known_tokens
        is_more = tokens > self.shares[0] or usd > self.shares[1]
        if is_more:
            self.merge((tokens, usd))
        return is_more

    def merge(self, shares: tuple[float, float]) -> None:
        """Take note of what another process has learnt."""
        self.shares = max(self.shares[0], shares[0]), max(self.shares[1], shares[1])
