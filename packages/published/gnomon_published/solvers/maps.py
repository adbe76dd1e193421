"""Answers the map questions of MapEval by rules that go by their words: a demonstration."""

from gnomon.core.model import Request
from gnomon_agents.models.reference.solver import Solver
from gnomon_published.solver.map_reading import is_map_question


def _answer(request: Request) -> str:
    from gnomon_published.solver.map_questions import answer_map_question  # late: few jobs ask such questions

    return answer_map_question(request)


maps = Solver(
    name="maps",
    description="Answers map questions: made on 129 of MapEval, right in 55 % of 99 that it was not made on.",
    reads=is_map_question,
    answer=_answer,
)
