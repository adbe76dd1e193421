"""Answers tool calls with results of another sample's scene: plausible, consistent, and about nothing asked.

A call that is an error on the question's own scene is the same error here, so that calling costs the same.
Inputs with a stand-in of their own (`BlindInput`) differ: there the stand-in answers alone, errors among its
answers. Tools that judge a plan judge another plan instead.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from pydantic import ValidationError

from gnomon.core.ids import stable_hash
from gnomon.trials.dealt_text import dealt, enumerations, said_in
from gnomon.trials.donors import Donors
from gnomon.trials.perturb_numbers import perturb_numbers
from gnomon.trials.stand_in_scene import stand_in, without_marks
from gnomon_tools.core.clip import Footage
from gnomon_tools.core.inputs import BlindInput, Input
from gnomon_tools.core.tool import EMPTY_SCENE, Tool, ToolArgs, ToolContext
from gnomon_tools.core.toolbox import TOOLS, Observation, Toolbox
from gnomon_tools.scene.scene import Scene

OTHER_SCENE = "other_scene"  # as `injected` of a result, and in flags of a row
SAME_SCENE = "same_scene"  # there is no other: the scene's own cameras and places, exchanged by chance
PERTURBED = "perturbed"  # the tool reads no scene, or none of the scenes could answer
DEALT = "dealt"  # a server's tool: the values of its own result, dealt anew
NEUTRAL = "neutral"  # nothing could be changed either
FALLBACKS = (SAME_SCENE, PERTURBED, DEALT, NEUTRAL)


def _judges_a_plan(tool: Tool[Any]) -> bool:
    """Whether it is passed a plan: its verdict would tell of the plan itself, wherever it is judged."""
    return "plan" in tool.args.model_fields


class BlindPlacebo(Toolbox):
    """Runs each call on another scene under the names of the question's own.

    A call that fails there is run on yet another one, and at last on the question's own scene with its things
    exchanged. Where no scene changes the result, as the tool reads none, the call is run on perturbed
    arguments; else the result is perturbed. Where that changes nothing, it is one that scenes share, such as
    an empty list, or the result says nothing.
    """

    def __init__(
        self,
        tools: tuple[Tool[Any], ...],
        context: ToolContext | None,
        *,
        donors: Donors,
        seed: int,
        neutral: str,
    ) -> None:
        super().__init__(tools, context)
        self._donors, self._seed, self._neutral = donors, seed, neutral
        # By type of input: the question's own value, its stand-in, and of which kind that is.
        self._kept: dict[type[Input], tuple[BlindInput, BlindInput | None, str]] = {}

    def observe(self, tool: Tool[Any], args: ToolArgs, context: ToolContext | None) -> Observation:
        if context is not None and (alone := self._by_one_stand_in(tool, args, context)) is not None:
            return alone
        true = super().observe(tool, args, context)
        if context is None or true.error is not None:
            return true
        if tool.is_foreign:
            return self._dealt(tool, args, true)
        shared: tuple[Observation, ToolContext] | None = None
        for other_context, kind in self._stand_ins(tool, context):
            other = super().observe(tool, args, other_context)
            if other.error is not None:
                continue
            if other.content != true.content or other.pictures != true.pictures:
                return replace(other, content=without_marks(other.content), injected=kind)
            shared = shared or (replace(other, injected=kind), other_context)
        if true.pictures:
            return self._says_nothing()
        key = stable_hash(self._seed, tool.name, args.model_dump_json())
        if shared is not None or tool.needs is None:  # what is asked decides the result, no scene
            other = self._on_perturbed_arguments(tool, args, shared[1] if shared else context, key)
            if other.error is None and other.content != true.content:
                return replace(other, content=without_marks(other.content), injected=PERTURBED)
        content = perturb_numbers(true.content, key=key)
        if json.loads(content) != json.loads(true.content):
            return replace(true, content=content, injected=PERTURBED)
        return shared[0] if shared else self._says_nothing()

    def _dealt(self, tool: Tool[Any], args: ToolArgs, true: Observation) -> Observation:
        """The result of a server's tool with its values dealt anew, as no other scene can answer for it."""
        arguments = args.model_dump()
        key = stable_hash(self._seed, tool.name)
        words = tuple(enumerations([tool.schema(), tool.result_schema()]))
        content = dealt(true.content, key=key, kept=frozenset(said_in(arguments)), words=words)
        if content == true.content or true.pictures:
            return self._says_nothing()
        return replace(true, content=content, injected=DEALT)

    def _by_one_stand_in(self, tool: Tool[Any], args: ToolArgs, context: ToolContext) -> Observation | None:
        """The answer of the one input that answers all calls; None for tools that need no such input."""
        asked = context.find(tool.needs) if tool.needs else None
        if tool.needs is None or not isinstance(asked, BlindInput):
            return None
        value, kind = self._stand_in_for(tool.needs, asked)
        if value is None:
            return self._says_nothing()
        elsewhere = context.having(value)
        judged = self._with_other_plan(tool, args, value, elsewhere) if _judges_a_plan(tool) else args
        if judged is None:
            return self._says_nothing()
        return replace(super().observe(tool, judged, elsewhere), injected=kind)

    def _stand_in_for(self, need: type[Input], asked: BlindInput) -> tuple[BlindInput | None, str]:
        """The one value that answers all calls in place of the question's own, and of which kind it is."""
        kept = self._kept.get(need)
        if kept is None or kept[0] is not asked:
            values = (donor.inputs.get(need) for donor in self._donors)
            donated = next((value for value in values if value is not None), None)
            kind = SAME_SCENE if donated is None else OTHER_SCENE
            kept = self._kept[need] = asked, asked.stand_in(donated, seed=self._seed), kind
        return kept[1:]

    def _with_other_plan(
        self, tool: Tool[Any], args: ToolArgs, value: BlindInput, context: ToolContext
    ) -> ToolArgs | None:
        """Arguments of a tool that judges a plan, with another plan; None where there is none."""

        def call(name: str, arguments: Mapping[str, Any]) -> dict[str, Any] | None:
            called = TOOLS.get(name)
            observed = Toolbox.observe(self, called, called.args.model_construct(**arguments), context)
            result: dict[str, Any] = json.loads(observed.content)
            return None if observed.error else result

        key = stable_hash(self._seed, tool.name, args.model_dump_json())
        plan = value.other_plan(key=key, call=call)
        if plan is None:
            return None
        judged: ToolArgs = tool.args.model_validate_json(json.dumps({"plan": plan}))
        return judged

    def _stand_ins(self, tool: Tool[Any], context: ToolContext) -> Iterator[tuple[ToolContext, str]]:
        """The contexts of donors with what the tool needs; at last the question's own scene, exchanged."""
        if tool.needs is Footage:
            for donor in self._donors:
                if donor.footage is not None:
                    yield context.having(donor.footage), OTHER_SCENE
        if tool.needs is Scene and context.scene is not EMPTY_SCENE:
            for donor in self._donors:
                if donor.scene is not None:
                    yield self._on(donor.scene, context), OTHER_SCENE
            yield self._on(context.scene, context), SAME_SCENE

    def _on(self, scene: Scene, context: ToolContext) -> ToolContext:
        return context.having(stand_in(context.scene, scene, self._seed))

    def _on_perturbed_arguments(
        self, tool: Tool[Any], args: ToolArgs, context: ToolContext, key: str
    ) -> Observation:
        written = args.model_dump_json(exclude_unset=True)
        try:
            perturbed = tool.args.model_validate_json(perturb_numbers(written, key=key))
        except ValidationError:
            perturbed = args
        return super().observe(tool, perturbed, context)

    def _says_nothing(self) -> Observation:
        return Observation(content=self._neutral, injected=NEUTRAL)
