"""The errors that a tool raises when the place where it runs has failed."""


class ToolOutage(Exception):
    """Not the tool failed, nor its call, but where it runs (its disk is full): no observation for a model."""


class ServerFault(ToolOutage):
    """The server of a tool could not be started, has died or is not what it was, or a record does not hold
    the call: the trial ends without a result, by `stop_reason`.
    """

    def __init__(self, message: str, *, stop_reason: str) -> None:
        super().__init__(message)
        self.stop_reason = stop_reason
