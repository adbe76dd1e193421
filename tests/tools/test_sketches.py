"""Sketches of calls: plain summaries, finite marks, the right places; and no failure on odd results."""

import copy
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from gnomon.media import MediaStore
from gnomon.media.clip_frames import ClipFootage
from gnomon.media.clips import Clips
from gnomon_tools.core.inputs import held
from gnomon_tools.core.sketch import Area, Dot, Line, Mark, Sketch
from gnomon_tools.core.tool import Tool, ToolContext, contract_hash
from gnomon_tools.core.toolbox import TOOLS, Toolbox
from gnomon_tools.scene.format import read_scene
from gnomon_trips.itinerary.provider import answered
from gnomon_trips.itinerary.registry import embedded
from gnomon_trips.itinerary.request import read_request
from gnomon_trips.itinerary.trip import Trip, open_trip
from gnomon_worlds.sample_making import draw
from gnomon_worlds.sample_numbers import Number
from tests.numbered import write_clip

SCENES = Path(__file__).parents[2] / "examples" / "scenes"
LONG = "x" * 150
TRIP = {
    "id": "t1",
    "area": "helsinki",
    "start_date": "2026-06-10",
    "days": 2,
    "hotel": "Hotelli Torni",
    "places": ["Ateneum", "Kiasma", "Amos Rex"],
}
BOXES = [[600.0, 300.0, 40.0, 60.0], [610.0, 310.0, 40.0, 80.0], [620.0, 320.0, 40.0, 100.0]]
TRACK = {"boxes": BOXES, "times_s": [1.0, 2.0, 3.5]}
C1, C2, C3 = ({"camera": camera} for camera in ("c1", "c2", "c3"))
FROM_C1 = {"at": C1, "time_s": 10.0, "speed_mps": 5.0, "seen_by": "c1", "heading_deg": 90.0}
FROM_C02 = {**FROM_C1, "at": {"camera": "c02"}, "seen_by": "c02"}
FROM_TRACK = {
    "at": {"x_m": -60.0, "y_m": 0.0},
    "time_s": 10.0,
    "speed_mps": 5.0,
    "track_m": [[-70.0, 0.0], [-60.0, 0.0]],
    "track_times_s": [8.0, 10.0],
}
BEFORE = {"points_m": [[-80.0, 0.0], [-60.0, 0.0]], "times_s": [0.0, 4.0], "seen_by": "c1"}
AFTER = {"points_m": [[110.0, 0.0], [120.0, 0.0]], "times_s": [40.0, 42.0]}
SIGHTINGS = [
    {"name": camera, "entry": {"camera": camera}, "exit": {"camera": camera}, "exit_heading_deg": 90.0}
    for camera in ("c1", "c2", "c3")
]
UNKNOWN = "Nowhere Qx"
VISITS = [
    {"place": "Ateneum", "arrive": "10:00", "leave": "12:00"},
    {"place": UNKNOWN, "arrive": "12:30", "leave": "14:30"},
    {"place": "Ateneum", "arrive": "15:00", "leave": "17:00"},
]
# Which context, which tool, which arguments.
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    ("streets", "bearing", {"start": C1, "end": {"x_m": 5.0, "y_m": -3.0}}),
    ("floors", "bearing", {"start": {"place": "desk"}, "end": {"place": "shelf"}}),
    ("streets", "camera_view", {"camera": "c1"}),
    ("outdoor world", "camera_view", {"camera": "c01"}),
    ("indoor world", "camera_view", {"camera": "c01"}),
    ("streets", "cameras_seeing", {"points": [[-75.0, 4.0]]}),
    ("streets", "cameras_seeing", {"points": [[-75.0, 4.0], [0.0, 4.0], [0.0, 60.0]]}),
    ("streets", "cameras_seeing", {"points": [[900.0, 900.0], [901.0, 900.0]], "floor": 7}),
    ("trip", "check_plan", {"plan": {"days": [{"visits": VISITS}]}}),
    ("trip", "check_plan", {"plan": {"days": [{"visits": VISITS[::2]}]}}),
    ("trip", "check_plan", {"plan": {"status": "refused", "conflict": ["budget"]}}),
    ("streets", "compare_motion", {"texts": ["east for 8 meters", LONG], "east_m": 9.0, "north_m": 1.0}),
    (
        "streets",
        "compose_poses",
        {"start": {"position_m": [0.0, 0.0, 0.0]}, "moves": [{"position_m": [1.0, 2.0, 0.0]}]},
    ),
    (
        "streets",
        "describe_path",
        {"positions_m": [[0.0, 0.0], [30.0, 0.0], [30.0, 20.0]], "tolerance_m": 1.0},
    ),
    ("streets", "distance", {"start": C1, "end": C2}),
    ("floors", "distance", {"start": {"place": "desk"}, "end": {"place": "shelf"}}),
    ("streets", "dwell", {"camera": "c1", "heading_deg": 90.0, "speed_mps": 5.0}),
    ("streets", "estimate_track", {"camera": "c2", "target": "vehicle", **TRACK}),
    ("streets", "estimate_track", {"camera": "c4", "target": "person", **TRACK}),
    ("trip", "find_place", {"name": "ateneum"}),
    ("streets", "forecast_arrival", {**FROM_C1, "cameras": ["c2", "c3", "c4"]}),
    ("outdoor world", "forecast_arrival", {**FROM_C02, "cameras": ["c01", "c03", "c04"]}),
    ("indoor world", "forecast_arrival", {**FROM_C02, "cameras": ["c01", "c03", "c04"]}),
    ("japan", "how_far", {"start": {"name": "Tokyo Station"}, "end": {"name": "大阪駅"}}),
    ("japan", "how_far", {"start": {"name": "Nara City"}, "end": {"name": "Nara City"}}),
    ("streets", "interpolate", {"before": BEFORE, "after": AFTER, "via": ["c2", "c4"], "speed_mps": 5.0}),
    ("japan", "lies_in", {"inner": {"name": "Shibuya"}, "outer": "Tokyo"}),
    ("japan", "lies_in", {"inner": {"name": "Shibuya City"}, "outer": "Osaka Prefecture"}),
    *((scene, "list_cameras", {}) for scene in ("streets", "floors", "outdoor world", "indoor world")),
    ("clip", "look_at_frame", {"time_s": 1.75}),
    ("clip", "look_between", {"start_s": 1.0, "end_s": 2.0, "frames": 4}),
    ("clip", "look_closer", {"time_s": 0.0, "x_px": 100, "y_px": 20, "width_px": 500, "height_px": 40}),
    ("streets", "lookup", {"name": "bakery"}),
    ("streets", "lookup", {"at": C1, "radius_m": 100.0}),
    ("streets", "lookup", {"name": LONG}),
    ("streets", "measure_image", {"points_px": [[0.0, 0.0], [30.0, 40.0]], "boxes_px": BOXES}),
    (
        "streets",
        "measure_motion",
        {"positions_m": [[0.0, 0.0, 1.0], [30.0, 0.0, 2.0]], "times_s": [0.0, 3.0]},
    ),
    (
        "streets",
        "meeting_candidates",
        {"first": FROM_C1, "second": FROM_TRACK, "cameras": ["c2", "c3", "c4"]},
    ),
    ("japan", "municipality_of", {"name": "Dotonbori"}),
    ("streets", "neighbours", {"camera": "c1", "heading_deg": 90.0}),
    ("indoor world", "neighbours", {"camera": "c01"}),
    ("streets", "order_cost", {"sightings": SIGHTINGS, "orders": [["c1", "c2", "c3"], ["c2", "c1", "c3"]]}),
    ("trip", "order_visits", {"places": TRIP["places"]}),
    ("streets", "pinhole", {"extent_px": 100.0, "size_m": 2.0, "focal_px": 1000.0}),
    ("trip", "place_details", {"place": "Ateneum"}),
    ("trip", "places_near", {"lat": 60.17, "lon": 24.944, "radius_m": 300.0, "kinds": ["cafe"]}),
    ("trip", "plan_trip", {"seconds": 5.0}),
    ("streets", "project_track", {"camera": "c1", **TRACK}),
    ("streets", "project_track", {"camera": "c1", "boxes": BOXES[:1], "times_s": [1.0]}),
    ("streets", "speed", {"distance_m": 105.0, "seconds": 75.0}),
    ("trip", "travel", {"start": "Hotelli Torni", "end": "Ateneum"}),
    ("trip", "travel_table", {"places": ["Hotelli Torni", "Ateneum", "Kiasma"]}),
    ("streets", "travel_time", {"start": C1, "end": C2, "speed_mps": 2.0}),
    ("japan", "visiting_order", {"places": [{"name": f"{city} City"} for city in ("Kyoto", "Kobe", "Nara")]}),
    ("trip", "where_is", {"lat": 60.17, "lon": 24.944}),
]
# What models are offered: a sketch is no part of it.
CONTRACTS = {
    "bearing": "13bdcb74ae07",
    "camera_view": "6ca07880d658",
    "cameras_seeing": "58f1ee815e93",
    "check_plan": "82fbba4ff8fe",
    "compare_motion": "287e2c19f0f7",
    "compose_poses": "b339ff292ffd",
    "describe_path": "3db62f71885f",
    "distance": "ef838a8068db",
    "dwell": "c0744c5a99cf",
    "estimate_track": "768e9970444c",
    "find_place": "f8bb561e94d3",
    "forecast_arrival": "80646309ebde",
    "how_far": "912af259e86d",
    "interpolate": "ccc96777698e",
    "lies_in": "28bf979fcc5f",
    "list_cameras": "e8ca53435e76",
    "look_at_frame": "c46e80aa8a89",
    "look_between": "b3313890179e",
    "look_closer": "323f598c869c",
    "lookup": "87cf3f844675",
    "measure_image": "c4d150cb8a9c",
    "measure_motion": "94234b03acfa",
    "meeting_candidates": "30fc39f94d93",
    "municipality_of": "cfff9316cbd3",
    "neighbours": "b36a804dbf68",
    "order_cost": "1bdabb2478de",
    "order_visits": "eeb2c3be45e1",
    "pinhole": "18d5cfd835aa",
    "place_details": "94bb7fa3d243",
    "places_near": "82db01da897d",
    "plan_trip": "8513aaebf95e",
    "project_track": "8ec6a48c2aee",
    "speed": "17500750ee12",
    "travel": "0796f0941080",
    "travel_table": "6e23659ceb31",
    "travel_time": "dfa30d5b4091",
    "visiting_order": "a704b0d75fbb",
    "where_is": "05dc9dc288d3",
}


@dataclass(frozen=True, kw_only=True)
class RecordedCall:
    """A call as a trace keeps it: the tool, the checked arguments and the result that the model got."""

    tool: Tool[Any]
    context: ToolContext
    args: Any
    result: dict[str, Any]

    def sketch(self, result: Mapping[str, Any] | None = None) -> Sketch:
        assert self.tool.sketch is not None
        return self.tool.sketch(self.context, self.args, self.result if result is None else result)


@cache
def trip() -> Trip:
    return answered(open_trip(read_request(TRIP), embedded("helsinki")), is_local=True)


@pytest.fixture(scope="session")
def contexts(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ToolContext]:
    folder = tmp_path_factory.mktemp("clip")
    clip = write_clip(folder / "a.mp4", 40, width=320, height=192)
    footage = ClipFootage(clips=Clips(MediaStore(folder / "media")), path=clip)
    worlds = [draw(Number(5, number)).world.scene for number in range(14)]
    return {
        "streets": ToolContext(inputs=held(read_scene(SCENES / "small.geojson"))),
        "floors": ToolContext(inputs=held(read_scene(SCENES / "floors.geojson"))),
        "outdoor world": ToolContext(inputs=held(next(world for world in worlds if world.kind == "outdoor"))),
        "indoor world": ToolContext(inputs=held(next(world for world in worlds if world.kind == "indoor"))),
        "japan": ToolContext(is_free=True),
        "trip": ToolContext(inputs=held(trip())),
        "clip": ToolContext(inputs=held(footage)),
    }


@pytest.fixture(scope="session")
def recorded(contexts: dict[str, ToolContext]) -> list[RecordedCall]:
    return [record(contexts[place], name, arguments) for place, name, arguments in CALLS]


def record(context: ToolContext, name: str, arguments: Mapping[str, Any]) -> RecordedCall:
    tool, written = TOOLS.get(name), json.dumps(arguments)
    observation = Toolbox([tool], context).call(name, written)
    assert observation.error is None, (name, observation.content)
    args, result = tool.args.model_validate_json(written), json.loads(observation.content)
    return RecordedCall(tool=tool, context=context, args=args, result=result)


def calls_of(recorded: list[RecordedCall], name: str) -> list[RecordedCall]:
    return [call for call in recorded if call.tool.name == name]


def positions(mark: Mark) -> tuple[tuple[float, float], ...]:
    match mark:
        case Dot():
            return (mark.at,)
        case Line():
            return mark.points
        case Area():
            return mark.ring


def check(sketch: Sketch) -> None:
    """What every sketch keeps to."""
    assert 1 <= len(sketch.summary) <= 90
    assert len(sketch.summary.splitlines()) == 1
    for mark in sketch.marks:
        assert all(math.isfinite(value) for position in positions(mark) for value in position)
        assert len(positions(mark)) >= {Dot: 1, Line: 2, Area: 3}[type(mark)]
        assert len(mark.label) < 60
        if isinstance(mark, Line):
            assert len(mark.times_s) in (0, len(mark.points))
            assert all(map(math.isfinite, mark.times_s))
        if isinstance(mark, Dot) and mark.radius_m is not None:
            assert math.isfinite(mark.radius_m)
    for span in sketch.spans:
        assert math.isfinite(span.start_s)
        assert math.isfinite(span.end_s)
        assert span.start_s <= span.end_s
        assert len(span.label) < 60
    assert all(isinstance(camera, str) and camera for camera in sketch.cameras)


def changed(value: Any) -> Iterator[Any]:
    """The same value with every field in turn removed, and with something odd in its place."""
    if isinstance(value, dict):
        for name in value:
            without = {other: item for other, item in value.items() if other != name}
            yield without
            for odd in (None, "odd", 1e300, float("nan"), [None, [1]]):
                yield {**without, name: odd}
            for item in changed(value[name]):
                yield {**without, name: item}
    elif isinstance(value, list):
        for index in range(min(len(value), 2)):
            yield value[:index] + value[index + 1 :]
            for item in changed(value[index]):
                yield [*value[:index], item, *value[index + 1 :]]


def test_the_contracts_of_the_tools_are_those_without_sketches() -> None:
    tools = {name: TOOLS.get(name) for name in CONTRACTS}
    assert {name: contract_hash((tool,)) for name, tool in tools.items()} == CONTRACTS


def test_every_tool_has_a_sketch_and_a_recorded_call() -> None:
    assert {name for _, name, _ in CALLS} == set(CONTRACTS) <= set(TOOLS.names())
    assert all(tool.sketch is not None for tool in TOOLS if tool.name in CONTRACTS)


def test_every_recorded_call_has_a_sound_sketch(recorded: list[RecordedCall]) -> None:
    for call in recorded:
        check(call.sketch())


def test_a_sketch_reads_the_result_and_leaves_it_as_it_is(recorded: list[RecordedCall]) -> None:
    for call in recorded:
        kept = copy.deepcopy(call.result)
        assert call.sketch() == call.sketch()
        assert call.result == kept


def test_a_result_with_missing_or_odd_fields_has_a_sound_sketch(recorded: list[RecordedCall]) -> None:
    for call in recorded:
        if UNKNOWN in str(call.args):  # each sketch of it searches the names of the whole area
            continue
        for result in ({}, {"result": None, "note": "nothing"}, *changed(call.result)):
            check(call.sketch(result))


def test_a_scene_without_what_the_call_named_gives_a_sketch_of_the_rest(recorded: list[RecordedCall]) -> None:
    nowhere = ToolContext()
    for call in recorded:
        assert call.tool.sketch is not None
        check(call.tool.sketch(nowhere, call.args, call.result))


def test_the_line_of_a_track_ends_where_the_last_point_is(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "project_track")[0]
    sketch = call.sketch()
    [track] = [mark for mark in sketch.marks if isinstance(mark, Line)]
    assert track.points == tuple(map(tuple, call.result["points_m"]))
    assert (track.times_s, track.has_arrow) == ((1.0, 2.0, 3.5), True)
    assert sketch.summary == "c1, 3 boxes → 5.9 m at 2.4 m/s, W"
    assert sketch.cameras == ("c1",)


def test_numbers_are_those_of_the_recorded_result(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "project_track")[0]
    sketch = call.sketch({**call.result, "length_m": 77.0, "points_m": [[0, 0], [7, 7], [9, 9]]})
    [track] = [mark for mark in sketch.marks if isinstance(mark, Line)]
    assert track.points[-1] == (9.0, 9.0)
    assert "77.0 m" in sketch.summary


def test_a_forecast_has_a_span_a_camera_and_a_problem_where_there_is_none(
    recorded: list[RecordedCall], contexts: dict[str, ToolContext]
) -> None:
    sketch = calls_of(recorded, "forecast_arrival")[0].sketch()
    assert [(span.label, span.start_s) for span in sketch.spans] == [("c2", 28.8), ("c3", 51.693)]
    assert all(span.error_s for span in sketch.spans)
    assert sketch.cameras == ("c1", "c2", "c3", "c4")
    assert sketch.summary == "from c1 to c2, c3, c4 → first c2 after +18.8 s, 1 without"
    call = record(contexts["streets"], "forecast_arrival", {**FROM_C1, "cameras": ["c2", "c3"]})
    rows = [call.result["arrivals"][0], {"camera": "c3", "problem": "No way leads there."}]
    sketch = call.sketch({"arrivals": rows})
    [problem] = [mark for mark in sketch.marks if mark.role == "problem"]
    assert isinstance(problem, Dot)
    assert problem.at == contexts["streets"].scene.cameras["c3"].xy_m
    assert problem.label == "c3: No way leads there."
    assert [span.label for span in sketch.spans] == ["c2"]


def test_the_ways_of_a_forecast_lead_from_the_departure_to_the_middles_of_the_views(
    recorded: list[RecordedCall],
) -> None:
    for call in calls_of(recorded, "forecast_arrival"):
        rows = [row for row in call.result["arrivals"] if "middle_x_m" in row]
        middles = {(row["middle_x_m"], row["middle_y_m"]) for row in rows}
        ways = [mark for mark in call.sketch().marks if isinstance(mark, Line) and not mark.has_arrow]
        assert {way.points[-1] for way in ways} >= middles
    labels = [mark.label for mark in calls_of(recorded, "forecast_arrival")[0].sketch().marks]
    assert {"c2 +18.8 s, 110.0 m", "c3 +41.7 s, 225.1 m"} <= set(labels)


def test_the_area_of_a_camera_view_is_its_field_of_view(recorded: list[RecordedCall]) -> None:
    for call in calls_of(recorded, "camera_view"):
        sketch = call.sketch()
        [area] = [mark for mark in sketch.marks if isinstance(mark, Area)]
        assert area.ring == tuple(map(tuple, call.result["polygon_m"]))
        assert area.floor == call.result["floor"]
        assert set(sketch.cameras) == {call.result["camera"], *call.result["overlaps"]}


def test_a_way_runs_along_the_streets_between_the_two_places(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "distance")[0]
    cameras = call.context.scene.cameras
    straight, way = (mark for mark in call.sketch().marks if isinstance(mark, Line))
    for line in (straight, way):
        assert (line.points[0], line.points[-1]) == (cameras["c1"].xy_m, cameras["c2"].xy_m)
    assert (straight.is_dashed, straight.label) == (True, "straight 97.7 m")
    assert (way.is_dashed, way.label) == (False, "way 140.0 m")
    assert (0.0, 0.0) in {(round(x_m, 3), round(y_m, 3)) for x_m, y_m in way.points}  # the crossing


def test_a_way_over_stairs_has_a_line_on_every_floor(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "distance")[1]
    places = call.context.scene.places
    ways = [mark for mark in call.sketch().marks if isinstance(mark, Line) and not mark.is_dashed]
    assert [way.floor for way in ways] == [0, 1]
    assert ways[0].points[0] == places["desk"].xy_m
    assert ways[1].points[-1] == places["shelf"].xy_m


def test_without_a_network_the_line_is_straight_and_dashed(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "travel_time")[0]
    assert call.tool.sketch is not None
    args = call.tool.args.model_validate(
        {"start": {"x_m": 0.0, "y_m": 0.0}, "end": {"x_m": 3.0, "y_m": 4.0}, "speed_mps": 1.0}
    )
    sketch = call.tool.sketch(ToolContext(), args, {"seconds": 5.0, "path_m": 5.0})
    [way] = [mark for mark in sketch.marks if isinstance(mark, Line)]
    assert (way.is_dashed, way.points) == (True, ((0.0, 0.0), (3.0, 4.0)))


def test_stretches_in_view_are_parts_of_the_path(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "cameras_seeing")[1]
    stretch = call.result["cameras"][0]["stretches"][0]
    part = [mark for mark in call.sketch().marks if isinstance(mark, Line)][1]
    assert (part.role, part.label.split()[0]) == ("result", "c1")
    length_m = math.dist(part.points[0], part.points[-1])
    assert length_m == pytest.approx(stretch["leaves_m"] - stretch["enters_m"], abs=0.01)


def test_places_are_drawn_in_longitude_and_latitude(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "how_far")[0]
    sketch = call.sketch()
    assert sketch.plane == "earth"
    assert [mark.at for mark in sketch.marks if isinstance(mark, Dot)] == [
        (139.7648, 35.68193),
        (135.49627, 34.70238),
    ]
    assert sketch.summary == "Tokyo Station to 大阪駅 → 403.6 km, 255.6°"
    trips = [call.sketch() for call in recorded if call.context.find(Trip) is not None]
    assert {sketch.plane for sketch in trips} == {"earth"}
    for mark in (mark for sketch in trips for mark in sketch.marks):
        assert all(24 < lon < 26 and 59 < lat < 61 for lon, lat in positions(mark))


def test_a_visit_with_a_fault_is_a_problem(recorded: list[RecordedCall]) -> None:
    call = calls_of(recorded, "check_plan")[0]
    assert {fault["path"].split(".visits.")[-1][0] for fault in call.result["faults"]} >= {"1", "2"}
    sketch = call.sketch()
    roles = {mark.label.split()[0]: mark.role for mark in sketch.marks if isinstance(mark, Dot)}
    assert roles == {"1": "asked", "3": "problem"}
    assert sketch.summary.startswith("planned, 3 visits → ")
    hotel = trip().hotel
    assert hotel is not None
    [day] = [mark for mark in sketch.marks if isinstance(mark, Line)]
    assert day.points[0] == day.points[-1] == (hotel.at.lon_deg, hotel.at.lat_deg)


def test_looking_is_drawn_in_the_picture_and_on_the_clock_of_the_clip(recorded: list[RecordedCall]) -> None:
    sketch = calls_of(recorded, "look_closer")[0].sketch()
    [part] = sketch.marks
    assert (sketch.plane, sketch.picture) == ("picture", None)
    assert positions(part) == ((100, 20), (600, 20), (600, 60), (100, 60))
    wanted, *frames = calls_of(recorded, "look_between")[0].sketch().spans
    assert (wanted.start_s, wanted.end_s, wanted.role) == (1.0, 2.0, "asked")
    assert [(frame.start_s, frame.end_s) for frame in frames] == [(s, s) for s in (1.0, 1.3, 1.6, 2.0)]
