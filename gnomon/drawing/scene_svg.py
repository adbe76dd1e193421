"""Draws a scene with sketches on it, or sketches on the Earth or on a picture, as one SVG.

The base map is drawn once; every layer is a group `<g class="layer look-…" data-layer="…">` on top of it, so
that a script switches layers by the class `is-off`. Nothing is styled inline: looks are those of drawing.css.

Two views of one drawing: the part that matters, and the whole map. A script goes from one to the other by the
SVG's attributes: `viewBox` from `data-view-crop` or `data-view-whole`, `font-size` from `data-letters-crop`
or `data-letters-whole`, and the class `is-whole`. Timed lines carry `data-times` (seconds) and `data-points`
(pixels of the drawing) of equal number; cameras carry `data-camera`, and the class `is-on` lights one up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from markupsafe import Markup

from gnomon.drawing.base_map import (
    Base,
    bounds_of_scene,
    camera_point,
    earth_base,
    floors_of,
    furniture,
    image_base,
    scene_base,
    views_of_scene,
)
from gnomon.drawing.labels import Placed, Rect, Wish, place, scaled
from gnomon.drawing.layer import Layer, bottom_up
from gnomon.drawing.marks import NAMED_RANK, SYMBOLS, Drawn, draw_layer, symbols
from gnomon.drawing.markup import tag
from gnomon.drawing.plan import (
    LETTERS,
    MIN_SPAN,
    Bounds,
    Plan,
    ViewBox,
    bounds_of,
    earth_about,
    focus_of,
    plan_of,
    positions,
    union_near,
)
from gnomon_tools.core.sketch import XY, Plane, Sketch
from gnomon_tools.core.tool import EMPTY_SCENE
from gnomon_tools.geometry.camera_view import View
from gnomon_tools.scene.scene import Scene

WhichView = Literal["crop", "whole"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PictureBelow:
    """The picture that marks in pixels lie on: its hash, where the page finds it, its full size in pixels."""

    sha256: str
    href: str | None  # None: blank paper
    width: int
    height: int


@dataclass(slots=True, kw_only=True)
class _Ground:
    """The lowest part of a drawing: its plan, its base map, and where cameras' names belong, in pixels."""

    plan: Plan
    base: Base
    camera_points: dict[str, XY] = field(default_factory=dict)


def scene_svg(
    scene: Scene | None,
    layers: Sequence[Layer],
    *,
    ident: str,
    title: str,
    view: WhichView = "crop",
    plane: Plane = "scene",
    picture: PictureBelow | None = None,
    cameras: Sequence[str] = (),
    has_legend: bool = True,
) -> Markup:
    """The drawing of those layers whose sketches are in `plane`, in a `<div class="drawing">`.

    `ident` begins the ids of the drawing's elements: one of its own for each drawing of a page. `plane` is
    `scene` (metres on the scene's map), `earth` (degrees) or `picture` (pixels of `picture`: sketches on
    another picture are left out). `cameras` are emphasised besides those that sketches name.
    """
    drawable = [layer for layer in layers if _is_on(layer, plane, picture)]
    ground = _ground(scene, drawable, plane, picture, cameras, ident)
    far = sum(not ground.plan.is_near(mark) for layer in drawable for mark in layer.sketch.marks)
    description = f"{far} {'mark lies' if far == 1 else 'marks lie'} beyond the map." if far else ""
    groups, labels = _layers(ground, bottom_up(drawable), cameras, ident)
    plan = ground.plan
    chosen = plan.whole if view == "whole" else plan.crop
    svg = tag(
        "svg",
        tag("title", title, id=f"{ident}-title"),
        tag("desc", description, id=f"{ident}-desc"),
        tag("g", symbols(ident), *groups, *labels, class_="letters"),
        class_=f"scene on-{plane}" + (" is-whole" if view == "whole" and plan.whole != plan.crop else ""),
        id=ident,
        role="img",
        aria_labelledby=f"{ident}-title {ident}-desc",
        viewBox=str(chosen),
        font_size=f"{chosen.letters:.1f}",
        data_view_crop=str(plan.crop),
        data_view_whole=str(plan.whole),
        data_letters_crop=f"{plan.crop.letters:.1f}",
        data_letters_whole=f"{plan.whole.letters:.1f}",
        xmlns="http://www.w3.org/2000/svg",
    )
    return tag("div", *([legend(drawable)] if has_legend and drawable else []), svg, class_="drawing")


def legend(layers: Sequence[Layer]) -> Markup:
    """The layers' names, each with a sample of its look; items carry `data-layer` as the groups do."""
    items = [
        tag("li", _swatch(layer), tag("span", layer.name), class_=layer.css, data_layer=layer.data_layer)
        for layer in layers
    ]
    return tag("ul", *items, class_="legend")


def _swatch(layer: Layer) -> Markup:
    line = tag("polyline", class_="line result", points="2,6 26,6")
    shape = SYMBOLS[layer.arm.shape] if layer.arm else ""
    dot = [tag("path", class_="dot result", d=shape, transform="translate(14 6)")] if shape else []
    return tag(
        "svg", line, *dot, class_="swatch", viewBox="0 0 28 12", width=28, height=12, aria_hidden="true"
    )


def _is_on(layer: Layer, plane: Plane, picture: PictureBelow | None) -> bool:
    """Whether the drawing shows something of the layer."""
    sketch = layer.sketch
    if not sketch.marks and not (sketch.cameras and plane == "scene"):
        return False
    if plane == "picture":
        return sketch.plane == "picture" and picture is not None and sketch.picture in (None, picture.sha256)
    return sketch.plane == plane


def _ground(
    scene: Scene | None,
    layers: Sequence[Layer],
    plane: Plane,
    picture: PictureBelow | None,
    cameras: Sequence[str],
    ident: str,
) -> _Ground:
    if plane == "picture":
        return _picture_ground(picture)
    if plane == "earth":
        return _earth_ground(layers)
    return _scene_ground(scene, layers, cameras, ident)


def _picture_ground(picture: PictureBelow | None) -> _Ground:
    width, height = (picture.width, picture.height) if picture else (1280, 720)
    plan = plan_of(
        flat=lambda xy: (xy[0], -xy[1]),
        base=(0.0, -float(height), float(width), 0.0),
        floors=[0],
        focus={},
        min_span=0.0,
        unit="px",
        is_exact=True,
    )
    return _Ground(plan=plan, base=image_base(plan, picture.href if picture else None, (width, height)))


def _earth_ground(layers: Sequence[Layer]) -> _Ground:
    earth = earth_about([xy for layer in layers for mark in layer.sketch.marks for xy in positions(mark)])
    sketches = [(layer.sketch, True) for layer in layers]
    focus = focus_of(sketches, flat=earth.flat, base=None, cameras={}, floors=[0])
    plan = plan_of(flat=earth.flat, base=None, floors=[0], focus=focus, min_span=MIN_SPAN["earth"])
    return _Ground(plan=plan, base=earth_base(plan, earth))


def _scene_ground(
    scene: Scene | None, layers: Sequence[Layer], cameras: Sequence[str], ident: str
) -> _Ground:
    if scene is None:
        scene = EMPTY_SCENE
    views = views_of_scene(scene)
    floors, bounds = floors_of(scene), bounds_of_scene(scene, views)
    points = {
        camera.id: at
        for camera in scene.cameras.values()
        if (at := camera_point(camera, views.get(camera.id))) is not None
    }
    reaches = {name: (scene.cameras[name].floor, _reach(at, views.get(name))) for name, at in points.items()}
    sketches = [(layer.sketch, layer.look != "step") for layer in layers]
    sketches.append((Sketch(cameras=tuple(cameras)), True))
    focus = focus_of(sketches, flat=_as_it_is, base=bounds, cameras=reaches, floors=floors)
    around = _with_marks(bounds, layers)
    min_span = MIN_SPAN["boxes" if scene.boxes else scene.kind]
    plan = plan_of(flat=_as_it_is, base=around, floors=floors, focus=focus, min_span=min_span)
    return _Ground(
        plan=plan,
        base=scene_base(scene, plan, views, ident),
        camera_points={name: plan.at(at, scene.cameras[name].floor) for name, at in points.items()},
    )


def _reach(at_m: XY, view: View | None) -> Bounds:
    """Around a camera and what it sees, in metres."""
    return bounds_of([at_m, *(view.area.exterior.coords if view else [])]) or (*at_m, *at_m)


def _as_it_is(xy: XY) -> XY:
    return xy


def _with_marks(bounds: Bounds | None, layers: Sequence[Layer]) -> Bounds | None:
    """The map's bounds and those of all marks that are not absurdly far from it."""
    marks = [mark for layer in layers for mark in layer.sketch.marks]
    return union_near(bounds, [box for mark in marks if (box := bounds_of(positions(mark)))])


def _layers(
    ground: _Ground, layers: Sequence[Layer], cameras: Sequence[str], ident: str
) -> tuple[list[Markup], list[Markup]]:
    """Groups of elements, and above them groups of labels, each for one view of the drawing."""
    plan, base = ground.plan, ground.base
    drawn = {
        id(layer): draw_layer(
            layer, plan, ident, camera_ids=base.camera_ids, camera_points=ground.camera_points
        )
        for layer in layers
    }
    emphasis = Layer("", Sketch(cameras=tuple(cameras)), "seen")
    emphasised = draw_layer(
        emphasis, plan, ident, camera_ids=base.camera_ids, camera_points=ground.camera_points
    )
    groups = [tag("g", *base.elements, *emphasised.elements, class_="base")]
    groups += [
        tag("g", *drawn[id(layer)].elements, class_=layer.css, data_layer=layer.data_layer)
        for layer in layers
    ]
    texts: dict[int, list[Markup]] = {id(layer): [] for layer in layers}
    of_base: list[Markup] = []
    views = [("at-crop", plan.crop), ("at-whole", plan.whole)]
    for css, view in views if plan.crop != plan.whole else [("at-any", plan.crop)]:
        corners, covered = furniture(view, plan)
        labels = _labels(base, layers, drawn, emphasised, view, covered)
        of_base.append(tag("g", *corners, *(label.svg() for label in labels[0]), class_=css))
        for layer in layers:
            if labels[id(layer)]:
                texts[id(layer)].append(tag("g", *(label.svg() for label in labels[id(layer)]), class_=css))
    above = [tag("g", *of_base, class_="labels")]
    above += [
        tag("g", *texts[id(layer)], class_=f"{layer.css} labels", data_layer=layer.data_layer)
        for layer in layers
        if texts[id(layer)]
    ]
    return groups, above


def _labels(
    base: Base,
    layers: Sequence[Layer],
    drawn: dict[int, Drawn],
    emphasised: Drawn,
    view: ViewBox,
    covered: Sequence[Rect],
) -> dict[int, list[Placed]]:
    """The labels of one view by layer, under 0 those of the base map.

    First those of layers that are always on, then the base map's; those of steps, of which one is on at a
    time, come last and keep off both.
    """
    grown = view.letters / LETTERS
    lasting = [drawn[id(layer)] for layer in layers if layer.look != "step"]
    taken = list(covered)
    for rects in (base.taken, *(part.taken for part in lasting)):
        taken += [scaled(rect, grown) for rect in rects]
    avoid = [rect for part in lasting for rect in part.avoid]
    labels: dict[int, list[Placed]] = {
        0: place(emphasised.wishes, view=view.rect, em=view.letters, taken=taken)
    }
    placed = list(labels[0])
    for layer in layers:
        if layer.look != "step":
            named = {label.wish.text for label in placed if label.wish.rank == NAMED_RANK}
            wishes = [wish for wish in drawn[id(layer)].wishes if wish.text not in named]
            labels[id(layer)] = place(
                wishes, view=view.rect, em=view.letters, taken=taken, placed=placed, avoid=avoid
            )
            placed += labels[id(layer)]
    named = {label.wish.text for label in placed if label.wish.rank == NAMED_RANK}
    wishes = [wish for wish in base.wishes if wish.text not in named]
    of_base = place(wishes, view=view.rect, em=view.letters, taken=taken, placed=placed, avoid=avoid)
    labels[0] += of_base
    for layer in layers:
        if layer.look == "step":
            labels[id(layer)] = _step_labels(drawn[id(layer)], view, taken, placed, of_base, avoid)
    return labels


def _step_labels(
    part: Drawn,
    view: ViewBox,
    taken: Sequence[Rect],
    placed: Sequence[Placed],
    of_base: Sequence[Placed],
    avoid: Sequence[Rect],
) -> list[Placed]:
    """A step's labels. A camera that it names is named over the base map's label, in bolder letters."""
    cameras = {label.wish.text: label for label in of_base if label.wish.css == "camera-name"}
    bolder: list[Placed] = []
    wishes: list[Wish] = []
    shown = {label.wish.text for label in placed if label.wish.rank == NAMED_RANK}
    for wish in part.wishes:
        if wish.rank == NAMED_RANK and wish.text in cameras:
            label = cameras.pop(wish.text)
            bolder.append(Placed(wish=wish, side=label.side, is_wide=label.is_wide))
        elif wish.rank != NAMED_RANK or wish.text not in shown:
            wishes.append(wish)
    minor = [label.rect(view.letters) for label in of_base if label.wish.css != "camera-name"]
    own = [scaled(rect, view.letters / LETTERS) for rect in part.taken]
    return bolder + place(
        wishes,
        view=view.rect,
        em=view.letters,
        taken=[*taken, *own],
        placed=[*placed, *cameras.values(), *bolder],
        avoid=[*avoid, *part.avoid, *minor],
    )
