"""Finds where a reply declares its answer: the asked-for form, JSON, a tag, a box, or words that say so."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import chain
from typing import Any, Literal

from gnomon.core.text_calls import find_text_calls
from gnomon.core.thinking import without_thinking
from gnomon.reading.characters import plain_characters

MAX_READ = 20_000  # characters; of a longer reply its beginning and its end are read
MAX_TRIED = 50  # declarations of a kind, from the last; a reply that repeats itself must not hold up others
MAX_LINE = 2_000  # characters of a declared answer
MAX_DEPTH = 6  # of fields within fields

Asked = Literal["line", "json", "tag"]
"""The form that a prompt asks for: a line `Answer: …`, a JSON object, an `<answer>` tag."""


class Rule(StrEnum):
    """How an answer was read; rows keep it as `read_by`."""

    ASKED_FORM = "asked_form"  # the form that the prompt asks for
    JSON = "json"  # a field of a JSON object
    TAG = "tag"  # an answer tag
    BOX = "box"  # a box of LaTeX, or between marks of a box
    DECLARED = "declared"  # "the answer is", "final answer", and the like
    WHOLE = "whole"  # the whole reply is the answer
    LEADING = "leading"  # the reply begins with it
    LAST_LINE = "last_line"  # its last line is the answer
    ONLY_MENTION = "only_mention"  # nothing else of the kind is named in the reply


@dataclass(frozen=True, slots=True)
class Declaration:
    """A place of a reply that declares an answer: by which rule, where, and the text that is declared."""

    rule: Rule
    at: int
    text: str
    block: str = ""  # for declared lists: what follows, to the next blank line
    fields: Mapping[str, Any] = field(default_factory=dict, compare=False)  # the JSON object that holds it


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says beside its thinking and its calls, in plain characters, and its JSON objects."""

    text: str
    objects: tuple[tuple[int, dict[str, Any]], ...]

    @property
    def lines(self) -> list[str]:
        return [line for line in self.text.splitlines() if line.strip()]


_OBJECT = re.compile(r"\{\s*[\"}]")
_CALL = re.compile(r"\"(?:arguments|parameters)\"\s*:")
_CALL_NAMES = frozenset({"arguments", "parameters"})
_FIELD = re.compile(
    r"(?:the|your|my|final|correct|right|best|selected|chosen|predicted)*"
    r"(?:answers?|option|choice|letter|prediction|response|result|respuesta|réponse|antwort|resposta|ответ|答案|answerletter|optionno|optionnumber"
    r"|answeroption|answerchoice|optionletter|optionid|choiceletter|正解|答え|정답)"
)
_TAG = re.compile(
    r"<(/?)(answer|final_?answer|choice|option|result|solution)>|<\|(begin|end)_of_box\|>", re.IGNORECASE
)
_BRACE = re.compile(r"\\(?:boxed|fbox)\s*\{|\\[{}]|[{}]")

# What stands between a label and what it declares.
_GAP = r"[\s*_`\"'\])}]{0,6}?"
_IS = (
    r"(?::|=|->|→|⇒|=>|[–—-](?=\s)|\b(?:is|was|are|would be|should be|must be|has to be|will be|remains)\b:?)"
)
_QUALITY = r"(?:correct|right|best|chosen|selected|final)"
_LABEL = re.compile(
    "|".join(
        (
            rf"(?P<english>\b(?:final\s+)?ans(?:wer)?s?\b(?:\s(?:to|for)\s[^\n.:]{{1,60}}?)?){_GAP}(?:{_IS}|(?=[ \t*_`]*\n))",
            rf"\b{_QUALITY}\s+(?:option|choice|letter|one|selection)\b{_GAP}{_IS}",
            rf"\b(?:option|choice|selection|conclusion|verdict|prediction|response|result|solution)s?\b{_GAP}(?::|=)",
            rf"\brespuesta(?:\s+(?:correcta|final))?{_GAP}(?::|=|\b(?:es|sería)\b:?)",
            rf"\b(?:opción|opcion|opção|opcao|alternativa)\s+(?:correcta|correta|certa){_GAP}(?::|=|\b(?:es|é)\b:?)",
            rf"\br[ée]ponse(?:\s+(?:correcte|finale|exacte))?{_GAP}(?::|=|\b(?:est|serait)\b:?)",
            rf"\boption\s+correcte{_GAP}(?::|\best\b:?)",
            rf"\bantwort(?:möglichkeit|option)?{_GAP}(?::|=|\b(?:ist|lautet|wäre)\b:?)|\b(?:richtig|korrekt)\s+ist\b",
            rf"\b(?:lösung|ergebnis){_GAP}(?::|\b(?:ist|lautet)\b:?)",
            rf"\bresposta(?:\s+(?:correta|certa|final))?{_GAP}(?::|=|\b(?:é|seria)(?!\w):?)",
            rf"\bответ(?:ом)?{_GAP}(?::|=|[–—-]|\b(?:это|будет|является)\b:?)"
            r"|\b(?:правильный|верный)\s+(?:ответ|вариант)\b(?:\s+ответа)?[\s*]*(?::|[–—-]|\b(?:это|будет)\b)?",
            rf"(?:答案|正解|正确选项|正確選項){_GAP}(?:应该是|應該是|应为|應為|就是|为|為|是|选|選|は|:|(?=\n))",
            r"(?:故|应|應|应该|我|所以|因此|答案|最终)(?:选择|選擇|选|選)[\s*]*:?",
            rf"(?:答え|こたえ|解答|回答|選択肢){_GAP}(?:は|:|=)",
            rf"(?:정답|답변|답){_GAP}(?:은|는|이|:|=)",
        )
    )
)
_MARGIN = re.compile(r"[\s*_#>\-`•]*(?:(?:the|my|so|final|correct|best)[\s*_]+)*")
_ANSWER = re.compile(
    r"ans|option|choice|selection|respuesta|r[ée]ponse|antwort|resposta|ответ|答案|正解|答え|解答|回答|정답|답"
)
_EMPTY = " \t\r\n*_`:\"'"
# What in the clause, or in the sentence, before a label makes it declare nothing.
_SENTENCE = re.compile(r"[.!?。！？\n]\s*(?=[^.!?。！？\n]*$)")
_CLAUSE = re.compile(r"[,;:(—]|\bbut\b")
_UNDOES = re.compile(
    r"\b(?:not|never|wrong|incorrect|false|mistaken|mistake|tempting|falsche|incorrecta|fausse|errada|incorreta|"
    r"might think|may think|could think|would think|first thought|why)\b|n['’]t\b|неправильн|неверн|错误|錯誤"
)
_SUPPOSES = re.compile(r"^\W*(?:even\s+|only\s+)?(?:if|unless|whether|suppose|had)\b")


def what_is_said(reply: str) -> Said:
    """The words of a reply, at most MAX_READ of them, without thinking and calls of tools."""
    text = without_thinking(reply)
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    text = plain_characters(text)
    if "{" in text or "<" in text or "[" in text or "(" in text:
        calls = find_text_calls(text)
        text = text if calls is None else calls.rest
    text, objects = _objects(text) if "{" in text else (text, ())
    return Said(text=text.strip(), objects=objects)


def _objects(text: str) -> tuple[str, tuple[tuple[int, dict[str, Any]], ...]]:
    """The outermost JSON objects, and the text with those blanked that are calls, broken ones to their end."""
    if "{" not in text:
        return text, ()
    decoder, end, objects, calls = json.JSONDecoder(), 0, [], []
    openings = [match.start() for match in _OBJECT.finditer(text)]
    if len(openings) > 2 * MAX_TRIED:
        openings = [*openings[:MAX_TRIED], *openings[-MAX_TRIED:]]
    for opening in openings:
        if opening < end:
            continue
        try:
            fields, close = decoder.raw_decode(text, opening)
        except (ValueError, RecursionError):
            if _CALL.search(text, opening, opening + MAX_LINE):
                end = len(text)
                calls.append((opening, end))
            continue
        end = close
        if _is_call(fields):
            calls.append((opening, close))
        else:
            objects.append((opening, fields))
    for opening, close in calls:
        text = f"{text[:opening]}{' ' * (close - opening)}{text[close:]}"
    return text, tuple(objects)


def _is_call(fields: object) -> bool:
    """Whether an object calls a tool, or holds one that does."""
    if isinstance(fields, Mapping):
        return bool(_CALL_NAMES & fields.keys()) or any(
            _is_call(value) for name in ("function", "tool_call", "tool_calls") if (value := fields.get(name))
        )
    return isinstance(fields, list) and any(_is_call(value) for value in fields[:MAX_DEPTH])


def declarations_in(said: Said, asked: Asked, more: tuple[Declaration, ...] = ()) -> Iterator[Declaration]:
    """The declarations of a reply, those that outrank others first; within a rank the last first.

    `more` are declarations in words that only some kinds of answers know, such as "B is correct".
    """
    structured = sorted(chain(_fields(said), _tags_and_boxes(said.text)), key=lambda d: d.at, reverse=True)
    in_words = [*_labels(said.text), *more]
    if more:
        in_words.sort(key=lambda d: d.at)
    if asked == "line":
        last = max((d.at for d in in_words if d.rule == Rule.ASKED_FORM), default=len(said.text))
        # What is declared after the last line of the asked form has taken it back.
        yield from (d for d in reversed(in_words) if d.at >= last or d.rule == Rule.ASKED_FORM)
        yield from structured
        yield from (d for d in reversed(in_words) if d.at < last and d.rule != Rule.ASKED_FORM)
        return
    asked_rule = Rule.JSON if asked == "json" else Rule.TAG
    for declaration in structured:
        if declaration.rule == asked_rule:
            yield replace(declaration, rule=Rule.ASKED_FORM)
    yield from (d for d in structured if d.rule != asked_rule)
    yield from (replace(d, rule=Rule.DECLARED) for d in reversed(in_words))


def _fields(said: Said) -> Iterator[Declaration]:
    """The fields of JSON objects that hold an answer by their names."""
    for at, fields in said.objects[-MAX_TRIED:]:
        for value in _answers(fields, MAX_DEPTH):
            yield Declaration(Rule.JSON, at, value, fields=fields)


def _answers(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    for name, value in fields.items():
        if _FIELD.fullmatch(re.sub(r"[\s_-]", "", name.lower())):
            if isinstance(value, dict) and depth and any(True for _ in _answers(value, depth - 1)):
                yield from _answers(value, depth - 1)
            elif isinstance(value, int | float) and isinstance(fields.get("unit"), str):
                yield f"{value!r} {fields['unit']}"
            elif value is not None:
                yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        elif isinstance(value, dict) and depth:
            yield from _answers(value, depth - 1)


def _tags_and_boxes(text: str) -> Iterator[Declaration]:
    if "<" in text:
        yield from _tags(text)
    if "\\boxed" not in text and "\\fbox" not in text:
        return
    open_braces: list[re.Match[str]] = []
    boxes = []
    for match in _BRACE.finditer(text):
        if match[0] == "}" and open_braces:
            opening = open_braces.pop()
            if len(opening[0]) > 1:
                boxes.append((opening.start(), text[opening.end() : match.start()][:MAX_LINE]))
        elif match[0].endswith("{") and match[0] != "\\{":
            open_braces.append(match)
    for at, inner in boxes[-MAX_TRIED:]:
        yield Declaration(Rule.BOX, at, inner)


def _tags(text: str) -> Iterator[Declaration]:
    """Texts between an opening mark and the closing one of its name; the last may end with the reply."""
    opening: tuple[str, int, int] | None = None
    tags = []
    for match in _TAG.finditer(text):
        name = match[2].lower() if match[2] else "box"
        if not (match[1] or match[3] == "end"):
            opening = (name, match.start(), match.end())
        elif opening is not None and opening[0] == name:
            tags.append((opening, match.start()))
            opening = None
    if opening is not None:
        tags.append((opening, len(text)))
    for (name, at, start), end in tags[-MAX_TRIED:]:
        inner = text[start:end][:MAX_LINE].strip()
        if inner:
            yield Declaration(Rule.BOX if name == "box" else Rule.TAG, at, inner)


def _labels(text: str) -> list[Declaration]:
    """The words that declare an answer, in their order; `Answer: …` at a line's beginning is the asked form."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = text
    declarations = []
    for match in list(_LABEL.finditer(lowered))[-MAX_TRIED:]:
        start, end = match.span()
        margin = lowered.rfind("\n", 0, start) + 1
        is_line = start - margin <= 40 and _MARGIN.fullmatch(lowered, margin, start) is not None
        ends_its_line = lowered[end - 1] not in ":=" and not lowered[end : end + 20].partition("\n")[0].strip(
            "* _`"
        )
        if not is_line and (ends_its_line or _declares_nothing(lowered[max(margin, start - 160) : start])):
            continue
        rest = text[end : end + MAX_LINE].lstrip(" \t")
        if not rest.partition("\n")[0].strip(_EMPTY):
            rest = rest.lstrip(_EMPTY).removeprefix("json").lstrip()
        line = rest.partition("\n")[0].strip()
        is_asked = is_line and (ends_its_line or lowered[end - 1] in ":=") and _ANSWER.search(match[0])
        rule = Rule.ASKED_FORM if is_asked else Rule.DECLARED
        declarations.append(Declaration(rule, start, line, rest.partition("\n\n")[0]))
    return declarations


def _declares_nothing(before: str) -> bool:
    """Whether the words before a label deny it, or only suppose it."""
    sentence = before[match.end() :] if (match := _SENTENCE.search(before)) else before
    clause = sentence[max((m.end() for m in _CLAUSE.finditer(sentence)), default=0) :]
    return _UNDOES.search(clause) is not None or _SUPPOSES.match(sentence) is not None
