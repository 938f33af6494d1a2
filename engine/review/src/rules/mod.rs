//! The rules, each in a file of its own.

mod overlapping_ranges;
mod reservation_required;

use crate::Rule;

/// All rules, in the order in which their findings are told.
pub const RULES: &[Rule] = &[overlapping_ranges::RULE, reservation_required::RULE];
