"""How far a trial has come, so that another process can go on from there: its steps and its agent's state.

The steps are those of the trace, so a trial that goes on has the counters of its first part, each call once.
"""

import json
import logging
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

from gnomon.core.ids import stable_hash
from gnomon.core.message import Message
from gnomon.core.redaction import redactor_here
from gnomon.core.timeout import trial_run_s
from gnomon.core.trace import NoteStep, ReplyStep, Step, ToolStep, Trace
from gnomon_tools.core.toolbox import BAD_CALL, Toolbox

# Of calls that would be lost; less is not worth a write: replies are kept elsewhere too, and few workers die.
WORTH_S, WORTH_USD = 10.0, 0.01
MAX_STORED = 4 * 2**20  # bytes, deflated; what is larger is not kept, the one before it stays
MAX_PLAIN = 64 * 2**20
FORMAT = 1
log = logging.getLogger(__name__)
_STEPS: Mapping[str, Callable[..., Step]] = {"reply": ReplyStep, "tool": ToolStep, "note": NoteStep}


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTrial:
    """A trial as far as it came: `after` names the node that ended last, `digest` what it was asked."""

    digest: str
    after: str
    seconds: float  # of the trial's own time
    tools_offered: int | None
    steps: tuple[Step, ...]
    turn_began: int  # how many of the steps were there when the turn began that the state is of
    answers: tuple[str, ...]  # to the turns before it
    state: bytes  # the agent's own

    def to_bytes(self) -> bytes | None:
        """Deflated, with every secret of this process struck out; None where the state holds one, or all is
        too large.
        """
        redactor = redactor_here()
        text = self.state.decode("latin-1")  # strings stand in it as they are
        if redactor.redact(text) != text:
            return None
        header = {
            "format": FORMAT,
            "digest": self.digest,
            "after": self.after,
            "seconds": self.seconds,
            "tools_offered": self.tools_offered,
            "turn_began": self.turn_began,
            "answers": self.answers,
            "steps": [{name: getattr(step, name) for name in step.__slots__} for step in self.steps],
        }
        line = redactor.redact(json.dumps(header, separators=(",", ":"), allow_nan=False))
        plain = line.encode() + b"\n" + self.state
        body = zlib.compress(plain, level=1) if len(plain) <= MAX_PLAIN else None
        return body if body is not None and len(body) <= MAX_STORED else None

    @classmethod
    def from_bytes(cls, body: bytes) -> Self:
        """The trial again.

        Raises:
            ValueError: these bytes are none of ours, or of another version.
        """
        try:
            inflate = zlib.decompressobj()
            line, _, state = inflate.decompress(body, MAX_PLAIN).partition(b"\n")
            header = json.loads(line)
            if header["format"] != FORMAT or inflate.unconsumed_tail or not inflate.eof:
                raise ValueError("of another version, too large, or cut off")
            return cls(
                digest=header["digest"],
                after=header["after"],
                seconds=float(header["seconds"]),
                tools_offered=header["tools_offered"],
                steps=tuple(_step(step) for step in header["steps"]),
                turn_began=header["turn_began"],
                answers=tuple(header["answers"]),
                state=state,
            )
        except (zlib.error, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"no checkpoint: {error!r}") from None


def _step(plain: dict[str, Any]) -> Step:
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in plain.items()
    }
    return _STEPS[plain["kind"]](**values)


class TrialCheckpoints:
    """Keeps the checkpoints of one trial as it runs: what agents see as `AgentContext.checkpoints`.

    `save` writes a checkpoint, or drops it: it raises nothing. `saved` is what an earlier attempt left.
    """

    def __init__(
        self, *, worker: str, save: Callable[[bytes, Trace], Awaitable[None]], saved: SavedTrial | None = None
    ) -> None:
        self._worker, self._save, self._saved = worker, save, saved
        self._trace, self._digest = Trace(), ""
        self._question: tuple[object, ...] = ()
        self._kept = 0  # steps of the trace that are in a checkpoint
        self._turn_began = 0
        self.resumed: tuple[Step, ...] = ()  # steps of an earlier attempt that are in the trace
        self.answers: list[str] = []
        self.state: bytes | None = None  # the agent's own, of the earlier attempt
        self.seconds_before = 0.0

    def begin(self, trace: Trace, toolbox: Toolbox, *, prompt: list[Message], agent: str) -> float:
        """Go on where an earlier attempt of the same question stopped, if there was one: its steps are the
        first of the trace, and count like all others. Returns the seconds that it has run.
        """
        self._trace = trace
        names = [schema["function"]["name"] for schema in toolbox.schemas]
        self._question = (prompt, names, agent)
        if self._saved is None or self._saved.digest != self._digest_now():
            return 0.0
        trace.steps.extend(self._saved.steps)
        trace.tools_offered = self._saved.tools_offered
        for step in trace.tool_steps:
            if step.error not in BAD_CALL:
                toolbox.skip()
        self._kept, self.resumed = len(trace.steps), self._saved.steps
        self._turn_began, self.answers = self._saved.turn_began, list(self._saved.answers)
        self.state, self.seconds_before = self._saved.state, self._saved.seconds
        trace.add(NoteStep(text=f"resumed after {self._saved.after} by {self._worker}"))
        return self.seconds_before

    def begin_anew(self, reason: str) -> None:
        """Forget what the earlier attempt did in this turn: the agent cannot read its state."""
        del self._trace.steps[self._turn_began :]
        self._kept, self.state, self.resumed = self._turn_began, None, self.resumed[: self._turn_began]
        self._trace.add(NoteStep(text=f"begun anew: the checkpoint cannot be read ({reason})"))

    def close(self) -> None:
        """Keep nothing more. Whoever keeps them and these hold each other: without this a trial that has
        ended would stay in memory, with all its steps, until the garbage collector comes.
        """
        self._save = _dropped

    def end_turn(self, answer: str) -> None:
        """Go over to the next turn."""
        self.answers.append(answer)
        self.state, self._turn_began = None, len(self._trace.steps) + 1  # its first step is what is said

    def is_due(self) -> bool:
        """Whether calls were made since the last checkpoint that are worth keeping: paid for, or slow."""
        calls, usd, wall_s = 0, 0.0, 0.0
        for step in self._trace.steps[self._kept :]:
            if step.kind == "tool" or (step.kind == "reply" and not step.cached):
                calls += 1
                usd += (step.usd or 0.0) if step.kind == "reply" else 0.0
                wall_s += step.wall_s
        return calls > 0 and (usd >= WORTH_USD or wall_s >= WORTH_S)

    def keep(self, state: Callable[[], bytes], *, after: str) -> Awaitable[None]:
        """Take a checkpoint now; await the answer until it is written. `state` is called if one is due."""
        if not self.is_due():
            return _nothing()
        self._kept = len(self._trace.steps)
        try:
            body = SavedTrial(
                digest=self._digest_now(),
                after=after,
                seconds=round(self.seconds_before + trial_run_s(), 3),
                tools_offered=self._trace.tools_offered,
                steps=tuple(self._trace.steps),
                turn_began=self._turn_began,
                answers=tuple(self.answers),
                state=state(),
            ).to_bytes()
        except Exception as error:  # noqa: BLE001 (a state of whatever an agent's author put there)
            log.warning("no checkpoint after %s: %s: %s", after, type(error).__name__, error)
            return _nothing()
        return _nothing() if body is None else self._save(body, Trace(steps=list(self._trace.steps)))

    def _digest_now(self) -> str:
        self._digest = self._digest or stable_hash(*self._question)
        return self._digest


async def _nothing() -> None:
    return None


async def _dropped(_body: bytes, _trace: Trace) -> None:
    return None
