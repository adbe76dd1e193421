"""Counts the replies after which nobody knows what the model would have answered."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gnomon.core.reply_state import UNKNOWN_STATES, ReplyState
from gnomon.report.reply_words import were
from gnomon.statistics.design import Codes, Floats

KNOWN = -1  # the code of every state after which the answer is known


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnknownReplies:
    """Trials with a score after which nobody knows the answer, by groups × samples: how many there are of
    each state that occurs, and the sum of their scores.
    """

    by_state: Mapping[ReplyState, NDArray[np.integer]]
    score_sums: Floats

    @property
    def counts(self) -> NDArray[np.integer]:
        """How many there are of all states together."""
        counts: NDArray[np.integer] = np.sum(list(self.by_state.values()), axis=0)
        return counts


class UnknownCount(NamedTuple):
    """So many of an arm's replies are in one such state."""

    arm: str
    state: ReplyState
    replies: int
    of: int


def unknown_codes(states: Sequence[str | None]) -> NDArray[np.int8]:
    """Of each state its place among UNKNOWN_STATES, or KNOWN.

    >>> unknown_codes(["read", "cut", None]).tolist()
    [-1, 0, -1]
    """
    codes = [UNKNOWN_STATES.index(state) if state in UNKNOWN_STATES else KNOWN for state in states]
    return np.array(codes, np.int8)


def unknown_replies(
    codes: NDArray[np.integer], places: Codes, scores: Floats, shape: tuple[int, int]
) -> UnknownReplies | None:
    """Count the unknown replies among trials with a score; None where there is none.

    By trial: the code of its state, its place in groups × samples of this shape, and its score. Their order
    changes nothing, not even the last digit.
    """
    is_unknown = codes != KNOWN
    if not is_unknown.any():
        return None
    codes, places, scores = codes[is_unknown], places[is_unknown], scores[is_unknown]
    order, size = np.argsort(scores), shape[0] * shape[1]
    sums: Floats = np.bincount(places[order], scores[order], minlength=size).astype(np.float64)
    return UnknownReplies(
        by_state={
            UNKNOWN_STATES[code]: np.bincount(places[codes == code], minlength=size).reshape(shape)
            for code in np.unique(codes).tolist()
        },
        score_sums=sums.reshape(shape),
    )


def replies_by_arm(counts: Iterable[UnknownCount]) -> Counter[str]:
    """How many replies of each arm are unknown, in whichever state."""
    replies = Counter[str]()
    for each in counts:
        replies[each.arm] += each.replies
    return replies


def counts_text(counts: Sequence[UnknownCount]) -> str:
    """How many replies of which arms are unknown, and what became of them.

    >>> cut, blank = ReplyState.CUT, ReplyState.UNREADABLE
    >>> counts_text([UnknownCount("tools", cut, 30, 40), UnknownCount("tools", blank, 1, 40)])
    '30 of 40 replies of “tools” were cut and 1 was unreadable'
    """
    arms = dict.fromkeys(each.arm for each in counts)
    return ", ".join(_of_arm([each for each in counts if each.arm == arm]) for arm in arms)


def _of_arm(counts: Sequence[UnknownCount]) -> str:
    first, *more = counts
    replies = f"{first.of:,} repl{'y' if first.of == 1 else 'ies'} of “{first.arm}”"
    text = f"{first.replies:,} of {replies} {were(first.replies, first.state)}"
    return " and ".join([text, *(f"{each.replies:,} {were(each.replies, each.state)}" for each in more)])
