"""Reads the examples of the documents: files to write, and commands to run."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"(?:^`([\w./-]+)`:\n\n?)?^```([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
NAMED = re.compile(r"# ([\w.-]+\.\w+)\n")  # the first line of a file's block
COMMAND = re.compile(r"^(?:\$ )?(?:gnomon|make|curl|pip|uv|npm|npx|python|docker)(?= )", re.MULTILINE)
NOT_RUN = re.compile(r"(?:needs|takes|changes|see) .+|(?:tests|bench)/[\w./]+\.py|\.ci/run")


@dataclass(frozen=True, kw_only=True)
class Block:
    """A fenced block of a page: the name in the line before it, its language, notes beside it, its text."""

    page: str
    number: int
    title: str
    language: str
    notes: str
    text: str

    @property
    def file(self) -> str:
        """The file that it is the text of; empty if it is none."""
        if self.language in ("sh", "console", ""):
            return ""
        if self.title:
            return Path(self.title).name
        name = re.search(r"file: (\S+)", self.notes)
        first = NAMED.match(self.text)
        return name[1] if name else first[1] if first else ""

    @property
    def has_commands(self) -> bool:
        return (
            self.language in ("sh", "console", "text", "bash", "") and COMMAND.search(self.text) is not None
        )

    @property
    def is_run(self) -> bool:
        return self.language in ("sh", "console") and not self.not_run

    @property
    def not_run(self) -> str:
        """Why its commands are not run here; empty if they are."""
        return self.notes.partition("not run: ")[2]

    @property
    def exit_code(self) -> int:
        """What its last command ends with: `exits 2` in the notes."""
        code = re.search(r"exits (\d)", self.notes)
        return int(code[1]) if code else 0

    def scripts(self) -> Iterator[tuple[str, list[str]]]:
        """What to run, each with the lines that it prints: a `console` shows them below each `$ command`."""
        if self.language == "sh":
            yield self.text, []
            return
        for part in re.split(r"^\$ ", self.text, flags=re.MULTILINE)[1:]:
            command, *lines = re.sub(r"\\\n\s*", " ", part).splitlines()
            yield command, [line for line in lines if line.strip()]


def printed(line: str, output: str) -> bool:
    """Whether a line is in the output; `…` in it is anything, blanks are one.

    >>> printed("job …: 2 trials", "job  j_41:  2 trials of 1 sample\\n")
    True
    """
    parts = (r"\s+".join(map(re.escape, part.split())) for part in line.strip().split("…"))
    return re.search(r"\s*.*?\s*".join(parts), output) is not None


def pages() -> list[str]:
    """Every page for users, by its path."""
    files = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").rglob("*.md")),
        *sorted((ROOT / "packages").glob("*/README.md")),
    ]
    return [str(file.relative_to(ROOT)) for file in files if "adr" not in file.parts]


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for number, fence in enumerate(FENCE.finditer((ROOT / page).read_text()), start=1):
        language, _, notes = fence[2].strip().partition(" ")
        title = fence[1] or ""
        yield Block(page=page, number=number, title=title, language=language, notes=notes, text=fence[3])


def links(page: str) -> Iterator[str]:
    """The files of the repository that a page links to, by their paths."""
    text = FENCE.sub("", (ROOT / page).read_text())
    for target in re.findall(r"\]\(([^)\s#]+)[^)]*\)", text):
        if "://" not in target and not target.startswith(("mailto:", "/")):
            yield os.path.normpath(Path(page).parent / target)
