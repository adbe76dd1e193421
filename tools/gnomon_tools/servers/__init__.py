"""Tools of foreign servers: MCP over stdio or HTTP, and HTTP interfaces described by OpenAPI.

Start at `server_spec.py` (how a server is written in a spec) and `tool.py` (one of its tools, as a toolbox
runs it). `connections.py` keeps one connection for each server and process; `mcp_session.py` speaks MCP,
`granted_paths.py` says what a command may read, `cassette.py` answers from a record. docs/tool-servers.md.
"""
