//! Ranges of IPv4 addresses.

use std::fmt;
use std::net::Ipv4Addr;

/// Addresses from `first` to `last`, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    pub first: u32,
    pub last: u32,
}

impl Range {
    /// Reads `10.0.0.0/16`. `None` for anything else, an IPv6 range included; host bits are cut off,
    /// for whether Google takes them is not asked here.
    pub fn parse(text: &str) -> Option<Self> {
        let (address, length) = text.trim().split_once('/')?;
        let address: Ipv4Addr = address.parse().ok()?;
        let length: u32 = length.parse().ok().filter(|l| *l <= 32)?;
        // shifting by all 32 bits gives none
        let hosts = u32::MAX.checked_shr(length).unwrap_or(0);
        let first = u32::from(address) & !hosts;
        Some(Self {
            first,
            last: first | hosts,
        })
    }

    /// The addresses that both have.
    pub fn shared(self, other: Self) -> Option<Self> {
        let first = self.first.max(other.first);
        let last = self.last.min(other.last);
        (first <= last).then_some(Self { first, last })
    }
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = (Ipv4Addr::from(self.first), Ipv4Addr::from(self.last));
        write!(f, "{first} to {last}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges() {
        for (text, want) in [
            ("10.0.0.0/16", Some("10.0.0.0 to 10.0.255.255")),
            ("10.0.0.7/24", Some("10.0.0.0 to 10.0.0.255")),
            ("0.0.0.0/0", Some("0.0.0.0 to 255.255.255.255")),
            ("192.168.1.1/32", Some("192.168.1.1 to 192.168.1.1")),
            ("10.0.0.0", None),
            ("10.0.0.0/33", None),
            ("10.0.0/8", None),
            ("fd20::/20", None),
            ("", None),
        ] {
            let range = Range::parse(text).map(|r| r.to_string());
            assert_eq!(range.as_deref(), want, "{text}");
        }
        let shared = |a: &str, b: &str| Range::parse(a)?.shared(Range::parse(b)?);
        assert!(shared("10.0.0.0/8", "10.1.0.0/16").is_some());
        assert!(shared("10.0.0.0/24", "10.0.1.0/24").is_none());
    }
}
