"""Removes secrets from whatever people read and whatever is kept, by their value and by their form.

Messages (logs, errors) are struck of anything that might be a secret. What models say is scored and compared:
there only values that no answer holds by chance go, and the exact formats of keys.
"""

import base64
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import quote

REDACTED = "[secret]"
SHORTEST = 8  # characters; shorter values are words

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHAPE = re.compile(r"\b(?:sk|pk|key|xai|gsk|hf)[-_][\w*-]{8,}|\bgn_[\w-]{20,}|(?<=Bearer )\S+")
_PASSWORD_OF_URL = re.compile(r"(?<=://)([^\s/:@]*):([^\s/@]+)(?=@)")
# Formats of keys, exact enough to occur in no answer by chance; each begins with one of the marks. Between a
# key's `-` and `_` something is long, or mixes letters and digits: `sk-learn-like-words` are none.
_MARKS = (
    *("sk-", "sk_", "rk_", "xai-", "hf_", "gn_", "ghp_", "gho_", "ghs_", "ghu_", "github_pat_", "nvapi-"),
    *("pplx-", "r8_", "xox", "fw_", "tgp_", "glpat-", "npm_", "dop_", "jina_", "tvly-", "lsv2_", "ntn_"),
    *("GOCSPX-", "AIza", "AKIA", "ASIA", "eyJ", "earer ", "ya29.", "SG.", "hvs.", "dapi", "PRIVATE KEY"),
)
_FORMAT = re.compile(
    r"(?:(?<![\w-])|(?<=\\[nrt]))(?:"  # an escaped line end in JSON is no letter of a word
    r"(?:[gc]?sk|rk|xai|hf|gn|gh[opsu]|github_pat|nvapi|pplx|r8|xox[abeprs]|fw|tgp|glpat|npm|dop|jina|tvly|"
    r"lsv2|ntn|GOCSPX)[-_]"
    r"(?=(?:[A-Za-z0-9]*[-_])*(?:[A-Za-z]{16,}|(?=[A-Za-z]*\d)[A-Za-z0-9]{8,}))[\w-]{16,}"
    r"|(?:ya29|hvs)\.[\w-]{20,}|SG\.[\w-]{16,}\.[\w-]{16,}|dapi[0-9a-f]{32}"
    r"|-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"
    r"|AIza[\w-]{30,}|A(?:KIA|SIA)[0-9A-Z]{16}|eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?)"
    r"|(?<=[Bb]earer )(?=[\w.~+/-]*\d)[\w.~+/-]{16,}=*"
)
# In a setting: what is said to be a key, if it mixes letters and digits.
_ASSIGNED = re.compile(
    r"((?:api|access|secret|private|subscription)[-_]?key|token|secret|passw(?:or)?d|"
    r"(?<=[?&])(?:key|app_?id|code|sig|auth))"
    r"""(["']?\s*[=:]\s*["']?)(?=[^\s"']*[A-Za-z])(?=[^\s"']*\d)[\w.~+/%=-]{8,}""",
    re.IGNORECASE,
)
_USER_OF_URL = re.compile(r"(?<=://)(?=[^/:@]*\d)(?=[^/:@]*[A-Za-z])[^\s/:@]{16,}(?=@)")
# Not those that begin as paths of an API do.
_FOLDERS = re.compile(r"(?<![\w:./])/(?!(?:api/)?v\d+/)(?:[^\s/'\"`:,;()<>\[\]]+/)+")
_WORDS = re.compile(r"[A-Za-z_ -]{1,19}|[\d.,:+ -]+|(?:\.{0,2}/).*", re.DOTALL)  # words, a number, a path
_ESCAPED = re.compile(r"\\+u00(2[013-9a-f]|[3-4][0-9a-f]|5[0-9abd-f]|[67][0-9a-f])", re.IGNORECASE)

T = TypeVar("T")


class Redactor:
    """Redacts secrets: given values, those of variables named like secrets, and formats of keys."""

    def __init__(self, more: Iterable[str] = (), *, environ: Mapping[str, str] = os.environ) -> None:
        self._values: list[str] = []
        self._needles: list[str] | None = None  # made when first needed: most are asked for messages only
        self._signs: list[str] = []
        self.add(*more, *_values_of(environ))

    def add(self, *values: str) -> None:
        """Redact these from now on, whatever their variables are called."""
        self._values = sorted({*self._values, *values} - {""}, key=len, reverse=True)
        self._needles = None

    def redact_text(self, text: str) -> str:
        """A message without them.

        >>> redactor = Redactor(["hunter2"], environ={})
        >>> redactor.redact_text("hunter2 opens redis://me:pw@host, sk-abcdefghijk too")
        '[secret] opens redis://me:[secret]@host, [secret] too'
        """
        for value in self._values:
            text = text.replace(value, REDACTED)
        return _PASSWORD_OF_URL.sub(rf"\1:{REDACTED}", _SHAPE.sub(REDACTED, _FORMAT.sub(REDACTED, text)))

    def redact(self, text: str) -> str:
        r"""What a model said, or JSON that holds it, without them; the same text where there are none.

        Values of fewer than SHORTEST characters, words and numbers stay: answers hold them by chance.

        >>> redactor = Redactor(["hunter2hunter2", "anything", "20261122"], environ={})
        >>> redactor.redact("anything but hunter2hunter2 on 20261122, says key_positions")
        'anything but [secret] on 20261122, says key_positions'
        >>> redactor.redact(r'{"word": "hunter2\u0068unter2"}')
        '{"word": "[secret]"}'
        """
        redacted = self._redacted(text)
        if "\\u00" in text and (plain := _ESCAPED.sub(_unescaped, redacted)) != redacted:
            again = self._redacted(plain)
            return redacted if again == plain else again
        return redacted

    def redact_setting(self, text: str) -> str:
        """A text of a spec without them, nor what it calls a key, a token, a secret or a password.

        >>> Redactor(environ={}).redact_setting("https://me:pw@host/?api_key=abcd1234, --token=plain-words")
        'https://me:[secret]@host/?api_key=[secret], --token=plain-words'
        """
        text = _USER_OF_URL.sub(REDACTED, _PASSWORD_OF_URL.sub(rf"\1:{REDACTED}", self.redact(text)))
        return _ASSIGNED.sub(rf"\1\2{REDACTED}", text)

    def redact_in(self, value: T) -> T:
        """Plain data without them, keys of mappings too; the same object where there are none."""
        redacted: Any = value
        if isinstance(value, str):
            redacted = self.redact(value)
        elif isinstance(value, Mapping):
            pairs = {self.redact_in(name): self.redact_in(inner) for name, inner in value.items()}
            redacted = value if pairs == value else pairs
        elif isinstance(value, (list, tuple)):
            items = [self.redact_in(inner) for inner in value]
            redacted = value if all(map(_is, items, value)) else type(value)(items)
        return redacted  # type: ignore[no-any-return]

    def is_clean(self, value: object) -> bool:
        """Whether plain data surely holds none; a quick look, which may say no where there is none.

        >>> redactor = Redactor(["hunter2hunter2"], environ={})
        >>> redactor.is_clean({"a": ["hunter2"]}), redactor.is_clean({"a": ["hunter2hunter2"]})
        (True, False)
        """
        texts: list[str] = []
        _gather(value, texts)
        text = "\n".join(texts)
        if "\\u00" in text:
            return False
        return not any(map(text.__contains__, self._parts_of_secrets()))

    def _parts_of_secrets(self) -> list[str]:
        """Strings of which at least one stands in any text that holds a secret."""
        if self._needles is None:
            forms = {form for value in self._values if _is_random(value) for form in _forms(value)}
            self._needles = sorted(forms, key=len, reverse=True)
            self._signs = [*self._needles, *_MARKS]
        return self._signs

    def _redacted(self, text: str) -> str:
        if not any(map(text.__contains__, self._parts_of_secrets())):
            return text
        for needle in self._needles or ():
            if needle in text:
                text = text.replace(needle, REDACTED)
        return _FORMAT.sub(REDACTED, text) if any(mark in text for mark in _MARKS) else text


def key_in(variable: str) -> str:
    """The key that a variable of the environment holds, empty where it holds none. A line end or a space
    around it is not part of it: no HTTP header could carry one.
    """
    return os.environ.get(variable, "").strip()


@functools.cache
def redactor_here() -> Redactor:
    """Those of this process: its environment's, and the keys of the models that it has opened."""
    return Redactor()


def without_folders(text: str) -> str:
    """A message whose absolute paths are names of files: callers need not know where a server keeps things.

    >>> without_folders("/srv/data/set/a.json cannot be read; see http://127.0.0.1/v1/jobs and /v1/jobs/j_1")
    'a.json cannot be read; see http://127.0.0.1/v1/jobs and /v1/jobs/j_1'
    """
    return _FOLDERS.sub("", text)


def _gather(value: object, texts: list[str]) -> None:
    """Add all texts in plain data."""
    if isinstance(value, str):
        texts.append(value)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            _gather(inner, texts)
    elif isinstance(value, dict) or (value is not None and isinstance(value, Mapping)):
        for name, inner in value.items():
            _gather(name, texts)
            _gather(inner, texts)


def _is(left: object, right: object) -> bool:
    return left is right


def _values_of(environ: Mapping[str, str]) -> Iterator[str]:
    for name, value in environ.items():
        if _NAME.search(name):
            yield from (part for part in {value, *re.split(r"[\s,;]+", value)} if len(part) >= SHORTEST)
        yield from (password for _, password in _PASSWORD_OF_URL.findall(value) if len(password) >= SHORTEST)


def _is_random(value: str) -> bool:
    return len(value) >= SHORTEST and _WORDS.fullmatch(value) is None


def _forms(value: str) -> Iterator[str]:
    """How a value may be written: as it is, in JSON (ASCII or not), in JSON in JSON, in a URL, in base64."""
    for once in (_in_json(value), _in_json(value, ensure_ascii=False)):
        yield from (once, _in_json(once), _in_json(once, ensure_ascii=False))
    yield value
    yield quote(value, safe="", errors="surrogatepass")
    data = value.encode(errors="surrogatepass")
    # The offset is that of the value among the bytes that were encoded; what it shares a letter with is cut.
    for offset in range(3):
        encoded = base64.b64encode(bytes(offset) + data).decode().rstrip("=")
        inner = encoded[(0, 2, 3)[offset] : len(encoded) - bool((offset + len(data)) % 3)]
        yield from {inner, inner.replace("+", "-").replace("/", "_")}


def _in_json(text: str, *, ensure_ascii: bool = True) -> str:
    return json.dumps(text, ensure_ascii=ensure_ascii)[1:-1]


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 16))
