"""What a server's tool gave back, and how that becomes what a model reads."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from gnomon_tools.core.tool import ToolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A result as it came: texts in order, pictures as bytes, what is structured, and whether it failed."""

    texts: Sequence[str] = ()
    pictures: Sequence[bytes] = ()
    structured: Any = None
    is_error: bool = False

    def text(self, most_bytes: int) -> str:
        r"""Its texts joined; what is structured only where there is no text; cut with a word about it.

        >>> Answer(texts=["a" * 9]).text(5)
        'aaaaa\n[cut: 5 of 9 bytes]'
        >>> Answer(structured={"sum": 3}).text(100), Answer().text(100)
        ('{"sum": 3}', '(an empty result)')
        """
        text = "\n".join(self.texts)
        if not text and self.structured is not None:
            text = json.dumps(self.structured, ensure_ascii=False)
        if not text:
            return "" if self.pictures else "(an empty result)"
        data = text.encode(errors="replace")
        if len(data) <= most_bytes:
            return data.decode()
        return f"{data[:most_bytes].decode(errors='ignore')}\n[cut: {most_bytes:,} of {len(data):,} bytes]"


class CallTimeout(ToolError):
    """The server did not answer in time; it is stopped, and another takes the next call."""

    kind = "timeout"


class BadResult(ToolError):
    """The server answered with what its own description rules out, or what cannot be read."""

    kind = "bad_result"
