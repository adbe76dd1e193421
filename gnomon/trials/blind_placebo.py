"""Answers tool calls with results of another sample's scene: plausible, consistent, and about nothing asked.

A call that is an error on the question's own scene is the same error here, so that calling costs the same.
Map records differ in their names, and a trip's refusals are answers: there the stand-in answers alone, errors
among its answers. A verdict on a plan is one on another plan for another trip.
"""

import json
import random
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from gnomon.core.ids import stable_hash
from gnomon.trials.dealt_text import dealt, enumerations, said_in
from gnomon.trials.donors import Donors
from gnomon.trials.perturb_numbers import perturb_numbers
from gnomon.trials.stand_in_record import stand_in_record
from gnomon.trials.stand_in_scene import stand_in, without_marks
from tools.core.tool import EMPTY_SCENE, Tool, ToolArgs, ToolContext
from tools.core.toolbox import TOOLS, Observation, Toolbox
from tools.map_record.record import MapRecord
from tools.scene.scene import Scene

if TYPE_CHECKING:
    from tools.itinerary.trip import Trip  # reads opening hours, which few samples need
    from tools.sandbox.record import TravelSandbox

OTHER_SCENE = "other_scene"  # as `injected` of a result, and in flags of a row
SAME_SCENE = "same_scene"  # there is no other: the scene's own cameras and places, exchanged by chance
PERTURBED = "perturbed"  # the tool reads no scene, or none of the scenes could answer
DEALT = "dealt"  # a server's tool: the values of its own result, dealt anew
NEUTRAL = "neutral"  # nothing could be changed either
FALLBACKS = (SAME_SCENE, PERTURBED, DEALT, NEUTRAL)

VISIT = ("place", "arrive", "leave")
EXCHANGED = ("breakfast", "lunch", "dinner", "accommodation", "attraction", "transportation")


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
        self._stand_in_record: tuple[MapRecord, str] | None = None
        self._stand_in_trip: tuple[Trip, Trip, str] | None = (
            None  # the question's, its stand-in, of which kind
        )

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
        if shared is not None or tool.needs == "nothing":  # what is asked decides the result, no scene
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
        """The answer of the one record, sandbox or trip that answers all calls; None for other tools."""
        if tool.needs == "map_record" and context.map_record is not None:
            stand_in, kind = self._record(context.map_record)
            return replace(super().observe(tool, args, replace(context, map_record=stand_in)), injected=kind)
        if tool.needs == "sandbox" and context.sandbox is not None:
            sandbox = self._sandbox(context.sandbox)
            judged: ToolArgs | None = args
            if sandbox is not None and _judges_a_plan(tool):
                judged = self._other_sandbox_plan(tool, args, sandbox)
            if sandbox is None or judged is None:
                return self._says_nothing()
            observed = super().observe(tool, judged, replace(context, sandbox=sandbox))
            return replace(observed, injected=OTHER_SCENE)
        if tool.needs == "trip" and context.trip is not None:
            trip, kind = self._trip(context.trip)
            elsewhere = replace(context, trip=trip)
            judged = self._other_plan(tool, args, elsewhere) if _judges_a_plan(tool) else args
            return replace(super().observe(tool, judged, elsewhere), injected=kind)
        return None

    def _record(self, asked: MapRecord) -> tuple[MapRecord, str]:
        """The one record that answers all calls: what its names are is never what the true one's are."""
        if self._stand_in_record is None:
            names = self._donors.asked.map_names
            others = (donor.map_record for donor in self._donors)
            other = next((record for record in others if record is not None), None)
            record = stand_in_record(asked, other or asked, names, self._seed)
            self._stand_in_record = record, OTHER_SCENE if other else SAME_SCENE
        return self._stand_in_record

    def _sandbox(self, asked: "TravelSandbox") -> "TravelSandbox | None":
        """The one sandbox that answers all calls; None where no other question has one."""
        from gnomon.trials.stand_in_sandbox import stand_in_sandbox  # late: few samples have one

        others = (donor.sandbox for donor in self._donors)
        other = next((sandbox for sandbox in others if sandbox is not None), None)
        return stand_in_sandbox(asked, other) if other else None

    def _trip(self, asked: "Trip") -> tuple["Trip", str]:
        """The one trip that answers all calls about the question's own."""
        from gnomon.trials.stand_in_trip import stand_in_trip  # late: few samples are trips

        if self._stand_in_trip is None or self._stand_in_trip[0] is not asked:
            others = (donor.trip for donor in self._donors)
            other = next((trip for trip in others if trip is not None), None)
            kind = OTHER_SCENE if other else SAME_SCENE
            self._stand_in_trip = asked, stand_in_trip(asked, other, self._seed), kind
        return self._stand_in_trip[1:]

    def _other_plan(self, tool: Tool[Any], args: ToolArgs, context: ToolContext) -> ToolArgs:
        """Arguments of a tool that judges a plan, with another plan: half of them hold there."""
        from gnomon.trials.stand_in_trip import plan_by_chance  # late: few samples are trips

        key = stable_hash(self._seed, tool.name, args.model_dump_json())
        trip = context.trip
        plan = {} if trip is None else plan_by_chance(trip, key)
        names = [visit["place"] for day in plan.get("days", ()) for visit in day["visits"]]
        if names and random.Random(f"judged {key}").random() < 0.5:
            scheduler = TOOLS.get("order_visits")
            ordered = super().observe(scheduler, scheduler.args.model_construct(places=names), context)
            if ordered.error is None:
                plan["days"] = [
                    {"visits": [{key: visit[key] for key in VISIT} for visit in day["visits"]]}
                    for day in json.loads(ordered.content)["days"]
                ]
        judged: ToolArgs = tool.args.model_validate_json(json.dumps({"plan": plan}))
        return judged

    def _other_sandbox_plan(
        self, tool: Tool[Any], args: ToolArgs, sandbox: "TravelSandbox"
    ) -> ToolArgs | None:
        """The same with the stand-in's own schedule, in half of the cases with fields of days exchanged."""
        from tools.sandbox.scheduler import find_trip  # late, as above

        days = find_trip(sandbox).days
        if days is None:
            return None
        chance = random.Random(f"judged {stable_hash(self._seed, tool.name, args.model_dump_json())}")
        plan = [dict(day) for day in days]
        if chance.random() < 0.5:
            for field in chance.sample(EXCHANGED, 2):
                first, second = chance.sample(range(len(plan)), 2)
                plan[first][field], plan[second][field] = plan[second][field], plan[first][field]
        judged: ToolArgs = tool.args.model_validate_json(json.dumps({"plan": plan}))
        return judged

    def _stand_ins(self, tool: Tool[Any], context: ToolContext) -> Iterator[tuple[ToolContext, str]]:
        """The contexts of donors with what the tool needs; at last the question's own scene, exchanged."""
        if tool.needs == "footage":
            for donor in self._donors:
                if donor.footage is not None:
                    yield replace(context, footage=donor.footage), OTHER_SCENE
        if tool.needs == "scene" and context.scene is not EMPTY_SCENE:
            for donor in self._donors:
                if donor.scene is not None:
                    yield self._on(donor.scene, context), OTHER_SCENE
            yield self._on(context.scene, context), SAME_SCENE

    def _on(self, scene: Scene, context: ToolContext) -> ToolContext:
        return replace(context, scene=stand_in(context.scene, scene, self._seed))

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
