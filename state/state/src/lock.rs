//! Who holds a state, and waiting for it.

use crate::stores::StateLock;
use formwork_diagnostics::{Diagnostic, Diagnostics};
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write as _};
use std::time::{Duration, SystemTime};

/// Who holds a lock, since when and for what: the JSON object that Terraform leaves beside a locked
/// state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockInfo {
    /// Random; names the lock when it is released.
    pub id: String,
    /// What the holder does, such as `OperationTypeApply`.
    pub operation: String,
    /// Anything else the holder says.
    pub info: String,
    /// `user@host`.
    pub who: String,
    /// Version of the holder's tool.
    pub version: String,
    /// When, in RFC 3339.
    pub created: String,
    /// The state that is locked.
    pub path: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct LockInfoV1 {
    #[serde(rename = "ID", default)]
    id: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    info: String,
    #[serde(default)]
    who: String,
    #[serde(default)]
    version: String,
    #[serde(default)]
    created: String,
    #[serde(default)]
    path: String,
}

impl LockInfo {
    /// As the JSON that Terraform reads and writes.
    pub fn to_json(&self) -> String {
        let i = self.clone();
        serde_json::to_string(&LockInfoV1 {
            id: i.id,
            operation: i.operation,
            info: i.info,
            who: i.who,
            version: i.version,
            created: i.created,
            path: i.path,
        })
        .unwrap_or_default()
    }

    /// From that JSON; `None` if it is none.
    pub fn from_json(bytes: &[u8]) -> Option<Self> {
        let i: LockInfoV1 = serde_json::from_slice(bytes).ok()?;
        Some(Self {
            id: i.id,
            operation: i.operation,
            info: i.info,
            who: i.who,
            version: i.version,
            created: i.created,
            path: i.path,
        })
    }
}

impl LockInfo {
    /// Lines for people and for controllers, which find the lock's id in them: word for word and line
    /// by line as the field knows them.
    pub fn block(&self) -> String {
        // the time as Terraform prints it, whoever wrote it
        let created = match self.created.strip_suffix('Z') {
            Some(time) => format!("{} +0000 UTC", time.replacen('T', " ", 1)),
            None => self.created.clone(),
        };
        let mut out = String::from("Lock Info:");
        for (word, part) in [
            ("ID:", &self.id),
            ("Path:", &self.path),
            ("Operation:", &self.operation),
            ("Who:", &self.who),
            ("Version:", &self.version),
            ("Created:", &created),
            ("Info:", &self.info),
        ] {
            // a line without a value would be read as having the next line for one
            let part = match part.as_str() {
                "" if word != "Info:" => "-",
                part => part,
            };
            // writing to a String cannot fail
            let _ = write!(out, "\n  {word:<10} {part}");
            let kept = out.trim_end_matches(' ').len();
            out.truncate(kept);
        }
        out
    }
}

impl fmt::Display for LockInfo {
    /// One line for people; parts that are not known are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [
            ("held by", &self.who),
            ("since", &self.created),
            ("for", &self.operation),
            ("with version", &self.version),
            ("lock id", &self.id),
            ("note:", &self.info),
        ];
        let mut first = true;
        for (word, part) in parts.iter().filter(|(_, p)| !p.is_empty()) {
            write!(f, "{}{word} {part}", if first { "" } else { ", " })?;
            first = false;
        }
        if first {
            f.write_str("its holder left no message")?;
        }
        Ok(())
    }
}

/// Why a lock was not taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LockError {
    /// Somebody else has it; waiting may help. Who, where it is known.
    Held {
        /// What is locked, as people know it.
        what: String,
        /// The message that the holder left, if it could be read.
        holder: Option<Box<LockInfo>>,
    },
    /// It could not be tried.
    Failed(Diagnostics),
}

impl LockError {
    /// What the user is told.
    pub fn into_diagnostics(self) -> Diagnostics {
        match self {
            Self::Failed(d) => d,
            Self::Held { what, holder } => {
                let who = match &holder {
                    Some(_) => String::new(),
                    None => ", whose holder left no message".to_owned(),
                };
                let block = holder.map_or_else(String::new, |mut h| {
                    if h.path.is_empty() {
                        h.path.clone_from(&what);
                    }
                    format!("\n\n{}", h.block())
                });
                Diagnostic::error(
                    "Error acquiring the state lock",
                    format!(
                        "The state {what} is locked by another run{who}. Two runs that change one \
                         state at a time would lose each other's work.{block}"
                    ),
                )
                .hint("Wait until the other run has ended, or let this one wait with -lock-timeout=5m.")
                .hint("If you know that it has ended without releasing the lock, release it by force-unlock and the lock's ID.")
                .into()
            }
        }
    }
}

/// Waiting, as the caller's runtime does it.
#[async_trait::async_trait]
pub trait Sleeper: Send + Sync {
    /// Returns after `time`.
    async fn sleep(&self, time: Duration);

    /// Whether waiting is over before its time, since nobody wants to wait any more.
    fn gives_up(&self) -> bool {
        false
    }
}

/// Takes a lock, trying again for as long as `timeout` while somebody else has it.
///
/// # Errors
/// That it is still held when the time is over, or why it could not be tried.
pub async fn lock_within(
    lock: &dyn StateLock,
    info: &LockInfo,
    timeout: Duration,
    sleeper: &dyn Sleeper,
) -> Result<(), LockError> {
    let mut waited = Duration::ZERO;
    let mut pause = Duration::from_millis(250);
    loop {
        match lock.lock(info).await {
            Err(LockError::Held { .. }) if waited < timeout && !sleeper.gives_up() => {
                let now = pause.min(timeout - waited);
                sleeper.sleep(now).await;
                waited += now;
                pause = (pause * 2).min(Duration::from_secs(4));
            }
            answer => return answer,
        }
    }
}

/// A time in RFC 3339, in UTC, to the microsecond: `2026-11-30T16:04:05.000001Z`.
pub fn timestamp(time: SystemTime) -> String {
    let since = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap_or_default();
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // days since 1 March of year 0, counted in eras of 400 years (146,097 days)
    let z = days + 719_468;
    let (era, day_of_era) = (z / 146_097, z % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 {
        shifted + 3
    } else {
        shifted - 9
    };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}.{:06}Z",
        second / 3_600,
        second / 60 % 60,
        second % 60,
        since.subsec_micros()
    )
}

/// The time that [`timestamp`] wrote; `None` if the text is none of its.
pub fn parse_timestamp(text: &str) -> Option<SystemTime> {
    let number = |range: std::ops::Range<usize>| text.get(range)?.parse::<u64>().ok();
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let micros = number(20..26)?;
    if text.len() != 27
        || !text.ends_with('Z')
        || !(1..=12).contains(&month)
        || !(1..=31).contains(&day)
    {
        return None;
    }
    // the reverse of what `timestamp` does: days from 1 March of year 0
    let shifted_year = if month > 2 {
        year
    } else {
        year.checked_sub(1)?
    };
    let (era, year_of_era) = (shifted_year / 400, shifted_year % 400);
    let shifted_month = (month + 9) % 12;
    let day_of_year = (153 * shifted_month + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = (era * 146_097 + day_of_era).checked_sub(719_468)?;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_micros(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.000000Z"),
            (951_782_400, "2000-02-29T00:00:00.000000Z"),
            (1_796_054_645, "2026-11-30T16:04:05.000000Z"),
            (4_107_542_399, "2100-02-28T23:59:59.000000Z"),
        ] {
            let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
            assert_eq!(timestamp(time), text);
            assert_eq!(parse_timestamp(text), Some(time));
        }
    }

    #[test]
    fn lock_info_round_trips() {
        let text = r#"{"ID":"x","Operation":"OperationTypeApply","Info":"","Who":"a@b","Version":"1.11.4","Created":"2026-01-01T00:00:00Z","Path":"terraform.tfstate"}"#;
        let info = LockInfo::from_json(text.as_bytes()).expect("valid");
        assert_eq!(info.to_json(), text);
        assert_eq!(
            info.to_string(),
            "held by a@b, since 2026-01-01T00:00:00Z, for OperationTypeApply, with version 1.11.4, lock id x"
        );
        assert!(
            info.block()
                .contains("\n  Created:   2026-01-01 00:00:00 +0000 UTC\n"),
            "{}",
            info.block()
        );
        let held = LockError::Held {
            what: "s".to_owned(),
            holder: Some(Box::default()),
        };
        let told = held.into_diagnostics();
        assert!(told.iter().all(|d| {
            d.detail
                .contains("Lock Info:\n  ID:        -\n  Path:      s\n")
        }));
        assert_eq!(
            LockInfo::default().to_string(),
            "its holder left no message"
        );
        assert!(LockInfo::from_json(b"").is_none());
    }
}
