"""Holds a conversation that grows turn by turn; what is made of its messages is made once."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, TypeVar

from gnomon.core.message import Message

T = TypeVar("T")


class Conversation(list[Message]):
    """Messages that nobody changes any more; a longer conversation is a new one, made with `plus`.

    What `each` and `fold` make of the messages is handed on to longer ones, so that a turn costs what is new
    in it, however long the conversation is.
    """

    __slots__ = ("each", "folds")

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        super().__init__(messages)
        self.each: dict[object, list[Any]] = {}
        self.folds: dict[object, tuple[int, Any]] = {}  # by key: of how many messages, and what

    def plus(self, *messages: Message) -> Self:
        """The conversation with these messages at its end."""
        longer = type(self)(self)
        longer.extend(messages)
        longer.each = {key: made.copy() for key, made in self.each.items()}
        longer.folds = self.folds.copy()
        return longer


def each(messages: Sequence[Message], make: Callable[[Message], T], *, key: object = None) -> Sequence[T]:
    """What `make` makes of each message; in a conversation, of those that are new. Not to be changed.

    `key` says what is made, where that is not by the same function object each time.

    >>> talk = Conversation([{"role": "user", "content": "Where?"}])
    >>> contents = lambda message: message["content"]
    >>> each(talk, contents), each(talk.plus({"role": "assistant", "content": "Here."}), contents)
    (['Where?'], ['Where?', 'Here.'])
    """
    if not isinstance(messages, Conversation):
        return [make(message) for message in messages]
    made = messages.each.setdefault(key or make, [])
    if len(made) < len(messages):
        made.extend([make(message) for message in messages[len(made) :]])
    return made


def fold(messages: Sequence[Message], key: object, start: T, more: Callable[[T, Sequence[Message]], T]) -> T:
    """What `more` makes of `start` and all messages, step by step; in a conversation, of what was made of it
    so far and the messages that are new. `more` does not change what it is given: a shorter one has it too.

    >>> talk = Conversation([{"role": "user", "content": "Where?"}])
    >>> fold(talk, "length", 0, lambda so_far, new: so_far + len(new))
    1
    """
    if not isinstance(messages, Conversation):
        return more(start, messages)
    count, so_far = messages.folds.get(key, (0, start))
    if count < len(messages) or not count:
        so_far = more(so_far, messages[count:])
        messages.folds[key] = len(messages), so_far
    made: T = so_far
    return made
