"""Keeps keys out of specs: a spec names the variable that holds a key, and never says the key."""

import re
from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from gnomon.core.errors import SpecError
from gnomon.core.redaction import REDACTED, Redactor

T = TypeVar("T")

DEEPEST = 100  # no part of a spec nests deeper
VARIABLES = ("api_key_env", "token_env", "env", "env_from")  # fields that name variables of the environment
NAME_ALLOWED = "the name of a variable that holds the key: letters, digits and _, such as OPENAI_API_KEY"
KEY_ALLOWED = (
    "no keys in a spec; put it into a variable of the environment, and name that where a key is taken"
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
# Parts of a name: words of one case or with capitals, and then a number; short ones may have it anywhere.
_WORD = re.compile(r"[A-Z]+\d{0,4}|[a-z]+\d{0,4}|(?:[a-z]{2,})?(?:[A-Z]{1,8}[a-z]{2,})*[A-Z]{0,8}\d{0,4}")
_SHORT_WORD = re.compile(r"(?=.{0,15}$)[A-Z]*\d*[A-Z]*|(?=.{0,10}$)[a-z]*\d*[a-z]*|[A-Za-z]{1,8}\d{0,4}")
LONG = 16  # letters and digits, from which on a part of a name is taken for a key unless it is of words
_KEY_OF = re.compile(r"(?:.*[_-])?(?:api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d)", re.IGNORECASE)
_HEADER = re.compile(r"(?:proxy-)?authorization|cookie|x-[a-z-]*(?:key|token)", re.IGNORECASE)
_VALUE = re.compile(r"(?=.*[A-Za-z])(?=.*\d)(?!\.{0,2}/)[\w.~+/=-]{8,}")
_MAY_BE_KEY = re.compile(r"(?:.*[_-])?(?:key|auth|credentials?)", re.IGNORECASE)  # of what is no word
_OPTION = re.compile(r"--?[\w-]+")  # of a command


def is_variable(name: str, set_here: Collection[str] | None = None) -> bool:
    """Whether a text can be the name of a variable, and does not look like a key.

    Where the variables that are `set_here` are known, one of them may be called anything that is no key of a
    known format, and another must be of words.
    """
    if not _NAME.fullmatch(name) or Redactor(environ={}).redact(name) != name:
        return False
    if set_here is not None and name in set_here:
        return True
    parts = [part for part in name.split("_") if not _WORD.fullmatch(part)]
    if set_here is None:
        return all(len(part) < LONG for part in parts)
    return all(map(_SHORT_WORD.fullmatch, parts))


def refuse_keys(written: object, *, set_here: Collection[str] | None = None) -> None:
    """Refuse a spec, or a part of one, that says a key: of a known format, the value of a variable of this
    environment that is called like a key, or under a name of keys; and names of variables that are none.
    `set_here`: the variables of the process that takes the keys from them, where that is this one.

    Raises:
        SpecError: names the field, and says nothing of the key.
    """
    search = _Search(set_here)
    search.struck(written, "")
    for field, message in search.faults[:1]:
        raise SpecError(message, field=field)


def without_keys(written: T) -> T:
    """The same plain data with `[secret]` in place of what `refuse_keys` refuses.

    >>> without_keys({"api_key_env": "sk-1234", "name": "with hf_abcdefgh12345678"})
    {'api_key_env': '[secret]', 'name': 'with [secret]'}
    """
    struck: T = _Search().struck(written, "")
    return struck


def text_without_keys(text: str) -> str:
    """The text of a spec that cannot be read, without what looks like a key in it.

    >>> text_without_keys("{api_key_env: sk-1234, token_env: A_NAME")
    '{api_key_env: [secret], token_env: A_NAME'
    """
    struck = Redactor().redact_setting(text)
    return re.sub(
        r"""((?:api_key|token)_env["']?\s*:\s*["']?)([^\s"',}]+)""",
        lambda match: match[0] if is_variable(match[2]) else match[1] + REDACTED,
        struck,
    )


class _Search:
    """One walk through plain data; `faults` are the fields that say a key, each with what is allowed."""

    def __init__(self, set_here: Collection[str] | None = None) -> None:
        self.faults: list[tuple[str, str]] = []
        self._set_here = set_here
        self._redactor = Redactor()

    def struck(self, value: Any, name: str, path: tuple[str, ...] = ()) -> Any:
        """The value without keys; `name` is the field or the option of a command that it is of."""
        if len(path) > DEEPEST:
            return self._fault(path, f"nests deeper than {DEEPEST} parts; no field does")
        if isinstance(value, str):
            return self._text(value, name, path)
        if isinstance(value, Mapping):
            return dict(self._entry(each, inner, path) for each, inner in value.items())
        if isinstance(value, list | tuple):
            # A word of a command may name the key that follows it.
            before = ["", *value]
            names = [word if _is_option(word) else name for word in before]
            return [self.struck(inner, names[at], (*path, str(at))) for at, inner in enumerate(value)]
        if name in VARIABLES and value is not None:
            return self._text(str(value), name, path)
        return value

    def _entry(self, name: Any, inner: Any, path: tuple[str, ...]) -> tuple[Any, Any]:
        if not isinstance(name, str):
            return name, self.struck(inner, "", (*path, str(name)))
        shown = self._redactor.redact_setting(name)
        if shown != name:
            self._fault((*path, shown), f"holds a key, which is not shown here; allowed: {KEY_ALLOWED}")
        # `env` of a tool server maps names to values, that of an outside agent lists names.
        kind = "" if name == "env" and not isinstance(inner, list | tuple) else name
        return shown, self.struck(inner, kind, (*path, shown))

    def _text(self, text: str, name: str, path: tuple[str, ...]) -> str:
        if name in VARIABLES:
            if is_variable(text, self._set_here):
                return text
            message = f"is no name of a variable, and is not shown here; allowed: {NAME_ALLOWED}"
            return self._fault(path, message)
        is_key = bool(_HEADER.fullmatch(name) and text.strip())
        name = name.lstrip("-")
        if not is_key and _VALUE.fullmatch(text):
            may_be = _MAY_BE_KEY.fullmatch(name) or path[-2:-1] in (("headers",), ("extra_headers",))
            is_random = len(text) >= LONG and not is_variable(text.replace("-", "_"))
            is_key = bool(_KEY_OF.fullmatch(name) or (may_be and is_random))
        struck = REDACTED if is_key else self._redactor.redact_setting(text)
        if struck != text:
            self._fault(path, f"holds a key, which is not shown here; allowed: {KEY_ALLOWED}")
        return struck

    def _fault(self, path: tuple[str, ...], message: str) -> str:
        self.faults.append((".".join(path), message))
        return REDACTED


def _is_option(word: object) -> bool:
    return isinstance(word, str) and bool(_OPTION.fullmatch(word))
