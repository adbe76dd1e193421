"""What a benchmark's own module `audit` may tell the audit about its questions."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, cast, runtime_checkable

from gnomon.core.benchmark import PromptProtocol, benchmark_module
from gnomon.core.sample import DataFault, Sample

Kind = Literal["leak", "floor"]  # what a guarded prompt must end, and what is in the questions themselves
# The published files, a prompt, or the guarded prompt with the true steps of its question.
View = Literal["files", "official", "guarded", "paper", "steps"]
VIEWS: tuple[View, ...] = ("files", "official", "guarded")


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerOptions:
    """The options as the prompt lists them, without letters, and the indices of the right ones in order."""

    options: tuple[str, ...]
    right: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortcutGuess:
    """One shortcut tried on one sample.

    `value` is the share it gets right on average, in [0, 1]; where it does not apply that is `chance`, what
    blind guessing gets. `chance` is None where guessing has no rate, as for a time.
    """

    shortcut: str
    kind: Kind
    view: View
    sample_id: str
    value: float
    chance: float | None = None
    applies: bool = True


class AuditPlugin(Protocol):
    """The module `gnomon.benchmarks.<benchmark>.audit`."""

    def answer_options(self, sample: Sample) -> AnswerOptions | None:
        """The options of a sample; None if it has none."""

    def try_shortcuts(self, samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterable[ShortcutGuess]:
        """Every shortcut on every sample, by what each protocol's samples show."""

    def case_faults(self, samples: Sequence[Sample]) -> Iterable[DataFault]:
        """What is wrong with single samples."""


@runtime_checkable
class NamesLevels(Protocol):
    """A plugin that knows the level of each sample; findings are then also given by level."""

    def level_of(self, sample: Sample) -> str | None: ...


@runtime_checkable
class HasRemarks(Protocol):
    """A plugin that also says something of all questions together, in sentences."""

    def remarks(self, samples: Sequence[Sample]) -> Iterable[str]: ...


def find_audit_plugin(benchmark: str) -> AuditPlugin | None:
    """The benchmark's plugin; None if it has none.

    >>> find_audit_plugin("questions") is None
    False
    """
    return cast(AuditPlugin | None, benchmark_module(benchmark, "audit"))


def guess(
    shortcut: str,
    kind: Kind,
    view: View,
    sample_id: str,
    *,
    left: Iterable[int] | None,
    offered: AnswerOptions,
) -> ShortcutGuess:
    """A rule's guess among the options that it does not exclude; None or no option: the rule does not apply.

    Where an answer has several places, the first is judged.
    """
    options, chance = set(left or ()), 1 / len(offered.options)
    value = (offered.right[0] in options) / len(options) if options else chance
    return ShortcutGuess(
        shortcut=shortcut,
        kind=kind,
        view=view,
        sample_id=sample_id,
        value=value,
        chance=chance,
        applies=bool(options),
    )
