"""What agents are tested with: a provider on the loopback that misbehaves on request, a tool, a quiz."""

import json
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from gnomon.core.agent import AgentContext, agent_of, close_agents
from gnomon.core.arm import Arm
from gnomon.core.retry import RetryPolicy
from gnomon.core.row import Row
from gnomon.core.sample import Part, Sample, SampleRef
from gnomon.core.score import Score
from gnomon.core.trace import Trace
from gnomon.media import MediaStore
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.job_context import JobContext
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import expand_trials
from gnomon_agents.models.catalog import open_model
from gnomon_agents.models.scripted import ScriptedModel
from gnomon_tools.core.inputs import held
from gnomon_tools.core.tool import Tool, ToolArgs, ToolContext, ToolError, ToolResult
from gnomon_tools.core.toolbox import Toolbox
from gnomon_tools.scene.frame import Frame
from gnomon_tools.scene.scene import Scene
from tests.loopback import Loopback


class FakeProvider:
    """Answers every POST with the next of `replies` (the last one again), and keeps what it was sent."""

    def __init__(self) -> None:
        self.replies: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.choose: Callable[[dict[str, Any]], int] | None = None  # by the request, which of `replies`
        self.released = threading.Event()
        self.server = Loopback(_handler(self))
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def says(self, message: dict[str, Any] | str, *, finish_reason: str = "stop", **more: Any) -> None:
        """Queue a well-formed completion."""
        if isinstance(message, str):
            message = {"role": "assistant", "content": message}
        body = {
            "id": "c1",
            "object": "chat.completion",
            "created": 1,
            "model": "m",
            "choices": [{"index": 0, "finish_reason": finish_reason, "message": message}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
        self.answers(200, {**body, **more})

    def answers(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        """Queue any answer; a body that is text or bytes goes out as it is."""
        text = body if isinstance(body, str | bytes) else json.dumps(body)
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        self.replies.append({"status": status, "body": data, "headers": headers or {}})

    def sends(self, raw: bytes) -> None:
        """Queue bytes that go out as they are, in place of an HTTP answer; then the line is cut."""
        self.replies.append({"raw": raw})

    def cuts(self) -> None:
        """Queue a well-formed completion of which half is sent before the line is cut."""
        self.says("Paris")
        self.replies[-1]["sent"] = len(self.replies[-1]["body"]) // 2

    def hangs(self) -> None:
        """Queue silence, until the test is over."""
        self.replies.append({"hang": True})


def _handler(provider: FakeProvider) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # one packet a reply: no waiting for acknowledgements

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            provider.requests.append(json.loads(body))
            provider.headers.append({name.lower(): value for name, value in self.headers.items()})
            nth = min(len(provider.requests), len(provider.replies)) - 1
            reply = provider.replies[provider.choose(provider.requests[-1]) if provider.choose else nth]
            if reply.get("hang"):
                provider.released.wait(30)
                self.close_connection = True
                return
            if "raw" in reply:
                self.wfile.write(reply["raw"])
                self.close_connection = True
                return
            data = reply["body"]
            self.send_response(reply["status"])
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in reply["headers"].items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data[: reply.get("sent")])
            self.close_connection = "sent" in reply

        def log_message(self, *args: object) -> None:
            return None

    return Handler


@contextmanager
def serving() -> Iterator[FakeProvider]:
    """A provider that listens."""
    fake = FakeProvider()
    thread = threading.Thread(target=fake.server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        fake.released.set()
        fake.server.shutdown()
        fake.server.server_close()
        thread.join()


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with serving() as fake:
        yield fake


class EchoArgs(ToolArgs):
    word: str


class EchoResult(ToolResult):
    said: str


def _echo(context: ToolContext, args: EchoArgs) -> EchoResult:
    if args.word == "hush":
        raise ToolError("say something louder")
    return EchoResult(said=args.word)


ECHO = Tool(name="echo", description="Says a word again.", args=EchoArgs, run=_echo)


@pytest.fixture
def new_context() -> Callable[..., AgentContext]:
    """An agent's context with the tool `echo`, a scripted model, and limits by keyword."""

    def make(replies: list[Any], *, tools: bool = True, **arm: Any) -> AgentContext:
        scene = Scene(id="s", frame=Frame(), kind="outdoor")
        model = ScriptedModel(
            ModelSpec(
                id="scripted", options={"replies": replies, "prompt_tokens": 10, "completion_tokens": 5}
            )
        )
        return AgentContext(
            prompt=[{"role": "user", "content": "What does it say?"}],
            arm=Arm(name="a", agent="react", **arm),
            model=model,
            toolbox=Toolbox((ECHO,) if tools else (), ToolContext(inputs=held(scene))),
            trace=Trace(),
            seed=1,
            retry=RetryPolicy(base_s=0.0),
        )

    return make


class Quiz:
    """A benchmark of one question, whose right answer is Paris."""

    name, version, tasks, scenes, variants = "quiz", "1", ("Quiz",), (), ()
    needs_data, headline = False, "mean_of_samples"

    def score(self, sample: Sample, response: str, *, scoring: str, variant: str | None = None) -> Score:
        if not response.strip():
            return Score(value=0.0)
        return Score(value=float(sample.target["answer"] in response), answer=response)


QUIZ = Sample(
    ref=SampleRef(sample_id="q1", task="Quiz", cell="quiz", cluster="c1"),
    parts=(Part(content="What is the capital of France? Answer with one word."),),
    target={"answer": "Paris"},
    inputs=held(Scene(id="s", frame=Frame(), kind="outdoor")),
)


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., Awaitable[tuple[Row, Trace]]]:
    """Run the quiz as a trial under an arm of the spec given, as a worker would."""

    async def one(spec: dict[str, Any], arm: str) -> tuple[Row, Trace]:
        job = JobSpec.model_validate({"benchmark": "quiz", **spec})
        media = MediaStore(tmp_path / "media")
        trial = next(trial for trial in expand_trials("j", job, [QUIZ.ref]) if trial.arm == arm)
        model = open_model(job.models[0], media)
        agent = agent_of(job.arm(arm))
        try:
            return await run_trial(
                trial,
                bench=JobContext(spec=job, benchmark=Quiz(), media=media),
                sample=lambda: QUIZ,
                agent=agent,
                model=model,
            )
        finally:
            await close_agents([agent])
            await model.close()

    return one
