//! Durations as they are written on the command line: `30s`, `1m30s`, `500ms`, `0`.

use std::time::Duration;

/// Reads a duration.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("{text:?} is no duration; write a number and a unit, such as 30s or 5m");
    if text == "0" {
        return Ok(Duration::ZERO);
    }
    let (mut rest, mut total) = (text, 0f64);
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(wrong)?;
        let number: f64 = rest[..digits].parse().map_err(|_| wrong())?;
        rest = &rest[digits..];
        let letters = rest
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(rest.len());
        let seconds = match &rest[..letters] {
            "h" => 3600.0,
            "m" => 60.0,
            "s" => 1.0,
            "ms" => 1e-3,
            "us" | "\u{b5}s" => 1e-6,
            "ns" => 1e-9,
            _ => return Err(wrong()),
        };
        total += number * seconds;
        rest = &rest[letters..];
    }
    Duration::try_from_secs_f64(total).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        let ok = |text: &str, ms: u128| {
            assert_eq!(duration(text).map(|d| d.as_millis()), Ok(ms), "{text}");
        };
        ok("0", 0);
        ok("0s", 0);
        ok("30s", 30_000);
        ok("1m30s", 90_000);
        ok("1.5h", 5_400_000);
        ok("500ms", 500);
        for bad in ["", "5", "s", "5x", "-5s", "1..2s", "5 s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
