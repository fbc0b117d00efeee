"""Facts about forecasts."""

import unittest
from datetime import datetime, timedelta, timezone

from tidewatch import forecast
from tidewatch.station import find

START = datetime(2026, 3, 1, tzinfo=timezone.utc)


class Heights(unittest.TestCase):
    def test_the_first_sample_is_at_the_start(self):
        samples = forecast.heights(find("harbour"), START, 24)
        self.assertEqual(samples[0].when, START)

    def test_samples_are_one_step_apart(self):
        samples = forecast.heights(find("skerry"), START, 3)
        gaps = {after.when - before.when for before, after in zip(samples, samples[1:])}
        self.assertEqual(gaps, {timedelta(minutes=forecast.STEP_MINUTES)})

    def test_hours_out_of_bounds_are_refused(self):
        for hours in (-1, 0, forecast.MAX_HOURS + 1):
            with self.assertRaises(ValueError):
                forecast.heights(find("lagoon"), START, hours)


class Turns(unittest.TestCase):
    def test_highs_and_lows_take_turns(self):
        kinds = [turn.kind for turn in forecast.turns(forecast.heights(find("harbour"), START, 72))]
        self.assertGreater(len(kinds), 8)
        for before, after in zip(kinds, kinds[1:]):
            self.assertNotEqual(before, after)

    def test_no_samples_have_no_range(self):
        self.assertEqual(forecast.tidal_range(forecast.turns([])), 0.0)


if __name__ == "__main__":
    unittest.main()
