"""Finds the address and the key of a provider's own API."""

import os
from dataclasses import dataclass

from gnomon.core.errors import SpecError
from gnomon.spec.environment import address_variable
from gnomon.spec.model_spec import ModelSpec
from gnomon_agents.models import chat_format as wire

# What a spec may not pass on in a chat: who is asked and with which key, what is said, and whatever would
# answer in the model's place.
RESERVED_IN_CHAT = frozenset(
    {"model", "messages", "tools", "tool_choice", "functions", "stream", "n", "timeout"}
    | {"api_key", "api_base", "base_url", "headers", "client", "custom_llm_provider"}
    | {"num_retries", "max_retries", "fallbacks", "context_window_fallback_dict", "caching", "cache"}
    | {"mock_response", "mock_tool_calls", "callbacks", "success_callback", "failure_callback"}
)


def check_options(spec: ModelSpec, reserved: frozenset[str]) -> None:
    """Refuse options that would change who is asked, or what.

    Raises:
        SpecError: names the option.
    """
    for name in spec.options:
        if name.lower() in reserved:
            allowed = "anything else that the provider's API knows"
            raise SpecError(f"{name!r} may not be set here; allowed: {allowed}", field=f"options.{name}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """An API of a provider: its address, and the variable that holds the key."""

    address: str
    path: tuple[str, ...]  # below the address, by segment
    key_variable: str
    reserved: frozenset[str]  # fields of the body that are not the spec's to set

    def check(self, spec: ModelSpec) -> None:
        """Refuse options that would change who is asked, or what.

        Raises:
            SpecError: names the option.
        """
        check_options(spec, self.reserved)

    def url(self, spec: ModelSpec) -> str:
        """Where the model is called: below the spec's `api_base`, else that of the environment, else the
        provider's.

        >>> there = Endpoint(address="https://a.example", path=("v1", "messages"),
        ...                  key_variable="A_KEY", reserved=frozenset())
        >>> there.url(ModelSpec(id="a/m")), there.url(ModelSpec(id="a/m", api_base="http://b:8000/v1/"))
        ('https://a.example/v1/messages', 'http://b:8000/v1/messages')
        """
        variable = address_variable(spec)
        elsewhere = os.environ[variable] if variable else self.address
        base = (spec.api_base or elsewhere).rstrip("/")
        there = next(
            count
            for count in range(len(self.path), -1, -1)
            if not count or base.endswith("/" + "/".join(self.path[:count]))
        )
        return "/".join([base, *self.path[there:]])

    def key(self, spec: ModelSpec) -> str:
        """The key: the named variable's, a stand-in at an address of one's own, else the usual variable's.

        Raises:
            ProviderFault: `no_api_key`: the variable is not set.
        """
        return wire.key_of(spec) or wire.key_for(spec, self.key_variable)
