"""How replies are drawn, as a benchmark's protocol sets it."""

from pydantic import Field

from gnomon.core.validation import StrictModel

EVERY_TASK = "all"
"""The name of a setting for all tasks."""


class Decoding(StrictModel):
    """Settings of a reply."""

    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Temperature of the replies; null: the provider's default."
    )
    top_p: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Share of the probability from which tokens are drawn; null: the provider's default.",
    )
    max_tokens: int | None = Field(
        default=None, gt=0, description="The most tokens of one reply; null: the provider's default."
    )

    def known(self) -> dict[str, float | int]:
        """What is set, by name.

        >>> Decoding(temperature=0).known()
        {'temperature': 0.0}
        """
        return self.model_dump(exclude_none=True)


NO_DECODING = Decoding()
