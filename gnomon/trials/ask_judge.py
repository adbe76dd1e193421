"""Asks the judge of a job whether a reply is right, for samples whose scorer is a judge.

The judge is no part of the trial that it judges: its calls are not in the arm's turns, tokens or dollars, nor
on the trial's clock. What it said is a note of the trace; what it cost are metrics of the row, with a
verdict or without.
"""

from dataclasses import replace

from gnomon.core.agent import AgentContext
from gnomon.core.arm import Arm
from gnomon.core.benchmark import AsksJudge
from gnomon.core.decoding import Decoding
from gnomon.core.errors import JudgeFault, ModelFault, ProviderFault
from gnomon.core.ids import stable_seed
from gnomon.core.judging import (
    COMPLETION_TOKENS,
    LABEL,
    PROMPT_TOKENS,
    RIGHT,
    SAID_OF_LABELLED,
    USD,
    parse_labels,
)
from gnomon.core.model import Model
from gnomon.core.retry import RetryPolicy
from gnomon.core.sample import Sample
from gnomon.core.score import Score
from gnomon.core.trace import NoteStep, Trace
from gnomon_tools.core.toolbox import Toolbox

DRAWS = 2  # verdicts that are asked for where the first cannot be read
_SAME_WHENEVER_POSSIBLE = Decoding(temperature=0.0)  # where the judge's own entry sets none


async def ask_judge(
    benchmark: AsksJudge,
    sample: Sample,
    response: str,
    *,
    judge: Model,
    seed: int,
    retry: RetryPolicy,
    call_seconds: float,
    trace: Trace,
    judges_label: bool,
) -> Score | None:
    """The score that the judge's verdict makes; None where the response holds no reply to judge.

    With `judges_label` the judge is also asked about the reply that people have judged, if the sample has
    one; without a verdict on that the trial goes on.

    Raises:
        JudgeFault: the judge's provider failed, or no verdict could be read.
        OutOfBudget: the job's limits leave nothing for the judge.
    """
    asked = Trace()
    context = AgentContext(
        prompt=[],
        arm=Arm(name="judge", agent="direct"),
        model=judge,
        toolbox=Toolbox((), None),
        trace=asked,
        seed=seed,
        retry=retry,
        call_timeout_s=call_seconds,
        decoding=_SAME_WHENEVER_POSSIBLE,
    )
    prompt, metrics = benchmark.judge_prompt(sample, response), dict[str, float | str | None]()
    if not prompt:
        return None
    try:
        is_right = await _verdict(context, prompt)
        labelled = benchmark.labelled_reply(sample) if judges_label else None
        if labelled is not None:
            context.seed = stable_seed(0, sample.ref.sample_id)  # the same whichever trial asks
            metrics[LABEL] = float(labelled.is_right)
            metrics[SAID_OF_LABELLED] = await _verdict_or_none(
                context, benchmark.judge_prompt(sample, labelled.text)
            )
    finally:
        for step in asked.steps:
            text = step.text if isinstance(step, NoteStep) else getattr(step, "text", "")
            trace.add(NoteStep(text=f"judge {judge.id}: {text}"))
        if asked.replies:
            trace.judge_metrics = {
                PROMPT_TOKENS: asked.prompt_tokens,
                COMPLETION_TOKENS: asked.completion_tokens,
                USD: asked.usd,
            }
    score = benchmark.judged_score(sample, response, is_right=is_right)
    return replace(score, metrics={**score.metrics, **metrics})


async def _verdict(context: AgentContext, prompt: str) -> bool:
    for draw in range(DRAWS):
        try:
            reply = await context.generate(
                [{"role": "user", "content": prompt}], offer_tools=False, draw=draw
            )
        except ProviderFault as fault:
            raise JudgeFault(fault.message, cause=fault.cause) from None
        except ModelFault as fault:
            raise JudgeFault(str(fault), cause=fault.cause) from None
        labels = parse_labels(reply.text, (RIGHT,))
        if labels is not None:
            return bool(labels[RIGHT])
    raise JudgeFault(f"{DRAWS} replies of the judge hold no verdict", cause="unreadable")


async def _verdict_or_none(context: AgentContext, prompt: str) -> float | None:
    try:
        return float(await _verdict(context, prompt))
    except JudgeFault:
        return None
