"""An agent that is a program: the question as JSON on its stdin, the answer as JSON on its stdout.

A process of its own for each question, or with `keep` one that goes on: a line of JSON in, a line out. Of
those, as many run as questions are asked at the same time.
"""

import asyncio
import json

from gnomon.core.errors import AgentFault
from gnomon.core.outside_agent import OutsideAgent
from gnomon_outside.asked_agent import AskedAgent
from gnomon_outside.contract import parsed_answer, written
from gnomon_outside.processes import Program
from gnomon_outside.question import AgentReply, Question, Subject


class _Run(Subject):
    """Runs the command."""

    def __init__(self, spec: OutsideAgent) -> None:
        super().__init__(spec.label)
        self._spec = spec
        self._idle: list[Program] = []  # those that wait for a question

    async def ask(self, question: Question) -> AgentReply:
        data = await asyncio.to_thread(_encoded, question)
        try:
            async with asyncio.timeout(question.timeout_s):
                text = await (self._line(data) if self._spec.keep else self._once(data))
        except TimeoutError:
            raise AgentFault(f"no answer within {question.timeout_s:g} s", cause="timeout") from None
        return parsed_answer(text.decode(errors="replace"), question)

    async def _once(self, data: bytes) -> bytes:
        program = await Program.start(self._spec)
        try:
            # Together: a program may write before it has read all.
            sending = asyncio.create_task(program.send(data, is_last=True))
            try:
                return await program.read_all()
            finally:
                sending.cancel()
        finally:
            await program.kill()

    async def _line(self, data: bytes) -> bytes:
        program = await self._take() or await Program.start(self._spec)
        is_sound = False
        sending = asyncio.create_task(program.send(data + b"\n", is_last=False))
        try:
            line = await program.read_line()
            is_sound = sending.done()
            return line
        finally:
            sending.cancel()
            if is_sound:
                self._idle.append(program)
            else:
                await program.kill()

    async def _take(self) -> Program | None:
        while self._idle:
            program = self._idle.pop()
            if program.is_alive:
                return program
            await program.kill()
        return None

    async def close(self) -> None:
        programs, self._idle = self._idle, []
        for program in programs:
            await program.kill()


def _encoded(question: Question) -> bytes:
    return json.dumps(written(question), ensure_ascii=False).encode()


def command(spec: OutsideAgent) -> AskedAgent:
    """The agent that a command runs."""
    return AskedAgent(spec, _Run(spec))
