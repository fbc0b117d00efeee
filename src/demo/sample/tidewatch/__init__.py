"""Tide tables from harmonic constants."""

__version__ = "0.3.0"
