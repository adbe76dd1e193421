"""What tools work on: a tool names a type of input, and a sample holds values of such types.

A new kind of input is one class that inherits from `Input`, or from `BlindInput` where a blind placebo has
something to put in its place. The rest of Gnomon finds it by the tools that need it.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeAlias


class Input:
    """Base of what a tool works on.

    `heading` stands over the tools that need it, as in "On a scene"; `in_words` says what they need. An input
    that `is_told_later` may become known while a question is being answered.
    """

    __slots__ = ()

    heading: ClassVar[str] = ""
    in_words: ClassVar[str] = ""
    is_told_later: ClassVar[bool] = False

    @classmethod
    def at_hand(cls) -> Self | None:
        """What tools work on where they are called outside of any question; None: there is nothing."""
        return None


OtherCall: TypeAlias = Callable[[str, Mapping[str, Any]], dict[str, Any] | None]
"""Calls another tool by name on the value that stands in: its result, or None where it fails."""


class BlindInput(Input):
    """An input in whose place a stand-in answers all calls under a blind placebo.

    The stand-in is made of the value of another sample. With `is_of_any_cell` that sample may be of another
    cell than the question.
    """

    __slots__ = ()

    is_of_any_cell: ClassVar[bool] = False

    def may_be_replaced_by(self, other: Self) -> bool:
        """Whether a stand-in can be made of the other value: it must be about something else."""
        return self != other

    def is_like(self, other: Self) -> bool:  # noqa: ARG002
        """Whether the other one is so much like it that it is taken before those that are not."""
        return True

    def stand_in(self, other: Self | None, *, seed: int) -> Self | None:
        """The value that answers in place of this one; equal seeds give equal ones.

        It is made of `other`, or, where there is none, of this one with its facts exchanged. None: the calls
        are answered with nothing.
        """
        raise NotImplementedError

    def other_plan(self, *, key: str, call: OtherCall) -> object | None:
        """A plan for this value, for tools that judge plans, as JSON holds it; `key` decides which one.

        None: there is none, and the call is answered with nothing.
        """
        raise NotImplementedError


Need: TypeAlias = type[Input] | None
"""The type of input that a tool needs; None: it works on its arguments alone."""
Inputs: TypeAlias = Mapping[type[Input], Any]


def need_words(need: Need) -> str:
    """What tools with this need work on, in words.

    >>> need_words(None)
    'nothing but its arguments'
    """
    return "nothing but its arguments" if need is None else need.in_words or need.__name__


def held(*values: Input | None) -> dict[type[Input], Any]:
    """Values by their type of input, without those that are None.

    Raises:
        TypeError: one is no input.

    >>> class Tide(Input):
    ...     pass
    >>> class TideAtHarbour(Tide):
    ...     pass
    >>> list(held(TideAtHarbour(), None)) == [Tide]
    True
    """
    return {input_type(type(value)): value for value in values if value is not None}


def input_type(kind: type[Input]) -> type[Input]:
    """The type that tools name: of a class and those that it inherits from, the first below the bases.

    >>> input_type(int)
    Traceback (most recent call last):
    TypeError: int is no type of input: it must inherit from gnomon_tools.core.inputs.Input
    """
    for base in reversed(kind.__mro__):
        if issubclass(base, Input) and base not in (Input, BlindInput):
            return base
    raise TypeError(
        f"{kind.__name__} is no type of input: it must inherit from gnomon_tools.core.inputs.Input"
    )


def need_fault(need: object, *, said: str = "needs") -> str:
    """What is wrong with what a tool is said to need, in words; empty where it is right. `said` is the field.

    >>> need_fault(None)
    ''
    >>> need_fault("nothing").partition(";")[0]
    "needs='nothing' is no type of input"
    """
    if need is None or (isinstance(need, type) and issubclass(need, Input)):
        return ""
    types = sorted({f"{kind.__name__} ({kind.__module__})" for kind in _loaded(Input)})
    return (
        f"{said}={need!r} is no type of input; allowed: None, for a tool of its arguments alone, or a class"
        f" that inherits from gnomon_tools.core.inputs.Input, such as {', '.join(types)}"
    )


def _loaded(kind: type[Input]) -> set[type[Input]]:
    """The types of input that are loaded."""
    below = {below for sub in kind.__subclasses__() for below in (sub, *_loaded(sub))}
    return {input_type(sub) for sub in below if sub is not BlindInput}
