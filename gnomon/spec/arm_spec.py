"""Arms as a spec writes them."""

from dataclasses import asdict
from typing import Literal, Self

from pydantic import Field

from gnomon.core.arm import Arm, FaultKind, Faults, Lasting, Results
from gnomon.core.errors import SpecError
from gnomon.core.message import ToolChoice
from gnomon.core.sample import SHOWABLE, Shown
from gnomon.core.validation import StrictModel
from tools.core.toolbox import TOOLS


class FaultsSpec(StrictModel):
    """Tools that fail on purpose, as written."""

    kind: FaultKind
    lasting: Lasting = "transient"
    rate: float = Field(default=0.3, gt=0, le=1)


class ArmSpec(StrictModel):
    """One arm, as written."""

    name: str = Field(min_length=1, max_length=80)
    agent: str
    tools: Literal["all", "none"] | list[str] = "none"
    tool_choice: ToolChoice = "auto"
    max_turns: int = Field(default=24, ge=1, le=1000)
    max_tool_calls: int = Field(default=12, ge=0, le=1000)
    max_tokens: int | None = Field(default=None, gt=0)
    max_usd: float | None = Field(default=None, gt=0)
    show: list[Shown] = Field(default_factory=lambda: list(SHOWABLE))
    results: Results = "live"
    faults: FaultsSpec | None = None
    contract: str = ""  # set when the job is frozen; written by hand it demands these very tools

    def arm(self) -> Arm:
        """The arm, with `all` and `none` spelled out."""
        return Arm(
            name=self.name,
            agent=self.agent,
            tools=self._tool_names(),
            tool_choice=self.tool_choice,
            max_turns=self.max_turns,
            max_tool_calls=self.max_tool_calls,
            max_tokens=self.max_tokens,
            max_usd=self.max_usd,
            show=tuple(self.show),
            results=self.results,
            faults=Faults(**self.faults.model_dump()) if self.faults else None,
            frozen_toolset_hash=self.contract,
        )

    @classmethod
    def of(cls, arm: Arm) -> Self:
        """The arm as a spec would write it."""
        plain = asdict(arm)
        plain["contract"] = plain.pop("frozen_toolset_hash")
        return cls.model_validate({**plain, "tools": sorted(arm.tools), "show": list(arm.show)})

    def frozen(self) -> Self:
        """The same with its tools by name and their contract, so that no later version changes it.

        Raises:
            SpecError: it demands a contract that the tools here do not have.
        """
        arm = self.arm()
        if not arm.toolset_unchanged:
            message = f"{self.contract!r} is not what its tools offer here; that is {arm.toolset_hash!r}"
            raise SpecError(message, field="contract")
        return self.model_copy(update={"tools": list(arm.tools), "contract": arm.toolset_hash})

    def _tool_names(self) -> tuple[str, ...]:
        if self.tools == "none":
            return ()
        return TOOLS.names() if self.tools == "all" else tuple(sorted(set(self.tools)))
