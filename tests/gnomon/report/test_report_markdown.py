"""The Markdown of a report says what its page says."""

from gnomon.report.markdown import as_markdown
from gnomon.report.page_blocks import PageReader


def markdown_of_page(page: str) -> str:
    reader = PageReader()
    reader.feed(page)
    return as_markdown(reader.blocks)


def test_headings_sentences_lists_and_code_are_kept_and_texts_escaped() -> None:
    page = "<h2>A <b>b</b></h2><p>c*</p><dl><dt>d</dt><dd>1</dd></dl><ul><li>e</li></ul><pre>f: *\n</pre>"
    assert markdown_of_page(page) == "## A b\n\nc\\*\n\n- d: 1\n- e\n\n```\nf: *\n```\n"


def test_pictures_and_what_is_hidden_are_left_out() -> None:
    page = "<figure><p>a</p><svg><text>b</text></svg></figure><p><span aria-hidden='true'>c</span> d</p>"
    assert markdown_of_page(page) == "d\n"


def test_of_what_is_folded_there_are_the_tables_alone() -> None:
    table = "<table><tr><th>x</th><th class='n'>y</th></tr><tr><td>z</td><td class='n'>1</td></tr></table>"
    page = f"<details><p>a</p><div aria-label='b'>{table}</div></details>"
    assert markdown_of_page(page) == "**b**\n\n| x | y |\n|---|---:|\n| z | 1 |\n"


def test_a_table_has_no_title_beside_the_heading_that_says_the_same() -> None:
    page = "<h2>b</h2><div aria-label='b: table'><table><tr><th>x</th></tr><tr><td>z</td></tr></table></div>"
    assert markdown_of_page(page) == "## b\n\n| x |\n|---|\n| z |\n"
