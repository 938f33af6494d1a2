//! Output, line by line.

/// The longest line that is told as one; a longer one is told in parts.
const LONGEST: usize = 16 * 1024;

/// Cuts what comes in chunks into lines. A line ends with a line feed, a carriage return or both; one
/// without content is none.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    begun: Vec<u8>,
}

impl Lines {
    /// Takes a chunk; `told` is given the lines that are whole by it.
    pub(crate) fn take(&mut self, chunk: &[u8], told: &mut impl FnMut(&str)) {
        for part in chunk.split_inclusive(|b| matches!(b, b'\n' | b'\r')) {
            let (text, ended) = match part.split_last() {
                Some((b'\n' | b'\r', text)) => (text, true),
                _ => (part, false),
            };
            self.begun.extend_from_slice(text);
            while self.begun.len() > LONGEST {
                let rest = self.begun.split_off(boundary(&self.begun));
                told(&String::from_utf8_lossy(&self.begun));
                self.begun = rest;
            }
            if ended {
                self.end(told);
            }
        }
    }

    /// Tells what is left.
    pub(crate) fn end(&mut self, told: &mut impl FnMut(&str)) {
        if !self.begun.is_empty() {
            told(&String::from_utf8_lossy(&self.begun));
            self.begun.clear();
        }
    }
}

/// Where a long line can be cut without cutting a character.
fn boundary(bytes: &[u8]) -> usize {
    let begins = |at: &usize| bytes.get(*at).is_none_or(|b| b & 0xc0 != 0x80);
    let near = LONGEST.saturating_sub(3)..=LONGEST;
    near.rev().find(begins).unwrap_or(LONGEST)
}

/// The last lines of an output, for an error that tells why it failed.
#[derive(Debug, Default)]
pub(crate) struct Tail {
    lines: std::collections::VecDeque<String>,
    bytes: usize,
    cut: bool,
}

impl Tail {
    const MOST: usize = 4 * 1024;

    pub(crate) fn push(&mut self, line: &str) {
        self.bytes += line.len() + 1;
        self.lines.push_back(line.to_owned());
        while self.bytes > Self::MOST && self.lines.len() > 1 {
            let first = self.lines.pop_front();
            self.bytes -= first.map_or(0, |l| l.len() + 1);
            self.cut = true;
        }
    }

    /// A paragraph that tells them; nothing if nothing was written.
    pub(crate) fn told(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let words = if self.cut {
            "The last that it wrote"
        } else {
            "It wrote"
        };
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        format!("\n\n{words}:\n{}", lines.join("\n"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines() {
        let check = |chunks: &[&[u8]], want: &[&str]| {
            let mut lines = Lines::default();
            let mut told = Vec::new();
            for chunk in chunks {
                lines.take(chunk, &mut |l| told.push(l.to_owned()));
            }
            lines.end(&mut |l| told.push(l.to_owned()));
            assert_eq!(told, want, "{chunks:?}");
        };
        check(&[], &[]);
        check(&[b"a\nb\r\n", b"\n\nc"], &["a", "b", "c"]);
        check(&[b"50%\r100%\r\n"], &["50%", "100%"]);
        check(&[b"a", b"b", b"\n"], &["ab"]);
        check(
            &[
                "\u{e9}".as_bytes().split_at(1).0,
                "\u{e9}".as_bytes().split_at(1).1,
            ],
            &["\u{e9}"],
        );
        check(&[b"\xff\n"], &["\u{fffd}"]);
        let long = "\u{20ac}".repeat(LONGEST / 3 + 10);
        let mut lines = Lines::default();
        let mut told = Vec::new();
        lines.take(long.as_bytes(), &mut |l| told.push(l.to_owned()));
        lines.end(&mut |l| told.push(l.to_owned()));
        assert_eq!(told.len(), 2);
        assert_eq!(told.concat(), long);
    }

    #[test]
    fn tail() {
        let mut tail = Tail::default();
        assert_eq!(tail.told(), "");
        tail.push("one");
        tail.push("two");
        assert_eq!(tail.told(), "\n\nIt wrote:\none\ntwo");
        for i in 0..2000 {
            tail.push(&format!("line {i}"));
        }
        let told = tail.told();
        assert!(
            told.starts_with("\n\nThe last that it wrote:\nline 1"),
            "{told}"
        );
        assert!(told.ends_with("\nline 1999") && told.len() < 5000);
    }
}
