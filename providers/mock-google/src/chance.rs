//! Numbers that look random and are the same on each run: ids, fingerprints, latencies, faults.
//!
//! Everything is a function of the world's seed and a counter that the journal keeps, so a replayed
//! world goes on exactly where it stopped.

use base64::Engine;

/// One well-mixed number per (seed, counter): the finaliser of SplitMix64.
pub(crate) fn mix(seed: u64, counter: u64) -> u64 {
    let mut x = seed ^ counter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// A number for a text: FNV-1a.
pub(crate) fn of_text(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// A decimal id of 19 digits, as compute gives them.
pub(crate) fn id(seed: u64, counter: u64) -> String {
    (mix(seed, counter) % 8_000_000_000_000_000_000 + 1_000_000_000_000_000_000).to_string()
}

/// A fingerprint: eight bytes in base64.
pub(crate) fn fingerprint(seed: u64, counter: u64) -> String {
    base64::engine::general_purpose::STANDARD.encode(mix(!seed, counter).to_be_bytes())
}

/// A number in `low..=high`.
pub(crate) fn between(seed: u64, counter: u64, low: u64, high: u64) -> u64 {
    if high <= low {
        low
    } else {
        low + mix(seed, counter) % (high - low + 1)
    }
}

/// Whether something of this probability happens.
pub(crate) fn happens(seed: u64, counter: u64, probability: f64) -> bool {
    #[allow(clippy::cast_precision_loss)] // 53 bits are exact
    let unit = (mix(seed, counter) >> 11) as f64 / (1u64 << 53) as f64;
    unit < probability
}
