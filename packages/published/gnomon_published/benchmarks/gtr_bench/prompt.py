"""Writes the prompt of a case: with nothing in it that gives the answer (guarded), or as released."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from gnomon.core.benchmark import PromptProtocol
from gnomon.core.clock import CLOCK_TIME, clock, clock_span
from gnomon.core.ids import stable_hash
from gnomon.core.sample import ImageRef, Part, Sample, VideoRef
from gnomon_published.benchmarks.gtr_bench.case import Case, Clip, displayed_choices

Frames = Mapping[Clip, Sequence[ImageRef]]  # by clip: its pictures in order; a clip without any may be absent


@dataclass(frozen=True, slots=True, kw_only=True)
class Film:
    """A whole clip for models that take videos, and the words about its pictures."""

    video: VideoRef
    note: str


Films = Mapping[Clip, Film]

TIMELESS = "CR"  # the task that asks for the order: every clock time would be the answer
_SPAN = "HH:MM:SS.mmm-HH:MM:SS.mmm"
_RULES = (
    "Choose from the options listed above only.",
    "Explain the choice in a few words.",
    "Take both the times and the places into account.",
    "Reply in the format given below.",
)
_TIMED_RULES = (
    "Work out the time range as well as the camera.",
    "Write times by the clock, with milliseconds: HH:MM:SS.mmm.",
)


def parts_of(
    case: Case,
    protocol: PromptProtocol,
    map_image: ImageRef | None,
    frames: Frames | None = None,
    films: Films | None = None,
) -> tuple[Part, ...]:
    """The prompt of that protocol; the released one shows no films."""
    if protocol == "official":
        return official_parts(case, map_image, frames)
    return guarded_parts(case, map_image, frames, films)


def guarded_parts(
    case: Case, map_image: ImageRef | None, frames: Frames | None = None, films: Films | None = None
) -> tuple[Part, ...]:
    """The prompt made of whitelisted fields: hidden fields, ids and file names cannot change it.

    Clips that must be ordered come in an order drawn from their own content, and with times counted from
    their own start. Targets are numbered anew. Pictures of a clip with a film have a line that says which
    camera took them when, as the boxes do, so that they can be shown without these.
    """
    parts = [Part(content="Map:" if map_image else "Map: not available.", shown="map")]
    if map_image:
        parts.append(Part(content=map_image, shown="map"))
    clips = guarded_clips(case)
    targets = target_names(clips)
    for number, clip in enumerate(clips, start=1):
        text = _guarded_clip(case, clip, f"Clip {number}", targets[clip.object_id])
        parts.append(Part(content=text, shown="camera_data"))
    for number, clip in enumerate(clips, start=1):
        pictures = (frames or {}).get(clip, ())
        film = (films or {}).get(clip)
        if film:
            parts += _filmed(case, clip, film, number, targets[clip.object_id])
        only_for: Literal["all", "frames"] = "frames" if film else "all"
        for index, picture in enumerate(pictures, start=1):
            label = f"Clip {number}, picture {index} of {len(pictures)}:"
            parts += [
                Part(content=label, shown="media", only_for=only_for),
                Part(content=picture, shown="media", only_for=only_for),
            ]
    parts.append(Part(content=_guarded_question(case)))
    return tuple(parts)


def _filmed(case: Case, clip: Clip, film: Film, number: int, target: str) -> Iterator[Part]:
    span = _guarded_span(case, clip)
    about = f"Clip {number}, camera {clip.camera_id}, {target} in the red box, {span}; {film.note}"
    yield Part(content=about, shown="media")
    yield Part(content=f"Clip {number}, whole:", shown="media", only_for="videos")
    yield Part(content=film.video, shown="media", only_for="videos")


def guarded_clips(case: Case) -> tuple[Clip, ...]:
    """The clips in the order in which the guarded prompt shows them."""
    if case.clip_order:
        return tuple(case.clips[at] for at in case.clip_order)
    if case.task.short != TIMELESS:
        return case.clips
    options = sorted(displayed_choices(case, "guarded"))
    return tuple(sorted(case.clips, key=lambda clip: stable_hash(options, clip.camera_id, clip.bboxes)))


def target_names(clips: Sequence[Clip]) -> dict[str, str]:
    """A new name for each object id, in the order of appearance."""
    ids = dict.fromkeys(clip.object_id for clip in clips)
    return {object_id: f"target {number}" for number, object_id in enumerate(ids, start=1)}


def _guarded_clip(case: Case, clip: Clip, name: str, target: str) -> str:
    timeless = case.task.short == TIMELESS
    lines = [f"{name}: camera {clip.camera_id}, {target}, {_guarded_span(case, clip)}"]
    for at_s, (x, y, width, height) in zip(clip.box_times_s(), clip.bboxes, strict=True):
        when = f"+{at_s - clip.start_s:.3f} s" if timeless else clock(at_s)
        lines.append(f"  {when} box x={x:.1f} y={y:.1f} w={width:.1f} h={height:.1f}")
    return "\n".join(lines)


def _guarded_span(case: Case, clip: Clip) -> str:
    if case.task.short == TIMELESS:
        return f"lasting {clip.end_s - clip.start_s:.3f} s"
    return clock_span(clip.start_s, clip.end_s)


def _guarded_question(case: Case) -> str:
    question = " ".join(case.question.split())
    if case.task.short == TIMELESS:
        question = CLOCK_TIME.sub("(time withheld)", question)
    return "\n".join(
        (
            f"Question: {question}",
            "Options:",
            *displayed_choices(case, "guarded"),
            f"Answer with one JSON object: {_guarded_form(case)}.",
        )
    )


def _guarded_form(case: Case) -> str:
    if case.task.metric == "MCQ_Acc":
        return '{"answer": "<letter>"}'
    if case.task.places == 1:
        return f'{{"answer": "<letter>", "time_duration": ["{_SPAN}"]}}'
    return f'{{"answer": ["<letter>", "<letter>"], "time_duration": ["{_SPAN}", "{_SPAN}"]}}'


def answer_form(case: Case) -> str:
    """The reply that both scorers read, with a placeholder for each option's text and each time range.

    Empty where one option is all that is asked for.
    """
    if case.task.metric == "MCQ_Acc":
        return ""
    if case.task.places == 1:
        return f'{{"answer": "<option>", "time_duration": ["<{_SPAN}>"]}}'
    return f'{{"answer": ["<option>", "<option>"], "time_duration": ["<{_SPAN}>", "<{_SPAN}>"]}}'


def official_parts(case: Case, map_image: ImageRef | None, frames: Frames | None = None) -> tuple[Part, ...]:
    """The released prompt in its order and with its quirks; to be joined with `texts_first`.

    Kept quirks: the published order of clips, the direction that is always unknown, the first three boxes
    beside the first, middle and last pictures, and a comment inside the JSON form. An absent map is
    skipped without a word. The published question is quoted word for word; the other sentences are ours.
    """
    parts: list[Part] = []
    if map_image:
        parts.append(Part(content="Here is the map of the area:", shown="map"))
        parts.append(Part(content=map_image, shown="map"))
    for clip in case.clips:
        parts.append(Part(content=_official_clip(case, clip), shown="camera_data"))
        parts += [Part(content=picture, shown="media") for picture in (frames or {}).get(clip, ())]
    parts.append(Part(content=_official_question(case)))
    return tuple(parts)


def _official_clip(case: Case, clip: Clip) -> str:
    timeless = case.task.short == TIMELESS
    lines = [f"Camera: {clip.camera_id}", "Direction: Unknown direction"]
    if not timeless:
        lines.append(f"Observed: {clock_span(clip.start_s, clip.end_s)}")
    lines += [
        f"Target: {clip.object_id}",
        "A red box marks the target in each picture; the text in the picture's corner repeats its id"
        + (" and box." if timeless else ", the time and the box."),
    ]
    for at_s, box in list(zip(clip.box_times_s(), clip.bboxes, strict=True))[:3]:
        text = "[" + ", ".join(f"{value:.1f}" for value in box) + "]"
        lines.append(f"Box {text}" if timeless else f"Box {text} at {clock(at_s)}")
    return "\n".join(lines)


def _official_question(case: Case) -> str:
    rules = _RULES + (_TIMED_RULES if case.task.metric == "ST-IoU" else ())
    return "\n".join(
        (
            f"Question: {case.question}",
            "Options:",
            *case.choices,
            "Rules:",
            *(f"{number}. {rule}" for number, rule in enumerate(rules, start=1)),
            "Reply with JSON of this form:",
            _official_form(case),
        )
    )


def _official_form(case: Case) -> str:
    lines = ["{"]
    if case.task.short == "MTTF":
        lines.append('    "TF": true or false,')
    if case.task.places > 1:
        lines.append('    "answer": ["first camera", "second camera"],')
        lines.append(f'    "time_duration": ["{_SPAN}", "{_SPAN}"],  # one time range for each camera')
    else:
        lines.append('    "answer": "the chosen option",')
        if case.task.metric == "ST-IoU":
            lines.append(f'    "time_duration": ["{_SPAN}"],  # time range')
    return "\n".join((*lines, '    "explanation": "...",', '    "reasoning": "..."', "}"))


_FORM = "Answer with one JSON object: "
_WORDINGS = {
    "plain": ("What is asked: ", "Pick from these:", "Reply with JSON that looks like this: "),
    "formal": (
        "The question under consideration reads as follows: ",
        "The admissible alternatives are enumerated below:",
        "You are requested to respond with a single JSON object of the following form: ",
    ),
}


def worded_sample(sample: Sample, wording: str) -> Sample | None:
    """The sample with its guarded question in that wording; None of the official one, which is quoted."""
    *before, question = sample.parts
    text = worded_question(str(question.content), wording)
    return None if text is None else replace(sample, parts=(*before, replace(question, content=text)))


def worded_question(text: str, wording: str) -> str | None:
    r"""The guarded question with its instructions in other words or in another order; None: no such wording.

    Question and options are quoted as they are.

    >>> print(worded_question("Question: Where?\nOptions:\nA. c1\nAnswer with one JSON object: {}.", "plain"))
    What is asked: Where?
    Pick from these:
    A. c1
    Reply with JSON that looks like this: {}.
    """
    first, *options, last = text.split("\n")
    if not first.startswith("Question: ") or options[:1] != ["Options:"] or not last.startswith(_FORM):
        return None
    if wording == "reordered":
        return "\n".join((last, first, *options))
    if wording not in _WORDINGS:
        return None
    question, alternatives, form = _WORDINGS[wording]
    asked = question + first.removeprefix("Question: ")
    return "\n".join((asked, alternatives, *options[1:], form + last.removeprefix(_FORM)))
