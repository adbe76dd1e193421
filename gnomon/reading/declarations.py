"""Finds where a reply declares its answer: the asked-for form, JSON, a tag, a box, or words that say so."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, NamedTuple

from gnomon.core.text_calls import find_text_calls
from gnomon.core.thinking import without_thinking
from gnomon.reading.characters import at_word_start, plain_characters
from gnomon.reading.units import unit_of

MAX_READ = 20_000  # characters; of a longer reply its beginning and its end are read
MAX_TRIED = 50  # declarations of a kind, from the last; a reply that repeats itself must not hold up others
MAX_LABELS = 200  # words that may declare an answer, from the last
MAX_LINE = 2_000  # characters of a declared answer
MAX_ALONE = 6  # characters of an answer in which no second one has room
MAX_MARGIN = 40  # characters before a label that a line begins with
MAX_DEPTH = 6  # of fields within fields

AnswerForm = Literal["line", "json", "tag"]
"""The form that a prompt asks for: a line `Answer: …` or of JSON, a JSON object, an `<answer>` tag."""


Rule = Literal[
    "asked_form",  # the form that the prompt asks for
    "json",  # a field of a JSON object
    "tag",  # an answer tag
    "box",  # a box of LaTeX, or between marks of a box
    "declared",  # "the answer is", "final answer", and the like
    "whole",  # the whole reply is the answer
    "leading",  # the reply begins with it
    "last_line",  # its last line is the answer
    "only_mention",  # nothing else of the kind is named in the reply
]
"""How an answer was read; rows keep it as `read_by`."""


class Declaration(NamedTuple):
    """A place of a reply that declares an answer: by which rule, where, and the text that is declared."""

    rule: Rule
    at: int
    text: str
    block: str = ""  # for declared lists: what follows, to the next blank line
    fields: Mapping[str, Any] | None = None  # the JSON object that holds it


class Said(NamedTuple):
    """What a reply says beside its thinking and its calls, in plain characters, and its JSON objects."""

    text: str
    lowered: str = ""  # the text in small letters, each in its place
    objects: tuple[tuple[int, dict[str, Any]], ...] = ()

    @property
    def lines(self) -> list[str]:
        lines = self.text.splitlines() if "\n" in self.text else [self.text]
        return [line for line in lines if line.strip()]


_OBJECT = re.compile(r"\{\s*[\"'}]")
_CALL = re.compile(r"[\"'](?:arguments|parameters)[\"']\s*:")
# What makes an object behind it the arguments of a call.
_CALLS = re.compile(
    r"(?:<(?!ans|final|result|output|json|response)[a-z]\w{0,60}>|\b(?:arguments|args|parameters|input):?\**)\s*\Z",
    re.IGNORECASE,
)
_FINAL = re.compile(r"(?:final|submit)?[ _]?(?:answer|response)|finish|submit", re.IGNORECASE)
_CALL_ALONE = re.compile(
    rf"(?:```\w*\s*)?(?!(?i:{_FINAL.pattern})\()[A-Za-z_][\w.]*\([^()\"']*[\"'][^()]*\)(?:\s*```)?"
)
_NEXT_QUESTION = re.compile(r"\n(?:Question|Human|User):")
_STRUCK = re.compile(r"~~[^~\n]{1,200}~~")
_TABLE = re.compile(
    r"^([^\n\d]*\|[^\n\d]*)\n[ \t]*\|?[ \t:|-]*--[ \t:|-]*\n([^\n]*\|[^\n]*)(?:\n(?![^\n]*\|)|\Z)",
    re.MULTILINE,
)
_IF = re.compile(r"\b(?:if|when|unless|wenn|falls|si|s['’]il|se|если)\b|如果|若|要是|もし|れば|なら|면")
_OR_ELSE = re.compile(
    r"[.;,:(—–。；，、]\s*(?:(?:(?:and|or|but|ou|y|и|und)\s)?(?:otherwise|else|sonst|andernfalls|ansonsten|sinon|"
    r"si no|de lo contrario|(?:em |in )?caso contr[aá]rio|sen[ãa]o|altrimenti|иначе|в противном случае)\b|"
    r"否则|否則|不然|そうでなければ|さもなければ|아니면|그렇지 않으면)"
)
# One of these stands where `_OR_ELSE` finds something that is not in ASCII.
_OR_ELSE_SIGNS = frozenset("ãа否不な아않")
_CALL_NAMES = frozenset({"arguments", "parameters"})
_TOOL_NAMES, _ARGUMENT_NAMES = frozenset({"tool", "tool_name", "action"}), ("args", "input", "action_input")
_FIELD = re.compile(
    r"(?:the|your|my|final|correct|right|best|selected|chosen|predicted)*"
    r"(?:answers?|ans|final|selected|output|label|option|choice|letter|prediction|response|result|respuesta|réponse|antwort|resposta|ответ|答案"
    r"|answerletter|optionno|optionnumber|answeroption|answerchoice|optionletter|optionid|choiceletter|正解|答え|정답)"
)
_TAG = re.compile(
    r"[<\[](/?)(answer|ans|final|final_?answer|choice|option|result|solution)[>\]]|<\|(begin|end)_of_box\|>",
    re.IGNORECASE,
)
_UNIT_BEHIND = re.compile(r"[\s$~\\)]{0,4}(?:text\{)?\s?([^\W\d_][\w/²³]{0,15}|[°%])[\s$}\\)*.]*(?=[\n,]|\Z)")
_BRACE = re.compile(r"(?:\\|\b)(?:boxed|fbox)\s*\{|\\[{}]|[{}]")

# What stands between a label and what it declares.
_GAP = r"[\s*_`\"'\])}]{0,6}?"
_SIGN = r":|=|->|→|⇒|[–—-](?=\s)"
_IS = rf"{_GAP}(?:{_SIGN}|\b(?:is|was|are|would be|should be|must be|has to be|will be|remains)\b:?)"
_LINE_END = r"(?=[ \t*_`:]*\n)"


_COLON = re.compile(rf"s?{_GAP}[:=]")
_TO = r"(?:\s(?:to|for)\s[^\n.:]{1,60}?)?"
_CHOICE = re.compile(rf"(?:\s+correcte)?(?:{_IS}|{_GAP}\best\b)")
_OPCION = re.compile(rf"\s+(?:correcta|correta|certa)(?:{_GAP}[:=]|\s+(?:es|é)(?!\w):?)")
_OTHER_ANSWER = re.compile(rf"(?:\s+\w{{5,8}})?(?:{_GAP}[:=]|\s+(?:è|is|to)(?!\w):?)")
_JAPANESE = re.compile(rf"{_GAP}(?:は|[:=])")
_KOREAN = re.compile(rf"{_GAP}(?:은|는|이|[:=])")
_CHINESE = re.compile(rf"{_GAP}(?:应该是|應該是|应为|應為|就是|为|為|是|选择|选|選|は|[:=]|(?=\n))")
_LABELS: Mapping[str, re.Pattern[str]] = {
    "ans": re.compile(rf"(?:wer)?s?\b{_TO}(?:{_IS}|{_LINE_END})"),
    **dict.fromkeys(("option", "choice", "letter", "selection"), _CHOICE),
    **dict.fromkeys(("conclusion", "verdict", "prediction", "response", "result", "solution"), _COLON),
    "respuesta": re.compile(rf"(?:\s+(?:correcta|final))?(?:{_GAP}[:=]|\s+(?:es|sería)\b:?)"),
    **dict.fromkeys(("opción", "opcion", "opção", "opcao", "alternativa"), _OPCION),
    **dict.fromkeys(
        ("réponse", "reponse"), re.compile(rf"(?:\s+\w{{5,8}})?(?:{_GAP}[:=]|\s+(?:est|serait)\b:?)")
    ),
    "antwort": re.compile(rf"(?:möglichkeit|option)?(?:{_GAP}[:=]|\s+(?:ist|lautet|wäre)\b:?)"),
    **dict.fromkeys(("richtig ist", "korrekt ist"), re.compile(r"\b:?")),
    **dict.fromkeys(("lösung", "ergebnis"), re.compile(rf"{_GAP}[:=]|\s+(?:ist|lautet)\b")),
    "resposta": re.compile(rf"(?:\s+(?:correta|certa|final))?(?:{_GAP}[:=]|\s+(?:é|seria)(?!\w):?)"),
    "ответ": re.compile(rf"(?:ом)?{_GAP}(?:[:=]|[–—-]|\b(?:это|будет|является)\b:?)"),
    **dict.fromkeys(("правильный ответ", "верный ответ"), re.compile(rf"{_GAP}[:–—-]|(?=\s[a-zа-е]\b)")),
    **dict.fromkeys(("risposta", "odpowiedź"), _OTHER_ANSWER),
    **dict.fromkeys(("правильный вариант", "верный вариант"), re.compile(r"(?:\s+ответа)?[\s*]{0,6}[:–—-]?")),
    **dict.fromkeys(("答案", "正确选项", "正确的选项", "正確選項", "正解"), _CHINESE),
    **dict.fromkeys(
        ("故选", "应选", "应该选", "我选", "所以选", "因此选", "最终选", "故選", "應選", "我選"),
        re.compile(r"(?:择|擇)?[\s*]{0,6}:?"),
    ),
    **dict.fromkeys(("选", "選"), re.compile(r"(?:择|擇)?[\s*:]{0,6}(?=\(?[a-z](?![a-z]))")),
    **dict.fromkeys(("选项", "選項"), re.compile(r"(?:字母)?(?:应)?[为為是:](?=\s?\(?[a-z](?![a-z]))")),
    **dict.fromkeys(("答え", "こたえ", "解答", "回答", "選択肢"), _JAPANESE),
    **dict.fromkeys(("정답", "답변", "답"), _KOREAN),
}
_LONGEST_FIRST = sorted(_LABELS, key=len, reverse=True)
_ASCII = at_word_start("|".join(filter(str.isascii, _LONGEST_FIRST)))
_ASCII_LABEL = re.compile(_ASCII)
_LABEL = re.compile("|".join((_ASCII, *(word for word in _LONGEST_FIRST if not word.isascii()))))
_QUALITY = re.compile(r"(?:correct|right|best|chosen|selected|final|meilleure|option|answer)[\s*_]{1,4}$")
_NEEDS_QUALITY = frozenset({"option", "choice", "letter", "selection"})
_MARGIN = re.compile(
    r"[\s*_#>\-`•]*(?:(?:the|my|so|final|correct|best|la|die|a|правильный|最终|最終)[\s*_]*)*"
)
_NO_ANSWER_LABEL = frozenset({"conclusion", "verdict", "prediction", "response", "result", "solution"})
_EMPTY = " \t\r\n*_`:\"'"
# What in the clause, or in the sentence, before a label makes it declare nothing.
FULL_STOP = re.compile(r"[.!?](?=\s|$)|\n|。")
_SENTENCE_END = re.compile(r"[.!?。！？\n]\s*")
_CLAUSE = re.compile(r"[,;:(—]|\bbut\b")
_WRONG = at_word_start(
    "not|never|wrong|incorrect|false|mistaken|mistake|falsche|incorrecta|fausse|errada|incorreta|"
    r"argue|why|first thought|seems? like|tempt\w*|in which case|in that case"
)
_OTHER = at_word_start("second|alternative|another|rejected|previous|earlier|initial|each|every")
_UNDOES = re.compile(
    rf"(?:{_WRONG}|n['’]t|\b(?:might|may|could|would) (?:think|say|argue|guess|seem))\b|"
    rf"неправильн|неверн|错误|錯誤|不[能应该会]{{0,2}}$|(?:{_OTHER})\s$"
)
_SUPPOSES = re.compile(
    r"^\W*(?:(?:even\s+|only\s+)?(?:if|unless|whether|suppose|had|otherwise|else|assuming|wenn|falls|s['’]il|если)\b|"
    r"(?:si|se)\s(?!\W)|如果|若|要是|もし)"
)


def what_is_said(reply: str) -> Said:
    """The words of a reply, at most MAX_READ of them, without thinking and calls of tools."""
    text = without_thinking(reply)
    if len(text) > MAX_READ:
        text = f"{text[: MAX_READ // 2]}\n{text[-MAX_READ // 2 :]}"
    text = plain_characters(text)
    if "{" in text or "<" in text or "[" in text or "```" in text or "Action Input:" in text:
        calls = find_text_calls(text)
        text = text if calls is None else calls.rest
    if text.endswith((")", "```")) and _CALL_ALONE.fullmatch(text.strip()):
        return Said("")
    if "~~" in text:
        text = _STRUCK.sub("", text)
    if "\n" in text:
        if "--" in text and "|" in text:
            text = _TABLE.sub(_as_lines, text, count=MAX_TRIED)
        if "\nQuestion:" in text or "\nHuman:" in text or "\nUser:" in text:
            text = _without_next_question(text)
    if (
        ("therwise" in text or "lse" in text or "rnfalls" in text or "onst" in text or "inon" in text)
        or ("i no," in text or "contr" in text or "ltrim" in text)
        or not (text.isascii() or _OR_ELSE_SIGNS.isdisjoint(text))
    ):
        text = _without_cases(text)
    text, objects = _objects(text) if "{" in text else (text, ())
    text = text.strip()
    return Said(text, _in_small_letters(text), objects)


def _as_lines(table: re.Match[str]) -> str:
    """A table of one row, each cell behind its heading: "| lat | lon |" becomes "lat: …" and "lon: …"."""
    headings, cells = (row.strip(" \t|").split("|") for row in table.groups())
    if len(headings) != len(cells):
        headings = table[1].strip().strip("|").split("|")
        cells = table[2].strip().strip("|").split("|")
    named = zip(headings, cells, strict=False)
    return "".join(f"{heading.strip()}: {cell.strip()}\n" for heading, cell in named if heading.strip(" *"))


def _without_cases(text: str) -> str:
    """The text without sentences that say what holds if something is so, and what if it is not."""
    lowered, kept, end = _in_small_letters(text), [], 0
    for other in _OR_ELSE.finditer(lowered):
        ifs = [match.start() for match in _IF.finditer(lowered, max(end, other.start() - 300), other.start())]
        if ifs:
            starts = [end, *(match.end() for match in FULL_STOP.finditer(lowered, end, ifs[-1]))]
            kept.append(text[end : starts[-1]])
            stop = FULL_STOP.search(lowered, other.end())
            end = stop.end() if stop else len(text)
    return "".join(kept) + text[end:]


def _without_next_question(text: str) -> str:
    """The text up to a question that the model asks itself once it has answered."""
    head = _NEXT_QUESTION.split(text, maxsplit=1)[0]
    return head if labels_in(head) else text


def _objects(text: str) -> tuple[str, tuple[tuple[int, dict[str, Any]], ...]]:
    """The outermost JSON objects, and the text with calls blanked, broken ones to their end."""
    decoder, end, objects, calls = json.JSONDecoder(), 0, [], []
    openings = [match.start() for match in _OBJECT.finditer(text)]
    del openings[MAX_TRIED:-MAX_TRIED]
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
        if _is_call(fields) or _CALLS.search(text, max(0, opening - 80), opening):
            calls.append((opening, close))
        else:
            objects.append((opening, fields))
    for opening, close in calls:
        text = f"{text[:opening]}{' ' * (close - opening)}{text[close:]}"
    return text, tuple(objects)


def _is_call(fields: object) -> bool:
    """Whether an object calls a tool, or holds one that does."""
    if isinstance(fields, Mapping):
        names_tool = _TOOL_NAMES & fields.keys() and any(name in fields for name in _ARGUMENT_NAMES)
        names_tool = names_tool and not _is_final(fields)
        is_marked = fields.get("type") in ("tool_use", "tool_call", "function_call")
        return bool(names_tool or is_marked or _CALL_NAMES & fields.keys()) or any(
            _is_call(value) for name in ("function", "tool_call", "tool_calls") if (value := fields.get(name))
        )
    return isinstance(fields, list) and any(_is_call(value) for value in fields[:MAX_DEPTH])


def _is_final(fields: Mapping[str, Any]) -> bool:
    """Whether an object in the form of a call gives the answer, as {"action": "Final Answer", …} does."""
    names = (fields[name] for name in _TOOL_NAMES if name in fields)
    return any(isinstance(name, str) and _FINAL.fullmatch(name) for name in names)


def declarations_in(
    said: Said, asked: AnswerForm, in_own_words: Callable[[Said], tuple[Declaration, ...]] | None = None
) -> Iterator[Declaration]:
    """The declarations of a reply, those that outrank others first; within a rank the last first.

    `in_own_words` finds declarations in words that only some kinds of answers have, such as "B is correct".
    """
    in_words = labels_in(said.text, said.lowered)
    if asked == "line" and in_words and in_words[-1].rule == "asked_form":
        text = in_words[-1].text
        if len(text) <= MAX_ALONE and said.text.endswith(text):
            yield in_words[-1]  # nothing stands behind it that could take it back
    if more := in_own_words(said) if in_own_words else ():
        in_words = sorted([*in_words, *more], key=lambda declaration: declaration.at)
    in_words.reverse()
    structured = _structured(said)
    if not (in_words or structured):
        return
    if asked == "line" and not structured and len(in_words) == 1:
        yield from in_words
        return
    if asked == "line":
        in_json = [d._replace(rule="asked_form") for d in structured if d.rule == "json"]
        lines = [d for d in in_words if d.rule == "asked_form"]
        forms = sorted([*lines, *in_json], key=lambda declaration: declaration.at, reverse=True)
        # What is declared after the last line of the asked form has taken it back; words beside JSON do not.
        last = forms[0].at if forms and forms[0] in lines else len(said.text)
        yield from (d for d in in_words if d.at > last)
        yield from forms
        yield from (d for d in structured if d.rule != "json")
        yield from (d for d in in_words if d.at < last and d.rule != "asked_form")
        return
    asked_rule = "json" if asked == "json" else "tag"
    yield from (d._replace(rule="asked_form") for d in structured if d.rule == asked_rule)
    yield from (d for d in structured if d.rule != asked_rule)
    yield from (d._replace(rule="declared") for d in in_words)


def _structured(said: Said) -> list[Declaration]:
    text = said.text
    if not (said.objects or "<" in text or "[/" in text or "box" in text):
        return []
    declared = chain(_fields(said), _tags_and_boxes(text))
    return sorted(declared, key=lambda declaration: declaration.at, reverse=True)


def _fields(said: Said) -> Iterator[Declaration]:
    """The fields of JSON objects that hold an answer by their names."""
    for at, fields in said.objects[-MAX_TRIED:]:
        for value in _answers(fields, MAX_DEPTH):
            yield Declaration("json", at, value, fields=fields)


def _answers(fields: Mapping[str, Any], depth: int) -> Iterator[str]:
    is_final = _is_final(fields)
    for name, value in fields.items():
        if (is_final and name in _ARGUMENT_NAMES) or _FIELD.fullmatch(re.sub(r"[\s_-]", "", name.lower())):
            if isinstance(value, dict) and depth and any(True for _ in _answers(value, depth - 1)):
                yield from _answers(value, depth - 1)
            elif isinstance(value, dict) and isinstance(value.get("value"), str):
                yield value["value"]
            elif isinstance(value, int | float) and isinstance(fields.get("unit"), str):
                yield f"{value!r} {fields['unit']}"
            elif value is not None:
                yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        elif isinstance(value, dict) and depth:
            yield from _answers(value, depth - 1)


def _tags_and_boxes(text: str) -> Iterator[Declaration]:
    if "<" in text or "[/" in text:
        yield from _tags(text)
    if "boxed" not in text and "fbox" not in text:
        return
    open_braces: list[re.Match[str]] = []
    boxes = []
    for match in _BRACE.finditer(text):
        if match[0] == "}" and open_braces:
            opening = open_braces.pop()
            if len(opening[0]) > 1:
                inner = text[opening.end() : match.start()][:MAX_LINE]
                unit = _UNIT_BEHIND.match(text, match.end()) if inner[-1:].isdigit() else None
                boxes.append((opening.start(), f"{inner} {unit[1]}" if unit and unit_of(unit[1]) else inner))
        elif match[0].endswith("{") and match[0] != "\\{":
            open_braces.append(match)
    for at, inner in boxes[-MAX_TRIED:]:
        yield Declaration("box", at, inner)


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
    if opening is not None and text[opening[1]] == "<":
        tags.append((opening, len(text)))
    for (name, at, start), end in tags[-MAX_TRIED:]:
        inner = text[start:end][:MAX_LINE].strip()
        if inner:
            yield Declaration("box" if name == "box" else "tag", at, inner)


def _in_small_letters(text: str) -> str:
    """The text in small letters, each in its place; as it is where a letter becomes two."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text


def labels_in(text: str, lowered: str = "") -> list[Declaration]:
    """The words that declare an answer, in their order; `Answer: …` that begins a line is the asked form."""
    lowered = lowered or _in_small_letters(text)
    declared: list[Declaration] = []
    following = len(text)
    labels = list((_ASCII_LABEL if lowered.isascii() else _LABEL).finditer(lowered))
    for label in labels[: -MAX_LABELS - 1 : -1]:
        end = _LABELS[label[0]].match(lowered, label.end())
        if end and (declaration := _declared(text, lowered, label, end.end(), following)):
            declared.append(declaration)
            following = label.start()
    return declared[::-1]


def _declared(text: str, lowered: str, label: re.Match[str], end: int, following: int) -> Declaration | None:
    """What a label that ends there declares, up to the following one; None where it declares nothing."""
    start, word = label.start(), label[0]
    margin = lowered.rfind("\n", 0, start) + 1
    is_line = start - margin <= MAX_MARGIN and _MARGIN.fullmatch(lowered, margin, start) is not None
    ends_with_sign = lowered[end - 1] in ":="
    ends_its_line = not ends_with_sign and not lowered[end : end + 20].partition("\n")[0].strip("* _`")
    if (
        word in _NEEDS_QUALITY
        and not ends_with_sign
        and not _QUALITY.search(lowered, max(0, start - 20), start)
    ):
        return None
    if not is_line and (ends_its_line or declares_nothing(lowered[max(margin, start - 160) : start])):
        return None
    rest = text[end : min(end + MAX_LINE, following)].lstrip(" \t")
    if not rest.partition("\n")[0].strip(_EMPTY):
        rest = rest.lstrip(_EMPTY).removeprefix("json").lstrip()
    is_asked = is_line and (ends_its_line or ends_with_sign) and word not in _NO_ANSWER_LABEL
    rule: Rule = "asked_form" if is_asked else "declared"
    return Declaration(rule, start, rest.partition("\n")[0].strip(), rest.partition("\n\n")[0])


def declares_nothing(before: str) -> bool:
    """Whether the words before a label deny it, or only suppose it."""
    sentence = _SENTENCE_END.split(before)[-1]
    clause = _CLAUSE.split(sentence)[-1]
    return _UNDOES.search(clause) is not None or _SUPPOSES.match(sentence) is not None
