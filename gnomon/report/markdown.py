"""Renders the report as Markdown, for a pull request or a note: what its page shows, without the pictures."""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from gnomon.report.html import page_parts
from gnomon.report.page_blocks import HEADINGS, PageReader, PageTable, PageText
from gnomon.report.report import Report
from gnomon.report.row_formats import escape_surrogates
from gnomon.report.sample_cards import OpenedSamples
from gnomon.report.text_formats import escape_markdown, markdown_table
from gnomon.stopping import while_wanted


def render_markdown(report: Report) -> str:
    """Headings, sentences, lists and tables of the report's page; of its folds the tables and facts.

    The title stands first. Names and causes from outside are escaped.

    Raises:
        Unwanted: the report is no longer wanted, see `gnomon.stopping`.
    """
    reader = PageReader()
    for part in while_wanted(page_parts(report, OpenedSamples(room=0))):
        reader.feed(str(part))  # each slice of markup would be markup again
    reader.blocks.sort(key=lambda block: not isinstance(block, PageText) or block.element != "h1")
    return escape_surrogates(as_markdown(reader.blocks))


def as_markdown(blocks: Iterable[PageText | PageTable]) -> str:
    """The blocks of a page as Markdown, texts escaped."""
    return "\n".join(_lines(blocks)).lstrip("\n")


def _is_above(block: PageText | PageTable, following: PageText | PageTable) -> bool:
    """Whether a heading stands right above one that is not below it."""
    levels = [block.element if isinstance(block, PageText) else "" for block in (block, following)]
    return levels[0] in HEADINGS and levels[1] in HEADINGS and levels[0] >= levels[1]


def _lines(blocks: Iterable[PageText | PageTable]) -> Iterator[str]:
    """The blocks, with a free line between all but the items of a list; headings of nothing are left out."""
    heading, term, was_item = "", "", False
    for block, following in pairwise((*blocks, PageText(element="h1", text=""))):
        if _is_above(block, following):
            continue
        is_item = isinstance(block, PageText) and block.element in ("dt", "dd", "li")
        if not (is_item and was_item):
            yield ""
        was_item = is_item
        if isinstance(block, PageTable):
            if block.caption != heading:
                yield from (f"**{escape_markdown(block.caption)}**", "")
            head = [escape_markdown(title) for title in block.head]
            yield markdown_table(head, block.rows, texts=block.texts).rstrip()
            continue
        text = escape_markdown(block.text)
        match block.element:
            case "dt":
                term = text
            case "dd":
                yield f"- {term}: {text}"
            case "li":
                yield f"- {text}"
            case "pre":
                yield from ("```", block.text, "```")
            case "p":
                yield text
            case level:
                heading = block.text
                yield f"{HEADINGS[level]}{text}"
    yield ""
