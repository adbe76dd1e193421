"""Reads from a spec what it asks of a model's endpoint."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from gnomon.core.agent import sends_schemas
from gnomon.core.benchmark import SampleSet
from gnomon.core.decoding import NO_DECODING, Decoding
from gnomon.core.errors import DataError
from gnomon.core.message import Message, ToolChoice, ToolSchema, pictures_of
from gnomon.core.model import CALL_TIMEOUT_S
from gnomon.core.read_calls import ToolCallsIn
from gnomon.core.tool_inputs import provided_inputs
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_spec import ModelSpec
from gnomon.trials.condition import schemas_sent
from gnomon_tools.core.tool import PictureResult, Tool

LOOKED_AT = 8  # samples whose prompts show what the others hold
OWN_TOOL: ToolSchema = {
    "type": "function",
    "function": {
        "name": "station_code",
        "description": "The code word of a weather station.",
        "parameters": {
            "type": "object",
            "properties": {"station": {"type": "string", "description": "Name of the station."}},
            "required": ["station"],
            "additionalProperties": False,
        },
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Needs:
    """What is asked of an endpoint: `tools` are those that its model may call natively, none where no arm
    sends schemas. `tries_all`: what is not needed is tried as well, and told.
    """

    tools: tuple[ToolSchema, ...] = ()
    tool_calls: ToolCallsIn = "native"
    tool_choice: ToolChoice = "auto"  # until there was a call
    system: bool = False
    pictures: bool = False
    tool_pictures: bool = False
    counts: bool = False  # whether limits rest on its counts of tokens
    room: bool = True  # whether a reply must fit into the most tokens that it may have
    tries_all: bool = False
    decoding: Decoding = NO_DECODING  # with the most tokens of a reply that its entry sets
    call_seconds: float = CALL_TIMEOUT_S


def needs_of_model(model: ModelSpec) -> Needs:
    """What an endpoint shows that is checked by itself: all is tried, answers and tools are needed."""
    return Needs(
        tools=(OWN_TOOL,),
        tool_calls=model.tool_calls,
        room=False,
        tries_all=True,
        decoding=_with_limit(NO_DECODING, model),
        call_seconds=model.call_seconds,
    )


def needs_of_spec(spec: JobSpec, model: ModelSpec, samples: SampleSet | None = None) -> Needs:
    """What the arms of a spec ask of one of its models; pictures and system role only where `samples` are
    there to show them.
    """
    needs = Needs(
        decoding=_with_limit(spec.decoding_of(next(iter(spec.decoding or ()), "")), model),
        counts=spec.limits.usd is not None or spec.limits.tokens is not None,
        call_seconds=model.call_seconds,
    )
    if model is spec.judge:
        return needs
    native = [arm for arm in spec.arms if sends_schemas(arm)]
    offered = [tool for arm in native for tool in spec.toolset(arm)]
    sent = [schema for arm in native for schema in schemas_sent(arm, spec, spec.toolset(arm))]
    schemas = {schema["function"]["name"]: schema for schema in sent}
    calling = {arm.tool_choice for arm in native if arm.tools} - {"none"}
    needs = replace(
        needs,
        tools=tuple(schemas.values()),
        tool_calls=model.tool_calls,
        tool_choice="required" if calling == {"required"} else "auto",
    )
    if samples is None:
        return needs
    return replace(
        needs,
        system=any(message["role"] == "system" for message in _messages(spec, samples)),
        pictures=prompts_show_pictures(spec, model, samples),
        tool_pictures=model.pictures and _shows_pictures(spec, offered),
    )


def prompts_show_pictures(spec: JobSpec, model: ModelSpec, samples: SampleSet) -> bool:
    """Whether prompts of these samples hold pictures, and the model takes them."""
    return model.pictures and any(map(pictures_of, _messages(spec, samples)))


def _with_limit(decoding: Decoding, model: ModelSpec) -> Decoding:
    own = model.max_tokens
    return decoding if own is None else decoding.model_copy(update={"max_tokens": own})


def _messages(spec: JobSpec, samples: SampleSet) -> Iterable[Message]:
    for ref in islice(samples.refs, LOOKED_AT):
        try:
            sample = samples.get(ref.sample_id)
        except DataError:
            continue  # its trials end as missing, and ask nobody
        for show in {tuple(arm.show) for arm in spec.arms if not arm.outside}:
            yield from sample.messages(show)


def _shows_pictures(spec: JobSpec, tools: Sequence[Tool]) -> bool:  # type: ignore[type-arg]
    """Whether a tool of ours that the samples can serve returns pictures; of others' nobody knows."""
    served = provided_inputs(spec.plugin(), {tool.name for tool in tools if not tool.is_foreign})
    results = (
        getattr(tool.run, "__annotations__", {}).get("return") for tool in tools if tool.name in served
    )
    return any(isinstance(result, type) and issubclass(result, PictureResult) for result in results)
