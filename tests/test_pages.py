"""The parts of the docs that are made from the modules say what the modules say."""

import difflib
from dataclasses import replace

import pytest

from gnomon_tools.core.inputs import Input
from gnomon_tools.core.toolbox import TOOLS
from scripts import write_docs
from scripts.marked_text import with_text_between
from scripts.write_docs import DOCS, PARTS, page_text


@pytest.mark.parametrize("page", PARTS)
def test_a_page_equals_what_the_modules_say(page):
    written, made = (DOCS / page).read_text(encoding="utf-8"), page_text(page)
    changes = difflib.unified_diff(written.splitlines(), made.splitlines(), page, "the modules", lineterm="")
    assert written == made, "run `make docs`:\n" + "\n".join(changes)


def test_text_is_put_between_its_marks_and_the_rest_stays():
    assert with_text_between("a\n<\nold\n>\nb", "<\n", ">\n", "new\n") == "a\n<\nnew\n>\nb"


@pytest.mark.parametrize("page", ["nothing", "<\n", ">\n<\n"])
def test_a_page_without_both_marks_is_refused(page):
    with pytest.raises(ValueError, match="lacks the mark"):
        with_text_between(page, "<\n", ">\n", "new\n")


def test_a_tool_with_a_new_kind_of_input_has_a_part_of_the_page_without_a_list(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Tides(Input):
        """The water's height by time."""

    monkeypatch.setattr(TOOLS, "own", lambda: [replace(TOOLS.get("speed"), needs=Tides)])
    assert write_docs.kinds_of_tools() == ["Tides"]
    assert write_docs.tools_part("Tides").startswith("### `speed`\n")
