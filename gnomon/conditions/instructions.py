"""Puts an arm's own instructions before the question, at the same place for every agent."""

from gnomon.core.arm import Arm
from gnomon.core.message import Message, before_question
from gnomon.core.sample import Sample
from gnomon.trials.condition import Condition, Situation


class Instructions(Condition):
    """Adds the arm's text to its prompt; agents that tell of tools in words put those before it."""

    name = "instructions"
    description = "adds a text of the arm's own to the prompt"

    def is_of(self, arm: Arm) -> bool:
        return bool(arm.instructions)

    def on_prompt(self, messages: list[Message], sample: Sample, now: Situation) -> list[Message]:  # noqa: ARG002
        return before_question(messages, f"{now.arm.instructions.rstrip()}\n\n")


instructions = Instructions()
