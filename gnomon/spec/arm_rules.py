"""The rules about arms that look at the spec alone; `rules.py` lists them among the others."""

from pydantic import ValidationError

from gnomon.core.arm import Arm
from gnomon.core.benchmark import HasOracle, ReadsOwnFiles
from gnomon.core.errors import SpecError
from gnomon.core.transforms import Transforms
from gnomon.core.validation import first_validation_error
from gnomon.spec.job_spec import JobSpec
from gnomon.trials.condition import CONDITIONS
from gnomon_tools.core.registry import choices
from gnomon_tools.core.toolbox import TOOLS


def oracle(spec: JobSpec, _: object) -> None:
    """Refuses arms that show true intermediate steps where the benchmark does not know them."""
    for at, arm in enumerate(spec.arms):
        if "oracle" in arm.show and not isinstance(spec.plugin(), HasOracle):
            message = f"{spec.benchmark} does not know the truth of intermediate steps: no oracle to show"
            raise SpecError(message, field=f"arms.{at}.show")


def transforms(spec: JobSpec, _: object) -> None:
    """Refuses transforms that do not fit the selected tasks, and true steps beside a transformed question."""
    plugin = spec.plugin()
    offered = plugin.transforms if isinstance(plugin, Transforms) else {}
    for at, arm in enumerate(spec.arms):
        if arm.transform is None:
            continue
        field = f"arms.{at}.transform"
        if arm.transform not in offered:
            message = f"{spec.benchmark} has no {arm.transform!r}; allowed: {', '.join(offered) or 'none'}"
            raise SpecError(message, field=field)
        without = set(spec.select.tasks or plugin.tasks) - offered[arm.transform]
        if without and not isinstance(plugin, ReadsOwnFiles):  # else the samples say (`transformable`)
            message = (
                f"{arm.transform!r} does not fit the questions of {', '.join(sorted(without))}; allowed: "
                f"{', '.join(sorted(offered[arm.transform]))}, by `select.tasks`"
            )
            raise SpecError(message, field=field)
        if "oracle" in arm.show:
            message = "true steps are those of the original question: no oracle with a transform"
            raise SpecError(message, field=f"arms.{at}.show")


def tools(spec: JobSpec, _: object) -> None:
    """Refuses tools that do not exist."""
    for at, arm in enumerate(spec.arms):
        for name in arm.tools:
            if name not in TOOLS and name not in spec.server_tools:
                there_are = choices(name, [*TOOLS.names(), *spec.server_tools], may_be_yours=True)
                raise SpecError(f"no tool {name!r}; {there_are}", field=f"arms.{at}.tools")


def conditions(spec: JobSpec, _: object) -> None:
    """Refuses conditions that do not exist or are fields of the arm, and options that they do not take."""
    for at, arm in enumerate(spec.arms):
        for name, options in arm.conditions.items():
            field = f"arms.{at}.conditions"
            if name in Arm.model_fields:
                message = f"{name!r} is one of Gnomon's own: write the fields of the arm in place of it"
                raise SpecError(message, field=field)
            if name not in CONDITIONS:
                nameable = [kind for kind in CONDITIONS.names() if kind not in Arm.model_fields]
                there_are = choices(name, nameable, may_be_yours=True)
                raise SpecError(f"no condition {name!r}; {there_are}", field=field)
            kind = CONDITIONS.get(name).options
            try:
                kind.model_validate(options)
            except ValidationError as error:
                fault = first_validation_error(error, kind)
                within = f".{fault.field}" if fault.field else ""
                raise SpecError(fault.message, field=f"{field}.{name}{within}") from None


def contracts(spec: JobSpec, _: object) -> None:
    """Refuses a contract that the arm's tools do not have here: names, schemas and descriptions."""
    for at, arm in enumerate(spec.arms):
        if not spec.toolset_unchanged(arm):
            message = f"{arm.contract!r} is not what its tools offer here; that is {spec.contract_of(arm)!r}"
            raise SpecError(message, field=f"arms.{at}.contract")
