"""Takes a model's thinking out of a reply whose server has left it in the text."""

import re

_OPEN_OR_CLOSED = re.compile(r"<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_END = re.compile(r"</think(?:ing)?>", re.IGNORECASE)


def without_thinking(reply: str) -> str:
    """What a reply says beside its thinking sections; one that never ends holds all that follows.

    >>> without_thinking("<think>north?</think> South."), without_thinking("north?</think>South.")
    ('South.', 'South.')
    >>> without_thinking("<think>Answer: B")
    ''
    """
    if "<" not in reply:
        return reply.strip()
    return _END.split(_OPEN_OR_CLOSED.sub("", reply))[-1].strip()
