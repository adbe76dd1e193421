"""Shows what a model would get, or runs one trial and prints it as it happens; no queue, no store.

`show` prints the exact messages, tool schemas and pictures. `try` runs the trial and prints each step.
"""

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any, Literal

from rich.console import Console

from gnomon.core.agent import OutsideLoop, agent_of, close_agents
from gnomon.core.errors import DataError, ModelFault, NotFound, SpecError
from gnomon.core.message import pictures_of
from gnomon.core.model import Model, Reply, Request, UncalledModel
from gnomon.core.retry import changed_fields
from gnomon.core.row import Row
from gnomon.core.sample import Sample
from gnomon.core.score import Outcome
from gnomon.core.trace import Step, Trace
from gnomon.report.text_formats import clean
from gnomon.spec.spec_file import read_spec
from gnomon.trials.recorded_steps import RecordedSteps
from gnomon.trials.run_trial import run_trial
from gnomon.trials.trial_file import is_trial_file, read_trial_file
from gnomon.trials.trial_plan import Trial, trial_id
from gnomon_agents.models import chat_format as wire
from gnomon_service.cli.common import checked_draft, settings_of, warn
from gnomon_workbench.trace_text import print_end, print_step
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
        "images": [block for message in request.messages for block in pictures_of(message)],
        "decoding": wire.sampling_params(picked.job.bench.spec.model(picked.model), request.decoding),
        **({"retry": retry} if (retry := changed_fields(picked.job.bench.spec.retry)) else {}),
    }


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


def dry_run(
    verb: Literal["show", "try"], *, spec: Path, sample: str, arm: str, model: str | None, as_json: bool
) -> int:
    """Check the spec as `run` would, and show or try one trial of it; the exit code.

    A trial file may be in its place: its sample, arm and model need not be named.

    Raises:
        SpecError: the spec may not run, or has no such arm or model.
        NotFound: the spec selects no such sample.
    """
    fields = read_spec(spec)
    trial = read_trial_file(fields) if is_trial_file(fields) else None
    draft = checked_draft(trial.spec if trial else fields, settings_of(None))
    if trial is None and not arm:
        names = ", ".join(each.name for each in draft.spec.arms)
        raise SpecError(f"needed: the arm's name in the spec; there are: {names}", field="--arm")
    warn(draft)
    return run(
        verb,
        draft.job,
        sample_id=sample or (trial.sample if trial else ""),
        arm=arm or (trial.arm if trial else ""),
        model=model or (trial.model if trial else None),
        repeat=trial.repeat if trial else 0,
        recorded=trial.recorded if trial else None,
        as_json=as_json,
    )


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
    steps, numbers = Console(stderr=as_json, highlight=False), count(1)
    with aside:
        row, trace = asyncio.run(
            run_once(picked, watch=lambda step: print_step(next(numbers), asdict(step), steps, full=True))
        )
    if as_json:
        _print_json({"row": asdict(row), "trace": trace.to_json()})
    else:
        print_end(asdict(row), steps)
    return 1 if row.outcome is Outcome.INFRA_MISSING else 0


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
