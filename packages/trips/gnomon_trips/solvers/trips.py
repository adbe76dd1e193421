"""Plans trips by rules: whole ones, and the steps of the planning agent."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_trips.solver.trip_reading import is_trip, read_trip, step_of


def _answer(request: Request) -> str:
    if mark := step_of(request.messages):
        from gnomon_trips.solver.trip_steps import answer_step  # late: most jobs plan no trip

        return answer_step(mark, request.messages)
    from gnomon_trips.solver.trips import plan_trip  # late: with SciPy

    reading = read_trip(request)
    return plan_trip(reading) if reading else "There is no request that I can read."


trips = Solver(
    name="trips",
    description="Plans trips, and does the steps of the planning agent.",
    reads=lambda messages: bool(step_of(messages)) or is_trip(messages),
    answer=_answer,
)
