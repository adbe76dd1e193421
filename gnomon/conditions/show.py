"""Shows facts of the scene, or the true intermediate steps, before the question."""

from gnomon.core.arm import Arm
from gnomon.core.benchmark import HasOracle
from gnomon.core.errors import SpecError
from gnomon.core.message import Message, TextBlock
from gnomon.core.sample import Sample
from gnomon.trials.condition import Condition, Situation
from gnomon.trials.scene_facts import NO_SCENE, facts_of


class ShowCondition(Condition):
    """`facts` and `oracle` of an arm's `show`; what else it shows are parts of the sample."""

    name = "show"
    description = "shows what tools hold, or the true steps, before the question"

    def is_of(self, arm: Arm) -> bool:
        return "facts" in arm.show or "oracle" in arm.show

    def on_prompt(self, messages: list[Message], sample: Sample, now: Situation) -> list[Message]:
        """The first message, after what is shown.

        Raises:
            SpecError: the arm shows the true steps, and the benchmark does not know them.
        """
        before: list[TextBlock] = []
        if "facts" in now.arm.show and not any(part.shown == "facts" for part in sample.parts):
            before.append({"type": "text", "text": facts_of(sample.scene) if sample.scene else NO_SCENE})
        if "oracle" in now.arm.show:
            benchmark = now.benchmark
            if benchmark is None or not isinstance(benchmark, HasOracle):
                name = benchmark.name if benchmark else "the benchmark"
                message = f"{name} does not know the truth of intermediate steps, so none can be shown"
                raise SpecError(message, field="show")
            before.append({"type": "text", "text": benchmark.oracle_steps(sample)})
        if not before:
            return messages
        content = messages[0]["content"]
        own = content if isinstance(content, list) else [TextBlock(type="text", text=content or "")]
        return [{**messages[0], "content": [*before, *own]}, *messages[1:]]


show = ShowCondition()
