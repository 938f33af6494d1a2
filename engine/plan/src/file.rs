//! The plan file: a sealed container around what [`crate::codec`] writes.
//!
//! ```text
//! formwork-plan VERSION SHA256-OF-THE-HEADER\n
//! {"tool":"0.1.0","sections":[{"name":"index","size":…,"stored":…,"sha256":…}, …]}\n
//! the sections one after the other, each deflated
//! ```
//!
//! Invariants: every byte of the file is covered (the first line by being compared as text, the
//! header by the hash in the first line, each section by its hash in the header, the end by the
//! lengths), so any change of any byte is found before a single field is used. The first line and
//! the header's `tool` stay as they are in every version, so that a file of another version can be
//! refused with both versions named.
//!
//! The seal finds damage and mistakes; it is no signature, and anyone who can write the file can
//! seal it anew. What the file is written with (mode 0600) is its writer's business.
//!
//! docs/formats/plan-file.md describes all of it.

use crate::Plan;
use crate::codec::{self, Written};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use formwork_diagnostics::Diagnostic;
use formwork_values::Path;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::io::{Read, Write};

/// Version of the plan file that this build writes, and the only one that it reads: a plan belongs
/// to the build that made it, since it must be applied exactly as shown.
pub const FORMAT_VERSION: u64 = 2;

/// What every plan file of every version begins with.
const MAGIC: &str = "formwork-plan ";
/// A first line is never longer.
const FIRST_LINE: usize = 128;

/// Why bytes are no plan that this build can apply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFileError {
    /// They are something else.
    NotAPlan {
        /// What they seem to be, as a noun phrase, if that can be told.
        looks_like: Option<&'static str>,
    },
    /// They are a plan in another version of the format.
    OtherVersion {
        /// The format's version in the file.
        found: String,
        /// The version of Formwork that wrote it, if it says so.
        tool: Option<String>,
    },
    /// The file ends too early.
    Truncated {
        /// How many bytes there are.
        have: u64,
        /// How many there must be; `None` if that part is missing too.
        want: Option<u64>,
    },
    /// The file was altered after it was written.
    Damaged {
        /// Which part: `first line`, `header`, `index`, `content`, `end`.
        part: String,
        /// The byte at which that part begins.
        offset: u64,
        /// What does not fit.
        reason: String,
    },
}

impl fmt::Display for PlanFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPlan { looks_like: None } => {
                f.write_str("The file is not a plan written by Formwork.")
            }
            Self::NotAPlan {
                looks_like: Some(what),
            } => write!(
                f,
                "The file is not a plan written by Formwork: it looks like {what}."
            ),
            Self::OtherVersion { found, tool } => {
                write!(f, "The plan has version {found} of the plan file")?;
                if let Some(tool) = tool {
                    write!(f, ", written by Formwork {tool}")?;
                }
                write!(
                    f,
                    ", but this build reads version {FORMAT_VERSION} only. Apply it with the build that made it, or plan again."
                )
            }
            Self::Truncated { have, want } => {
                write!(
                    f,
                    "The plan file ends too early: it has {have} bytes, but should have "
                )?;
                match want {
                    Some(want) => write!(f, "{want}")?,
                    None => f.write_str("more")?,
                }
                f.write_str(". It was cut off when written or copied; plan again.")
            }
            Self::Damaged {
                part,
                offset,
                reason,
            } => write!(
                f,
                "The plan file is damaged in its {part}, which begins at byte {offset}: {reason}. It was altered after it was written; nothing of it is used. Plan again."
            ),
        }
    }
}

impl std::error::Error for PlanFileError {}

impl PlanFileError {
    /// The error as users see it, `name` being the file's path as they gave it. The summary is
    /// Terraform's, which pipelines match on.
    pub fn diagnostic(&self, name: &str) -> Diagnostic {
        Diagnostic::error(
            format!("Failed to load \"{name}\" as a plan file"),
            self.to_string(),
        )
    }
}

/// Why a plan cannot be written: it holds what no store may hold. Always a fault of the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlanEncodeError {
    /// Which part of the plan: an address, `output x`, `variable x`.
    pub place: String,
    /// Where in its value.
    pub path: Path,
    /// What is wrong. Holds no content.
    pub reason: &'static str,
}

impl fmt::Display for PlanEncodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}{} cannot be kept in a plan file: {}",
            self.place, self.path, self.reason
        )
    }
}

impl std::error::Error for PlanEncodeError {}

/// The line after the first. Its field `tool` must stay in every version.
#[derive(Serialize, Deserialize)]
struct Header {
    tool: String,
    sections: Vec<Section>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    name: String,
    /// Bytes when inflated.
    size: u64,
    /// Bytes in the file.
    stored: u64,
    /// Of the bytes in the file.
    sha256: String,
}

/// The plan as the bytes of a plan file.
///
/// The same plan gives the same bytes. The file holds sensitive values, marked; whoever writes it
/// gives it mode 0600.
///
/// # Errors
/// A value that is ephemeral: none may be stored, so a plan that holds one is refused whole.
pub fn encode(plan: &Plan) -> Result<Vec<u8>, PlanEncodeError> {
    let Written { index, content } = codec::write(plan)?;
    let mut sections = Vec::new();
    let mut stored = Vec::new();
    for (name, bytes) in [("index", index), ("content", content)] {
        let deflated = deflate(&bytes);
        sections.push(Section {
            name: name.to_owned(),
            size: bytes.len() as u64,
            stored: deflated.len() as u64,
            sha256: sum(&deflated),
        });
        stored.push(deflated);
    }
    let header = Header {
        tool: plan.tool_version.clone(),
        sections,
    };
    let header = serde_json::to_vec(&header).unwrap_or_default();
    let mut out = format!("{MAGIC}{FORMAT_VERSION} {}\n", sum(&header)).into_bytes();
    out.extend_from_slice(&header);
    out.push(b'\n');
    for section in stored {
        out.extend_from_slice(&section);
    }
    Ok(out)
}

/// Reads a plan file.
///
/// # Errors
/// Anything but the exact bytes that [`encode`] of this version wrote.
pub fn decode(bytes: &[u8]) -> Result<Plan, PlanFileError> {
    let (header, body_at) = header(bytes)?;
    let damaged = |part: &str, offset: usize, reason: String| PlanFileError::Damaged {
        part: part.to_owned(),
        offset: offset as u64,
        reason,
    };
    let want = header
        .sections
        .iter()
        .fold(body_at as u64, |n, s| n.saturating_add(s.stored));
    let have = bytes.len() as u64;
    if have < want {
        let want = Some(want);
        return Err(PlanFileError::Truncated { have, want });
    }
    if have > want {
        let end = usize::try_from(want).unwrap_or(usize::MAX);
        let surplus = have - want;
        return Err(damaged(
            "end",
            end,
            format!("{surplus} bytes follow that do not belong to it"),
        ));
    }
    let mut parts: Vec<(usize, Vec<u8>)> = Vec::new();
    let mut at = body_at;
    let names: Vec<&str> = header.sections.iter().map(|s| s.name.as_str()).collect();
    if names != ["index", "content"] {
        return Err(damaged("header", 0, "it names other sections".to_owned()));
    }
    for section in &header.sections {
        let end = at.saturating_add(usize::try_from(section.stored).unwrap_or(usize::MAX));
        let stored = bytes.get(at..end).unwrap_or_default();
        if sum(stored) != section.sha256 {
            let reason = "its checksum differs".to_owned();
            return Err(damaged(&section.name, at, reason));
        }
        let inflated =
            inflate(stored, section.size).map_err(|reason| damaged(&section.name, at, reason))?;
        parts.push((at, inflated));
        at = end;
    }
    let [(index_at, index), (_, content)] = parts.as_slice() else {
        return Err(damaged("header", 0, "sections are missing".to_owned()));
    };
    codec::read(index, content).map_err(|reason| damaged("index", *index_at, reason))
}

/// Reads the first line and the header; answers where the sections begin.
fn header(bytes: &[u8]) -> Result<(Header, usize), PlanFileError> {
    if !bytes.starts_with(MAGIC.as_bytes()) {
        if !bytes.is_empty() && MAGIC.as_bytes().starts_with(bytes) {
            return Err(truncated(bytes));
        }
        return Err(PlanFileError::NotAPlan {
            looks_like: guess(bytes),
        });
    }
    let first_end = bytes.iter().take(FIRST_LINE).position(|b| *b == b'\n');
    let Some(first_end) = first_end else {
        return Err(if bytes.len() < FIRST_LINE {
            truncated(bytes)
        } else {
            first_line_damaged("it has no end")
        });
    };
    let first = bytes.get(MAGIC.len()..first_end).unwrap_or_default();
    let Ok(first) = std::str::from_utf8(first) else {
        return Err(first_line_damaged("it is no text"));
    };
    let Some((version, header_sum)) = first.split_once(' ') else {
        return Err(first_line_damaged("it names no version and checksum"));
    };
    let at = first_end + 1;
    let rest = bytes.get(at..).unwrap_or_default();
    let header_end = rest.iter().position(|b| *b == b'\n');
    if version != FORMAT_VERSION.to_string() {
        if version.is_empty() || !version.bytes().all(|b| b.is_ascii_digit()) {
            return Err(first_line_damaged("its version is no number"));
        }
        let tool = header_end
            .and_then(|end| rest.get(..end))
            .and_then(|line| serde_json::from_slice::<serde_json::Value>(line).ok())
            .and_then(|header| Some(header.get("tool")?.as_str()?.to_owned()));
        return Err(PlanFileError::OtherVersion {
            found: version.to_owned(),
            tool,
        });
    }
    let Some(line) = header_end.and_then(|end| rest.get(..end)) else {
        return Err(truncated(bytes));
    };
    let damaged = |reason: String| PlanFileError::Damaged {
        part: "header".to_owned(),
        offset: at as u64,
        reason,
    };
    if sum(line) != header_sum {
        return Err(damaged("its checksum differs".to_owned()));
    }
    let header: Header = serde_json::from_slice(line).map_err(|e| damaged(e.to_string()))?;
    Ok((header, at + line.len() + 1))
}

fn truncated(bytes: &[u8]) -> PlanFileError {
    PlanFileError::Truncated {
        have: bytes.len() as u64,
        want: None,
    }
}

fn first_line_damaged(reason: &str) -> PlanFileError {
    PlanFileError::Damaged {
        part: "first line".to_owned(),
        offset: 0,
        reason: reason.to_owned(),
    }
}

/// What a file that is no plan may be: people give the state, or another tool's plan.
fn guess(bytes: &[u8]) -> Option<&'static str> {
    if bytes.is_empty() {
        return Some("an empty file");
    }
    if bytes.starts_with(b"PK\x03\x04") {
        return Some("a plan of Terraform or OpenTofu (a zip archive)");
    }
    let first = bytes.iter().find(|b| !b.is_ascii_whitespace());
    (first == Some(&b'{')).then_some("JSON, perhaps a state or a shown plan")
}

fn sum(bytes: &[u8]) -> String {
    use fmt::Write as _;
    let mut text = String::with_capacity(64);
    for byte in Sha256::digest(bytes) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// Writing to memory does not fail, so its results say nothing.
fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    let _ = encoder.write_all(bytes);
    encoder.finish().unwrap_or_default()
}

fn inflate(stored: &[u8], size: u64) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    // one byte more than promised shows that there is more
    DeflateDecoder::new(stored)
        .take(size.saturating_add(1))
        .read_to_end(&mut out)
        .map_err(|e| format!("it cannot be inflated ({e})"))?;
    if out.len() as u64 == size {
        Ok(out)
    } else {
        Err("it inflates to another size".to_owned())
    }
}
