"""Rules of a spec about agents from outside: what is asked of them, and where they may be."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from gnomon.core.arm import Arm
from gnomon.core.errors import SpecError
from gnomon.core.model import OWN_MODEL
from gnomon.spec.endpoints import EndpointAllowlist, check_address
from gnomon.spec.job_spec import JobSpec
from gnomon.spec.tool_servers import Commands, check_command

if TYPE_CHECKING:
    from gnomon.spec.rules import Context


def with_own_model(written: Mapping[str, Any]) -> dict[str, Any]:
    """A spec with `{id: agent}` for its models, where it names none and all its arms are outside agents.

    >>> with_own_model({"arms": [{"name": "a", "agent": {"http": "http://127.0.0.1:1"}}]})["models"]
    [{'id': 'agent'}]
    """
    arms = written.get("arms")
    outside = [isinstance(arm, dict) and isinstance(arm.get("agent"), dict) for arm in arms or ()]
    if written.get("models") or not isinstance(arms, list) or not arms or not all(outside):
        return dict(written)
    return {**written, "models": [{"id": OWN_MODEL}]}


def outside_agents(spec: JobSpec, context: "Context") -> None:
    """Refuses what agents from outside cannot keep to, and their own model for agents of ours."""
    for at, arm in enumerate(spec.arms):
        for field, message in _faults(arm, is_request=context.is_request):
            raise SpecError(message, field=f"arms.{at}.{field}")
    outside = [arm.name for arm in spec.arms if arm.outside]
    for at, model in enumerate(spec.models):
        if model.id == OWN_MODEL and len(outside) < len(spec.arms):
            own = next(arm for arm in spec.arms if not arm.outside)
            message = f"is an outside agent's own model, and {own.name!r} has an agent of ours"
            raise SpecError(f"{OWN_MODEL!r} {message}; allowed: a model to call", field=f"models.{at}.id")
    for name in ("usd", "tokens"):
        if outside and getattr(spec.limits, name) is not None:
            message = f"cannot be kept: what the agent of {outside[0]!r} uses is known afterwards, if at all"
            allowed = "no such limit with outside agents; limits of their own are theirs to keep"
            raise SpecError(f"{message}; allowed: {allowed}", field=f"limits.{name}")


def outside_places(spec: JobSpec, context: "Context") -> None:
    """Refuses addresses, commands and keys of outside agents that the operator has not allowed."""
    check_outside_agents(
        spec.arms,
        context.endpoints,
        context.commands,
        is_request=context.is_request,
        is_trusted=context.is_trusted,
    )


def _faults(arm: Arm, *, is_request: bool) -> Iterator[tuple[str, str]]:
    """Fields of an arm that its outside agent cannot keep to, each with what is allowed."""
    outside = arm.outside
    if outside is None:
        return
    if outside.langgraph and is_request:
        yield "agent.langgraph", "a graph is code of this machine; allowed: on the command line alone"
    if arm.tools and outside.hands_tools == "none":
        yield "tools", "an outside agent gets tools by MCP alone; allowed: none, or `hands_tools: mcp`"
    if arm.tools and arm.tool_choice != "auto":
        yield "tool_choice", f"an outside agent chooses by itself, not {arm.tool_choice!r}; allowed: auto"
    for name in ("max_tokens", "max_usd"):
        if getattr(arm, name) is not None:
            yield name, "an outside agent's use cannot be limited from here; allowed: null"
    if arm.replay is not None:
        yield "replay", "an outside agent's trials cannot be replayed; allowed: null"


def check_outside_agents(
    arms: Sequence[Arm],
    allowed: EndpointAllowlist,
    commands: Commands = (),
    *,
    is_request: bool,
    is_trusted: bool,
) -> None:
    """Refuse outside agents at places that the operator has not allowed; `is_trusted` as for models.

    Raises:
        SpecError: names the field and what is allowed.
    """
    for at, arm in enumerate(arms):
        outside, field = arm.outside, f"arms.{at}.agent"
        if outside is None:
            continue
        if outside.url is not None:
            check_address(
                outside.url,
                outside.api_key_env,
                allowed,
                is_trusted=is_trusted,
                field=f"{field}.{outside.kind}",
                key_field=f"{field}.api_key_env",
            )
        if outside.command is not None:
            check_command(outside.command, commands, is_trusted=not is_request, field=f"{field}.command")
        if outside.env and is_request:
            message = "not permitted over REST; allowed: a command of the operator's that sets it itself"
            raise SpecError(message, field=f"{field}.env")
