"""Options: what a prompt lists to choose from, and the case as its reader sees it."""

from dataclasses import replace

from gnomon.benchmarks.gtr_bench.case import CAMERA_ID, Case, body_of
from gnomon.benchmarks.gtr_bench.clock import NOON_S, clock_span, day_span
from gnomon.core.benchmark import PromptProtocol

GRID_S = 0.1  # published false intervals lie on this grid, the true one does not


def displayed_choices(case: Case, protocol: PromptProtocol) -> tuple[str, ...]:
    """The options as the prompt of that protocol lists them, letters included.

    Official: as published. Guarded: arrival intervals all rounded to 0.1 s, orders of cameras that are in no
    clip left out, and options of equal text listed once, with letters given anew.

    >>> case = Case(scene="indoor", task_id="ArrivalTimeInterval",
    ...             choices=("A. 12:00:01.000-12:00:02.000", "B. 12:00:01.486-12:00:02.013"))
    >>> displayed_choices(case, "guarded")[1]
    'B. 12:00:01.500-12:00:02.000'
    """
    if protocol == "official":
        return case.choices
    possible = [choice for choice in case.choices if not _names_a_stranger(case, choice)]
    bodies = dict.fromkeys(_guarded_body(case, choice) for choice in possible)
    return tuple(f"{chr(ord('A') + index)}. {body}" for index, body in enumerate(bodies))


def as_displayed(case: Case, protocol: PromptProtocol) -> Case:
    """The case with the options that its reader saw, and gold among them."""
    if protocol == "official":
        return case
    shown = displayed_choices(case, protocol)
    by_body = {body_of(choice): choice for choice in shown}
    return replace(
        case,
        choices=shown,
        ground_truth=by_body.get(_guarded_body(case, case.ground_truth), ""),
        correct_cam_name=tuple(by_body.get(_guarded_body(case, name), "") for name in case.correct_cam_name),
    )


def _names_a_stranger(case: Case, choice: str) -> bool:
    """Whether an order of the clips names a camera that filmed none of them: seen to be wrong by its text."""
    filmed = {clip.camera_id for clip in case.clips}
    return case.task.short == "CR" and bool(filmed) and not filmed.issuperset(CAMERA_ID.findall(choice))


def _guarded_body(case: Case, choice: str) -> str:
    body = " ".join(body_of(choice).split())
    span = day_span(body) if case.task.short == "ATI" else None
    if span is None:
        return body
    start_s, end_s = (round(round(end / GRID_S) * GRID_S - NOON_S, 3) for end in span)
    return clock_span(start_s, end_s)
