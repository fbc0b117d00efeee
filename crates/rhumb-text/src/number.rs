//! Numbers as people read them.

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

/// A number, of tokens mostly, in at most five characters: `950`, `1.2k`, `128k`, `1.5M`. Rounds to the nearest.
pub fn rounded(count: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000, "k"), (1_000_000, "M"), (1_000_000_000, "G")];
    if count < 1_000 {
        return count.to_string();
    }
    for (unit, name) in UNITS {
        // Tenths below 100 units, whole ones above; what would round up to 1000 goes to the next unit.
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
    fn large_numbers_are_read_in_groups() {
        assert_eq!([0, 999, 1_000, 1_234_567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn sizes_have_the_unit_that_suits_them() {
        assert_eq!([9_999, 56_789, 78_901_234].map(byte_size), ["9999 bytes", "56 kB", "78 MB"]);
    }

    #[test]
    fn counts_are_short() {
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
