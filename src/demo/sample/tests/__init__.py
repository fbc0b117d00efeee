"""Tests of tidewatch."""
