"""What is wrong with a scene."""


class SceneError(ValueError):
    """A scene file or object breaks the format; `field` is the path to the fault, e.g. `features.3.id`."""

    def __init__(self, message: str, *, field: str = "") -> None:
        super().__init__(f"{field}: {message}" if field else message)
        self.message, self.field = message, field
