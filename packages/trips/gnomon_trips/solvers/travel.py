"""Plans the trips of TravelPlanner by rules."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_trips.solver.travel_reading import is_travel_query


def _answer(request: Request) -> str:
    from gnomon_trips.solver.travel import answer_travel_query  # late: few jobs ask for such trips

    return answer_travel_query(request)


travel = Solver(
    name="travel", description="Plans the trips of TravelPlanner.", reads=is_travel_query, answer=_answer
)
