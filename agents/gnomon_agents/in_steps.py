"""The prompt's steps one after another, each reply before the next step.

A prompt may hold headings `## Step 1`, `## Step 2`, …: each step is asked in the conversation so far, what
comes before the first goes with it, and no step sees a later one. A prompt without such headings is one step.
`urbanvideo-authoring` writes questions this way.
"""

import itertools
import re

from gnomon.core.agent import AgentContext
from gnomon.core.message import Block, Message, blocks_of

_STEP = re.compile(r"^## Step \d+\b.*$", re.MULTILINE)


class _InSteps:
    """A chain of prompts in one conversation; no tool is ever run."""

    name = "in-steps"
    uses_tools = False
    description = "Asks the steps of the prompt one after another; the last reply is the answer."

    async def answer(self, context: AgentContext) -> str:
        first, *steps = steps_of(context.prompt)
        conversation: list[Message] = list(first)
        reply = await context.generate(conversation, tool_choice="none")
        for step in steps:
            conversation = [*conversation, reply.message(calls=[]), *step]
            reply = await context.generate(conversation, tool_choice="none")
        return reply.text


def steps_of(prompt: list[Message]) -> list[list[Message]]:
    r"""The prompt cut before each heading but the first, as messages of the user; pictures keep their places.

    >>> [len(step) for step in steps_of([{"role": "user", "content": "## Step 1\na\n## Step 2\nb"}])]
    [1, 1]
    """
    steps: list[list[Block]] = [[]]
    is_first = True
    for message in prompt:
        for block in blocks_of(message["content"]):
            if block["type"] != "text":
                steps[-1].append(block)
                continue
            starts = [match.start() for match in _STEP.finditer(block["text"])]
            if starts and is_first:
                is_first, starts = False, starts[1:]
            cuts = [0, *starts, len(block["text"])]
            for number, (start, end) in enumerate(itertools.pairwise(cuts)):
                if number:
                    steps.append([])
                if block["text"][start:end].strip():
                    steps[-1].append({"type": "text", "text": block["text"][start:end].strip()})
    return [[{"role": "user", "content": blocks}] for blocks in steps]


in_steps = _InSteps()
