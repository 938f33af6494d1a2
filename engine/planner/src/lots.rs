//! What objects that are destroyed were made from, without circles.
//!
//! The state says of each object from which blocks it was made, not from which objects. Mostly that is
//! enough. Where a block keeps former objects beside its present ones, or got objects from another block
//! by `moved`, `state mv` or import, two blocks may each have objects that were made from the other, and
//! no order of whole blocks keeps to that. So objects are taken in lots: those of one block that were
//! made from the same and stand alike. Where even lots run in a circle, some of what is believed of them
//! is not so (what really was made from what never does), and the least credible is dropped:
//! [`Belief`] says what is believed first.

use crate::execution::{BlockAddress, References, block_of};
use formwork_addresses::{AbsProviderConfig, AbsResource};
use formwork_graph::Dag;
use formwork_plan::{Action, ResourceInstanceChange};
use std::collections::{BTreeMap, BTreeSet};

/// How the objects of a lot came to stand where they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Standing {
    /// What the block has.
    Present,
    /// What a replacement left behind.
    Deposed,
    /// What this very run takes over: that it was made from what its block refers to is a guess.
    Imported,
}

/// How credible it is that a lot was made from another, the most credible first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Belief {
    /// The state says so, and the configuration, near or far.
    Configured,
    /// The state says so of what was left behind; what that was made from was present then.
    Former,
    /// Only the state says so: the configuration has changed since.
    Stored,
    /// State and configuration say so, but the other was left behind by a replacement, whose users have
    /// turned to what came instead if they could.
    ConfiguredToFormer,
    /// Only the state says so, and the other was left behind.
    StoredToFormer,
    /// What is imported.
    Guessed,
    /// The provider that destroys it is configured by what the other lot has.
    Provider,
}

/// Objects of one block that were made from the same.
#[derive(Debug)]
struct Lot<'a> {
    block: BlockAddress,
    standing: Standing,
    made_from: &'a [AbsResource],
    provider: &'a AbsProviderConfig,
    /// Whether one of them is deleted before it is made anew.
    deleted_first: bool,
}

/// The destroyed objects of a plan in lots.
#[derive(Debug, Default)]
pub(crate) struct Lots {
    /// The lot of each destroyed object, in the order in which those were given.
    of_object: Vec<usize>,
    names: Vec<BlockAddress>,
    of_block: BTreeMap<BlockAddress, Vec<usize>>,
    /// Per lot, those that it was made from: they go after it. Never in a circle.
    before: Vec<Vec<usize>>,
}

impl Lots {
    /// `destroyed` are numbers of changes, `prior_dependencies` what the object of each change was made
    /// from.
    pub(crate) fn new(
        changes: &[ResourceInstanceChange],
        prior_dependencies: &[Vec<AbsResource>],
        destroyed: impl Iterator<Item = usize>,
        references: &References,
        unknown_providers: &BTreeSet<AbsProviderConfig>,
    ) -> Self {
        let mut lots: Vec<Lot<'_>> = Vec::new();
        let mut known = BTreeMap::new();
        let mut all = Self::default();
        for (i, change) in destroyed.filter_map(|i| Some((i, changes.get(i)?))) {
            let block = block_of(&change.address.abs_resource());
            let standing = match (&change.deposed, &change.importing) {
                (Some(_), _) => Standing::Deposed,
                (None, Some(_)) => Standing::Imported,
                (None, None) => Standing::Present,
            };
            let made_from = prior_dependencies.get(i).map_or(&[][..], Vec::as_slice);
            let provider = &change.provider;
            let deleted_first = change.action == Action::DeleteThenCreate;
            let number = *known
                .entry((block.clone(), standing, made_from, provider))
                .or_insert_with(|| {
                    all.of_block
                        .entry(block.clone())
                        .or_default()
                        .push(lots.len());
                    all.names.push(block.clone());
                    lots.push(Lot {
                        block,
                        standing,
                        made_from,
                        provider,
                        deleted_first: false,
                    });
                    lots.len() - 1
                });
            all.of_object.push(number);
            if deleted_first && let Some(lot) = lots.get_mut(number) {
                lot.deleted_first = true;
            }
        }
        all.before = all.without_circles(&lots, references, unknown_providers);
        all
    }

    /// The lot of the destroyed object with a number, in the order given.
    pub(crate) fn of(&self, object: usize) -> Option<usize> {
        self.of_object.get(object).copied()
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, lot: usize) -> Option<&BlockAddress> {
        self.names.get(lot)
    }

    /// The lots of a block.
    pub(crate) fn of_block(&self, block: &BlockAddress) -> &[usize] {
        self.of_block.get(block).map_or(&[], Vec::as_slice)
    }

    /// The lots that go after one, since it was made from them.
    pub(crate) fn made_from(&self, lot: usize) -> &[usize] {
        self.before.get(lot).map_or(&[], Vec::as_slice)
    }

    /// Everything that was made from some lots, near or far.
    pub(crate) fn everything_from(&self, lots: impl Iterator<Item = usize>) -> BTreeSet<usize> {
        let mut users: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (user, used) in self.before.iter().enumerate() {
            for lot in used {
                users.entry(*lot).or_default().push(user);
            }
        }
        let mut open: Vec<usize> = lots.collect();
        let mut found = BTreeSet::new();
        while let Some(lot) = open.pop() {
            for user in users.get(&lot).into_iter().flatten() {
                if found.insert(*user) {
                    open.push(*user);
                }
            }
        }
        found
    }

    /// Which lots were made from which, what makes a circle left out.
    fn without_circles(
        &self,
        lots: &[Lot<'_>],
        references: &References,
        unknown_providers: &BTreeSet<AbsProviderConfig>,
    ) -> Vec<Vec<usize>> {
        let mut far = BTreeMap::new();
        let mut believed: Vec<(usize, usize, Belief)> = Vec::new();
        for (from, lot) in lots.iter().enumerate() {
            for block in lot.made_from.iter().map(block_of) {
                for to in self.of_block(&block).iter().filter(|to| **to != from) {
                    // how much so is looked at only where it matters
                    believed.push((from, *to, Belief::Stored));
                }
            }
            let configured_by = references.providers.get(&lot.provider.block());
            for block in configured_by.into_iter().flatten() {
                // Where it is configured by what comes instead, that comes first.
                let anew = unknown_providers.contains(lot.provider);
                let outlived = |to: &&usize| **to != from && !(anew && lots[**to].deleted_first);
                for to in self.of_block(block).iter().filter(outlived) {
                    believed.push((from, *to, Belief::Provider));
                }
            }
        }
        let node = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let edges = believed.iter().map(|(a, b, _)| (node(*a), node(*b)));
        let circles = circle_of_each(&Dag::new(lots.len(), edges), lots.len());
        let mut before = vec![Vec::new(); lots.len()];
        let mut doubtful = Vec::new();
        for (from, to, belief) in believed {
            match (circles.get(from), circles.get(to)) {
                (Some(Some(a)), Some(Some(b))) if a == b => {
                    let belief = match belief {
                        Belief::Provider => belief,
                        _ => belief_of(&lots[from], &lots[to], references, &mut far),
                    };
                    doubtful.push((belief, from, to));
                }
                _ => before[from].push(to),
            }
        }
        doubtful.sort_unstable();
        let mut within: Vec<Vec<usize>> = vec![Vec::new(); lots.len()];
        for (_, from, to) in doubtful {
            if !leads(&within, to, from) {
                within[from].push(to);
                before[from].push(to);
            }
        }
        before
    }
}

/// Per lot, the circle that it is part of.
fn circle_of_each(dag: &Dag, len: usize) -> Vec<Option<usize>> {
    let mut of = vec![None; len];
    for (number, circle) in dag.circles().into_iter().enumerate() {
        for lot in circle {
            if let Some(place) = of.get_mut(lot as usize) {
                *place = Some(number);
            }
        }
    }
    of
}

fn belief_of(
    from: &Lot<'_>,
    to: &Lot<'_>,
    references: &References,
    far: &mut BTreeMap<BlockAddress, BTreeSet<BlockAddress>>,
) -> Belief {
    let all = far
        .entry(from.block.clone())
        .or_insert_with(|| everything_before(references, &from.block));
    let configured = all.contains(&to.block);
    match (from.standing, to.standing) {
        (Standing::Imported, _) => Belief::Guessed,
        (Standing::Present, Standing::Deposed) if configured => Belief::ConfiguredToFormer,
        (_, Standing::Deposed) => Belief::StoredToFormer,
        (Standing::Present, _) if configured => Belief::Configured,
        (Standing::Deposed, _) => Belief::Former,
        (Standing::Present, _) => Belief::Stored,
    }
}

/// All that a block refers to, near and far.
fn everything_before(references: &References, block: &BlockAddress) -> BTreeSet<BlockAddress> {
    let mut open = vec![block];
    let mut found = BTreeSet::new();
    while let Some(block) = open.pop() {
        for near in references.resources.get(block).into_iter().flatten() {
            if found.insert(near.clone()) {
                open.push(near);
            }
        }
    }
    found
}

/// Whether a way leads from one lot to another.
fn leads(edges: &[Vec<usize>], from: usize, to: usize) -> bool {
    let mut open = vec![from];
    let mut seen = BTreeSet::new();
    while let Some(lot) = open.pop() {
        if lot == to {
            return true;
        }
        if seen.insert(lot) {
            open.extend(edges.get(lot).into_iter().flatten());
        }
    }
    false
}
