"""Checks that an object has all members of a protocol, and that its methods take what they are passed."""

import inspect
from collections.abc import Iterator


def ability_faults(item: object, protocol: type, *, is_optional: bool = True) -> Iterator[str]:
    """What of a protocol an object has by halves, or in another form; of an optional one it may have nothing.

    >>> class Draws:
    ...     def view(self, sample, *, size): ...
    ...     def sketch(self, answer): ...
    >>> class Half:
    ...     def view(self, sample): ...
    >>> for fault in ability_faults(Half(), Draws): print(fault)
    it has view and lacks sketch, which belongs to it (Draws)
    view(sample) is called as view(sample, *, size): got an unexpected keyword argument 'size'
    """
    members = _members(protocol)
    held = [name for name in members if hasattr(item, name)]
    lacking = [name for name in members if name not in held]
    if lacking and (held or not is_optional):
        has = f"has {', '.join(held)} and " if held else ""
        belong = "belongs" if len(lacking) == 1 else "belong"
        yield f"it {has}lacks {', '.join(lacking)}, which {belong} to it ({protocol.__name__})"
    for name in held:
        if inspect.isfunction(declared := getattr(protocol, name, None)):
            yield from _signature_fault(name, getattr(item, name), declared)


def _members(protocol: type) -> list[str]:
    """The public members of a protocol, and of those that it extends."""
    members: dict[str, None] = {}
    for base in reversed(protocol.__mro__):
        if base.__module__ not in ("builtins", "typing", "abc"):
            names = [*inspect.get_annotations(base), *vars(base)]
            members.update(dict.fromkeys(name for name in names if not name.startswith("_")))
    return list(members)


def _signature_fault(name: str, method: object, declared: object) -> Iterator[str]:
    """Whether a method can be called as the protocol's is: keywords by their names, the others by place."""
    if not callable(method) or not callable(declared):
        yield f"{name} is no method"
        return
    asked = inspect.signature(declared)
    parameters = [parameter for parameter in asked.parameters.values() if parameter.name != "self"]
    by_place = [None for parameter in parameters if parameter.kind is not parameter.KEYWORD_ONLY]
    by_name = {parameter.name: None for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY}
    try:
        has = inspect.signature(method)
    except (TypeError, ValueError):  # of a builtin: nothing is known of it
        return
    try:
        has.bind(*by_place, **by_name)
    except TypeError as error:
        yield f"{name}{_plain(has)} is called as {name}{_plain(asked)}: {error}"


def _plain(signature: inspect.Signature) -> str:
    """A signature without self and types."""
    kept = [
        parameter.replace(annotation=inspect.Parameter.empty)
        for parameter in signature.parameters.values()
        if parameter.name != "self"
    ]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))
