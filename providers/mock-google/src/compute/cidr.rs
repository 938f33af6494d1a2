//! IPv4 ranges.

use std::net::Ipv4Addr;

/// `10.0.0.0/24`
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Range {
    base: u32,
    length: u8,
}

impl Range {
    /// Reads a range. The error says why it is none.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let (address, length) = text
            .split_once('/')
            .ok_or("It has no length after a slash.")?;
        let address: Ipv4Addr = address
            .parse()
            .map_err(|_| format!("{address} is no IPv4 address."))?;
        let length: u8 = length
            .parse()
            .ok()
            .filter(|length| *length <= 32)
            .ok_or_else(|| format!("{length} is no length of a range."))?;
        let range = Self {
            base: u32::from(address),
            length,
        };
        if range.base & !range.mask() != 0 {
            return Err(format!(
                "The address has bits beyond the length; the range would be {}/{length}.",
                Ipv4Addr::from(range.base & range.mask())
            ));
        }
        Ok(range)
    }

    fn mask(self) -> u32 {
        u32::MAX
            .checked_shl(32 - u32::from(self.length))
            .unwrap_or(0)
    }

    pub(crate) fn length(self) -> u8 {
        self.length
    }

    pub(crate) fn overlaps(self, other: Self) -> bool {
        let mask = self.mask() & other.mask();
        self.base & mask == other.base & mask
    }

    /// Whether all of `other` lies in it.
    pub(crate) fn holds(self, other: Self) -> bool {
        self.length <= other.length && other.base & self.mask() == self.base
    }

    pub(crate) fn contains(self, address: Ipv4Addr) -> bool {
        u32::from(address) & self.mask() == self.base
    }

    pub(crate) fn first_host(self) -> Ipv4Addr {
        Ipv4Addr::from(self.base + 1)
    }

    /// The addresses that Google gives to machines: all but the first two and the last two.
    /// In order, from an address on.
    pub(crate) fn hosts_from(self, start: Ipv4Addr) -> impl Iterator<Item = Ipv4Addr> {
        let last = self.base | !self.mask();
        let first = self.base.saturating_add(2).max(u32::from(start));
        (first..last.saturating_sub(1)).map(Ipv4Addr::from)
    }
}

impl std::fmt::Display for Range {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from(self.base), self.length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_overlap_and_hold() {
        let range = |text| Range::parse(text).unwrap();
        assert!(range("10.0.0.0/8").overlaps(range("10.1.0.0/16")));
        assert!(range("10.1.0.0/16").overlaps(range("10.0.0.0/8")));
        assert!(!range("10.0.0.0/24").overlaps(range("10.0.1.0/24")));
        assert!(range("0.0.0.0/0").overlaps(range("192.168.0.0/16")));
        assert!(range("10.0.0.0/16").holds(range("10.0.3.0/24")));
        assert!(!range("10.0.3.0/24").holds(range("10.0.0.0/16")));
        let hosts: Vec<_> = range("10.0.0.0/29")
            .hosts_from(Ipv4Addr::UNSPECIFIED)
            .map(|host| host.to_string())
            .collect();
        assert_eq!(hosts, ["10.0.0.2", "10.0.0.3", "10.0.0.4", "10.0.0.5"]);
        for wrong in ["10.0.0.0", "10.0.0.1/24", "10.0.0/24", "10.0.0.0/33"] {
            assert!(Range::parse(wrong).is_err(), "{wrong}");
        }
    }
}
