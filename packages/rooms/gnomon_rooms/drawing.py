"""Draws a set of questions, balanced over answers and letters, with few about each room."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from random import Random
from statistics import median

from gnomon.core.ids import stable_hash, stable_seed
from gnomon_rooms.reading import Room
from gnomon_rooms.templates import TASKS, Draft, Task

PER_ROOM = 6  # questions of a task about one room
NUMBERED_BOXES = 8  # of a room, whose names are used where names may have numbers
OPTIONS = 4
LETTERS = "ABCD"


@dataclass(frozen=True, kw_only=True)
class RoomQuestion:
    """A question as it is put: its options in their order, none where a number is asked for."""

    task: str
    draft: Draft
    options: tuple[str, ...]
    kin: "Kin"

    @cached_property
    def sample_id(self) -> str:
        return f"{self.task}-{stable_hash(self.draft.room.id, self.draft.text, self.options, size=12)}"

    @property
    def by_letter(self) -> dict[str, str]:
        return dict(zip(LETTERS, self.options, strict=False))

    @property
    def gold(self) -> str:
        """The right letter; empty where there are no options."""
        return LETTERS[self.options.index(self.draft.right)] if self.options else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kin:
    """All questions of a task: what rules guess that know the answers about other rooms."""

    drafts: Sequence[Draft]

    def usual_number(self, asked: Draft, *, is_alike: bool) -> float | None:
        """The median of other rooms' truths; `is_alike`: of those about the same kinds. None without any."""
        truths = [draft.truth for draft in self._others(asked, is_alike=is_alike) if draft.truth is not None]
        return median(truths) if truths else None

    def usual_options(self, asked: Draft, options: Sequence[str]) -> list[int]:
        """The places of the options that are right most often in other rooms.

        By the kind of an option; where all questions have the same options, by those about the same kinds.
        """
        is_fixed = not asked.wrong
        others = list(self._others(asked, is_alike=is_fixed))
        right = Counter(_kind(draft, draft.right) for draft in others)
        offered = (
            right
            if is_fixed
            else Counter(_kind(draft, name) for draft in others for name in (draft.right, *draft.wrong))
        )
        kinds = [_kind(asked, name) for name in options]
        rates = [
            right[kind] / (sum(offered.values()) if is_fixed else offered[kind] or 1) if others else 0.0
            for kind in kinds
        ]
        return [at for at, rate in enumerate(rates) if rate == max(rates)]

    def _others(self, asked: Draft, *, is_alike: bool) -> Iterator[Draft]:
        return (
            draft
            for draft in self.drafts
            if draft.room.id != asked.room.id and (not is_alike or draft.about == asked.about)
        )


def _kind(draft: Draft, name: str) -> str:
    return next((box.kind for box in draft.room.boxes if box.name == name), name)


def draw_questions(
    rooms: Sequence[Room], *, tasks: Sequence[str], seed: int, numbered: bool
) -> list[RoomQuestion]:
    """The questions of these tasks; any first part of them has the tasks in turn, and is nearly balanced.

    `numbered`: objects may have names such as "chair 2"; else each is the only one of its kind.
    """
    of_tasks = [_questions(task, rooms, seed=seed, numbered=numbered) for task in TASKS if task.name in tasks]
    return [question for turn in zip_longest(*of_tasks) for question in turn if question is not None]


def _questions(task: Task, rooms: Sequence[Room], *, seed: int, numbered: bool) -> list[RoomQuestion]:
    """Those of one task: the answers in turn, each room's first before any room's second."""
    waiting: dict[str, list[tuple[int, str, Draft]]] = {group: [] for group in task.groups}
    for room in rooms:
        for rank, draft in _of_room(task, room, seed=seed, numbered=numbered):
            order = stable_hash(seed, task.name, room.id, draft.text)
            waiting[draft.group].append((rank, order, draft))
    queues = [iter(sorted(these, key=lambda item: item[:2])) for these in waiting.values()]
    asked: Counter[str] = Counter()
    drafts: list[Draft] = []
    while True:
        turn = []
        for queue in queues:
            free = next((draft for _, _, draft in queue if asked[draft.room.id] < PER_ROOM), None)
            if free is None:
                kin = Kin(drafts=drafts)
                return [_lettered(task, draft, at, kin) for at, draft in enumerate(drafts)]
            asked[free.room.id] += 1
            turn.append(free)
        drafts += turn


def _of_room(task: Task, room: Room, *, seed: int, numbered: bool) -> Iterator[tuple[int, Draft]]:
    """A room's drafts with their rank among those of the same answer, at most PER_ROOM of each."""
    chance = Random(stable_seed("rooms", seed, task.name, room.id, numbered))
    pool: Sequence[int] = room.unique
    if numbered and task.is_numbered:
        pool = sorted(chance.sample(range(len(room.boxes)), min(NUMBERED_BOXES, len(room.boxes))))
    ranks: Counter[str] = Counter()
    seen: set[object] = set()
    for draft in task.ask(room, pool, chance):
        content = draft.text, frozenset((draft.right, *draft.wrong))
        if content in seen:
            continue
        seen.add(content)
        if ranks[draft.group] < PER_ROOM:
            yield ranks[draft.group], draft
            ranks[draft.group] += 1
        elif all(ranks[group] >= PER_ROOM for group in task.groups):
            return


def _lettered(task: Task, draft: Draft, at: int, kin: Kin) -> RoomQuestion:
    """The question with its options, the right one at each letter in turn, whichever answer it is."""
    wrong = list(draft.wrong or (answer for answer in task.answers if answer != draft.right))
    if not wrong:
        return RoomQuestion(task=task.name, draft=draft, options=(), kin=kin)
    Random(stable_seed(task.name, draft.room.id, draft.text)).shuffle(wrong)
    count = len(wrong) + 1
    place = (at + (at // count if task.answers else 0)) % count
    options = (*wrong[:place], draft.right, *wrong[place:])
    return RoomQuestion(task=task.name, draft=draft, options=options, kin=kin)
