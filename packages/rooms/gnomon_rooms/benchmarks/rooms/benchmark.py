"""Scanned rooms as a benchmark plug-in."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import (
    Benchmark,
    PromptProtocol,
    SampleSet,
    Scoring,
    Varied,
    reject_variant,
)
from gnomon.core.chosen_samples import ChosenSamples
from gnomon.core.errors import DataError, SpecError
from gnomon.core.near_equal import Asked
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.question_view import NO_ANSWER, Option, QuestionView, verdict_on_options
from gnomon.core.sample import DataFault, Part, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.core.words import LETTER, NUMBER, closing
from gnomon.media import MediaStore
from gnomon_rooms.benchmarks.rooms.scoring import number_text, score_choice, score_number
from gnomon_rooms.drawing import LETTERS, RoomQuestion, draw_questions
from gnomon_rooms.named_boxes import outline
from gnomon_rooms.reading import Room, find_files, read_rooms
from gnomon_rooms.templates import TASKS
from gnomon_rooms.wording import OPENING, RELEASED_LETTER, RELEASED_NUMBER
from gnomon_tools.core.inputs import Need, held
from gnomon_tools.core.marks import drawn
from gnomon_tools.core.sketch import Area, Role, Sketch
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.geometry.oriented_boxes import UPRIGHT_DEG, width_upright_m
from gnomon_tools.scene.boxes import Boxes
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene

SOURCES = ("arkitscenes", "scannet", "scannetpp")
OTHER = "other"  # the scene of files with another source
NAMES = ("unique", "numbered")
UNITS = {"abs_distance": "m", "object_size": "cm", "room_size": "m²", "count": "", "count_within": ""}
KEPT = 4  # drawn sets: every look at a trial opens its job's


class Rooms(PlainBenchmark):
    """Thirteen types of question; a cell is a type, the headline their mean, a cluster a room."""

    name = "rooms"
    version = "1"
    tasks = tuple(task.name for task in TASKS)
    scenes: tuple[str, ...] = (*SOURCES, OTHER)
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_cells"
    provides: tuple[Need, ...] = (Boxes,)
    options: frozenset[Varied] = frozenset({"world"})

    def open(
        self,
        *,
        data: Path | None,
        select: Select,
        protocol: PromptProtocol,
        media: MediaStore,  # noqa: ARG002 (there are no media)
    ) -> SampleSet:
        if data is None:
            raise DataError("rooms needs the folder of files of rooms", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        files = tuple((path, path.stat().st_mtime_ns) for path in find_files(data))
        questions, faults = _drawn(
            files,
            tuple(select.tasks or self.tasks),
            tuple(select.scenes or self.scenes),
            select.seed,
            _is_numbered(select.world),
        )
        return ChosenSamples(
            rows={question.sample_id: (_ref(question), question) for question in questions[: select.limit]},
            faults=faults,
            build=partial(_sample, protocol),
            tell=_asked,
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        reject_variant(self.name, variant)
        question: RoomQuestion = sample.target["question"]
        if question.draft.truth is None:
            return score_choice(question.by_letter, question.gold, response, scoring=scoring)
        return score_number(question.draft.truth, question.draft.unit, response, scoring=scoring)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        """A record has the `task`, the right `answer`, a letter or a number above 0, and the `response`."""
        reject_variant(self.name, variant)
        for field in ("task", "answer", "response"):
            if field not in record:
                raise SpecError(f"a record needs {field!r}; response may be null", field=field)
        task, answer, response = record["task"], record["answer"], record["response"]
        if task not in self.tasks:
            raise SpecError(f"no {task!r}; allowed: {', '.join(self.tasks)}", field="task")
        if task not in UNITS:
            if answer not in tuple(LETTERS):
                raise SpecError(f"a letter from A to {LETTERS[-1]}, got {answer!r}", field="answer")
            return score_choice(dict.fromkeys(LETTERS, ""), answer, response, scoring=scoring)
        if isinstance(answer, bool) or not isinstance(answer, int | float) or not 0 < answer < 1e15:
            raise SpecError(f"a number above 0, got {answer!r}", field="answer")
        return score_number(float(answer), UNITS[task], response, scoring=scoring)

    def heuristic_scores(self, sample: Sample) -> Mapping[str, float]:
        from gnomon_rooms.benchmarks.rooms.audit import floors_of

        return floors_of(sample)

    def features(self, sample: Sample) -> Mapping[str, float | str]:
        """The source, the number of boxes, and the share of them that leans."""
        room: Room = sample.target["question"].draft.room
        leaning = sum(width_upright_m(box) is None for box in room.boxes)
        return {
            "source": room.source,
            "boxes": float(len(room.boxes)),
            f"boxes that lean more than {UPRIGHT_DEG:g}°": leaning / len(room.boxes),
        }

    def question_view(self, sample: Sample) -> QuestionView:
        question: RoomQuestion = sample.target["question"]
        draft = question.draft
        said = [_outline(sample, name, "asked") for name in draft.said if name not in question.options]
        truth = _outline(sample, draft.right, "result")
        text = (
            number_text(draft.truth, draft.unit)
            if draft.truth is not None
            else f"{question.gold}. {draft.right}"
        )
        return QuestionView(
            question=draft.text,
            options=tuple(_shown_options(question)),
            truth_text=text,
            seen=drawn("", said),
            truth=drawn("", [truth]),
            facts={"Type": question.task, "Room": f"{draft.room.id} ({draft.room.source})"},
        )

    def answer_sketch(self, sample: Sample, answer: str) -> Sketch:
        question: RoomQuestion = sample.target["question"]
        return drawn("", [_outline(sample, question.by_letter.get(answer, ""), "result")])

    def verdict_in_words(
        self,
        sample: Sample,
        answer: str,
        metrics: Mapping[str, float | str | None],  # noqa: ARG002 (the answer says it all)
    ) -> str:
        question: RoomQuestion = sample.target["question"]
        read = answer if answer in question.by_letter else self.score(sample, answer, scoring="strict").answer
        if not read:
            return NO_ANSWER
        if question.options:
            return verdict_on_options(_shown_options(question), [read])
        right = number_text(question.draft.truth or 0.0, question.draft.unit)
        return f"Right: {right}." if read == right else f"Answered {read}; right is {right}."


def _is_numbered(world: Mapping[str, str] | None) -> bool:
    """Whether names may have numbers: `select.world` may say so.

    Raises:
        SpecError: it says anything else.
    """
    for field, value in (world or {}).items():
        if field != "names" or value not in NAMES:
            raise SpecError(f"{field}: {value}: allowed is names: {' or '.join(NAMES)}", field="select.world")
    return (world or {}).get("names") == "numbered"


@lru_cache(KEPT)
def _drawn(
    files: Sequence[tuple[Path, int]],
    tasks: Sequence[str],
    scenes: Sequence[str],
    seed: int,
    numbered: bool,
) -> tuple[list[RoomQuestion], list[DataFault]]:
    rooms, faults = read_rooms([path for path, _ in files])
    chosen = [room for room in rooms if _scene_of(room) in scenes]
    return draw_questions(chosen, tasks=tasks, seed=seed, numbered=numbered), faults


def _scene_of(room: Room) -> str:
    return room.source if room.source in SOURCES else OTHER


def _ref(question: RoomQuestion) -> SampleRef:
    room = question.draft.room
    return SampleRef(sample_id=question.sample_id, task=question.task, cell=question.task, cluster=room.id)


def _sample(protocol: PromptProtocol, ref: SampleRef, question: RoomQuestion) -> Sample:
    room = question.draft.room
    by_name = {box.name: box for box in room.boxes}
    scene = Scene(id=room.id, frame=Frame(anchored=False), kind="indoor", boxes=by_name)
    return Sample(
        ref=ref,
        parts=parts_of(question, protocol),
        target={"question": question, "protocol": protocol},
        inputs=held(scene, Boxes.of_scene(scene, question.draft.said)),
    )


def _asked(question: RoomQuestion) -> Asked:
    draft = question.draft
    answer = draft.right if draft.truth is None else number_text(draft.truth, draft.unit)
    return Asked(
        sample_id=question.sample_id,
        text=f"{draft.room.in_words}\n{draft.text}",
        options=question.options,
        answers=(answer,),
    )


def _shown_options(question: RoomQuestion) -> Iterator[Option]:
    for letter, text in question.by_letter.items():
        yield Option(letter=letter, text=text, right="right" if letter == question.gold else "")


def _outline(sample: Sample, name: str, role: Role) -> Area | None:
    """A box that is named exactly, from above."""
    boxes = sample.find(Boxes)
    if boxes is None or name not in boxes.by_name:
        return None
    return outline(ToolContext(inputs=held(boxes)), name, role, label=name)


def parts_of(question: RoomQuestion, protocol: PromptProtocol) -> tuple[Part, ...]:
    """The prompt in parts. `official` closes as the released code does, whose scorer reads one word."""
    draft, lines = question.draft, [OPENING, f"Question: {question.draft.text}"]
    if question.options:
        lines += ["Options:", *(f"{letter}. {words}" for letter, words in question.by_letter.items())]
        lines.append(RELEASED_LETTER if protocol == "official" else closing(LETTER))
    else:
        form = f"{NUMBER} {draft.unit}" if draft.unit else NUMBER
        lines.append(RELEASED_NUMBER if protocol == "official" else closing(form))
    return Part(content=draft.room.in_words, shown="facts"), Part(content="\n".join(lines))


rooms: Benchmark = Rooms()
