"""Heights along time, and the high and low waters among them."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from .station import Station

STEP_MINUTES = 6
MAX_HOURS = 24 * 31


@dataclass(frozen=True)
class Sample:
    """The height at one moment."""

    when: datetime
    metres: float


@dataclass(frozen=True)
class Turn:
    """A high or a low water."""

    kind: str  # "high" or "low"
    when: datetime
    metres: float


def heights(station: Station, start: datetime, hours: int) -> list[Sample]:
    """Return a sample every STEP_MINUTES from `start` to `hours` later, both ends included."""
    if not 1 <= hours <= MAX_HOURS:
        raise ValueError(f"hours must be between 1 and {MAX_HOURS}, not {hours}")

    step = timedelta(minutes=STEP_MINUTES)
    count = hours * 60 // STEP_MINUTES

    moments = [start + index * step for index in range(count)]
    return [Sample(when, station.height(when)) for when in moments]


def turns(samples: list[Sample]) -> list[Turn]:
    """Return the high and low waters inside `samples`, in order of time."""
    found = []
    for before, here, after in zip(samples, samples[1:], samples[2:]):
        if before.metres < here.metres >= after.metres:
            found.append(Turn("high", here.when, here.metres))
        elif before.metres > here.metres <= after.metres:
            found.append(Turn("low", here.when, here.metres))
    return found


def tidal_range(found: list[Turn]) -> float:
    """Return the metres between the highest high and the lowest low, 0.0 without one of each."""
    highs = [turn.metres for turn in found if turn.kind == "high"]
    lows = [turn.metres for turn in found if turn.kind == "low"]
    if not highs or not lows:
        return 0.0
    return max(highs) - min(lows)
