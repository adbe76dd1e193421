"""Writes numbers, names and tables as the report's texts show them."""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup, escape

from gnomon.fitness.table import STATE_WORDS

# What can start a link, a table cell, a heading, emphasis, code, an entity or HTML in Markdown.
SPECIAL = {ord(mark): f"\\{mark}" for mark in "\\`*_{}[]<>#+!|~&"} | {10: " ", 13: " "}
PROTOCOLS = {  # what is said of prompts
    "guarded": "prompts without what would give answers away",
    "official": "prompts as the benchmark’s authors released them",
    "paper": "prompts as the paper describes them",
}
LABEL_CHARS = 27  # what a plot has room for


def points(value: float) -> str:
    """A difference in percentage points, with its sign.

    >>> points(0.412), points(-0.05), points(-0.0001)
    ('+41.2', '−5.0', '0.0')
    """
    text = _signed(value)
    return "0.0" if text[1:] == "0.0" else text


def _signed(value: float) -> str:
    return f"{100 * value:+.1f}".replace("-", "−")


def points_range(ends: Sequence[float] | None) -> str:
    """An interval of a difference, in percentage points; a dash where there is none.

    >>> points_range([-0.05, 0.1]), points_range(None)
    ('−5.0 to +10.0', '–')
    """
    return " to ".join(points_ends(ends)) if ends else "–"


def points_brackets(ends: Sequence[float] | None) -> str:
    """An interval of a difference, to follow its value; nothing where there is none.

    >>> points_brackets([-0.05, 0.1])
    ' [−5.0, +10.0]'
    """
    return f" [{', '.join(points_ends(ends))}]" if ends else ""


def points_ends(ends: Sequence[float]) -> list[str]:
    """Both ends of an interval; where it leaves out zero, one that rounds to zero keeps its sign.

    >>> points_ends([0.0001, 0.1]), points_ends([-0.0001, 0.1])
    (['+0.0', '+10.0'], ['0.0', '+10.0'])
    """
    low, high = ends
    return [_signed(end) if low > 0 or high < 0 else points(end) for end in ends]


def deciding(compared: Mapping[str, Any]) -> tuple[list[float] | None, int]:
    """The interval by which the verdict on a comparison was reached, and its level in percent: 90 of no
    effect, which two one-sided tests at 5 % show, else 95.

    >>> deciding({"verdict": "no_effect", "ci95": [-0.05, 0.05], "ci90": [-0.04, 0.04]})
    ([-0.04, 0.04], 90)
    """
    if compared["verdict"] == "no_effect" and compared.get("ci90"):
        return compared["ci90"], 90
    return compared["ci95"], 95


def both_ranges(compared: Mapping[str, Any]) -> str:
    """The 95 % interval of a comparison, and the one by which its verdict was reached if that is another.

    >>> both_ranges({"verdict": "no_effect", "ci95": [-0.05, 0.05], "ci90": [-0.04, 0.04]})
    '−5.0 to +5.0; 90 %, which decided: −4.0 to +4.0'
    """
    ends, level = deciding(compared)
    more = "" if level == 95 else f"; {level} %, which decided: {points_range(ends)}"
    return points_range(compared["ci95"]) + more


def margin_size(ends: Sequence[float]) -> str:
    """A margin in points: one figure where both sides are alike.

    >>> margin_size((-0.05, 0.05)), margin_size((-0.041, 0.044)), margin_size((-0.01, 0.01))
    ('5 points', '−4.1 to +4.4 points', '1 point')
    """
    low, high = ends
    size = f"{100 * high:.3g}" if abs(low + high) < 1e-9 else points_range(ends)
    return f"{size} point" if size == "1" else f"{size} points"


def margin_range(compared: Mapping[str, Any], nominal: float) -> str:
    """The margin in force for a comparison, and why it is not the nominal one, if it is not.

    >>> margin_range({"margin": [-0.01, 0.01], "margin_why": "5, narrowed near 0 %"}, 0.05)
    '±1 point (5, narrowed near 0 %)'
    """
    ends = compared.get("margin") or (-nominal, nominal)  # absent from reports of older versions
    size = margin_size(ends)
    size = size if " to " in size else f"±{size}"
    why = compared.get("margin_why")
    return f"{size} ({why})" if why else size


def percent(value: float | None) -> str:
    """A fraction in percent, a dash where there is none.

    >>> percent(0.5), percent(None)
    ('50.0', '–')
    """
    return "–" if value is None else f"{100 * value:.1f}"


def percent_range(ends: Sequence[float] | None, between: str = "to") -> str:
    """An interval of a share in percent; a dash where there is none.

    >>> percent_range([0.25, 0.5])
    '25.0 to 50.0'
    """
    return f"{percent(ends[0])} {between} {percent(ends[1])}" if ends else "–"


def percent_brackets(ends: Sequence[float] | None) -> str:
    """An interval of a share, to follow its value; nothing where there is none.

    >>> percent_brackets([0.25, 0.5])
    ' [25.0, 50.0]'
    """
    return f" [{percent(ends[0])}, {percent(ends[1])}]" if ends else ""


def p_text(value: float | None) -> str:
    """A p value as papers print it.

    >>> p_text(0.0401), p_text(0.00001), p_text(None)
    ('0.040', '< 0.001', '–')
    """
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"


def known_count(number: int | None, noun: str) -> str:
    """A count with its noun, or that it is unknown.

    >>> known_count(1, "call"), known_count(None, "call")
    ('1 call', 'calls unknown')
    """
    return f"{noun}s unknown" if number is None else count(number, noun)


def count(n: int, noun: str) -> str:
    """A counted noun.

    >>> count(1, "sample"), count(1200, "sample")
    ('1 sample', '1,200 samples')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def signed(value: float | None, digits: int = 3) -> str:
    """A difference with its sign, to so many digits; 0: a whole number. What is nothing has no sign.

    >>> signed(0.01234), signed(-2.0), signed(None), signed(-0.0), signed(-1712, 0)
    ('+0.0123', '−2', '–', '0', '−1,712')
    """
    if value is None:
        return "–"
    text = f"{value:+.{digits}g}" if digits else f"{value:+,.0f}"
    return "0" if text in ("+0", "-0") else text.replace("-", "−")


def gain(value: float) -> str:
    """Points for a unit of cost, to three digits.

    >>> gain(0.1234), gain(-3.0), gain(-1e-17)
    ('12.3', '−300', '0')
    """
    size = round(100 * value, 9) + 0.0
    return (f"{size:,.0f}" if abs(size) >= 100 else f"{size:.3g}").replace("-", "−")


def dollars(value: float) -> str:
    """Dollars to the cent, below one dollar to a hundredth of a cent.

    >>> dollars(1234.5), dollars(0.0123), dollars(0.0)
    ('$1,234.50', '$0.0123', '$0.00')
    """
    return f"${value:,.2f}" if value >= 1 or value == 0 else f"${value:.4f}"


def short(text: str, chars: int = LABEL_CHARS) -> str:
    """The text, cut in the middle where it is longer.

    >>> short("abcdefgh", 5)
    'ab…gh'
    """
    half = (chars - 1) // 2
    return text if len(text) <= chars else f"{text[: chars - 1 - half]}…{text[-half:]}"


def label(model: str, arms: str) -> str:
    """A model with its provider, and its arms, as long as a plot has room for.

    >>> label("openai/gpt-5-mini", "tools"), label("openrouter/meta-llama/llama-4", "tools")
    ('openai/gpt-5-mini, tools', 'openrouter…a/llama-4, tools')
    """
    arms = short(arms, LABEL_CHARS - 8)
    return f"{short(model, LABEL_CHARS - len(arms) - 2)}, {arms}"


def counted_causes(counts: dict[str, int]) -> str:
    """Causes with their counts; `none` where there are none.

    >>> counted_causes({"timeout": 1200, "refusal": 3}), counted_causes({})
    ('timeout 1,200, refusal 3', 'none')
    """
    return ", ".join(f"{name} {number:,}" for name, number in counts.items()) or "none"


def escape_markdown(text: str) -> str:
    r"""Text that Markdown shows as it is, on one line.

    >>> print(escape_markdown("<b>|*x*"))
    \<b\>\|\*x\*
    """
    return text.translate(SPECIAL)


def clean(text: str) -> str:
    """Text without the control characters that could drive a terminal.

    >>> clean("a" + chr(27) + "[2J")
    'a[2J'
    """
    return "".join(char for char in text if char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs"))


def clusters_cell(counted: Mapping[str, Any]) -> str:
    """The clusters of a line in a table, by both factors where two cross.

    >>> clusters_cell({"clusters": 20, "crossing_clusters": 8}), clusters_cell({"clusters": 1_200})
    ('20 × 8', '1,200')
    """
    second = counted.get("crossing_clusters")  # reports of before have none
    return f"{counted['clusters']:,} × {second:,}" if second else f"{counted['clusters']:,}"


def with_code(text: str) -> Markup:
    """Text for a page, escaped; what stands between backticks is code.

    >>> with_code("set `tool_choice`, <b>")
    Markup('set <code>tool_choice</code>, &lt;b&gt;')
    """
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


FILTERS = {  # of templates: the numbers of reports and pages look alike
    "points": points,
    "points_range": points_range,
    "points_brackets": points_brackets,
    "deciding": deciding,
    "both_ranges": both_ranges,
    "margin_range": margin_range,
    "clusters_cell": clusters_cell,
    "percent": percent,
    "percent_range": percent_range,
    "p": p_text,
    "count": count,
    "dollars": dollars,
    "short": short,
    "signed": signed,
    "gain": gain,
    "state_words": STATE_WORDS.__getitem__,
    "with_code": with_code,
    "protocol_means": lambda name: PROTOCOLS.get(name, "how questions are put"),
}


def capitalised(text: str) -> str:
    """The text with a capital first letter, and all others as they are.

    >>> capitalised("at 3 times the USD")
    'At 3 times the USD'
    """
    return f"{text[:1].upper()}{text[1:]}"


def listed(texts: Iterable[str]) -> str:
    """Texts as a list in a sentence.

    >>> listed(["a", "b", "c"]), listed(["a"]), listed([])
    ('a, b and c', 'a', 'none')
    """
    *most, last = [*texts] or ["none"]
    return f"{', '.join(most)} and {last}" if most else last


def settings_text(settings: Mapping[str, Any]) -> str:
    """Settings with their values.

    >>> settings_text({"temperature": 0.0, "max_tokens": 2048, "reasoning_effort": "low"})
    'temperature 0, max_tokens 2,048, reasoning_effort low'
    """
    return ", ".join(
        f"{name} {f'{value:,g}' if isinstance(value, int | float) and not isinstance(value, bool) else value}"
        for name, value in settings.items()
    )


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]], *, texts: int) -> str:
    """Any table as Markdown, cells escaped, of a head that is; its first `texts` columns are of text."""
    lines = [f"| {' | '.join(head)} |", f"|{'---|' * texts}{'---:|' * (len(head) - texts)}"]
    lines += [f"| {' | '.join(map(escape_markdown, row))} |" for row in rows]
    return "\n".join(lines) + "\n"
