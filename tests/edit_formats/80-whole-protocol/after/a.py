import typing


class Pump(typing.Protocol):
    def start(self) -> None: ...

    def stop(self) -> None:
        """Stop it."""
        ...

    def rate(self) -> int:
        ...
