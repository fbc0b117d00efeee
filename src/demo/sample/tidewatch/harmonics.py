"""The height of the tide at one moment: a sum of cosines."""

import math
from dataclasses import dataclass
from datetime import datetime, timezone

EPOCH = datetime(2026, 1, 1, tzinfo=timezone.utc)

# Degrees an hour, fixed by the motions of the moon and the sun.
SPEEDS = {
    "M2": 28.984104,
    "S2": 30.0,
    "N2": 28.439730,
    "K1": 15.041069,
    "O1": 13.943036,
}


@dataclass(frozen=True)
class Constituent:
    """One cosine of the tide at a station."""

    name: str
    metres: float
    phase: float  # degrees behind the pull itself at EPOCH

    @property
    def speed(self) -> float:
        """Degrees an hour."""
        return SPEEDS[self.name]


def hours_since_epoch(when: datetime) -> float:
    """Hours from EPOCH to `when`, which must know its time zone."""
    if when.tzinfo is None:
        raise ValueError("a moment without a time zone names no height")
    return (when - EPOCH).total_seconds() / 3600


def height_at(mean_level: float, constituents: tuple[Constituent, ...], when: datetime) -> float:
    """Metres above chart datum at `when`."""
    hours = hours_since_epoch(when)
    return mean_level + sum(
        part.metres * math.cos(math.radians(part.speed * hours - part.phase))
        for part in constituents
    )
