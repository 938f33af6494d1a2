//! IP networks.

use std::net::{Ipv4Addr, Ipv6Addr};

use formwork_values::{Number, Type, Value};

use super::{Answer, Given};
use crate::functions::CallError;

/// A network: its first address in as many bits as the family has.
#[derive(Clone, Copy)]
struct Network {
    address: u128,
    bits: u32,
    length: u32,
}

fn mask(bits: u32) -> u128 {
    // the lowest so many bits
    if bits >= 128 {
        u128::MAX
    } else {
        (1 << bits) - 1
    }
}

impl Network {
    fn parse(text: &str) -> Result<Network, String> {
        let Some((address, length)) = text.split_once('/') else {
            return Err(format!(
                "{text:?} is no network: write an address and the length of its prefix, such as \
                 \"10.0.0.0/16\"."
            ));
        };
        let (address, bits) = if address.contains(':') {
            let parsed: Option<Ipv6Addr> = address.parse().ok();
            (parsed.map(u128::from), 128)
        } else {
            (four(address).map(|a| u128::from(u32::from(a))), 32)
        };
        let Some(address) = address else {
            return Err(format!(
                "{text:?} is no network: what stands before \"/\" is no IP address."
            ));
        };
        let digits = !length.is_empty() && length.bytes().all(|b| b.is_ascii_digit());
        let length = length.parse::<u32>().ok().filter(|n| digits && *n <= bits);
        let Some(length) = length else {
            return Err(format!(
                "{text:?} is no network: the length of its prefix must lie between 0 and {bits}."
            ));
        };
        let address = address & !mask(bits - length);
        Ok(Network {
            address,
            bits,
            length,
        })
    }

    fn host_bits(self) -> u32 {
        self.bits - self.length
    }

    fn show(self) -> String {
        format!("{}/{}", show_address(self.address, self.bits), self.length)
    }
}

/// Four decimal numbers; zeros in front are allowed and decimal still.
fn four(text: &str) -> Option<Ipv4Addr> {
    let mut octets = [0u8; 4];
    let mut parts = text.split('.');
    for octet in &mut octets {
        let part = parts.next()?;
        if part.is_empty() || part.len() > 12 || !part.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        *octet = u8::try_from(part.parse::<u64>().ok()?).ok()?;
    }
    parts.next().is_none().then(|| Ipv4Addr::from(octets))
}

fn show_address(address: u128, bits: u32) -> String {
    match u32::try_from(address) {
        Ok(short) if bits == 32 => Ipv4Addr::from(short).to_string(),
        _ => Ipv6Addr::from(address).to_string(),
    }
}

fn network(given: &Given<'_>) -> Result<Network, CallError> {
    Network::parse(given.text(0)).map_err(CallError::call)
}

/// A whole number with its sign, as large as addresses are.
fn large(given: &Given<'_>, at: usize, what: &str) -> Result<(bool, u128), CallError> {
    let number = given.at(at).as_number();
    let size = number
        .filter(|n| n.is_integer())
        .map(Number::abs)
        .and_then(|n| n.to_integer_text())
        .and_then(|digits| digits.parse::<u128>().ok());
    match (number, size) {
        (Some(number), Some(size)) => Ok((number.is_negative() && size != 0, size)),
        _ => Err(CallError::call(format!(
            "The {what} must be a whole number of at most 128 bits."
        ))),
    }
}

pub(super) fn cidrhost(given: &Given<'_>) -> Answer {
    let network = network(given)?;
    let (negative, size) = large(given, 1, "host number")?;
    let most = mask(network.host_bits());
    let offset = if negative {
        // counted from the end: -1 is the last
        size.checked_sub(1).filter(|s| *s <= most).map(|s| most - s)
    } else {
        Some(size).filter(|s| *s <= most)
    };
    let Some(offset) = offset else {
        return Err(CallError::call(format!(
            "The network {} has {} bits for hosts, too few for the host number {}{size}.",
            network.show(),
            network.host_bits(),
            if negative { "-" } else { "" }
        )));
    };
    Ok(Value::string(show_address(
        network.address | offset,
        network.bits,
    )))
}

pub(super) fn cidrcontains(given: &Given<'_>) -> Answer {
    let outer = network(given)?;
    let text = given.text(1);
    let inner = if text.contains('/') {
        Network::parse(text)
    } else {
        // an address is the network of itself alone
        let length = if text.contains(':') { 128 } else { 32 };
        Network::parse(&format!("{text}/{length}"))
            .map_err(|_| format!("{text:?} is neither an IP address nor a network."))
    }
    .map_err(|detail| CallError::argument(1, detail))?;
    if inner.bits != outer.bits {
        let family = |n: Network| if n.bits == 32 { "IPv4" } else { "IPv6" };
        return Err(CallError::call(format!(
            "{:?} is {} and {text:?} is {}: one can be within the other only if both are of the same family.",
            given.text(0),
            family(outer),
            family(inner)
        )));
    }
    Ok(Value::bool(
        inner.length >= outer.length && inner.address & !mask(outer.host_bits()) == outer.address,
    ))
}

pub(super) fn cidrnetmask(given: &Given<'_>) -> Answer {
    let network = network(given)?;
    if network.bits != 32 {
        return Err(CallError::call(
            "Only IPv4 networks have a netmask; IPv6 writes the length of the prefix instead.",
        ));
    }
    Ok(Value::string(show_address(
        mask(32) & !mask(network.host_bits()),
        32,
    )))
}

pub(super) fn cidrsubnet(given: &Given<'_>) -> Answer {
    let network = network(given)?;
    let bits = given.whole(1)?;
    let (negative, size) = large(given, 2, "network number")?;
    let length = i64::from(network.length)
        .checked_add(bits)
        .and_then(|l| u32::try_from(l).ok())
        .filter(|l| *l <= network.bits);
    let Some(length) = length else {
        return Err(CallError::call(format!(
            "The network {} can be extended by 0 to {} bits.",
            network.show(),
            network.host_bits()
        )));
    };
    // a prefix that gets shorter has room for any number
    let most = u32::try_from(bits).map_or(mask(64), |bits| mask(bits.min(64)));
    let number = format!("{}{size}", if negative { "-" } else { "" });
    // only the lowest 64 bits are looked at, and not the sign: what other numbers give lies outside the
    // network, and is given all the same, as other tools of the language do
    if size & mask(64) > most {
        return Err(CallError::call(format!(
            "{bits} further bits number the networks from 0 to {most}, so there is no network {number} \
             within {}.",
            network.show()
        )));
    }
    let shift = network.bits - length;
    // a shift by all bits is the empty prefix, whose only network is 0
    let offset = match size {
        0 => Some(0),
        size if size.leading_zeros() >= shift => size.checked_shl(shift),
        _ => None,
    };
    let address = match offset {
        Some(0) => Some(network.address),
        // the digits of a negative number in two's complement, without its sign
        Some(offset) if negative => Some(((offset - 1) & !network.address) + 1),
        Some(offset) => Some(network.address | offset),
        None => None,
    };
    match address.filter(|a| *a <= mask(network.bits)) {
        Some(address) => Ok(Value::string(
            Network {
                address,
                length,
                ..network
            }
            .show(),
        )),
        None => Err(CallError::call(format!(
            "The network {number} lies beyond all addresses."
        ))),
    }
}

/// How far one call extends an IPv6 prefix.
const FURTHEST: i64 = 32;

pub(super) fn cidrsubnets(given: &Given<'_>) -> Answer {
    let network = network(given)?;
    let mut subnets = Vec::new();
    // the first address not given out yet, counted from the start of the network
    let mut free: Option<u128> = Some(0);
    let room = mask(network.host_bits());
    for at in 1..given.arguments.len() {
        let bits = given.whole(at)?;
        if bits < 1 {
            return Err(CallError::argument(at, "It must be at least 1."));
        }
        if bits > FURTHEST {
            return Err(CallError::argument(
                at,
                format!("It must be at most {FURTHEST}."),
            ));
        }
        let bits = u32::try_from(bits).unwrap_or(u32::MAX);
        if bits > network.host_bits() {
            return Err(CallError::argument(
                at,
                format!(
                    "The network {} has only {} bits left.",
                    network.show(),
                    network.host_bits()
                ),
            ));
        }
        let length = network.length + bits;
        let size = mask(network.bits - length);
        // a network begins at a multiple of its size
        let start = free.and_then(|f| f.checked_add(size)).map(|f| f & !size);
        let Some(start) = start.filter(|s| *s <= room) else {
            return Err(CallError::argument(
                at,
                format!("The network {} is used up by those before.", network.show()),
            ));
        };
        let subnet = Network {
            address: network.address | start,
            length,
            ..network
        };
        subnets.push(Value::string(subnet.show()));
        free = start.checked_add(size).and_then(|f| f.checked_add(1));
    }
    Ok(Value::list(Type::String, subnets))
}
