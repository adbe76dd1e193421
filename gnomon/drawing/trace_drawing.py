"""Draws a trial: scene and clock with what was seen, what is true, each turn's calls, and the answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from markupsafe import Markup

from gnomon.core.question_view import QuestionView
from gnomon.core.sample import Sample
from gnomon.drawing.clock_svg import clock_range, clock_svg
from gnomon.drawing.layer import Layer
from gnomon.drawing.scene_svg import scene_svg
from gnomon.drawing.trace_sketches import StepSketch
from gnomon.traces.turns import Turn
from gnomon_tools.core.sketch import Line, Mark, Plane, Sketch

CLOCK_TITLE = "When each was seen, forecast, answered and true"


@dataclass(frozen=True, slots=True, kw_only=True)
class ArmAnswer:
    """What an arm answered: `place` is the arm's among the job's, from 0."""

    arm: str
    place: int
    sketch: Sketch


def trace_layers(
    view: QuestionView | None,
    turns: Sequence[Turn],
    sketches: Sequence[StepSketch],
    answers: Sequence[ArmAnswer],
    *,
    chosen: int,
) -> list[Layer]:
    """What the question shows, what is right, each turn's calls (those of turn `chosen` are on), all answers.

    A turn's layer has the key `step-NUMBER`, an arm's `arm-NUMBER`.
    """
    layers: list[Layer] = []
    if view is not None:
        layers += [Layer("seen", view.seen, "seen"), Layer("truth", view.truth, "truth")]
    by_step: Mapping[int, Sketch] = {sketch.step: sketch.sketch for sketch in sketches}
    for turn in turns:
        merged = merge_sketches([by_step[call.step] for call in turn.calls if call.step in by_step])
        if merged:
            key = f"step-{turn.number}"
            layers.append(Layer(f"step {turn.number}", merged, "step", key=key, is_on=turn.number == chosen))
    layers += (
        Layer(answer.arm, answer.sketch, answer.place, key=f"arm-{answer.place + 1}")
        for answer in answers
        if answer.sketch
    )
    return layers


def merge_sketches(sketches: Sequence[Sketch]) -> Sketch:
    """The calls of one turn as one sketch; those in another plane than the first are left out.

    Lines of several calls lose their labels, which would lie on each other.
    """
    plane: Plane = next((sketch.plane for sketch in sketches if sketch), "scene")
    same = [sketch for sketch in sketches if sketch.plane == plane]
    return Sketch(
        marks=tuple(_unlabelled(mark) if len(same) > 1 else mark for sketch in same for mark in sketch.marks),
        spans=tuple(span for sketch in same for span in sketch.spans),
        cameras=tuple(dict.fromkeys(name for sketch in same for name in sketch.cameras)),
        plane=plane,
        picture=next((sketch.picture for sketch in same if sketch.picture), None),
    )


def _unlabelled(mark: Mark) -> Mark:
    return replace(mark, label="") if isinstance(mark, Line) else mark


def clock_text(second: float) -> str:
    """A moment as people read it: by the day's clock beyond an hour, else minutes and seconds of a clip.

    >>> clock_text(45421.04), clock_text(75.5), clock_text(-0.3)
    ('12:37:01.0', '1:15.5', '−0:00.3')
    """
    minutes, tenth = divmod(round(10 * abs(second)), 600)
    if second < 3600:
        return f"{'−' if second < 0 else ''}{minutes}:{tenth // 10:02d}.{tenth % 10}"
    return f"{minutes // 60 % 24:02d}:{minutes % 60:02d}:{tenth // 10:02d}.{tenth % 10}"


def trace_scene(
    sample: Sample | None, view: QuestionView | None, layers: Sequence[Layer], *, ident: str
) -> Markup | None:
    """The scene with all layers, or the sketches on the Earth; None where nothing has a place."""
    if sample is None:
        return None
    title = f"Map of what was seen, what is true and what each step asked and got: {sample.ref.sample_id}"
    return layers_map(sample, layers, ident=ident, title=title, view=view)


def layers_map(
    sample: Sample, layers: Sequence[Layer], *, ident: str, title: str, view: QuestionView | None = None
) -> Markup | None:
    """The sample's scene with all layers, or those on the Earth; None where nothing has a place.

    Of a question that is given, cameras that its options name are drawn as such.
    """
    if sample.scene is not None:
        names = [option.text.split()[0] for option in view.options if option.text.split()] if view else []
        cameras = [name for name in names if name in sample.scene.cameras]
        return scene_svg(sample.scene, layers, ident=ident, title=title, cameras=cameras)
    if any(layer.sketch.plane == "earth" and layer.sketch.marks for layer in layers):
        return scene_svg(None, layers, ident=ident, title=title, plane="earth")
    return None


def layers_clock(layers: Sequence[Layer], *, ident: str, title: str) -> Markup | None:
    """The lanes of all layers with times; None where there are none."""
    stretch = clock_range(layers)
    if stretch is None:
        return None
    return clock_svg(
        layers,
        start_s=stretch[0],
        end_s=stretch[1],
        ident=ident,
        title=title,
        format_time=clock_text,
    )
