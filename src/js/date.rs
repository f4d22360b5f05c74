//! Points in time as ECMAScript writes them.

/// `new Date(ms).toISOString()`; times outside the years 0 to 9999 are held at their ends.
pub fn iso_date(ms: i64) -> String {
    const DAY: i64 = 86_400_000;
    let ms = ms.clamp(-62_167_219_200_000, 253_402_300_799_999);
    let (day, rest) = (ms.div_euclid(DAY), ms.rem_euclid(DAY));
    // Civil date of a day number, years starting in March; see H. Hinnant, "chrono-compatible date algorithms".
    let z = day + 719_468;
    let era = z.div_euclid(146_097);
    let of_era = z.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * of_year + 2) / 153;
    let (month, date) =
        (if shifted < 10 { shifted + 3 } else { shifted - 9 }, of_year - (153 * shifted + 2) / 5 + 1);
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    let (h, m, s, milli) = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000);
    format!("{year:04}-{month:02}-{date:02}T{h:02}:{m:02}:{s:02}.{milli:03}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(iso_date(0), "1970-01-01T00:00:00.000Z");
        assert_eq!(iso_date(1_741_064_767_000), "2025-03-04T05:06:07.000Z");
        assert_eq!(iso_date(1_709_251_199_999), "2024-02-29T23:59:59.999Z");
        assert_eq!(iso_date(-1), "1969-12-31T23:59:59.999Z");
    }
}
