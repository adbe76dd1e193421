"""An agent behind an address that takes questions by Gnomon's plain contract: one POST, one answer."""

from gnomon.core.outside_agent import OutsideAgent
from gnomon_outside.asked_agent import AskedAgent
from gnomon_outside.contract import VERSION, read_answer, written
from gnomon_outside.question import AgentReply, Question, Subject
from gnomon_outside.web import Web, json_of


class _Posted(Subject):
    """Posts questions to one address."""

    def __init__(self, spec: OutsideAgent) -> None:
        super().__init__(spec.label)
        self._url, self._web = str(spec.http), Web(spec)

    async def ask(self, question: Question) -> AgentReply:
        answer = await self._web.post(
            self._url,
            written(question),
            timeout_s=question.timeout_s,
            headers={"Gnomon-Contract": VERSION},
        )
        return read_answer(json_of(answer), question)

    async def close(self) -> None:
        await self._web.close()


def http(spec: OutsideAgent) -> AskedAgent:
    """The agent at an address of the plain contract."""
    return AskedAgent(spec, _Posted(spec))
