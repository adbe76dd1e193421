"""Reads which one of several options a reply chooses, by its letter or by its text."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import cached_property, lru_cache
from itertools import islice

from gnomon.reading.characters import bare, in_any_case, without_marks
from gnomon.reading.conclusions import declines
from gnomon.reading.declarations import AnswerForm, Declaration, Said, declares_nothing
from gnomon.reading.mentions import (
    AFTER_LETTER,
    AND,
    AND_CJK,
    BETWEEN,
    DENIES,
    KIND,
    MARKS,
    ends_clause,
    is_chosen,
    is_denied,
    is_letter,
    is_named,
)
from gnomon.reading.quantities import Quantity, number_of, quantities_in
from gnomon.reading.reader import Reading, Unclear, read_answer
from gnomon_tools.core.json_text import json_value

MAX_LETTERS = 60  # letters by themselves that are looked at
MAX_LETTER = 8  # characters of an option's text that may be a mere letter in marks
MAX_VALUE = 80  # characters of a text that gives the value of an option
MAX_CONTENT = 600  # characters of a declaration in which options are looked for
_OPEN = r"[\s*_`~\"'“”‘’«»„(\[{<$|:>=→#–—-]*"
_CLOSE = r"[\s*_`~\"'“”‘’«»)\]}>$|]*"
_WORDS = (
    "(?:"
    + in_any_case(
        rf"{KIND}|the|final|correct|la|le|les|l['’]|die|der|das|is|es|est|ist|é|это|likely|probably|clearly|"
        r"definitely|therefore|indeed|simply|most likely|i think|i believe|it is|it['’]s|to be|only|just"
    )
    + r"(?![A-Za-z])|[ao](?=\s+[A-Z]\b))"
)
_NAMED = re.compile(
    rf"[\W_]*(?:1[.)][\W_]+)?(?:{_WORDS}{_OPEN}){{0,4}}([A-Za-zАВСЕНавсе])(?![A-Za-z0-9_]|['’][A-Za-z]|\.[A-Za-z]\.)"
)
_ENDS = re.compile(rf"{_CLOSE}(?:$|[.,;:)\n!。，])")
_ANOTHER = re.compile(
    rf"[\s*_`~\"'“”‘’«»()\[\]{{}}<>$.]*(?:{AND}(?![A-Za-z])|{AND_CJK}|[&+|/])\s*(?:(?i:also|maybe|possibly|perhaps|even|{KIND})\s*)*"
    rf"{_OPEN}([A-Z])(?![A-Za-z0-9_]|['’][A-Za-z])(?!\s+(?:is|was)\b)"
    rf"|{_CLOSE},?\s*[oO][rR] (?i:(?:(?:maybe|possibly|perhaps) )?not)\b"  # "B or not"
)
_LISTED = re.compile(
    rf"{_CLOSE}[,;:?、，；\n]?\s*(?i:(?:and|or)\b(?: (?:also|maybe|possibly|perhaps|even)\b)?)?"
    rf"{_OPEN}([A-Z])(?![A-Za-z0-9_]|['’][A-Za-z])"
    rf"(?=[\s*_`\"')\]}}]*(?:$|[,;:.?\n、，；/&]|{AND}\b))"
)
_IN_CASE = re.compile(
    r"[*_)\"']{0,4}\s(?:if|unless|when|wenn|falls|si|se|если)\b.{1,200}?(?<!\w)([A-Z])(?![\w'’])"
)
_AS_GOOD = re.compile(
    r"([A-Z])(?<!\w.)[*_)]*\s(?:is|are|was|would be|seems|fits|works)\s(?:also\s)?(?:equally|just as)\b"
)
_EMPTY = " \t\n*_`~\"'“”‘’«»)]}>$.!。"
_AROUND = _EMPTY + "([{<"
_ASIDE = re.compile(rf"^\s?\((?!{AND}\b)[^()]{{1,80}}\)")
_IS_BEFORE = re.compile(r"\b(?:is|was|be)\s\*{0,2}\($")
_RUN = re.compile(r"[A-Z]{2,8}")
_SMALL_WORD = re.compile(r"\s+[^\W\dA-Z_]")
_NEGATIVE = re.compile(
    rf"\W*(?:{in_any_case('definitely|clearly|certainly')}?\s*"
    + in_any_case(r"not|neither|nor|never|nicht|kein\w*|no\s+es|no\s+la|pas|ni|não|не|none")
    + r"\b|不是|并非|[nN]['’][tT])"
)
_DENIED = re.compile(
    rf"(?:(?:,\s?|{BETWEEN})[A-HJ-Z](?!\w)){{0,25}}{_CLOSE}\s*"
    rf"(?:{in_any_case('is|was|are|seems|looks|can be|has been|ist|es|est')}\s+(?i:(?:\w+\s+)?(?:not|n['’]t|"
    r"wrong|false|too|ruled|out|excluded|eliminated|impossible|unlikely|closed|falsch|incorrect\w*)\b)|"
    + in_any_case(r"isn['’]t|wasn['’]t|can['’]?t|cannot|does\s?n['’o]t")
    + r"|(?:이|가|은|는)?\s*(?:아니|아닙|않)|ではあり|ではない|じゃない|不对|不對|不正确|错)"
)
# Scripts from U+3000 on do not part their words by spaces.
_CAPITAL = re.compile(r"[A-Z](?![A-Za-z0-9_]|['’][A-Za-z])(?<!N/.)(?<![^\W_\u3000-\U0010ffff].)")
# Behind a letter: that it is right, or the only one ("Only B fits"), a tick ("A ✗ B ✓"), or an end.
_BEHIND = re.compile(
    rf"{MARKS}(?:(?P<right>\.?(?:\s\([^()]{{1,60}}\))?\s+"
    r"(?:is|must be|would be|ist|es|est|é|seems|seems to be|appears to be)\s+"
    r"(?:(?:indeed|clearly|therefore|the|la|le|o|a)\s+){0,2}"
    r"(?:correct(?!ly|ed)\w*|(?:right|best)(?!-|\s(?!answer|option|choice|one\b|because|as\b|since|and\b|but\b|for\b|match|fit)\w)|"
    r"answer|richtig|bonne|certa|most likely)(?!\s(?:only\s)?if\b)"
    r"|\s(?:(?:fits|matches) best|makes the most sense|looks (?:like the )?(?:best|right|correct))\b"
    r"|\)?\s?(?:选项|選項)?是?(?:正确|正確)|が正(?:解|しい)|(?:이|가) 정답)"
    r"|(?P<only>\s"
    r"(?:fits|matches|works|remains|agrees|makes|is (?:consistent|left|possible|correct|right))\b)"
    rf"|(?P<ticked>\s?(?:[:=.?|–—-]\s?)?{MARKS}(?:[✓✔✅☑]|(?i:yes|true|correct|right)\b(?! \w))"
    rf"|[.):]{MARKS}[^\n✓✔✅☑✗✘❌✖]{{1,200}}[✓✔✅☑][ \t]*(?:\n|$))"
    r"|(?P<ends>[.,;!:\n。，；]|$"
    r"|\s(?:because|since|as|for|over|rather than|instead of|here|though|although|given)\b|\s\((?!or|and)))"
)
_TICKED_ROW = re.compile(
    r"\|[\s*(]*([A-Z])[\s*).]*\|[^\n]{0,100}?(?:[✓✔✅☑]|\|[\s*]*(?i:yes|correct|true)\b)[^\w\n]*(?:\n|$)"
)
_TICKED_LINE = re.compile(r"^[\s*-]*[✓✔✅☑][\s*(]*([A-Z])(?![\w'’])", re.MULTILINE)
_DENIED_OR_CROSSED = re.compile(
    rf"{_DENIED.pattern}"
    rf"|{MARKS}\s?(?:[:=.?|–—-]\s?)?{MARKS}(?:[✗✘❌✖]|{in_any_case('no|false|incorrect|wrong')}\b(?! \w))"
)
_LABEL_A = re.compile(
    r"(?:^|\n)(?:Q:[^\n]*\n+A:|A:(?=[\s*_(]*[A-Z][\s*_.)]*(?:\n|$)))|\[[xX✓✔]\](?=[\s*_(]{1,4}[A-Z]\b)"
)
_OF_SEVERAL = re.compile(
    r"\b(?:between|either|of|among|zwischen|entweder|von|entre|между|из)\b", re.IGNORECASE
)
_LAST_CLAUSE = re.compile(r".*[,;:.]\s", re.DOTALL)
_SO = re.compile(
    r"\W*(?:so|also)\b|.*\b(?:thus|hence|therefore|daher|donc|quindi|portanto|por (?:lo )?tanto|поэтому)\b",
    re.IGNORECASE,
)
_BEGINS_WITH_AND = re.compile(rf"\W*{AND}\b")
_LABELLED = re.compile(r"[ \t>*_`-]{0,12}\(?([A-Z])[.):][ \t]*(.*)")
_LEADS = re.compile(
    r"[\W_]*(?:1[.)][\W_]+)?((?-i:[A-Z])|[a-z](?=[)\].]))(?![A-Za-z0-9_]|['’][A-Za-z]|\.[A-Za-z]\.)"
)
_LEAD_ENDS = re.compile(
    rf"{_CLOSE}(?:$|[.:),;\n。，、：–—]|-(?![A-Z])|\s\(but\b|\s(?:is\s+(?:the\s+)?(?:\w+\s+)?(?:correct|right|best|answer)|because|since|as|"
    r"rather|not|instead)\b|[가-힣은는이]|です|是正)"
)
_LETTER_LINES = re.compile(r"(?:[^\w\n]*[A-Z][^\w\n]*\n+)+[^\w\n]*[A-Z][^\w\n]*")
_VERDICTS = frozenset({"yes", "no", "true", "false", "correct", "incorrect", "right", "wrong"})
_FIRST_SENTENCE = re.compile(r"[.!?\n。！？](?:(?<![.!?])|(?=\s))")
_FIRST_CLAUSE = re.compile(r"[,;:–—，；：\s](?:(?<=[，；：])|(?<=[,;:–—])(?=\s)|(?<=\s)(?<![\d)}].)-\s)")
_LATIN = str.maketrans("АВСЕНавсе", "ABCEHABCE")


def read_choice(reply: str, options: Mapping[str, str], *, asked: AnswerForm = "line") -> Reading[str]:
    r"""The letter of the chosen option. `options` maps letters to texts, which may be empty.

    >>> options = {"A": "0.5 m", "B": "2 m"}
    >>> [read_choice(text, options).value for text in ("Option: [B]; Reason: x", "b", "**(B)** 2 m", "2 M")]
    ['B', 'B', 'B', 'B']
    >>> [read_choice(text, options).value for text in ("A or B", "It is an option.", "F", "Answer: A, B")]
    [None, None, None, None]
    """
    choice = _choices(tuple(options.items()))
    return read_answer(reply, choice.parse, asked=asked, undeclared=choice.undeclared, known=choice.known)


@lru_cache(maxsize=256)
def _choices(options: tuple[tuple[str, str], ...]) -> "Choices":
    """The options of a question, kept for its next reply."""
    return Choices(dict(options))


class Choices:
    """The options of one question, as they may be named."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = options
        texts = {
            letter: bare(without_marks(text) if "\\" in text else text) for letter, text in options.items()
        }
        short = {letter: _without_article(text) for letter, text in texts.items()}
        # The options' plain texts, without articles where that leaves them apart.
        self._texts = short if len(set(short.values())) == len(set(texts.values())) else texts
        self._letters: dict[str, str] = {}
        for letter, plain in self._texts.items():
            self._letters[plain] = self._letters.get(plain, "") + letter
        # Characters of a text that may be an option, its letter, the words and marks that go with them.
        self._most = max(map(len, options.values()), default=0) + MAX_VALUE
        # Whether no option's text can be a mere letter.
        self._have_words = min(map(len, options.values()), default=0) > MAX_LETTER
        # Whether words such as "No" judge an option; false where they are one.
        self._judged = _VERDICTS.isdisjoint(self._letters)
        self._denied = _DENIED_OR_CROSSED if self._judged else _DENIED

    def parse(self, declaration: Declaration) -> str | Unclear | None:
        """The letter of the one option that a declaration names."""
        if declaration.rule == "only_mention":
            return self._only_mention(declaration.text)
        if declaration.rule == "leading":
            return self._leading(declaration.text)
        text = declaration.text[:MAX_CONTENT]
        if declaration.rule in ("whole", "last_line"):
            return self._whole(text)
        if text.startswith('{"'):
            return None  # JSON that holds no answer
        if text.lstrip().startswith("["):
            listed = json_value(text)
            if isinstance(listed, list) and listed:
                return self._of(without_marks(str(listed[0]))) if len(listed) == 1 else self._listed(listed)
            if "," in text and "]" not in text:
                return Unclear()  # a list that was cut
        return self._of(without_marks(text))

    def known(self, said: Said) -> tuple[Declaration, ...]:
        """Declarations that name a letter: "B is correct", "I choose B", "so B.", "A ✗ B ✓"."""
        text = said.text
        places: list[int] = []
        ticked: list[int] = []
        for at in self._letters_in(text):
            behind = _BEHIND.match(text, at + 1)
            how = behind.lastgroup if behind else ""
            if (how and is_chosen(text, at, how)) or (
                text[at + 1 : at + 2] == ")" and self._is_given(text, at)
            ):
                places.append(at)
            if how == "ticked":
                ticked.append(at)
        if "|" in text or not text.isascii():
            for line in (_TICKED_ROW, _TICKED_LINE):
                lines = islice(line.finditer(text), MAX_LETTERS)
                ticked += [match.start(1) for match in lines if match[1] in self._options]
        if ticked and self._judged and len({text[at] for at in ticked}) == 1:
            places += ticked
        declared = [
            Declaration("declared", at, text[at : at + MAX_CONTENT].partition("\n")[0])
            for at in places
            if not is_denied(text, at)
            and not declares_nothing(text[text.rfind("\n", 0, at) + 1 : at][-160:].lower())
        ]
        if "A:" in text or "[x]" in text or "[X]" in text:
            declared += [
                Declaration("declared", match.end(), text[match.end() :].partition("\n")[0])
                for match in _LABEL_A.finditer(text)
            ]
        return tuple(declared)

    def _is_given(self, text: str, at: int) -> bool:
        """Whether a letter in brackets is given with its option's words: "The cause is (B) the east wind"."""
        if not _IS_BEFORE.search(text, max(0, at - 8), at):
            return False
        words = self._texts[text[at]]
        behind = _without_article(bare(text[at + 2 : at + 10 + 2 * len(words)]))
        return bool(words) and behind.startswith(words)

    def _letters_in(self, text: str) -> list[int]:
        """Where the options' letters stand by themselves; of very many the first and the last."""
        places = [match.start() for match in _CAPITAL.finditer(text) if match[0] in self._options]
        del places[MAX_LETTERS // 2 : -MAX_LETTERS // 2]
        return places

    def undeclared(self, said: Said) -> Iterator[Declaration]:
        text = self._without_list(said.text)
        if not text:
            return
        yield Declaration("whole", 0, text)
        yield Declaration("leading", 0, text)
        if declines(said.lowered if text is said.text else text.lower()) and not any(
            map(DENIES.search, self._letters.keys() - _VERDICTS)
        ):
            return  # and no option says that it cannot be told
        if "\n" in text and not _LETTER_LINES.fullmatch(text):
            yield Declaration("last_line", 0, text.rpartition("\n")[2])
        yield Declaration("only_mention", 0, text)

    def _listed(self, listed: list[object]) -> Unclear | None:
        letters = {self._whole(str(item)) for item in listed[:30]} - {None}
        return Unclear() if letters else None

    def _by_text(self, text: str) -> str | None:
        plain = bare(text)
        if not plain or (len(plain) == 1 and self._have_words):
            return None
        letters = self._letters.get(plain, "")
        if (short := _without_article(plain)) is not plain:
            letters += self._letters.get(short, "")
        return letters if len(letters) == 1 else None

    def _alone(self, text: str) -> str | None:
        """The letter that is all of a text, and not an option's text itself."""
        letter = text.strip(_AROUND).upper()
        is_letter = letter in self._options and letter.casefold() not in self._letters
        return letter if is_letter else None

    def _of(self, text: str) -> str | Unclear | None:
        """The option that a declared text begins with, or the only one whose text it holds."""
        if chosen := self._alone(text) or self._by_text(text):
            return chosen
        if _NEGATIVE.match(text):
            return None
        if len(text) <= MAX_LETTER and _RUN.fullmatch(text) and set(text) <= self._options.keys():
            return Unclear()
        match = _NAMED.match(text)
        if match is not None:
            letter = self._letter(match, text)
            if letter is not None:
                return letter or None
        by_words = self._by_words(text)
        if by_words is None:
            by_words = self._by_value(text)
        return self._by_first_words(text) if by_words is None else by_words

    def _letter(self, match: re.Match[str], text: str) -> str | Unclear | None:
        """The letter of a match; "" where it is denied, None where it is no letter of an option."""
        written, rest = match[1].translate(_LATIN), text[match.end() :]
        letter = written.upper()
        if letter not in self._options:
            return None
        if not rest.strip(_EMPTY):
            return letter
        own = self._by_text(rest)
        if own == letter:
            return letter
        if written.islower() and not _ENDS.match(rest):
            return None
        another = _ANOTHER.match(_ASIDE.sub("", rest, count=1) if "(" in rest else rest)
        if another is not None and another[1] in (None, *self._options) and another[1] != letter:
            return Unclear()
        if letter in "AIOEY" and _SMALL_WORD.match(rest) and not AFTER_LETTER.match(rest):
            return None
        if self._denied.match(rest):
            return ""
        if own is not None:
            return Unclear()
        another = _LISTED.match(rest) or _AS_GOOD.search(rest) or _IN_CASE.match(rest)
        if another is not None and another[1] in self._options and another[1] != letter:
            return Unclear()
        return letter

    def _by_words(self, text: str) -> str | Unclear | None:
        letters = {letter for letter, at in self._named_by_words(text) if not is_denied(text, at)}
        if len(letters) > 1:
            return Unclear()
        return next(iter(letters), None)

    def _whole(self, text: str) -> str | Unclear | None:
        """The option that a text as a whole is: its letter, its words, or both."""
        if len(text) > self._most:
            return None
        text = without_marks(text)
        if chosen := self._alone(text) or self._by_text(text):
            return chosen
        match = _NAMED.match(text)
        if match is None or match[1].upper().translate(_LATIN) not in self._options:
            return self._by_value(text)
        rest = text[match.end() :]
        letter = self._letter(match, text)
        if isinstance(letter, Unclear) or not letter:
            return letter or None
        return letter if not bare(rest) or self._by_text(rest) == letter else None

    @cached_property
    def _values(self) -> Mapping[str, Quantity]:
        """The options as quantities, where each is nothing but a number and a unit of one kind."""
        values: dict[str, Quantity] = {}
        for letter, words in self._texts.items():
            quantities = [] if words[:1].isalpha() else quantities_in(words)
            if len(quantities) != 1 or (quantities[0].start, quantities[0].end) != (0, len(words)):
                return {}
            values[letter] = quantities[0]
        kinds = {quantity.unit.of if quantity.unit else "" for quantity in values.values()}
        return {} if len(kinds) != 1 or "" in kinds else values

    def _by_value(self, text: str) -> str | None:
        """The option whose value a short text gives, in whatever spelling of the unit."""
        if len(text) > MAX_VALUE or not self._values or declines(text.lower()):
            return None
        read = {unit: number_of(text, unit) for unit in {quantity.unit for quantity in self._values.values()}}
        for letter, quantity in self._values.items():
            value = read[quantity.unit]
            if isinstance(value, float) and math.isclose(value, quantity.value, rel_tol=1e-6):
                return letter
        return None

    def _by_first_words(self, text: str) -> str | None:
        """The option whose text is the first sentence, or the first clause, of several."""
        for end in (_FIRST_SENTENCE, _FIRST_CLAUSE):
            first = end.search(text)
            if first and (by_text := self._by_text(without_marks(text[: first.start()]))):
                return by_text
        return None

    def _leading(self, text: str) -> str | Unclear | None:
        """The option with whose letter or words a reply begins, where it does not list the options."""
        head = text[:MAX_CONTENT]
        if by_text := self._by_first_words(head):
            return by_text
        match = _LEADS.match(head)
        if match is None or head.startswith("{") or not _LEAD_ENDS.match(head, match.end()):
            return None
        letter = self._letter(match, head)
        if isinstance(letter, Unclear) or not letter:
            return letter or None
        named = {letter for letter, _ in self._named_by_words(head)}
        repeats_options = letter == next(iter(self._options)) and len(named) == len(self._options)
        return None if repeats_options else letter

    def _without_list(self, text: str) -> str:
        """A text without the lines in which it repeats the options, in their order and with their words."""
        lines = text.split("\n")
        if len(lines) == 1:
            return text
        order = list(self._options)
        own = [
            (at, match[1])
            for at, line in enumerate(lines)
            if (match := _LABELLED.fullmatch(line)) is not None
            and match[1] in self._options
            and self._texts[match[1]] in ("", bare(match[2]), _without_article(bare(match[2])))
        ]
        places = [order.index(letter) for _, letter in own]
        repeated = {
            own[at][0]
            for at in range(len(own))
            if (at and places[at - 1] + 1 == places[at])
            or (at + 1 < len(own) and places[at] + 1 == places[at + 1])
        }
        return "\n".join(line for at, line in enumerate(lines) if at not in repeated).strip()

    def _only_mention(self, text: str) -> str | Unclear | None:
        letters = self._letters_in(text)
        mentions = [(text[at], at) for at in letters if is_named(text, at)] + self._named_by_words(text)
        named = self._not_denied(text, mentions)
        if not named:
            named = self._not_denied(text, [(text[at], at) for at in letters if ends_clause(text, at)])
            if named:
                named |= self._not_denied(text, [(text[at], at) for at in letters if is_letter(text, at)])
        if len(named) > 1:
            return self._of_several(text, named) or (Unclear() if len(named) < len(self._options) else None)
        return next(iter(named), None)

    def _of_several(self, text: str, named: set[str]) -> str | None:
        """The one of several with which a reply ends: "Between A and B, it was B", "Past A, so to B"."""
        head = _LAST_CLAUSE.match(text)
        last = text[head.end() :] if head else ""
        if head is None or not (_OF_SEVERAL.search(head[0]) or _SO.match(last)) or is_denied(text, len(text)):
            return None
        letters = {last[at] for at in self._letters_in(last)}
        letters |= {letter for letter, _ in self._named_by_words(last)}
        if len(letters) != 1 or not letters <= named or _BEGINS_WITH_AND.match(last):
            return None
        letter = letters.pop()
        plain = bare(last)
        return letter if plain.endswith((f" {letter.lower()}", f" {self._texts[letter]}")) else None

    def _not_denied(self, text: str, mentions: list[tuple[str, int]]) -> set[str]:
        """The letters that are named somewhere without being denied there."""
        if not mentions:
            return set()
        may_deny = len(text) > MAX_CONTENT or DENIES.search(text.lower())
        return {
            letter
            for letter, at in mentions
            if not (may_deny and is_denied(text, at)) and not self._denied.match(text, at + 1)
        }

    def _named_by_words(self, text: str) -> list[tuple[str, int]]:
        """Where the texts of options stand in a text; one within a longer one's place does not count."""
        lowered = text.casefold()
        places: list[tuple[int, int, str]] = []
        inside = [item for item in self._texts.items() if item[1] and item[1] in lowered]
        if not inside:
            return []
        for letter, words in sorted(inside, key=lambda item: -len(item[1])):
            if len(words) < 3 and words.isalpha():
                continue
            at = lowered.find(words)
            while at >= 0 and len(places) < 60:
                end = at + len(words)
                is_word = not (_is_part(lowered, at - 1, words[0]) or _is_part(lowered, end, words[-1]))
                if is_word and not any(start <= at < stop for start, stop, _ in places):
                    places.append((at, end, letter))
                at = lowered.find(words, end)
        return [(letter, at) for at, _, letter in places]


def _without_article(plain: str) -> str:
    return plain.partition(" ")[2] if plain.startswith(("the ", "a ", "an ")) else plain


def _is_part(text: str, at: int, edge: str) -> bool:
    """Whether the character beside an edge of a word goes on with it."""
    if not 0 <= at < len(text) or not text[at].isascii() or not edge.isalnum():
        return False
    return text[at].isalnum() or (edge.isdigit() and text[at] == ".") or text[at] == "-"
