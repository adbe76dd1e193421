"""Looks at a tool server, and calls its tools, before a spec names it."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from gnomon.core.errors import SpecError, Unavailable
from gnomon.spec.data_paths import for_command_line
from gnomon.spec.pasted_keys import refuse_keys
from gnomon.spec.tool_servers import check_server, lift_servers
from gnomon_service.jobs import list_tools
from gnomon_service.settings import Settings
from gnomon_service.tool_servers import FIELD
from gnomon_tools.core.inputs import held
from gnomon_tools.core.outage import ServerFault
from gnomon_tools.core.tool import ToolContext
from gnomon_tools.core.toolbox import Observation, Toolbox
from gnomon_tools.scene.scene import Scene
from gnomon_tools.servers.server_spec import ToolServer
from gnomon_workers.open_job import media_of


def open_server(entry: Mapping[str, Any], settings: Settings) -> tuple[str, ToolServer]:
    """The name of a server and its definition with the tools that it lists; it is started for that.

    Raises:
        SpecError: it is not written as it must be, is not allowed, or does not start.
    """
    check = partial(
        check_server,
        commands=(),
        endpoints=settings.allowed_bases,
        is_request=False,
        is_trusted=True,
    )
    try:
        refuse_keys({"arms": [{"tools": [dict(entry)]}]})
        lifted = lift_servers(
            {"arms": [{"tools": [dict(entry)]}]},
            check=lambda server, _: check(server, field=FIELD),
            list_tools=list_tools,
            find_file=lambda path, _: for_command_line(path, settings.media_roots, field=FIELD),
            is_request=False,
        )
    except SpecError as error:
        raise SpecError(error.message, field=error.field.replace("arms.0.tools.0", FIELD)) from None
    ((name, server),) = lifted["servers"].items()
    return name, ToolServer.model_validate(server)


def call_server(
    name: str, server: ToolServer, tool: str, scene: Scene | None, args: object, settings: Settings
) -> Observation:
    """Call a tool of the server, by its own name or by that which arms have for it.

    Raises:
        SpecError: there is no such tool, or it has no result for these arguments.
        Unavailable: the server has failed.
    """
    from gnomon_tools.servers.tool import server_tool  # late: few commands call servers

    listed = server.listing.tools if server.listing else []
    chosen = next((item for item in listed if tool in (item.name, item.shown)), None)
    if chosen is None:
        there_are = ", ".join(item.name for item in listed)
        raise SpecError(f"no tool {tool!r}; there are: {there_are}", field="NAME")
    context = ToolContext(inputs=held(scene), media=media_of(settings.data_dir))
    try:
        answer = Toolbox([server_tool(name, server, chosen)], context).call(chosen.shown, json.dumps(args))
    except ServerFault as fault:
        raise Unavailable(str(fault), field=FIELD) from None
    if answer.error is not None:
        raise SpecError(json.loads(answer.content)["error"], field="--args")
    return answer
