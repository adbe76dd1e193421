"""Defines solvers, which each answer one kind of question by rules for the reference model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon.media import MediaStore
from gnomon_tools.core.registry import Registry

Q = TypeVar("Q")


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """`reads` says whether a conversation asks a question of this kind; `answer` is then the reply's text.

    `answer` raises `Need` (`tool_results.py`) for the calls of tools that it wants first. One that looks at
    pictures has `answer_seeing` too, which gets where they are kept.
    """

    name: str
    description: str
    reads: Callable[[Sequence[Message]], bool]
    answer: Callable[[Request], str]
    answer_seeing: Callable[[Request, MediaStore], str] | None = None
    place: int = 50  # in which order solvers are asked; late ones go by words that other questions may have

    @classmethod
    def of(
        cls,
        name: str,
        description: str,
        *,
        read: Callable[[Sequence[Message]], Q | None],
        answer: Callable[[Q, Request], str],
        place: int = 50,
    ) -> "Solver":
        """A solver of the questions that `read` finds; None: the conversation asks none."""

        def answer_found(request: Request) -> str:
            question = read(request.messages)
            if question is None:
                raise LookupError("the conversation asks no such question")
            return answer(question, request)

        def reads(messages: Sequence[Message]) -> bool:
            return read(messages) is not None

        return cls(name=name, description=description, reads=reads, answer=answer_found, place=place)


SOLVERS: Registry[Solver] = Registry(
    "", "solver", group="gnomon.solvers", accepts=lambda item: isinstance(item, Solver)
)
