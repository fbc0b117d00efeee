import typing


class Pump(typing.Protocol):
    def start(self) -> None: ...
