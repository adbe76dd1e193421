"""What the documents tell a reader to type does what they say.

A block of the language `sh` is run, and one of `console` command by command, each of which prints the lines
below it. The blocks of a page run in order in one folder, which holds `examples/` and the page's files:
blocks after a line "`NAME`:", those that begin with `# NAME`, and those with `file: NAME` beside their
language. A block that cannot be run here says why beside its language: `not run: needs …`, or names the test
that runs it.
"""

import os
import subprocess
from pathlib import Path

import pytest

from tests.documented import NOT_RUN, ROOT, Block, blocks, links, pages, printed

SECONDS = 300  # a block may run three jobs, and the machine may be busy with others
BLOCKS = {page: list(blocks(page)) for page in pages()}


def _run(block: Block, folder: Path, path: str) -> None:
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GNOMON_")}
    environ |= {"PATH": path, "COLUMNS": "200"}
    for script, lines in block.scripts():
        result = subprocess.run(
            ["bash", "-eu", "-c", script],
            cwd=folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        where = f"{block.page}, block {block.number}:\n{script}\n{result.stdout[-3000:]}"
        assert result.returncode == block.exit_code, where
        for line in lines:
            assert printed(line, result.stdout), f"not printed: {line}\n{where}"


def test_every_block_of_commands_is_run_or_says_why_not() -> None:
    silent = [
        f"{block.page}, block {block.number}: {block.text.splitlines()[0]}"
        for page in BLOCKS.values()
        for block in page
        if block.has_commands and block.language not in ("sh", "console")
    ]
    assert silent == [], "write ```sh or ```console, with `not run: needs …` where it cannot be run here"
    for page in BLOCKS.values():
        for block in page:
            if block.not_run:
                assert NOT_RUN.fullmatch(block.not_run), (block.page, block.not_run)
                named = block.not_run.partition(" ")[0]
                assert not named.startswith(("tests/", "bench/")) or (ROOT / named).is_file(), named


@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    "page", [page for page, found in BLOCKS.items() if any(block.is_run for block in found)]
)
def test_the_commands_of_a_page_run(page: str, tmp_path: Path, warm_path: str) -> None:
    for name in ("examples", "docs"):
        (tmp_path / name).symlink_to(ROOT / name)
    for block in BLOCKS[page]:
        if block.file:
            (tmp_path / block.file).write_text(block.text)
    for block in BLOCKS[page]:
        if block.is_run:
            _run(block, tmp_path, warm_path)


def test_every_link_of_the_documents_leads_to_a_file() -> None:
    dead = [f"{page}: {link}" for page in BLOCKS for link in links(page) if not (ROOT / link).exists()]
    assert dead == []


def test_every_table_of_the_documents_begins_with_its_header() -> None:
    parted = []
    for page in BLOCKS:
        lines = ["", *(ROOT / page).read_text(encoding="utf-8").splitlines(), ""]
        for number in range(1, len(lines) - 1):
            if lines[number].startswith("|") and not lines[number - 1].startswith("|"):
                has_header = lines[number + 1].startswith("|") and not lines[number + 1].strip("|-: ")
                if not has_header:
                    parted.append(f"{page}:{number}: {lines[number]}")
    assert parted == []
