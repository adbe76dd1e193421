"""An agent that is not ours, as a spec names it: an address, a command, or a graph by import path."""

from typing import Annotated, Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import ConfigDict, Discriminator, Field, Tag, model_validator

from gnomon.core.validation import AS_LIST, StrictModel

AgentKind = Literal["http", "openai", "a2a", "command", "langgraph"]
KINDS: tuple[AgentKind, ...] = ("http", "openai", "a2a", "command", "langgraph")
ADDRESSED: tuple[AgentKind, ...] = ("http", "openai", "a2a")
MAX_WORDS, MAX_WORD_CHARS = 64, 4_000  # of a command
LABEL_CHARS = 60


def _is_none(value: object) -> bool:
    return value is None


def _is_false(value: object) -> bool:
    return value is False


class OutsideAgent(StrictModel):
    """An agent with a loop, a model and tools of its own; one of the first five fields says where it is."""

    model_config = ConfigDict(title="OutsideAgentSpec")

    http: str | None = Field(
        default=None,
        exclude_if=_is_none,
        description="Address that takes questions by Gnomon's plain HTTP contract; null: none.",
    )
    openai: str | None = Field(
        default=None,
        exclude_if=_is_none,
        description=(
            "Address of an OpenAI-compatible API behind which an agent runs its own tools, such as "
            "`http://127.0.0.1:8000/v1`; the model's id is passed on; null: none."
        ),
    )
    a2a: str | None = Field(
        default=None,
        exclude_if=_is_none,
        description="Address below which an agent of A2A 1.0 shows its Agent Card; null: none.",
    )
    command: Annotated[tuple[str, ...], AS_LIST] | None = Field(
        default=None,
        exclude_if=_is_none,
        description="Program and arguments, asked and answering in JSON on stdin and stdout; null: none.",
    )
    langgraph: str | None = Field(
        default=None,
        exclude_if=_is_none,
        pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_][\w.]*$",
        max_length=400,
        description="A compiled LangGraph graph as `module:name`, on the command line alone; null: none.",
    )
    api_key_env: str | None = Field(
        default=None,
        exclude_if=_is_none,
        min_length=1,
        description="Name of the worker's environment variable with the address's key; null: no key is sent.",
    )
    timeout_seconds: float | None = Field(
        default=None,
        gt=0,
        le=86_400,
        exclude_if=_is_none,
        description="Seconds after which an answer is waited for no more; null: the trial's own limit alone.",
    )
    env: Annotated[tuple[str, ...], AS_LIST] = Field(
        default=(),
        exclude_if=lambda names: not names,
        description="Names of the worker's variables for a command, besides PATH, HOME and the language.",
    )
    keep: bool = Field(
        default=False,
        exclude_if=_is_false,
        description=(
            "Whether a command is asked again, one line of JSON for each question; false: a process for each."
        ),
    )
    memory_mb: int | None = Field(
        default=None,
        ge=16,
        exclude_if=_is_none,
        description="Address space that a command may use, in megabytes (10^6 bytes); null: not limited.",
    )
    hands_tools: Literal["mcp", "none"] = Field(
        default="mcp",
        exclude_if=lambda hands: hands == "mcp",
        description=(
            "How the agent gets the arm's tools: `mcp`, from an MCP server on loopback that lives as long "
            "as the trial, or `none`."
        ),
    )

    @model_validator(mode="after")
    def _is_one_agent(self) -> Self:
        kinds = [kind for kind in KINDS if getattr(self, kind) is not None]
        if len(kinds) != 1:
            named = " and ".join(kinds) or "nothing"
            raise ValueError(f"names {named}; allowed: exactly one of {', '.join(KINDS)}")
        command = self.command
        if command is not None and not _is_command(command):
            raise ValueError(f"command: allowed: 1 to {MAX_WORDS} words without NUL, the first not empty")
        for name, kinds_with in (
            ("env", ("command",)),
            ("keep", ("command",)),
            ("memory_mb", ("command",)),
            ("api_key_env", ADDRESSED),
        ):
            if getattr(self, name) and self.kind not in kinds_with:
                raise ValueError(f"{name} is of {', '.join(kinds_with)}, not of {self.kind}")
        return self

    @property
    def kind(self) -> AgentKind:
        """What it is reached by."""
        return next(kind for kind in KINDS if getattr(self, kind) is not None)

    @property
    def url(self) -> str | None:
        """Its address; None where it has none."""
        return self.http or self.openai or self.a2a

    @property
    def label(self) -> str:
        """What pages and reports call it, in few characters.

        >>> OutsideAgent(http="http://127.0.0.1:8000/answer").label
        'http 127.0.0.1:8000/answer'
        >>> OutsideAgent(command=("python", "agent.py")).label
        'command python agent.py'
        """
        if self.url is not None:
            where = urlsplit(self.url)
            text = f"{where.netloc.rpartition('@')[2]}{where.path.rstrip('/')}"
        else:
            text = " ".join(self.command) if self.command else str(self.langgraph)
        label = f"{self.kind} {' '.join(text.split())}"
        return label if len(label) <= LABEL_CHARS else label[: LABEL_CHARS - 1] + "…"


def _is_command(words: tuple[str, ...]) -> bool:
    tidy = all(len(word) <= MAX_WORD_CHARS and "\0" not in word for word in words)
    return 0 < len(words) <= MAX_WORDS and tidy and bool(words[0].strip())


def _form(value: Any) -> str:
    return "agent:outside" if isinstance(value, (dict, OutsideAgent)) else "agent:name"


# The name of one of our agents, or an agent from outside. Errors are of the form that was written.
AnyAgent = Annotated[
    Annotated[str, Tag("agent:name")] | Annotated[OutsideAgent, Tag("agent:outside")], Discriminator(_form)
]
