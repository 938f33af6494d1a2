//! Whether a machine type can be had the way someone asks for it.

use crate::MachineType;

/// A way to ask for machines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityMode {
    /// On demand, outside any reservation.
    Standard,
    /// Spot.
    Spot,
    /// Flex-start.
    FlexStart,
    /// From a reservation.
    Reservation,
}

impl CapacityMode {
    /// All modes, in a fixed order.
    pub const ALL: [Self; 4] = [
        Self::Standard,
        Self::Spot,
        Self::FlexStart,
        Self::Reservation,
    ];

    /// The word that stands in configurations.
    pub fn word(self) -> &'static str {
        match self {
            Self::Standard => "standard",
            Self::Spot => "spot",
            Self::FlexStart => "flex-start",
            Self::Reservation => "reservation",
        }
    }

    /// The mode of an instance's `provisioning_model`, given whether it names a reservation.
    /// `None` for a model that nobody knows.
    pub fn of_provisioning_model(model: &str, names_reservation: bool) -> Option<Self> {
        match model {
            "SPOT" => Some(Self::Spot),
            "FLEX_START" => Some(Self::FlexStart),
            "RESERVATION_BOUND" => Some(Self::Reservation),
            "STANDARD" | "" if names_reservation => Some(Self::Reservation),
            "STANDARD" | "" => Some(Self::Standard),
            _ => None,
        }
    }
}

/// Whether a mode is offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Google offers it.
    Offered,
    /// Google does not.
    Refused,
    /// Nobody confirmed either.
    Unconfirmed,
}

/// Why a request for capacity cannot succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapacityProblem {
    /// The family is only to be had from a reservation, and none is named.
    ReservationRequired,
    /// The mode is not offered for this family.
    ModeRefused(CapacityMode),
}

impl MachineType {
    /// Whether the type is offered in `mode`.
    ///
    /// A reservation is `Unconfirmed` unless reservation-bound machines are confirmed; families that
    /// take reservations of another kind are not contradicted by the facts.
    pub fn offers(&self, mode: CapacityMode) -> Offer {
        let fact = match mode {
            CapacityMode::Standard => self.capacity.standard,
            CapacityMode::Spot => self.capacity.spot,
            CapacityMode::FlexStart => self.capacity.flex_start,
            CapacityMode::Reservation => self.capacity.reservation_bound,
        };
        match fact {
            Some(true) => Offer::Offered,
            Some(false) => Offer::Refused,
            None => Offer::Unconfirmed,
        }
    }

    /// The modes confirmed as offered, in the order of [`CapacityMode::ALL`].
    pub fn offered_modes(&self) -> Vec<CapacityMode> {
        let mut modes = CapacityMode::ALL.to_vec();
        modes.retain(|m| self.offers(*m) == Offer::Offered);
        modes
    }

    /// What stands against asking for the type in `mode`; `None` where no confirmed fact does.
    pub fn capacity_problem(&self, mode: CapacityMode) -> Option<CapacityProblem> {
        if mode != CapacityMode::Reservation && self.capacity.reservation_required == Some(true) {
            return Some(CapacityProblem::ReservationRequired);
        }
        (self.offers(mode) == Offer::Refused).then_some(CapacityProblem::ModeRefused(mode))
    }
}
