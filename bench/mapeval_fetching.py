"""Measures what the reference model gets of MapEval from facts and from tools, and what fetching costs.

    python -m bench.mapeval_fetching DATA [--calls 2 3 12] [--placebo 12]

Each question is asked under the arms `question`, `told` and `fetched` of the preset `told_or_fetched`, the
last once for each limit of tool calls; no job, no store. With `--placebo N` each is also asked under the arm
`placebo` with N seeds, beside the chance of a guess among its options: what the stand-ins tell. Rules for the
kinds of questions were written with two thirds of them in sight; `held back` are the others, which were only
ever counted.
"""

import argparse
import asyncio
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from agents.models.reference.model import ReferenceModel
from gnomon.benchmarks.mapeval import mapeval
from gnomon.benchmarks.mapeval.loader import find_file, read_questions
from gnomon.core.benchmark import SampleSet
from gnomon.core.message import Message
from gnomon.core.model import Request
from gnomon.core.sample import SHOWABLE, Sample
from gnomon.core.select import Select
from gnomon.media import MediaStore
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.blind_placebo import BlindPlacebo
from gnomon.trials.donors import Donors
from tools.core.tool import ToolContext
from tools.core.toolbox import TOOLS, Toolbox
from tools.map_record.record import MapRecord

HELD_BACK_SEED, HELD_BACK = 20261123, 65
READ_BEFORE = slice(0, 40, 4)  # these questions of the file were read before the draw, so none is held back


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """How one question went: whether it was right, its calls, its turns, and the characters of its input."""

    sample_id: str
    task: str
    score: float
    calls: int
    turns: int
    characters: int


def held_back(ids: Sequence[str]) -> frozenset[str]:
    """The third of the questions that the rules were not written with; `ids` in the order of the file."""
    read = set(ids[READ_BEFORE])
    rest = sorted(int(name) for name in ids if name not in read)
    random.Random(HELD_BACK_SEED).shuffle(rest)
    return frozenset(str(number) for number in rest[:HELD_BACK])


def ask(sample: Sample, *, facts: bool, calls: int, donors: Donors | None = None, seed: int = 0) -> Asked:
    """Ask one question as the agent `react` does, with at most so many tool calls; `donors` answer them."""
    model = ReferenceModel(ModelSpec(id="reference"))
    tools = tuple(tool for tool in TOOLS if tool.needs is MapRecord) if calls else ()
    context = ToolContext(inputs=sample.inputs)
    toolbox = (
        Toolbox(tools, context)
        if donors is None
        else BlindPlacebo(tools, context, donors=donors, seed=seed, neutral="{}")
    )
    messages: list[Message] = sample.messages((*SHOWABLE, "facts") if facts else SHOWABLE)
    made, turns, characters = 0, 0, 0
    while True:
        is_open = made < calls
        request = Request(messages=messages, tools=toolbox.schemas, tool_choice="auto" if is_open else "none")
        reply = asyncio.run(model.reply(request))
        turns += 1
        characters += len(json.dumps([messages, toolbox.schemas], ensure_ascii=False))
        if not reply.tool_calls or not is_open:
            score = mapeval.score(sample, reply.text, scoring="strict").value or 0.0
            return Asked(
                sample_id=sample.ref.sample_id,
                task=sample.ref.task,
                score=score,
                calls=made,
                turns=turns,
                characters=characters,
            )
        messages.append({"role": "assistant", "content": reply.text, "tool_calls": list(reply.tool_calls)})
        for call in reply.tool_calls:
            made += 1
            content = '{"error": "The tool calls are used up."}'
            if made <= calls:
                content = toolbox.call(call["function"]["name"], call["function"]["arguments"]).content
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
        made = min(made, calls)


def print_arm(name: str, rows: Sequence[Asked], held: frozenset[str]) -> None:
    """One line for an arm: shares by class and by third, then the mean cost of a question."""
    groups: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        groups[row.task].append(row.score)
        groups["held back" if row.sample_id in held else "in sight"].append(row.score)
        groups["all"].append(row.score)
    order = (*mapeval.tasks, "in sight", "held back", "all")
    shares = "  ".join(f"{group} {_share(groups[group])}" for group in order)
    print(f"{name}: {shares}")
    print(
        f"  per question: {_mean(row.calls for row in rows):.2f} calls, "
        f"{_mean(row.turns for row in rows):.2f} turns, "
        f"{_mean(row.characters for row in rows):,.0f} characters in"
    )


def print_placebo(samples: SampleSet, seeds: range) -> None:
    """By class: the share right under the placebo, and the mean chance of a guess among the options."""
    scores: dict[str, list[float]] = defaultdict(list)
    guesses: dict[str, list[float]] = defaultdict(list)
    for ref in samples.refs:
        sample = samples.get(ref.sample_id)
        options = len(mapeval.question_view(sample).options)
        for seed in seeds:
            donors = Donors(sample, samples, seed=seed)
            row = ask(sample, facts=False, calls=12, donors=donors, seed=seed)
            scores[row.task].append(row.score)
        guesses[ref.task].append(1 / (options - (ref.task != "unanswerable")))  # of those that say something
    for task in mapeval.tasks:
        print(f"placebo, {task}: {_mean(scores[task]):.3f}, a guess {_mean(guesses[task]):.3f}")


def _share(scores: Sequence[float]) -> str:
    return f"{sum(scores):.0f}/{len(scores)}"


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def main() -> None:
    """Ask all questions under all arms, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--calls", type=int, nargs="*", default=[2, 3, 12])
    parser.add_argument("--placebo", type=int, default=0, metavar="N", help="seeds of stand-in records")
    options = parser.parse_args()
    questions, _ = read_questions(find_file(options.data))
    held = held_back([question.sample_id for question in questions])
    samples = mapeval.open(
        data=options.data, select=Select(), protocol="guarded", media=MediaStore(Path("media"))
    )
    arms = {"question": (False, 0), "told": (True, 0)}
    arms |= {f"fetched, {calls} calls": (False, calls) for calls in options.calls}
    for name, (facts, calls) in arms.items():
        rows = [ask(samples.get(ref.sample_id), facts=facts, calls=calls) for ref in samples.refs]
        print_arm(name, rows, held)
    if options.placebo:
        print_placebo(samples, range(1, 1 + options.placebo))


if __name__ == "__main__":
    main()
