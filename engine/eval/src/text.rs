//! Calendar arithmetic and text forms of time that several functions share.

/// The days of a month in the Gregorian calendar; `month` from 1 to 12.
pub(crate) fn days_in_month(year: i64, month: u32) -> u32 {
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days from 1970-01-01 to a date.
pub(crate) fn days_from_date(year: i64, month: u32, day: u32) -> i64 {
    // years begin in March, so that the odd day comes last
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let year_of_era = year.rem_euclid(400);
    let from_march = i64::from((month + 9) % 12);
    let day_of_year = (153 * from_march + 2) / 5 + i64::from(day) - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    era * 146_097 + day_of_era - 719_468
}

/// Year, month and day of a number of days from 1970-01-01.
pub(crate) fn date_from_days(days: i64) -> (i64, u32, u32) {
    let days = days + 719_468;
    let era = days.div_euclid(146_097);
    let day_of_era = days.rem_euclid(146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * day_of_year + 2) / 153;
    let day = u32::try_from(day_of_year - (153 * from_march + 2) / 5 + 1).unwrap_or(1);
    let month = u32::try_from((from_march + 2) % 12 + 1).unwrap_or(1);
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_round_trip() {
        for days in (-800_000..800_000).step_by(97) {
            let (y, m, d) = date_from_days(days);
            assert_eq!(days_from_date(y, m, d), days);
            assert!((1..=days_in_month(y, m)).contains(&d));
        }
        assert_eq!(date_from_days(0), (1970, 1, 1));
        assert_eq!(days_from_date(2000, 2, 29), 11_016);
    }
}
