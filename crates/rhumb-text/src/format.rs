//! Numbers, sizes and dates formatted for people.

/// The ISO date of a day: `iso_date(0)` is `1970-01-01`. `days` counts from the Unix epoch, in UTC.
pub fn iso_date(days: u64) -> String {
    // `civil_from_days` by Howard Hinnant: eras of 400 years that start on 1 March, so that a leap day ends its year.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march / 146_097, from_march % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}")
}

/// `12,345`
pub fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number in at most five characters, rounded to the nearest: `950`, `1.2k`, `128k`, `1.5M`.
pub fn rounded(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    if count < 1_000 {
        return count.to_string();
    }
    for (unit, name) in UNITS {
        // Below 100 units with tenths, else whole. A number that rounds up to 1000 takes the next unit.
        let tenths = (u128::from(count) * 10 + u128::from(unit) / 2) / u128::from(unit);
        if tenths < 1_000 {
            let (whole, tenth) = (tenths / 10, tenths % 10);
            return if tenth == 0 { format!("{whole}{name}") } else { format!("{whole}.{tenth}{name}") };
        }
        let whole = (u128::from(count) + u128::from(unit) / 2) / u128::from(unit);
        if whole < 1_000 {
            return format!("{whole}{name}");
        }
    }
    format!("{}G", count / 1_000_000_000)
}

/// `1 hunk`, `2 hunks`
pub fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `1234 bytes`, `56 kB`, `78 MB`
pub fn byte_size(bytes: u64) -> String {
    match bytes {
        0..10_000 => format!("{bytes} bytes"),
        10_000..10_000_000 => format!("{} kB", bytes / 1_000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_have_their_dates() {
        for (days, date) in [(0, "1970-01-01"), (59, "1970-03-01"), (11_016, "2000-02-29"), (20_777, "2026-11-20")] {
            assert_eq!(iso_date(days), date);
        }
    }

    #[test]
    fn large_numbers_have_thousands_separators() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn sizes_have_a_suitable_unit() {
        assert_eq!([9_999, 56_789, 78_901_234].map(byte_size), ["9999 bytes", "56 kB", "78 MB"]);
    }

    #[test]
    fn rounded_numbers_are_short() {
        let cases = [
            (0, "0"),
            (950, "950"),
            (999, "999"),
            (1_000, "1k"),
            (1_249, "1.2k"),
            (12_345, "12.3k"),
            (99_950, "100k"),
            (128_000, "128k"),
            (999_499, "999k"),
            (999_500, "1M"),
            (1_500_000, "1.5M"),
            (2_000_000_000, "2G"),
        ];
        for (count, text) in cases {
            assert_eq!(rounded(count), text);
        }
    }
}
