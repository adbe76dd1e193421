"""Answers questions about rooms by the tools on boxes, or by the same tools on the boxes in the prompt."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_rooms.solver.reading import is_room_question


def _answer(request: Request) -> str:
    from gnomon_rooms.solver.answering import answer_room_question  # late: few jobs ask such questions

    return answer_room_question(request)


rooms = Solver(
    name="rooms", description="Answers questions about rooms.", reads=is_room_question, answer=_answer
)
