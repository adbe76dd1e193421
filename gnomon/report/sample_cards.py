"""Opens samples again for the page: question, truth, pictures, drawing, answers, the steps of one trial.

What the page may hold of them is counted in bytes, and spent in order of importance: first the samples with
their drawings, then their pictures.
"""

import base64
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol

from jinja2 import Template
from markupsafe import Markup, escape

from gnomon.core.opened_question import OpenedQuestion, ShownQuestion, question_record, show_question
from gnomon.core.row import Row
from gnomon.drawing.trace_drawing import CLOCK_TITLE, ArmAnswer, layers_clock, trace_layers, trace_scene
from gnomon.drawing.trace_sketches import StepSketch, step_sketches
from gnomon.report.contrast import ContrastReport
from gnomon.report.sample_choice import Choice, Reported, chosen_samples
from gnomon.report.section import PairKey, pair_key
from gnomon.report.sections.flips import Alignment, align
from gnomon.report.text_formats import count
from gnomon.stopping import while_wanted
from gnomon.traces.findings import Findings, findings_on
from gnomon.traces.turns import StoredTrace, Turn, read_turns
from gnomon_tools.core.sketch import Sketch

MOST_BYTES = 10_000_000  # of a whole page
CARDS_BYTES = 4_500_000  # of samples on it, with their drawings and pictures
TRACES_BYTES = 3_000_000  # of traces side by side, and of lists of flipped samples
MOST_PICTURES = 4  # of one sample
PICTURE_WIDTH = 560  # pixels at most
PICTURE_QUALITY = 72
MOST_TURNS = 40  # of a trial
LONG_TEXT = 4_000  # characters of a question or an option


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownTrial:
    """A trial of a sample: its arm, the arm's place among the job's, from 0, and what it gave if it ended."""

    arm: str
    place: int
    row: Row | None
    trace: StoredTrace | None


class SampleSource(Protocol):
    """Opens samples and trials of the report's job again; never an exception."""

    def open(self, sample_id: str) -> OpenedQuestion:
        """The question, or why it cannot be opened."""
        ...

    def trials(self, sample_id: str, model: str) -> Sequence[ShownTrial]:
        """One trial of each arm, in the job's order."""
        ...

    def picture(self, sha256: str) -> bytes | None:
        """A picture's bytes; None where they are gone."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """An opened sample as the page shows it, within which comparison, and where a link finds it."""

    pair: PairKey
    sample_id: str
    anchor: str
    html: Markup


@dataclass(slots=True, kw_only=True)
class OpenedSamples:
    """The samples of a page. `problem` says why there are none; `left_out` what had no room."""

    cards: list[Card] = field(default_factory=list)
    problem: str = ""
    left_out: str = ""
    last_turn: int = 0
    room: int = TRACES_BYTES  # for traces side by side and lists of flipped samples

    def cards_of(self, whole: ContrastReport) -> list[Card]:
        """The cards shown within a comparison."""
        return [card for card in self.cards if card.pair == pair_key(whole)]

    def anchor(self, model: str, sample_id: str) -> str | None:
        """Where the sample is shown under this model; None where it is not."""
        return next(
            (card.anchor for card in self.cards if (card.pair[0], card.sample_id) == (model, sample_id)), None
        )

    def has_room(self, *texts: str | None) -> bool:
        """Whether these texts still fit on the page; if so they have taken their room."""
        size = sum(len(escape(text or "").encode(errors="replace")) for text in texts) + 60 * len(texts)
        if size > self.room:
            return False
        self.room -= size
        return True

    def has_room_for_traces(self, aligned: Alignment) -> bool:
        """The same of two traces side by side."""
        steps = [step for row in aligned["steps"] for step in (row["baseline"], row["variant"]) if step]
        return self.has_room(*(text for step in steps for text in (step["title"], step["text"])))


def open_samples(
    report: Reported, source: SampleSource, template: Template, *, arms: Sequence[str]
) -> OpenedSamples:
    """The samples that the page shows, as `template` renders them; none where they cannot be opened.

    Raises:
        Unwanted: the report is no longer wanted, see `gnomon.stopping`.
    """
    views: list[tuple[Choice, dict[str, Any]]] = []
    opened, room, without_room = OpenedSamples(), CARDS_BYTES, 0
    for choice in while_wanted(chosen_samples(report)):
        question = show_question(source.open(choice.sample_id))
        if question.view is None:
            opened.problem = opened.problem or question.problem or "their data are gone"
            if not views:
                return opened  # data that are gone are gone for all
            continue
        view = _view(choice, question, source.trials(choice.sample_id, choice.pair[0]), len(views), arms)
        size = len(template.render(view).encode(errors="replace"))
        if size > room:
            without_room += 1
            continue
        room -= size
        views.append((choice, view))
    without_pictures = 0

    @cache  # several samples may show one picture
    def uri_of(sha256: str) -> str | None:
        data = source.picture(sha256)
        return picture_uri(data) if data else None

    for _, view in while_wanted(views):
        room -= _add_pictures(view, uri_of, room)
        without_pictures += bool(view["pictures_left_out"])
    opened.cards = [
        Card(
            pair=choice.pair,
            sample_id=choice.sample_id,
            anchor=view["anchor"],
            html=Markup(template.render(view)),  # noqa: S704 the template escapes what is not its own
        )
        for choice, view in views
    ]
    numbers = [turn["number"] for _, view in views for turn in view["turns"]]
    opened.last_turn = max(numbers, default=0)
    opened.left_out = _left_out(without_room, without_pictures)
    return opened


def _left_out(cards: int, pictures: int) -> str:
    """What had no room, in words; empty where all had."""
    parts = []
    if cards:
        parts.append(f"{count(cards, 'more sample')} had no room")
    if pictures:
        parts.append(f"of {count(pictures, 'sample')} some pictures had no room")
    limit = f"{MOST_BYTES / 1e6:.0f} MB"
    return f"This file stays below {limit}: {', and '.join(parts)}." if parts else ""


def _view(
    choice: Choice, question: ShownQuestion, trials: Sequence[ShownTrial], number: int, arms: Sequence[str]
) -> dict[str, Any]:
    """What the template shows of a sample; pictures come later, as far as there is room."""
    ident = f"sample-{number + 1}"
    variant = _with_steps(choice, trials)
    trace = (variant.trace if variant else None) or {}
    turns = read_turns(trace)[:MOST_TURNS]
    is_drawn = question.sample is not None and question.is_asked_by(variant.row if variant else None)
    sketches = step_sketches(question.sample, trace) if is_drawn and question.sample is not None else ()
    answers = [
        ArmAnswer(
            arm=trial.arm,
            place=trial.place,
            sketch=question.answer_sketch((trial.trace or {}).get("response")),
        )
        for trial in trials
        if question.is_asked_by(trial.row)
    ]
    answer = next((item.sketch for item in answers if variant and item.arm == variant.arm), Sketch())
    shown_turns = [_turn(turn, sketches, question, answer) for turn in turns]
    chosen = _first_chosen(shown_turns)
    layers = trace_layers(question.view, turns, sketches, answers, chosen=chosen)
    drawn = {layer.key for layer in layers if layer.look == "step"}
    for turn in shown_turns:
        turn["is_drawn"] = f"step-{turn['number']}" in drawn
    record = question_record(question) or {}
    return {
        "anchor": ident,
        "choice": choice,
        "is_open": number == 0,
        "question": {
            **record,
            "text": _cut(record["text"]),
            "options": [{**option, "text": _cut(option["text"])} for option in record["options"]],
            "truth": _cut(record["truth"]),
        },
        "pictures": [],
        "pictures_left_out": 0,
        "pictures_beyond": 0,
        "trials": [_trial(trial, question) for trial in trials],
        "arms": list(arms),
        "variant": variant,
        "turns": shown_turns,
        "turns_left_out": max(0, len(read_turns(trace)) - MOST_TURNS),
        "chosen": chosen,
        "drawing": trace_scene(question.sample, question.view, layers, ident=f"{ident}-scene"),
        "clock": layers_clock(layers, ident=f"{ident}-clock", title=CLOCK_TITLE),
        "aligned": choice.aligned or _aligned(choice, trials),
    }


def _with_steps(choice: Choice, trials: Sequence[ShownTrial]) -> ShownTrial | None:
    """The trial whose steps are shown: the variant's, else the baseline's where only that one has calls."""
    by_arm = {trial.arm: trial for trial in trials if trial.trace}
    variant, baseline = by_arm.get(choice.pair[2]), by_arm.get(choice.pair[1])
    if variant is None or (baseline and _calls(baseline) and not _calls(variant)):
        return baseline or variant
    return variant


def _calls(trial: ShownTrial) -> int:
    return (trial.row.tool_calls or 0) if trial.row else 0


def _aligned(choice: Choice, trials: Sequence[ShownTrial]) -> Alignment | None:
    traces = {trial.arm: trial.trace for trial in trials}
    return align(traces.get(choice.pair[1]), traces.get(choice.pair[2]))


def _trial(trial: ShownTrial, question: ShownQuestion) -> dict[str, Any]:
    row = trial.row
    response = (trial.trace or {}).get("response")
    return {
        "arm": trial.arm,
        "place": trial.place,
        "score": row.score if row else None,
        "outcome": row.stop_reason if row else "",
        "error": _cut(row.error) if row and row.score is None else "",
        "answer": _cut(row.answer) if row and row.answer else "",
        "verdict": question.verdict(row, response) if row and row.score is not None else "",
        "calls": row.tool_calls if row else 0,
        "errors": row.tool_errors if row else 0,
    }


def _turn(
    turn: Turn, sketches: Sequence[StepSketch], question: ShownQuestion, answer: Sketch
) -> dict[str, Any]:
    by_step = {sketch.step: sketch for sketch in sketches}
    calls = []
    for call in turn.calls:
        sketch = by_step.get(call.step)
        findings = findings_on(sketch.sketch, question.view, answer) if sketch else Findings()
        calls.append(
            {
                "name": call.name,
                "summary": sketch.summary if sketch else "",
                "error": call.error,
                "findings": list(findings.sentences),
                "is_used": findings.is_used,
            }
        )
    return {"number": turn.number, "calls": calls, "text": _cut(turn.text, 300), "is_drawn": False}


def _first_chosen(turns: Sequence[dict[str, Any]]) -> int:
    """The turn that is drawn at first: one that the answer took a time from, else the last with calls."""
    telling = [turn["number"] for turn in turns if any(call["is_used"] for call in turn["calls"])]
    with_calls = [turn["number"] for turn in turns if turn["calls"]]
    return int((telling[:1] or with_calls or [0])[-1])


def _add_pictures(view: dict[str, Any], uri_of: Callable[[str], str | None], room: int) -> int:
    """Add the sample's pictures, or the first frames of its clips, as far as `room` goes; the bytes taken."""
    question = view["question"]
    wanted = [*question["pictures"]]
    for clip in question["clips"]:
        frames = clip["frames"]
        wanted += ({**frame, "caption": f"{clip['caption']}, {frame['time_s']:g} s"} for frame in frames)
    taken = 0
    for picture in wanted[:MOST_PICTURES]:
        uri = uri_of(picture["sha256"])
        if uri is None or taken + len(uri) + 300 > room:
            view["pictures_left_out"] += uri is not None
            continue
        taken += len(uri) + 300
        view["pictures"].append({**picture, "uri": uri})
    view["pictures_beyond"] = max(0, len(wanted) - MOST_PICTURES)
    return taken


def _cut(text: str, longest: int = LONG_TEXT) -> str:
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text):,} characters)"


def picture_uri(data: bytes) -> str | None:
    """The picture as a data: URI, PICTURE_WIDTH pixels wide or high at most; None where it cannot be read.

    It is always drawn anew, so that nothing but pixels comes with it.
    """
    from PIL import Image  # late: most reports of text have no pictures

    try:
        with Image.open(io.BytesIO(data), formats=("PNG", "JPEG")) as image:
            image.draft("RGB", (2 * PICTURE_WIDTH, 2 * PICTURE_WIDTH))
            small = image.convert("RGB")
            small.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH), reducing_gap=2.0)
    except (OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return None
    out = io.BytesIO()
    small.save(out, format="WEBP", quality=PICTURE_QUALITY, method=3)
    return f"data:image/webp;base64,{base64.b64encode(out.getvalue()).decode()}"
