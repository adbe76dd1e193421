"""UrbanVideo authoring as a benchmark plug-in: a sample is a clip and a category, an answer is a question."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gnomon.core.benchmark import Benchmark, PromptProtocol, SampleSet, Scoring
from gnomon.core.errors import DataError, SpecError
from gnomon.core.plain_benchmark import PlainBenchmark
from gnomon.core.sample import DataFault, Part, Sample
from gnomon.core.score import Score
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.media.clip_folders import ClipFolders
from gnomon.media.clip_samples import ClipQuestion, Showing, draw_samples, labelled_frames
from gnomon.media.clips import Frames
from gnomon.media.frame_rules import Uniform
from gnomon_published.benchmarks.urbanvideo_authoring import question_view as shown
from gnomon_published.benchmarks.urbanvideo_authoring.templates import TEMPLATES
from gnomon_published.benchmarks.urbanvideo_bench.loader import TASKS, split_question
from gnomon_tools.core.regular_file import read_regular

MAX_CHARS = 8000

_QUESTION = re.compile(r"^\W*Question\W*:\s*", re.IGNORECASE | re.MULTILINE)
_ANSWER = re.compile(r"^\W*Answer\W*:\W*([A-J])\b\W*$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """Question and options as one text, as published, and the right letter."""

    question: str
    answer: str


def read_written(response: str, *, options: int) -> Written | str:
    r"""The question in a response, or why it is not a question of that many options.

    >>> read_written("Question: Where?\nChoices:\nA. Here\nB. There\nAnswer: B", options=2)
    Written(question='Where?\nChoices:\nA. Here\nB. There', answer='B')
    >>> read_written("Certainly!", options=2)
    'no line `Answer: X`'
    """
    answers = list(_ANSWER.finditer(response[:MAX_CHARS]))
    if not answers:
        return "no line `Answer: X`"
    body = response[: answers[-1].start()]
    starts = list(_QUESTION.finditer(body))
    question, bodies = split_question(body[starts[-1].end() :] if starts else body)
    if not question:
        return "no question before the options"
    if len(bodies) != options:
        return f"{len(bodies)} options, not {options}"
    if len({text.casefold() for text in bodies.values()}) < options or not all(bodies.values()):
        return "two options are the same, or one is empty"
    letter = answers[-1][1].upper()
    if letter not in bodies:
        return f"the answer {letter} is not among the options"
    lines = [question, "Choices:", *(f"{name}. {text}" for name, text in bodies.items())]
    return Written(question="\n".join(lines), answer=letter)


FRAMES = 32
SUFFIXES = (".mp4", ".avi", ".mkv", ".webm", ".mov")


class UrbanVideoAuthoring(PlainBenchmark):
    """Every category for every clip. A score of 1 says that a question keeps its form, no more."""

    name = "urbanvideo-authoring"
    version = "1"
    tasks = TASKS
    is_cpu_bound = True
    headline: Literal["mean_of_cells", "mean_of_samples"] = "mean_of_samples"

    def open(
        self, *, data: Path | None, select: Select, protocol: PromptProtocol, media: MediaStore
    ) -> SampleSet:
        if data is None:
            raise DataError("urbanvideo-authoring needs a folder with videos/", field="data")
        select.check(tasks=self.tasks, scenes=self.scenes)
        folder = data / "videos"
        clips = sorted(path.name for path in folder.glob("*") if path.suffix.lower() in SUFFIXES)
        if not clips:
            raise DataError(f"{data} holds no clips; expected videos/*.mp4", field="data")
        goals, faults = _goals(data / "destinations.json")
        questions = [
            ClipQuestion(
                sample_id=f"{clip}|{task}",
                task=task,
                clip=clip,
                text=goals.get(clip, ""),
                options={},
                gold="",
            )
            for clip in clips
            for task in TASKS
        ]
        showing = Showing(rule=Uniform(FRAMES), prompt=_prompt)
        return draw_samples(
            questions,
            faults,
            folders=ClipFolders(root=data, beside=data),
            showing=showing,
            select=select,
            protocol=protocol,
            media=media,
        )

    def score(self, sample: Sample, response: str, *, scoring: Scoring, variant: str | None = None) -> Score:
        del scoring
        _no_variant(variant)
        return _score(sample.ref.task, response)

    def score_record(
        self, record: Mapping[str, Any], *, scoring: Scoring, variant: str | None = None
    ) -> Score:
        del scoring
        _no_variant(variant)
        if record.get("task") not in TASKS:
            raise SpecError(f"one of {', '.join(TASKS)}, got {record.get('task')!r}", field="task")
        if not isinstance(record.get("response"), str):
            raise SpecError("must be a text", field="response")
        return _score(record["task"], record["response"])

    question_view = staticmethod(shown.question_view)
    verdict_in_words = staticmethod(shown.verdict_in_words)


def _score(task: str, response: str) -> Score:
    draft = read_written(response, options=TEMPLATES[task].options)
    if isinstance(draft, str):
        return Score(value=0.0, metrics={"fault": draft}, flags=("no_question",))
    text = json.dumps({"question": draft.question, "answer": draft.answer}, ensure_ascii=False)
    return Score(value=1.0, answer=text, metrics={"fault": None})


def _prompt(question: ClipQuestion, frames: Frames | None) -> tuple[Part, ...]:
    """Frames, then four steps in three turns: narration; movements and objects; role and templates."""
    template = TEMPLATES[question.task]
    goal = f"The drone is on its way to: {question.text}." if question.text else "Where it goes is not known."
    letters = "ABCDE"[: template.options]
    steps = f"""These are frames of what a drone's camera sees while it flies through a city. {goal}

## Step 1
Tell the flight in the order of time. Begin with one line for where it starts and where it ends. Then one line
for each movement, numbered, with the places it passes. Tell only what the frames show.

## Step 2
From that, make two lists in the order of time, as JSON: {{"movements": [...], "objects": [...]}}. Describe
each object or place so that it cannot be taken for another. The first object is the start, the last the end.

## Step 3
You teach a course on understanding videos and set its examination. Write one multiple-choice question of the
category "{question.task}" about this flight. {template.explains}
A form for the question: {template.question}
A form for each option: {template.option}
Use your lists. Give {template.options} options, exactly one of them right and all of them plausible; say
directions as the drone sees them. Write nothing but this:
Question: ...
Choices:
{chr(10).join(f"{letter}. ..." for letter in letters)}
Answer: <{", ".join(letters)}>"""
    return (*labelled_frames(frames), Part(content=steps))


def _goals(path: Path) -> tuple[dict[str, str], list[DataFault]]:
    """The destination of each clip's flight, by the clip's name, where the file gives it."""
    if not path.is_file():
        return {}, []
    try:
        goals = json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        goals = None
    if isinstance(goals, dict) and all(isinstance(goal, str) for goal in goals.values()):
        return goals, []
    return {}, [
        DataFault(sample_id="", kind="malformed", detail=f"{path.name} is no object of texts by clip")
    ]


def _no_variant(variant: str | None) -> None:
    if variant is not None:
        raise SpecError(f"urbanvideo-authoring has one scorer, so no {variant!r}", field="variant")


urbanvideo_authoring: Benchmark = UrbanVideoAuthoring()
