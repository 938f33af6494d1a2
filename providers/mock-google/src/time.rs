//! Times as Google writes them.

use std::time::{SystemTime, UNIX_EPOCH};

/// Milliseconds since the epoch.
pub(crate) type Millis = u64;

pub(crate) fn millis(time: SystemTime) -> Millis {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}

/// `2026-11-30T07:52:18.123-08:00`, the way compute writes times: Pacific Standard Time.
pub(crate) fn pacific(at: Millis) -> String {
    const OFFSET: u64 = 8 * 3_600_000;
    format!("{}-08:00", civil(at.saturating_sub(OFFSET)))
}

/// `2026-11-30T15:52:18.123Z`, the way of all others.
pub(crate) fn zulu(at: Millis) -> String {
    format!("{}Z", civil(at))
}

fn civil(at: Millis) -> String {
    let (days, rest) = (at / 86_400_000, at % 86_400_000);
    let (year, month, day) = date(days);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:03}",
        rest / 3_600_000,
        rest / 60_000 % 60,
        rest / 1000 % 60,
        rest % 1000
    )
}

/// The date of a day since 1970-01-01, by counting in eras of 400 years that begin on 1 March.
fn date(days: u64) -> (u64, u64, u64) {
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let day_of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_read_as_google_writes_them() {
        for (at, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_796_053_938_123, "2026-11-30T15:52:18.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(zulu(at), text);
        }
        assert_eq!(pacific(1_796_053_938_123), "2026-11-30T07:52:18.123-08:00");
    }
}
