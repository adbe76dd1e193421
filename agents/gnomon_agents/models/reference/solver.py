"""Defines solvers, which each answer one kind of question by rules for the reference model."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon_tools.core.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """`reads` says whether a conversation asks a question of this kind; `answer` is then the reply's text.

    `answer` raises `Need` (`tool_results.py`) for the calls of tools that it wants first.
    """

    name: str
    description: str
    reads: Callable[[Sequence[Message]], bool]
    answer: Callable[[Request], str]


SOLVERS: Registry[Solver] = Registry(
    "", "solver", group="gnomon.solvers", accepts=lambda item: isinstance(item, Solver)
)
