"""Writes the clusters of a sample as one text: a name, or a name by each of several factors.

Samples may be kin by their scene and by their template at once. Then the text is the JSON list
`["scene 3","turns"]`: a name for each factor, in one order for the whole job. A sample that is kin to none by
a factor has a name of its own there.
"""

import json
from collections.abc import Sequence


def cluster_names(text: str) -> tuple[str, ...]:
    """The name by each factor; one where the text is a plain name, none where it is empty.

    >>> cluster_names("scene 3"), cluster_names('["scene 3","turns"]'), cluster_names("")
    (('scene 3',), ('scene 3', 'turns'), ())
    """
    names = _listed(text)
    return names or ((text,) if text else ())


def cluster_text(names: Sequence[str]) -> str:
    """The text of these names: `cluster_names` gives them back.

    >>> cluster_text(["scene 3"]), cluster_text(["scene 3", "turns"]), cluster_text([])
    ('scene 3', '["scene 3","turns"]', '')
    """
    if not names or (len(names) == 1 and not _listed(names[0])):
        return "".join(names)
    return json.dumps(list(names), ensure_ascii=False, separators=(",", ":"))


def cluster_words(text: str) -> str:
    """The clusters for people.

    >>> cluster_words("scene 3"), cluster_words('["scene 3","turns"]')
    ('scene 3', 'scene 3 × turns')
    """
    return " × ".join(cluster_names(text))


def _listed(text: str) -> tuple[str, ...]:
    """The names of a list as `cluster_text` writes it; none of any other text, which is a name itself."""
    if not (text.startswith('["') and text.endswith('"]')):
        return ()
    try:
        names = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    is_written_here = all(isinstance(name, str) for name in names) and text == json.dumps(
        names, ensure_ascii=False, separators=(",", ":")
    )
    return tuple(names) if is_written_here and (len(names) > 1 or _listed(names[0])) else ()
