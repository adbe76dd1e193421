"""The rules of a posted spec: all that may be wrong with one, in the order in which it is tried.

`gnomon plan`, `show`, `try` and `run` and a POST hold a spec to the same lists, at the end of this file:
AS_WRITTEN, then the types and bounds that the models of `JobSpec` declare (`fields`), OF_THE_SPEC,
OF_THE_PLACE, and OF_THE_SAMPLES once its data are open. A rule says in one line what it refuses, and raises
an error that names the field and what is allowed. What only callers know comes in a `Context`.
"""

import json
import os
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from gnomon.core.arm import differences
from gnomon.core.benchmark import (
    BENCHMARKS,
    Benchmark,
    OfficialScenes,
    OfficialShow,
    ReadsOwnFiles,
    SampleSet,
    SupportsOptions,
    Varied,
    decoding_of,
)
from gnomon.core.decoding import EVERY_TASK
from gnomon.core.errors import DataError, NotFound, SpecError
from gnomon.core.model import is_built_in, is_scripted
from gnomon.core.validation import first_validation_error
from gnomon.core.words import LATEST_WORDS
from gnomon.media import MediaStore
from gnomon.media.uploads import folder_of, is_upload
from gnomon.price_table import price_entry
from gnomon.spec.all_tools import with_tools_that_fit
from gnomon.spec.arm_rules import conditions, contracts, oracle, tools, transforms
from gnomon.spec.data_paths import for_command_line, from_request
from gnomon.spec.data_rules import frozen_data, opened_samples, own_files, published_files
from gnomon.spec.endpoints import NO_ENDPOINTS, EndpointAllowlist, check_endpoints
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.model_ids import check_model_id
from gnomon.spec.model_providers import plugged_provider
from gnomon.spec.model_spec import ModelSpec
from gnomon.spec.outside_agents import outside_agents, outside_places, with_own_model
from gnomon.spec.pasted_keys import refuse_keys
from gnomon.spec.pins import check_written_pins, pins_of
from gnomon.spec.preset import expand_preset
from gnomon.spec.sample_rules import OF_THE_SAMPLES
from gnomon.spec.script import read_script
from gnomon.spec.size import check_sizes
from gnomon.spec.token_budget import StoredJob, with_token_budget
from gnomon.spec.tool_servers import Commands, ListTools, check_server, lift_servers
from gnomon_tools.core.outside import PluginFault
from gnomon_tools.core.registry import UnknownPlugin, choices
from gnomon_tools.servers.server_spec import ToolServer

MAX_PAIRINGS = 2_000  # of models with arms, and of models with contrasts: a report looks at each

FORMS = {  # what a part of a spec must be, where it is absent or of another type
    "benchmark": "the name of a benchmark, such as worlds",
    "models": "a list of models, each {id: …}, such as {id: reference}",
    "models.*": "{id: …}, such as {id: reference}",
    "arms": "a list of arms, each {name: …, agent: …, tools: …}, or a preset, such as {preset: ladder}",
    "arms.*": "{name: …, agent: …, tools: …}",
    "arms.*.tools": "all, none, or a list of names, such as [bearing, distance]",
    "arms.*.agent": "the name of an agent, such as react, or one from outside, such as {http: URL}",
}

Written = dict[str, Any]  # a spec as plain data


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What the rules need to know of the caller and of the place where the job shall run."""

    agents: tuple[str, ...]  # those that exist
    stored_job: Callable[[str], StoredJob] | None = None  # by its id; None: without a store
    is_request: bool = True  # it came over HTTP: data are read below the roots alone
    data_roots: tuple[Path, ...] | None = None  # folders that data may be read from; None: not set
    media: MediaStore | None = None  # where uploads are kept; None: there are none
    endpoints: EndpointAllowlist = NO_ENDPOINTS  # where the operator lets models be called
    is_trusted: bool = False  # by a user of this machine: loopback and any provider may be called
    commands: Commands = ()  # that the operator lets requests start
    list_tools: ListTools | None = None  # starts a tool server and lists its tools; None: none is started


def check_spec(written: object, context: Context) -> JobSpec:
    """The spec that was written, frozen and with the path of its data; its samples are not looked at.

    Raises:
        SpecError: it breaks a rule; the message names the field and what is allowed.
    """
    try:
        spec = _parsed(written, context)
        for rule in OF_THE_PLACE:
            rule(spec, context)
    except PluginFault as fault:
        raise SpecError(str(fault), field="plugins") from None
    path = _data_path(spec, context)
    return spec if path is None else frozen_data(spec, path)


def parse_spec(written: object, *, agents: tuple[str, ...]) -> JobSpec:
    """The spec that was written, frozen, without regard to the place where it shall run.

    Raises:
        SpecError: it breaks a rule; the message names the field and what is allowed.
    """
    return _parsed(written, Context(agents=agents))


def open_samples(spec: JobSpec, media: MediaStore) -> SampleSet:
    """The samples of a checked spec.

    Raises:
        SpecError, DataError: its data or what it selects of them break a rule.
    """
    try:
        samples = opened_samples(spec, media)
    except DataError as error:
        raise type(error)(error.message, field=error.field or "data") from None
    for rule in OF_THE_SAMPLES:
        rule(spec, samples)
    return samples


def check_imported(spec: JobSpec) -> None:
    """Hold the spec of a job that was run elsewhere to the one rule that is about all jobs: its labels.

    Raises:
        SpecError: a label holds a control character.
    """
    labels(spec, Context(agents=()))


def _parsed(written: object, context: Context) -> JobSpec:
    rewritten: Any = written
    for rewrite in AS_WRITTEN:
        rewritten = rewrite(rewritten, context)
    spec = fields(rewritten, context)
    for rule in OF_THE_SPEC:
        rule(spec, context)
    return _frozen(spec)


def _frozen(spec: JobSpec) -> JobSpec:
    """The spec with all that a later version might decide otherwise spelled out."""
    plugin = spec.plugin()
    arms = [arm.frozen(spec.contract_of(arm)) for arm in spec.arms]
    if spec.protocol == "official" and isinstance(plugin, OfficialShow):
        shown = {"show": tuple(plugin.official_show)}
        arms = [arm if "show" in arm.model_fields_set else arm.model_copy(update=shown) for arm in arms]
    frozen: dict[str, Any] = {"arms": arms, "plugins": pins_of(spec)}
    if "words" not in spec.model_fields_set:
        frozen["words"] = LATEST_WORDS
    if spec.decoding is None:
        frozen["decoding"] = decoding_of(plugin, spec.protocol)
    if spec.protocol == "official" and not spec.select.scenes and isinstance(plugin, OfficialScenes):
        frozen["select"] = spec.select.model_copy(update={"scenes": tuple(plugin.official_scenes)})
    return spec.model_copy(update=frozen)


# The spec as it was written: each rule hands it on as the next one reads it.


def mapping(written: object, _: Context) -> Written:
    """Refuses anything but a mapping of fields."""
    if not isinstance(written, dict):
        raise SpecError("a spec has fields, such as `benchmark: worlds`; this has none", field="spec")
    return written


def keys(written: Written, context: Context) -> Written:
    """Refuses keys anywhere in the spec, and names of variables that are none."""
    # Of a request the variables are those of the workers, which are not known here.
    refuse_keys(written, set_here=None if context.is_request else os.environ)
    return written


def token_budget(written: Written, context: Context) -> Written:
    """Refuses `tokens_from` that names no ended job of this benchmark and model whose tokens were counted."""
    return with_token_budget(written, context.stored_job) if context.stored_job else written


def sizes(written: Written, _: Context) -> Written:
    """Refuses lists with more entries, and texts that are longer, than any job needs."""
    check_sizes(written)
    return written


def servers(written: Written, context: Context) -> Written:
    """Refuses tool servers that are not allowed, do not start, or lack the tools that arms name."""

    def check(server: ToolServer, field: str) -> None:
        check_server(
            server,
            commands=context.commands,
            endpoints=context.endpoints,
            is_request=context.is_request,
            is_trusted=context.is_trusted,
            field=field,
        )

    def find_file(path: str, field: str) -> Path:
        return _found(path, context, field=field)

    return lift_servers(
        with_tools_that_fit(written, find_file=find_file),
        check=check,
        list_tools=context.list_tools,
        find_file=find_file,
        is_request=context.is_request,
    )


def preset(written: Written, _: Context) -> Written:
    """Refuses a preset that does not exist, or options that it does not take."""
    return expand_preset(written) if isinstance(written.get("arms"), dict) else written


def fields(written: Written, _: Context) -> JobSpec:
    """Refuses unknown fields, wrong types and values out of bounds, as `JobSpec` declares them."""
    try:
        return JobSpec.model_validate(with_own_model(written))
    except ValidationError as error:
        raise first_validation_error(error, JobSpec, forms=FORMS) from None


# The spec by itself.


def labels(spec: JobSpec, _: Context) -> None:
    """Refuses names with control characters: lists and terminals show them as they are."""
    for field, text in _labels(spec):
        if any(unicodedata.category(char) == "Cc" for char in text):
            raise SpecError("holds a control character; allowed: all others", field=field)


def _labels(spec: JobSpec) -> Iterator[tuple[str, str]]:
    yield from (("name", spec.name), ("benchmark", spec.benchmark))
    for field, model in _models(spec):
        yield from ((f"{field}.id", model.id), (f"{field}.name", model.name))
    yield from ((f"arms.{at}.name", arm.name) for at, arm in enumerate(spec.arms))


def pairings(spec: JobSpec, _: Context) -> None:
    """Refuses more pairs of models with arms or contrasts than a report can compare."""
    models, arms, contrasts = len(spec.models), len(spec.arms), len(spec.contrasts())
    larger = "arms" if arms > models else "models"
    for field, count, what in (
        (larger, models * arms, "pairs of a model and an arm"),
        ("analysis.contrasts", models * contrasts, "contrasts, each for every model"),
    ):
        if count > MAX_PAIRINGS:
            raise SpecError(f"makes {count:,} {what}; allowed: {MAX_PAIRINGS:,}", field=field)


def benchmark(spec: JobSpec, _: Context) -> None:
    """Refuses a benchmark that does not exist."""
    try:
        BENCHMARKS.get(spec.benchmark)
    except UnknownPlugin as error:
        raise SpecError(str(error), field="benchmark") from None


def plugins(spec: JobSpec, _: Context) -> None:
    """Refuses pins of plug-ins of others that are not here as they are pinned."""
    check_written_pins(spec)


def planning_request(spec: JobSpec, _: Context) -> None:
    """Refuses a planning request to a benchmark that plans none."""
    if spec.select.request is not None and not getattr(spec.plugin(), "plans_requests", False):
        planners = ", ".join(plugin.name for plugin in BENCHMARKS if getattr(plugin, "plans_requests", False))
        raise SpecError(f"only the benchmark {planners} plans requests", field="select.request")


def protocol(spec: JobSpec, _: Context) -> None:
    """Refuses the paper's protocol where the benchmark has no prompt of its paper's own."""
    if spec.protocol == "paper" and "paper" not in _options(spec.plugin()):
        message = f"{spec.benchmark} has no prompt of its paper's own; allowed: official, guarded"
        raise SpecError(message, field="protocol")


def prompt_options(spec: JobSpec, _: Context) -> None:
    """Refuses frames, rates, languages, joint questions and difficulty where there are none to choose."""
    supported = _options(spec.plugin())
    for name in ("frames", "fps", "language", "together", "difficulty", "world"):
        if getattr(spec.select, name) and name not in supported:
            allowed = ", ".join(sorted(supported - {"paper"}))
            message = f"{spec.benchmark} has no {name} to choose; " + (
                f"allowed: {allowed}" if allowed else "leave it out"
            )
            raise SpecError(message, field=f"select.{name}")
    if spec.select.together and spec.protocol != "paper":
        raise SpecError(f"only `protocol: paper` asks so, not {spec.protocol}", field="select.together")


def _options(plugin: Benchmark) -> frozenset[Varied]:
    return plugin.options if isinstance(plugin, SupportsOptions) else frozenset()


def names(spec: JobSpec, _: Context) -> None:
    """Refuses tasks, scenes and variants that the benchmark, and arms that the spec does not have."""
    plugin, arms = spec.plugin(), tuple(arm.name for arm in spec.arms)
    tasks = () if isinstance(plugin, ReadsOwnFiles) else plugin.tasks  # else `sample_rules.decoded_tasks`
    for field, used, there_are in (
        *(
            (field, names, allowed)
            for field, names, allowed in (
                ("decoding", list(spec.decoding or ()), (EVERY_TASK, *tasks)),
                ("select.tasks", spec.select.tasks, tasks),
            )
            if tasks
        ),
        ("select.scenes", spec.select.scenes, plugin.scenes),
        ("variant", [spec.variant] if spec.variant else [], plugin.variants),
        *((field, used, arms) for field, used in spec.analysis.named_arms().items()),
    ):
        for name in used:
            if name not in there_are:
                message = f"no {name!r}; allowed: {', '.join(there_are) or 'nothing'}"
                raise SpecError(message, field=field)


def agents(spec: JobSpec, context: Context) -> None:
    """Refuses agents that do not exist."""
    for at, arm in enumerate(spec.arms):
        if isinstance(arm.agent, str) and arm.agent not in context.agents:
            there_are = choices(arm.agent, context.agents, may_be_yours=True)
            message = f"no agent {arm.agent!r}; {there_are}"
            raise SpecError(message, field=f"arms.{at}.agent")


def sequential(spec: JobSpec, _: Context) -> None:
    """Refuses to stop early where no contrast is primary, or where the analysis needs every sample."""
    analysis, field = spec.analysis, "analysis.sequential"
    if not analysis.sequential:
        return
    if not analysis.declares_primary:
        message = "needs a primary contrast, which decides when to stop; allowed: with analysis.primary"
        raise SpecError(f"{message}: [BASELINE, VARIANT], or with `primary: true` in a contrast", field=field)
    if analysis.attribution is not None:
        message = "stops when the primary contrast is decided, but analysis.attribution needs every sample"
        raise SpecError(f"{message}; allowed: one of the two", field=field)


def replays(spec: JobSpec, context: Context) -> None:
    """Refuses arms that replay a job which is absent or still runs, or an arm that they are not like."""
    for at, arm in enumerate(spec.arms):
        if arm.replay is None or context.stored_job is None:
            continue
        try:
            job = context.stored_job(arm.replay.job)
        except NotFound as error:
            raise SpecError(error.message, field=f"arms.{at}.replay.job") from None
        if job.is_open:
            raise SpecError(f"{job.id} is {job.status}; wait for its end", field=f"arms.{at}.replay.job")
        if job.benchmark != spec.benchmark:
            message = f"{job.id} asked questions of {job.benchmark}, not of {spec.benchmark}"
            raise SpecError(message, field=f"arms.{at}.replay.job")
        replayed = {other.name: other for other in job.arms}.get(arm.replay.arm)
        if replayed is None:
            there_are = ", ".join(other.name for other in job.arms)
            raise SpecError(f"no arm {arm.replay.arm!r}; allowed: {there_are}", field=f"arms.{at}.replay.arm")
        differing = [name for name in differences(replayed, arm) if name != "replay"]
        if differing:
            message = f"differs from that of the replayed arm {replayed.name}; it must be the same"
            raise SpecError(message, field=f"arms.{at}.{differing[0]}")
        if arm.replay.result == "truth" and arm.cassette is not None and arm.cassette.replay is not None:
            foreign = spec.server_tools.keys() & ({arm.replay.tool} if arm.replay.tool else set(arm.tools))
            if foreign:
                message = f"no true result of {min(foreign)} can be had, as a cassette answers its calls"
                allowed = "recorded, noise, other_sample, nothing, or without arms.cassette.replay"
                raise SpecError(f"{message}; allowed: {allowed}", field=f"arms.{at}.replay.result")
        for model in spec.models:
            if model.label not in job.models:
                message = f"{job.id} has no model {model.label!r}; allowed: {', '.join(job.models)}"
                raise SpecError(message, field="models")


def storable(spec: JobSpec, _: Context) -> None:
    """Refuses what no JSON or no database can hold: lone surrogates, NaN, NUL characters."""
    try:
        text = json.dumps(spec.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
        text.encode()
    except (ValueError, UnicodeEncodeError, RecursionError) as error:
        raise SpecError(f"holds what no JSON can hold: {error}", field="spec") from None
    if "\\u0000" in text:
        raise SpecError("holds a NUL character", field="spec")


# The spec in the place where it shall run.


def data_path(spec: JobSpec, context: Context) -> None:
    """Refuses a folder of data that is absent, or outside of the folders that may be read."""
    _data_path(spec, context)


def _data_path(spec: JobSpec, context: Context) -> Path | None:
    if spec.data is None:
        return None
    return _found(spec.data, context, field="data")


def _found(text: str, context: Context, *, field: str) -> Path:
    """The path that a spec names, or the folder of an upload."""
    if context.media is not None and is_upload(text):
        return folder_of(text, context.media)
    find = from_request if context.is_request else for_command_line
    return find(text, context.data_roots, field=field)


def endpoints(spec: JobSpec, context: Context) -> None:
    """Refuses models that would send calls, options or keys where the operator has not said they may go."""
    check_endpoints(spec.called_models, context.endpoints, is_trusted=context.is_trusted)


def model_ids(spec: JobSpec, _: Context) -> None:
    """Refuses ids of models that name no provider."""
    for field, model in spec.called_models.items():
        if plugged_provider(model.id) is None:
            check_model_id(model.id, model.api_base, field=f"{field}.id")


def prices(spec: JobSpec, _: Context) -> None:
    """Refuses a limit in dollars on models of unknown price: unknown is not nothing."""
    for field, model in _models(spec):
        if spec.limits.usd is not None and price_entry(model) is None and not is_built_in(model.id):
            message = f"limits.usd needs it, as no table tells that of {model.id!r}"
            allowed = "{input: …, output: …}, dollars for a million tokens; or limit tokens instead"
            raise SpecError(f"{message}; allowed: {allowed}", field=f"{field}.price")


def scripts(spec: JobSpec, _: Context) -> None:
    """Refuses options of a scripted model that are no script."""
    for field, model in _models(spec):
        if is_scripted(model.id):
            try:
                read_script(model.options)
            except SpecError as error:
                raise SpecError(error.message, field=f"{field}.{error.field}") from None


def _models(spec: JobSpec) -> Iterator[tuple[str, ModelSpec]]:
    """Every model of the spec, the judge among them, with its field."""
    yield from ((f"models.{at}", model) for at, model in enumerate(spec.models))
    if spec.judge is not None:
        yield "judge", spec.judge


AS_WRITTEN: tuple[Callable[[Any, Context], Written], ...] = (
    mapping,
    keys,
    sizes,
    token_budget,
    servers,
    preset,
)
OF_THE_SPEC: tuple[Callable[[JobSpec, Context], None], ...] = (
    labels,
    pairings,
    plugins,
    benchmark,
    own_files,
    published_files,
    planning_request,
    protocol,
    prompt_options,
    names,
    agents,
    outside_agents,
    oracle,
    sequential,
    transforms,
    tools,
    conditions,
    replays,
    contracts,
    storable,
)
OF_THE_PLACE: tuple[Callable[[JobSpec, Context], None], ...] = (
    data_path,
    endpoints,
    outside_places,
    model_ids,
    scripts,
    prices,
)
