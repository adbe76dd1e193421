"""Secrets: struck out of whatever people read, by value and by shape."""

import os
import re
from collections.abc import Iterable, Mapping

STRUCK = "[secret]"

_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL", re.IGNORECASE)
_SHAPE = re.compile(r"\b(?:sk|pk|key|xai|gsk|hf)[-_][\w*-]{8,}|\bgn_[\w-]{20,}|(?<=Bearer )\S+")
_PASSWORD_OF_URL = re.compile(r"(?<=://)([^\s/:@]*):([^\s/@]+)(?=@)")


class Secrets:
    """What must not be told: given values, those of variables with telling names, and telling shapes."""

    def __init__(self, more: Iterable[str] = (), *, environ: Mapping[str, str] = os.environ) -> None:
        values = {value for name, value in environ.items() if _NAME.search(name) and len(value) >= 8}
        self._values = sorted(values.union(more), key=len, reverse=True)

    def strike(self, text: str) -> str:
        """The text without them.

        >>> Secrets(["hunter2"], environ={}).strike("hunter2 opens redis://me:pw@host, sk-abcdefghijk too")
        '[secret] opens redis://me:[secret]@host, [secret] too'
        """
        for value in self._values:
            text = text.replace(value, STRUCK)
        return _PASSWORD_OF_URL.sub(rf"\1:{STRUCK}", _SHAPE.sub(STRUCK, text))
