"""Tools served to other programs by the Model Context Protocol (MCP)."""
