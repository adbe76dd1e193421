"""Finds out what the order of options and the answers about other rooms give away."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from gnomon.core.audit_plugin import AnswerOptions, ShortcutGuess, guess
from gnomon.core.benchmark import PromptProtocol
from gnomon.core.option_features import WORDED, OptionTable, worded
from gnomon.core.sample import DataFault, Sample
from gnomon_rooms.benchmarks.rooms.scoring import released_mra
from gnomon_rooms.drawing import RoomQuestion

USUAL, ALIKE, FIRST = "usual number", "usual for these kinds", "first option"


def answer_options(sample: Sample) -> AnswerOptions | None:
    """The options as the prompt letters them."""
    question: RoomQuestion = sample.target["question"]
    if not question.options:
        return None
    return AnswerOptions(options=question.options, right=(question.options.index(question.draft.right),))


def try_shortcuts(samples: Mapping[PromptProtocol, Sequence[Sample]]) -> Iterator[ShortcutGuess]:
    """Guess the first option, and what is usual in other rooms; see `floors_of`."""
    for protocol, protocol_samples in samples.items():
        for sample in protocol_samples:
            name, offered = sample.ref.sample_id, answer_options(sample)
            if offered is not None:
                yield guess(FIRST, "leak", protocol, name, left=[0], offered=offered)
                question: RoomQuestion = sample.target["question"]
                left = question.kin.usual_options(question.draft, question.options)
                yield guess(ALIKE, "floor", protocol, name, left=left, offered=offered)
                continue
            for rule, value in floors_of(sample).items():
                yield ShortcutGuess(shortcut=rule, kind="floor", view=protocol, sample_id=name, value=value)


def option_tables(samples: Sequence[Sample]) -> Iterator[OptionTable]:
    """What options say without the room: their words, and whether their kinds are usual in other rooms."""
    groups: dict[tuple[str, int], list[tuple[str, RoomQuestion]]] = defaultdict(list)
    for sample in samples:
        question: RoomQuestion = sample.target["question"]
        if question.options:
            groups[sample.ref.task, len(question.options)].append((sample.ref.sample_id, question))
    for group in groups.values():
        rows = []
        for _, question in group:
            usual = question.kin.usual_options(question.draft, question.options) or ()
            said = worded(question.options, question.draft.text)
            rows.append([[*row, float(at in usual)] for at, row in enumerate(said)])
        yield OptionTable(
            sees="without the room",
            names=(*WORDED, ALIKE),
            sample_ids=tuple(sample_id for sample_id, _ in group),
            options=np.array(rows),
        )


def floors_of(sample: Sample) -> Mapping[str, float]:
    """What rules score that see no room.

    The first option; the median number in other rooms, or of those questions about the same kinds; the option
    whose kind is right most often in other rooms.
    """
    question: RoomQuestion = sample.target["question"]
    draft = question.draft
    if draft.truth is None:
        right = question.options.index(draft.right)
        left = question.kin.usual_options(draft, question.options)
        return {FIRST: float(right == 0), ALIKE: (right in left) / len(left)}
    usual = question.kin.usual_number(draft, is_alike=False)
    alike = question.kin.usual_number(draft, is_alike=True)
    numbers = {USUAL: usual, ALIKE: usual if alike is None else alike}
    return {rule: released_mra(number, draft.truth) for rule, number in numbers.items() if number is not None}


def case_faults(samples: Sequence[Sample]) -> Iterable[DataFault]:
    """Nothing can be wrong with what is drawn; faults of rooms are told where they are read."""
    del samples
    return ()
