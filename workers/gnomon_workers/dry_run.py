"""Shows what a model would get, or runs one trial and prints it as it happens; no queue, no store.

`show` prints the exact messages, tool schemas and pictures. `try` runs the trial and prints each step.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape

from gnomon.core.agent import OutsideLoop, agent_of, close_agents
from gnomon.core.errors import DataError, ModelFault, NotFound
from gnomon.core.message import ImageBlock, Message
from gnomon.core.missing import advice_on
from gnomon.core.model import Model, Reply, Request, UncalledModel
from gnomon.core.read_calls import flags_in_words
from gnomon.core.retry import changed_fields
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome
from gnomon.core.trace import NoteStep, ReplyStep, Step, Trace
from gnomon.report.text_formats import clean
from gnomon.trials.recorded_steps import RECORDED, RecordedSteps
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_plan import Trial, trial_id
from gnomon_agents.models import chat_format as wire
from gnomon_workers.open_job import OpenJob
from gnomon_workers.redacted_model import redacted


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """One sample of a spec under one arm, for one model; its first steps may come from a record."""

    job: OpenJob
    sample_id: str
    arm: str
    model: str
    repeat: int = 0
    recorded: RecordedSteps | None = None

    def sample(self) -> Sample:
        return self.job.samples.get(self.sample_id)

    def trial(self) -> Trial:
        ref = next(ref for ref in self.job.samples.refs if ref.sample_id == self.sample_id)
        name = trial_id("preview", self.sample_id, self.model, self.arm, self.repeat)
        return Trial(
            trial_id=name, job_id="preview", ref=ref, model=self.model, arm=self.arm, repeat=self.repeat
        )


def pick(
    job: OpenJob,
    *,
    sample_id: str,
    arm: str,
    model: str | None,
    repeat: int = 0,
    recorded: RecordedSteps | None = None,
) -> Selection:
    """Find what is asked for.

    Raises:
        SpecError: the arm or the model does not exist.
        NotFound: the sample is not in the selection.
    """
    spec = job.bench.spec
    spec.arm(arm)
    label = spec.model(model).label if model else spec.models[0].label
    if all(ref.sample_id != sample_id for ref in job.samples.refs):
        some = ", ".join(ref.sample_id for ref in job.samples.refs[:3])
        message = f"no sample {sample_id!r} among" if sample_id else "name one of"
        message += f" {len(job.samples.refs):,} selected, such as {some}"
        raise NotFound(message, field="--sample")
    return Selection(job=job, sample_id=sample_id, arm=arm, model=label, repeat=repeat, recorded=recorded)


class _RecordingModel:
    """A model that hears one request, and answers nothing."""

    id = "listener"
    request: Request | None = None

    async def reply(self, request: Request) -> Reply:
        self.request = request
        raise ModelFault("only shown", cause="shown")

    async def close(self) -> None:
        return None


async def render_prompt(picked: Selection) -> dict[str, Any]:
    """What the model would get first: messages, tools and how they may be used, the pictures in order.

    The agent itself is run up to its first request, so what it adds to the prompt is there too.

    Raises:
        DataError: the trial would end before anything is asked.
    """
    listener = _RecordingModel()
    row = (await _run(picked, listener, Trace()))[0]
    request = listener.request
    if request is None:
        raise DataError(f"nothing would be asked: the trial ends as {row.outcome.value} ({row.stop_reason})")
    arm = picked.job.bench.spec.arm(picked.arm)
    said = [turn.message(arm.show) for turn in picked.sample().follow_ups]
    return {
        "sample_id": picked.sample_id,
        "arm": picked.arm,
        "agent": arm.agent_label,
        "model": picked.model,
        "tool_choice": request.tool_choice,
        "messages": request.messages,
        **({"follow_ups": said} if said else {}),
        "tools": request.tools,
        "images": images(request.messages),
        "decoding": wire.sampling_params(picked.job.bench.spec.model(picked.model), request.decoding),
        **({"retry": retry} if (retry := changed_fields(picked.job.bench.spec.retry)) else {}),
    }


def images(messages: Sequence[Message]) -> list[ImageBlock]:
    """The pictures of the messages, in order."""
    blocks = [
        block for message in messages if isinstance(message["content"], list) for block in message["content"]
    ]
    return [block for block in blocks if block["type"] == "image"]


async def run_once(picked: Selection, *, watch: Callable[[Step], None]) -> tuple[Row, Trace]:
    """Run the trial; `watch` sees each step as it happens."""
    from gnomon_agents.models.catalog import open_model

    bench = picked.job.bench
    spec = bench.spec.model(picked.model)
    judge_spec = bench.spec.judge
    opened = UncalledModel(spec.id) if bench.spec.answers_outside else open_model(spec, bench.media)
    model = redacted(opened, spec)
    judge = redacted(open_model(judge_spec, bench.media), judge_spec) if judge_spec else None
    try:
        return await _run(picked, model, Trace(watch=watch), judge=judge)
    finally:
        await model.close()
        if judge is not None:
            await judge.close()


async def _run(
    picked: Selection, model: Model, trace: Trace, *, judge: Model | None = None
) -> tuple[Row, Trace]:
    bench = picked.job.bench
    agent = agent_of(bench.spec.arm(picked.arm))
    if isinstance(agent, OutsideLoop) and isinstance(model, _RecordingModel):
        agent.around(lambda _: model)
    try:
        return await run_trial(
            picked.trial(),
            bench=bench,
            sample=picked.sample,
            agent=agent,
            model=model,
            judge=judge,
            trace=trace,
            recorded=picked.recorded,
        )
    finally:
        await close_agents([agent])


def print_shown(prompt: dict[str, Any], console: Console) -> None:
    """Print for a person what `render_prompt` returns."""
    console.rule(f"{prompt['sample_id']} · {prompt['arm']} ({prompt['agent']}) · {prompt['model']}")
    for message in [*prompt["messages"], *prompt.get("follow_ups", ())]:
        console.print(f"[bold]{message['role']}[/bold]")
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content or ""}]:
            text = block["text"] if block["type"] == "text" else f"<{block['media_type']} {block['sha256']}>"
            console.print(clean(text), markup=False, highlight=False, soft_wrap=True)
    drawn = ", ".join(f"{name} {value}" for name, value in prompt["decoding"].items())
    console.rule(f"decoding: {drawn or 'provider defaults'}")
    if "retry" in prompt:
        console.rule("retry: " + ", ".join(f"{name} {value}" for name, value in prompt["retry"].items()))
    console.rule(f"{len(prompt['tools'])} tools, tool_choice {prompt['tool_choice']}")
    for tool in prompt["tools"]:
        console.print_json(data=tool, highlight=console.is_terminal)


def print_step(step: Step, console: Console) -> None:
    """Print one step of a trace."""
    if isinstance(step, ReplyStep):
        counts = (step.prompt_tokens, step.completion_tokens)
        shown = " + ".join("?" if count is None else str(count) for count in counts)
        tokens = "tokens unknown" if counts == (None, None) else f"{shown} tokens"
        source = "from the record" if RECORDED in step.flags else f"{step.wall_s:.2f} s"
        console.print(f"[bold cyan]reply[/bold cyan] {tokens}, {source}")
        for words in flags_in_words(flag for flag in step.flags if flag != RECORDED):
            console.print(f"[yellow]note[/yellow] {escape(words)}", highlight=False)
        if step.reasoning:
            console.print(clean(step.reasoning), style="dim", markup=False, highlight=False, soft_wrap=True)
        for change in step.request_changes:
            console.print(f"[yellow]changed by the adapter[/yellow] {escape(clean(change))}", highlight=False)
        if step.text:
            console.print(clean(step.text), markup=False, highlight=False, soft_wrap=True)
    elif isinstance(step, NoteStep):
        console.print(f"[yellow]note[/yellow] {escape(clean(step.text))}", highlight=False)
    else:
        colour = "red" if step.error else "green"
        name, arguments = escape(clean(step.name)), escape(clean(step.arguments))
        console.print(f"[bold {colour}]{name}[/bold {colour}] {arguments}", soft_wrap=True)
        console.print(f"  {clean(step.observation)}", markup=False, highlight=False, soft_wrap=True)


def print_end(row: Row, console: Console) -> None:
    """Print how the trial ended."""
    score = "none" if row.score is None else f"{row.score:.3f}"
    answer = escape(repr(row.answer))
    console.print(f"[bold]{row.outcome.value}[/bold] ({row.stop_reason}), answer {answer}, score {score}")
    if row.outcome is Outcome.INFRA_MISSING:
        error, advice = row.error.rstrip(". "), advice_on(row.stop_reason, row.error)
        reason = f"{error}. {advice}" if error and advice else row.error or advice
        console.print(clean(reason), markup=False, highlight=False, soft_wrap=True)


def run(
    verb: str,
    job: OpenJob,
    *,
    sample_id: str,
    arm: str,
    model: str | None,
    as_json: bool,
    repeat: int = 0,
    recorded: RecordedSteps | None = None,
) -> int:
    """Show or try, and print it; the exit code, which is 1 where a trial ends for no fault of the model's.

    Raises:
        GnomonError: the job does not hold what is asked for, or nothing would be asked.
    """
    picked = pick(job, sample_id=sample_id, arm=arm, model=model, repeat=repeat, recorded=recorded)
    aside: AbstractContextManager[object] = redirect_stdout(sys.stderr) if as_json else nullcontext()
    if verb == "show":
        with aside:
            prompt = asyncio.run(render_prompt(picked))
        _print_json(prompt) if as_json else print_shown(prompt, Console())
        return 0
    steps = Console(stderr=as_json)
    with aside:
        row, trace = asyncio.run(run_once(picked, watch=lambda step: print_step(step, steps)))
    if as_json:
        _print_json({"row": asdict(row), "trace": trace.to_json()})
    else:
        print_end(row, steps)
    return 1 if row.outcome is Outcome.INFRA_MISSING else 0


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
