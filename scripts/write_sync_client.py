"""Makes the client for plain code from the one for code with an event loop, so that there is one to maintain.

Run it by `python -m scripts.write_sync_client` after a change of `gnomon_service/client/asynchronous.py`.
"""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent.parent / "service" / "gnomon_service" / "client"
WORDS = {
    "AsyncIterator, Callable, Coroutine": "Callable, Iterator",
    "Coroutine[Any, Any, T]": "T",
    "AsyncIterator": "Iterator",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncClient": "Client",
    "asynccontextmanager": "contextmanager",
    "aiter_lines": "iter_lines",
    "aread": "read",
    "aclose": "close",
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "asyncio.sleep": "time.sleep",
    "import asyncio\n": "",
    "async ": "",
    "await ": "",
    "code with an event loop": "plain code",
    "`synchronous.py` is made from this file": "Made from `asynchronous.py`",
}


def plain(source: str) -> str:
    """The source without `async` and `await`.

    >>> plain("async def job(self): return (await self.send(call))['items']")
    "def job(self): return self.send(call)['items']"
    """
    for word, other in WORDS.items():
        source = source.replace(word, other)
    source = re.sub(r"for (\w+) in (.+):\n +yield \1\n", r"yield from \2\n", source)
    return re.sub(r"return \((self\.send\([^\n]*\))\)\[", r"return \1[", source)


def made() -> str:
    """The text of synchronous.py."""
    source = plain((FOLDER / "asynchronous.py").read_text(encoding="utf-8"))
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--stdin-filename",
        str(FOLDER / "synchronous.py"),
        "-",
    ]
    done = subprocess.run(command, input=source, capture_output=True, text=True, check=True)  # noqa: S603 our own
    return done.stdout


def main() -> None:
    """Write synchronous.py."""
    (FOLDER / "synchronous.py").write_text(made(), encoding="utf-8")


if __name__ == "__main__":
    main()
