"""The error that a tool raises when the place where it runs has failed."""


class ToolOutage(Exception):
    """Not the tool failed, nor its call, but where it runs (its disk is full): no observation for a model."""
