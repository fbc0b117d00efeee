"""The command line."""

import argparse
import sys
from datetime import datetime, timezone

from . import __version__, forecast, table
from .station import STATIONS, UnknownStation, find


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = argparse.ArgumentParser(prog="tidewatch", description="Tide tables in your terminal.")
    parser.add_argument("station", nargs="?", default="harbour", help="code of the station")
    parser.add_argument("--start", type=moment, default=None, help="ISO date and time, UTC unless it says")
    parser.add_argument("--hours", type=int, default=24, help="how far to look ahead")
    parser.add_argument("--chart", action="store_true", help="draw the curve beneath the table")
    parser.add_argument("--list", action="store_true", help="list the stations and stop")
    parser.add_argument("-v", "--verbose", action="store_true", help="show the station's details")
    parser.add_argument("--version", action="version", version=__version__)
    return parser


def moment(text: str) -> datetime:
    """Read a date and time; one without a zone is in UTC."""
    when = datetime.fromisoformat(text)
    return when if when.tzinfo else when.replace(tzinfo=timezone.utc)


def main(argv: list[str] | None = None) -> int:
    """Run the command line and return its exit status."""
    args = build_parser().parse_args(argv)
    if args.list:
        for station in STATIONS:
            print(f"{station.code:<10} {station.name}")
        return 0

    start = args.start or datetime.now(timezone.utc).replace(minute=0, second=0, microsecond=0)
    try:
        station = find(args.station)
        samples = forecast.heights(station, start, args.hours)
    except (UnknownStation, ValueError) as error:
        print(f"tidewatch: {error}", file=sys.stderr)
        return 2

    print(f"{station.name}, from {start:%Y-%m-%d %H:%M %Z}")
    for line in table.turn_lines(forecast.turns(samples)):
        print(line)
    if args.chart:
        print(f"  {table.chart(forecast.heights(station, start, args.hours))}")
    if args.verbose:
        print(f"  at {station.latitude:.2f}, {station.longitude:.2f}")
        print(f"  {len(station.constituents)} constituents, mean level {station.mean_level:.2f} m")
    return 0
