"""A small MCP server for tests: sums, a picture, a failure, structured and typed results."""

import base64
import io

from mcp.server import MCPServer
from mcp_types import ImageContent, TextContent
from PIL import Image
from pydantic import BaseModel

server = MCPServer("small", version="1.0")


class Sum(BaseModel):
    total: float
    unit: str


@server.tool()
def add(a: float, b: float) -> str:
    """Add two numbers."""
    return f"{a + b:g}"


@server.tool()
def total(values: list[float], unit: str = "m") -> Sum:
    """The total of some values."""
    return Sum(total=sum(values), unit=unit)


@server.tool()
def scene_size(scene: str) -> str:
    """How many characters the scene has."""
    return f"{len(scene)} characters"


@server.tool()
def draw(colour: str) -> list[TextContent | ImageContent]:
    """Draw a small square."""
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8), colour).save(buffer, "PNG")
    data = base64.b64encode(buffer.getvalue()).decode()
    return [
        TextContent(type="text", text="a square"),
        ImageContent(type="image", data=data, mime_type="image/png"),
    ]


@server.tool()
def refuse() -> str:
    """Always fails."""
    raise ValueError("this one never works")


if __name__ == "__main__":
    server.run("stdio")
