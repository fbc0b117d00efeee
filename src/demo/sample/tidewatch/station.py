"""The stations that the package knows, and how to find one."""

from dataclasses import dataclass
from datetime import datetime

from .harmonics import Constituent, height_at


@dataclass(frozen=True)
class Station:
    """A place with a tide gauge."""

    code: str
    name: str
    latitude: float
    longitude: float
    mean_level: float  # metres above chart datum
    constituents: tuple[Constituent, ...]

    def height(self, when: datetime) -> float:
        """Metres above chart datum at `when`."""
        return height_at(self.mean_level, self.constituents, when)


class UnknownStation(LookupError):
    """No station has this code."""


# Invented places: the constants are plausible, the harbours are not on any chart.
STATIONS = (
    Station(
        code="harbour",
        name="Old Harbour",
        latitude=50.61,
        longitude=-2.04,
        mean_level=2.80,
        constituents=(
            Constituent("M2", 1.62, 141.0),
            Constituent("S2", 0.55, 190.0),
            Constituent("N2", 0.31, 122.0),
            Constituent("K1", 0.09, 110.0),
            Constituent("O1", 0.07, 342.0),
        ),
    ),
    Station(
        code="skerry",
        name="Skerry Light",
        latitude=58.44,
        longitude=-3.09,
        mean_level=1.95,
        constituents=(
            Constituent("M2", 1.04, 322.0),
            Constituent("S2", 0.36, 1.0),
            Constituent("K1", 0.11, 146.0),
            Constituent("O1", 0.12, 15.0),
        ),
    ),
    Station(
        code="lagoon",
        name="Blue Lagoon",
        latitude=-8.72,
        longitude=115.17,
        mean_level=1.30,
        constituents=(
            Constituent("M2", 0.41, 266.0),
            Constituent("S2", 0.21, 318.0),
            Constituent("K1", 0.29, 287.0),
            Constituent("O1", 0.19, 271.0),
        ),
    ),
)


def find(code: str) -> Station:
    """Return the station with this code, whatever its case."""
    wanted = code.strip().lower()
    for station in STATIONS:
        if station.code == wanted:
            return station
    known = ", ".join(station.code for station in STATIONS)
    raise UnknownStation(f"no station {code!r}; known: {known}")
