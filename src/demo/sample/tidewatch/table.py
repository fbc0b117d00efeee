"""Turns as a table and heights as a chart, in plain text."""

from .forecast import Sample, Turn, tidal_range

LEVELS = " ▁▂▃▄▅▆▇█"


def turn_lines(found: list[Turn]) -> list[str]:
    """Return one line for each turn, and the range beneath them."""
    lines = [
        f"  {turn.kind:<6}  {turn.when:%d %b %H:%M}  {turn.metres:5.2f} m"
        for turn in found
    ]
    if not lines:
        return ["  no high or low water in this time"]
    lines.append(f"  range {tidal_range(found):19.2f} m")
    return lines


def chart(samples: list[Sample], columns: int = 60) -> str:
    """Draw the samples as one row of blocks, at most `columns` wide."""
    if not samples or columns < 1:
        return ""
    stride = -(-len(samples) // columns)
    shown = [sample.metres for sample in samples[::stride]]
    low, high = min(shown), max(shown)
    spread = (high - low) or 1.0
    top = len(LEVELS) - 1
    return "".join(LEVELS[round((metres - low) / spread * top)] for metres in shown)
