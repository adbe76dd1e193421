"""Takes a model's thinking out of a reply whose server has left it in the text."""

import re

_MARK = re.compile(r"<(?:\||/?[Tt][Hh][Ii][Nn][Kk])")
_OPEN_OR_CLOSED = re.compile(
    r"<(think|thinking)>.*?(?:</\1>|\Z)|<\|channel\|>analysis<\|message\|>.*?(?:<\|end\|>|\Z)",
    re.DOTALL | re.IGNORECASE,
)
_FINAL = re.compile(r"(?:<\|start\|>assistant)?<\|channel\|>final<\|message\|>")
_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def without_thinking(reply: str) -> str:
    """What a reply says beside its thinking sections; one that never ends holds all that follows.

    >>> without_thinking("<think>north?</think> South."), without_thinking("north?</think>South.")
    ('South.', 'South.')
    >>> without_thinking("<think>Answer: B")
    ''
    >>> without_thinking("<|channel|>analysis<|message|>East?<|end|><|channel|>final<|message|>B")
    'B'
    """
    if "<" not in reply or not _MARK.search(reply):
        return reply.strip()
    said = _END.split(_OPEN_OR_CLOSED.sub("", reply))[-1]
    return _FINAL.sub("", said).removesuffix("<|return|>").strip()
