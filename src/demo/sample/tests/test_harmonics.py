"""Facts about the sum of cosines."""

import unittest
from datetime import datetime, timedelta

from tidewatch.harmonics import EPOCH, Constituent, height_at


class HeightAt(unittest.TestCase):
    def test_without_constituents_the_sea_lies_at_its_mean(self):
        self.assertEqual(height_at(2.5, (), EPOCH), 2.5)

    def test_a_constituent_is_highest_at_its_phase(self):
        solar = Constituent("S2", 1.0, 90.0)  # 30 degrees an hour: three hours to 90
        self.assertAlmostEqual(height_at(0.0, (solar,), EPOCH + timedelta(hours=3)), 1.0)
        self.assertAlmostEqual(height_at(0.0, (solar,), EPOCH + timedelta(hours=9)), -1.0)

    def test_a_moment_without_a_zone_is_refused(self):
        with self.assertRaises(ValueError):
            height_at(0.0, (), datetime(2026, 1, 1))


if __name__ == "__main__":
    unittest.main()
