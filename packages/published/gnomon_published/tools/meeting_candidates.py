"""Where and when two targets can be in one camera's view at the same time.

The largest overlap comes first.

Both arrivals as in `forecast_arrival`. `apart_s` lies between the two stays; negative is how long they
overlap.

Error: `error_s` adds the larger spread of each.
"""

from pydantic import Field

from gnomon_published.passages.arrival import Arrival, Departure, arrival, departure_marks
from gnomon_published.passages.camera_rows import CameraId, camera_rows
from gnomon_tools.core.marks import amount, drawn, number_in, rows_in, some, span_of, text_in
from gnomon_tools.core.scene_marks import camera_dot, spot_of, way_lines
from gnomon_tools.core.sketch import Result, Sketch
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolResult
from gnomon_tools.geometry.camera_view import view_of_camera


class MeetingCandidatesArgs(ToolArgs):
    """Two departures on one clock, and the cameras in question."""

    first: Departure = Field(description="where, when, how fast and whither the first target was last seen")
    second: Departure = Field(description="the same of the second target, on the same clock")
    cameras: list[CameraId] = Field(
        min_length=1, max_length=20, description="ids of the cameras where they may meet"
    )


class Candidate(ToolResult):
    """One camera: when each target is in its view; what is unknown is left out."""

    camera: str
    first_start_s: float | None = Field(description="when the first target comes into view")
    first_end_s: float | None = Field(description="when it leaves")
    second_start_s: float | None = Field(description="when the second target comes into view")
    second_end_s: float | None = Field(description="when it leaves")
    apart_s: float | None = Field(
        description="seconds between the two stays; negative: so long both are in view"
    )
    error_s: float | None = Field(description="how far off apart_s may be: the spreads of both, added")
    problem: str | None = Field(description="why nothing is known")


class MeetingCandidates(ToolResult):
    """The cameras, the most likely meeting first."""

    candidates: list[Candidate]


def run(context: ToolContext, args: MeetingCandidatesArgs) -> MeetingCandidates:
    """Forecast both arrivals at every camera; the largest overlap, or smallest gap, comes first.

    Raises:
        ToolError: no camera can be judged.
    """
    rows = camera_rows(Candidate, args.cameras, lambda camera: _row(context, args, camera))
    rows.sort(key=lambda row: (row.problem is not None, row.apart_s or 0.0))
    return MeetingCandidates(candidates=rows)


def _row(context: ToolContext, args: MeetingCandidatesArgs, camera: str) -> Candidate:
    first, second = (arrival(context.scene, departure, camera) for departure in (args.first, args.second))
    return Candidate(
        camera=camera,
        first_start_s=first.start_s,
        first_end_s=first.end_s,
        second_start_s=second.start_s,
        second_end_s=second.end_s,
        apart_s=max(first.start_s, second.start_s) - min(first.end_s, second.end_s),
        error_s=max(map(_spread_s, (first, second))) + min(map(_spread_s, (first, second))),
        problem=None,
    )


def _spread_s(stay: Arrival) -> float:
    return max(stay.start_spread_s, stay.end_spread_s)


def sketch(context: ToolContext, args: MeetingCandidatesArgs, result: Result) -> Sketch:
    """Both departures, when each target is in each view, and the ways to the likeliest camera."""
    scene, candidates = context.scene, rows_in(result, "candidates")
    marks = [*departure_marks(scene, args.first), *departure_marks(scene, args.second)]
    spans = []
    for row in candidates:
        camera, apart_s = text_in(row, "camera"), number_in(row, "apart_s")
        is_problem = apart_s is None and bool(text_in(row, "problem"))
        label = f"{camera}: {text_in(row, 'problem')}" if is_problem else f"{camera} {_apart(apart_s)}"
        marks.append(camera_dot(scene, camera, label, "problem" if is_problem else "result"))
        for target in ("first", "second"):
            ends_s = (number_in(row, f"{target}_start_s"), number_in(row, f"{target}_end_s"))
            spans.append(span_of(*ends_s, f"{camera} {target}", error_s=number_in(row, "error_s")))
    likeliest = text_in(candidates[0], "camera") if candidates else ""
    camera_there = scene.cameras.get(likeliest)
    view = view_of_camera(scene, camera_there) if camera_there else None
    if camera_there and view:
        for departure, name in ((args.first, "first"), (args.second, "second")):
            marks += way_lines(scene, spot_of(scene, departure.at), (view.aim_m, camera_there.floor), name)
    meeting = f"{likeliest}, {_apart(number_in(candidates[0], 'apart_s'))}" if candidates else "nowhere"
    summary = f"two targets at {some(args.cameras)} → {meeting}"
    return drawn(summary, marks, spans=spans, cameras=args.cameras)


def _apart(apart_s: float | None) -> str:
    if apart_s is not None and apart_s < 0:
        return f"{amount(-apart_s, 's')} together"
    return f"{amount(apart_s, 's')} apart"


meeting_candidates = Tool(
    name="meeting_candidates",
    synonym="meeting_places",
    description=(
        "Compare, for each of some cameras, when two targets last seen elsewhere will be in its view, and"
        " tell how long both are, or how far apart their stays lie."
    ),
    args=MeetingCandidatesArgs,
    run=run,
    sketch=sketch,
    example={
        "first": {
            "at": {"camera": "c1"},
            "time_s": 10.0,
            "speed_mps": 5.0,
            "heading_deg": 90.0,
            "seen_by": "c1",
        },
        "second": {"at": {"camera": "c3"}, "time_s": 10.0, "speed_mps": 5.0},
        "cameras": ["c2", "c3"],
    },
)
