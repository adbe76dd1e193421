"""Pins those plug-ins of others that a job uses, and compares them with what is here."""

from collections.abc import Iterator, Mapping
from typing import Any

from gnomon.core.agent import AGENTS
from gnomon.core.benchmark import BENCHMARKS
from gnomon.core.errors import SpecError
from gnomon.core.ids import stable_hash
from gnomon.spec.job_spec import JobSpec, PluginPin
from gnomon.spec.model_providers import PROVIDERS
from gnomon.spec.preset import PRESETS
from gnomon.trials.condition import CONDITIONS
from gnomon_tools.core.outside import PluginFault, loaded_files
from gnomon_tools.core.registry import Registry
from gnomon_tools.core.tool import contract_hash
from gnomon_tools.core.toolbox import TOOLS

KINDS: Mapping[str, Registry[Any]] = {
    "tools": TOOLS,
    "benchmarks": BENCHMARKS,
    "agents": AGENTS,
    "presets": PRESETS,
    "models": PROVIDERS,
    "conditions": CONDITIONS,
}
READ_WITH = ("tools", "benchmarks", "agents", "conditions")
AT_RUN = ("tools", "benchmarks", "agents", "models", "conditions")  # a preset has become arms by then


def pins_of(spec: JobSpec) -> dict[str, PluginPin]:
    """The plug-ins of others that a spec uses, as they are here, by `KIND/NAME`.

    Raises:
        PluginFault: one does not load.
    """
    return {
        f"{kind}/{name}": pin(kind, name)
        for kind, name in sorted(set(_used(spec)))
        if KINDS[kind].origin(name) is not None
    }


def _used(spec: JobSpec) -> Iterator[tuple[str, str]]:
    yield "benchmarks", spec.benchmark
    yield from (("agents", arm.agent) for arm in spec.arms if isinstance(arm.agent, str))
    yield from (("tools", tool) for arm in spec.arms for tool in arm.tools)
    yield from (("conditions", name) for arm in spec.arms for name in arm.conditions)
    yield from (("models", model.id.partition("/")[0]) for model in spec.all_models if "/" in model.id)
    if spec.analysis.preset:
        yield "presets", spec.analysis.preset


def pin(kind: str, name: str) -> PluginPin:
    """A plug-in of another's as it is here.

    Raises:
        UnknownPlugin, PluginFault: it is not here, or does not load.
    """
    registry = KINDS[kind]
    plugin, origin = registry.get(name), registry.origin(name)
    return PluginPin(
        distribution=origin.distribution if origin else "",
        version=origin.version if origin else "",
        contract=_contract(kind, plugin),
        code=registry.code(name),
    )


def _contract(kind: str, plugin: Any) -> str:
    """A hash of what a plug-in offers, without regard to how it does that."""
    if kind == "tools":
        return contract_hash((plugin,))
    facts = {
        "benchmarks": ("version", "tasks", "scenes", "variants", "needs_data", "headline"),
        "agents": ("uses_tools", "description"),
        "presets": ("description",),
        "models": ("calls_network", "description"),
        "conditions": ("description", "order"),
    }[kind]
    offered = [getattr(plugin, fact, None) for fact in facts]
    if kind in ("presets", "conditions"):
        offered.append(plugin.options.model_json_schema())
    return stable_hash(plugin.name, *offered, size=12)


def check_pins(spec: JobSpec) -> None:
    """Refuse to run a job with plug-ins that are not those it was stored with.

    Raises:
        SpecError: one is absent, does not load, or differs; the message says in what.
    """
    for key, pinned in spec.plugins.items():
        if key.partition("/")[0] in AT_RUN:
            _compare(key, pinned)


def check_written_pins(spec: JobSpec) -> None:
    """Refuse pins that a spec was written with where they name no plug-in that it uses, or another one.

    Raises:
        SpecError: names the pin, and what is here.
    """
    used = {f"{kind}/{name}" for kind, name in _used(spec)}
    for key, pinned in spec.plugins.items():
        if key not in used:
            raise SpecError("the job does not use it; allowed: what it uses", field=f"plugins.{key}")
        _compare(key, pinned)


def absent(spec: JobSpec) -> list[str]:
    """What is not here any more of that with which a stored job is read, in words."""
    parts = ((key, key.partition("/")[0], pinned) for key, pinned in spec.plugins.items())
    return [
        _absent_text(key, pinned)
        for key, kind, pinned in parts
        if kind in READ_WITH and _name(key) not in KINDS[kind]
    ]


def require_benchmark(spec: JobSpec, *, field: str) -> None:
    """Refuse what needs the benchmark of a stored job where that is not here.

    Raises:
        SpecError: it is not; the message says whose it was.
    """
    if spec.benchmark in BENCHMARKS:
        return
    pinned = spec.plugins.get(f"benchmarks/{spec.benchmark}")
    message = f"{spec.benchmark!r} was run elsewhere; Gnomon has no scorer for it"
    raise SpecError(_absent_text(f"benchmarks/{spec.benchmark}", pinned) if pinned else message, field=field)


def scored_here(spec: JobSpec) -> dict[str, PluginPin]:
    """The pins of a stored job, with that of the benchmark which scores it now."""
    key = f"benchmarks/{spec.benchmark}"
    return {**spec.plugins, key: pin("benchmarks", spec.benchmark)} if key in spec.plugins else spec.plugins


def _name(key: str) -> str:
    return key.partition("/")[2]


def _absent_text(key: str, pinned: PluginPin) -> str:
    registry = KINDS[key.partition("/")[0]]
    whose = f"{pinned.distribution} {pinned.version}" if pinned.version else f"the file {pinned.distribution}"
    remedy = "install it" if pinned.version else "load it with --plugin or GNOMON_PLUGINS"
    return f"the {registry.noun} {_name(key)!r} of {whose} is not here; {remedy}"


def _compare(key: str, pinned: PluginPin) -> None:
    kind, _, name = key.partition("/")
    field = f"plugins.{key}"
    if kind not in KINDS:
        raise SpecError(f"no kind {kind!r}; allowed: {', '.join(KINDS)}", field=field)
    try:
        if name not in KINDS[kind]:
            raise SpecError(_absent_text(key, pinned), field=field)
        here = pin(kind, name)
    except PluginFault as fault:
        raise SpecError(str(fault), field=field) from None
    pairs = ((fact, getattr(pinned, fact), getattr(here, fact)) for fact in PluginPin.model_fields)
    differing = [
        f"{fact} {now[:12]!r} here, {then[:12]!r} in the job" if fact in ("contract", "code")
        else f"{fact} {now!r} here, {then!r} in the job"
        for fact, then, now in pairs
        if then != now
    ]  # fmt: skip
    if differing:
        message = f"the {KINDS[kind].noun} {name!r} is not the one that the job was stored with: "
        raise SpecError(message + "; ".join(differing), field=field)


def others() -> list[dict[str, str]]:
    """All plug-ins of others, each with its `kind`, `name`, whose it is (`from`) and what is wrong with it
    (`fault`, empty where it works); all of them are loaded.
    """
    described = []
    for registry in KINDS.values():
        faults = registry.faults()
        for name in sorted({*registry.outside_names(), *faults}):
            fault, whose = faults.get(name, ""), registry.whose(name) or ""
            described.append({"kind": registry.noun, "name": name, "from": whose, "fault": fault})
    return described


def load_plugin_files() -> None:
    """Run the plug-in files of GNOMON_PLUGINS, and look at all plug-ins of others once.

    Raises:
        SpecError: a file does not load or holds no plug-in, one of its plug-ins has a name that is not
            allowed, or a name is there twice.
    """
    try:
        files = loaded_files()
        for registry in KINDS.values():
            for name in registry.outside_names():
                if registry.is_of_a_file(name):
                    registry.get(name)  # which runs nothing, and says what is wrong with its name
    except PluginFault as fault:
        raise SpecError(str(fault)) from None
    for file in files:
        if not any(registry.takes(item) for item in file.objects() for registry in KINDS.values()):
            nouns = ", ".join(registry.noun for registry in KINDS.values())
            message = f"{file.origin} defines no plug-in; looked for objects that are one of: {nouns}"
            raise SpecError(message)
