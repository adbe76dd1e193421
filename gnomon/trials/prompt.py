"""Builds the prompt of a trial: the sample's own messages, and what else the arm shows or asks for."""

from gnomon.core.arm import Arm
from gnomon.core.benchmark import Benchmark, HasOracle
from gnomon.core.errors import SpecError
from gnomon.core.message import Message, TextBlock
from gnomon.core.sample import Sample
from gnomon.trials.confidence import REQUEST
from gnomon.trials.scene_facts import NO_SCENE, facts_of


def prompt_of(sample: Sample, arm: Arm, benchmark: Benchmark, *, videos: bool = False) -> list[Message]:
    """The messages that every agent starts from; the sample's own prompt stays as it is. A model that takes
    `videos` gets them whole, where the sample has them, any other their frames.

    Raises:
        SpecError: the arm shows the true steps, and the benchmark does not know them.
    """
    messages = sample.messages(arm.show, videos=videos)
    before: list[TextBlock] = []
    if "facts" in arm.show and not any(part.shown == "facts" for part in sample.parts):
        before.append({"type": "text", "text": facts_of(sample.scene) if sample.scene else NO_SCENE})
    if "oracle" in arm.show:
        if not isinstance(benchmark, HasOracle):
            message = f"{benchmark.name} does not know the truth of intermediate steps, so none can be shown"
            raise SpecError(message, field="show")
        before.append({"type": "text", "text": benchmark.oracle_steps(sample)})
    if before:
        content = messages[0]["content"]
        own = content if isinstance(content, list) else [TextBlock(type="text", text=content or "")]
        messages[0] = {**messages[0], "content": [*before, *own]}
    if arm.confidence:
        content = messages[-1]["content"]
        own = content if isinstance(content, list) else [TextBlock(type="text", text=content or "")]
        messages[-1] = {**messages[-1], "content": [*own, {"type": "text", "text": REQUEST}]}
    return messages
