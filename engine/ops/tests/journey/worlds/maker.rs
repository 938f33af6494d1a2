//! Configurations and what is asked of them, from a seed: each step changes the configuration that the
//! one before it left.

use super::thing::{Deed, Script, Thought};
use formwork_environment::{Fixed, Randomness as _};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// Names of blocks; a block refers only to those before it. `m` and `n` are modules with a block `z`.
pub const NAMES: [&str; 8] = ["a", "b", "c", "m", "d", "n", "e", "f"];

pub fn is_module(name: &str) -> bool {
    matches!(name, "m" | "n")
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repeat {
    Single,
    Count(usize),
    Each(Vec<&'static str>),
    /// As many as a number of another block says, which may be known only when that is made.
    By(&'static str),
}

/// A provisioner of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provision {
    Created,
    /// Its failure is no matter.
    CreatedOrNot,
    Destroyed,
}

/// One block of things; of a module, the one within, and the repetition is the module's.
#[derive(Clone, Debug)]
pub struct Block {
    pub repeat: Repeat,
    pub force: usize,
    pub size: Option<usize>,
    pub note: String,
    /// Blocks whose ids it is linked to.
    pub links: BTreeSet<&'static str>,
    /// A block whose serial it notes.
    pub serial_of: Option<&'static str>,
    /// Blocks it waits for.
    pub depends_on: Option<&'static str>,
    pub create_first: bool,
    pub ignores_note: bool,
    pub replaced_by: Option<&'static str>,
    pub prevents_destroy: bool,
    /// A condition that always holds.
    pub condition: bool,
    /// A condition that only apply can judge, and that does not hold of all.
    pub demands: bool,
    /// A block that a data source looks at, whose answer it notes.
    pub sees: Option<&'static str>,
    pub secret: bool,
    pub disks: usize,
    pub provisions: Option<Provision>,
    /// A block whose number a precondition is about, which does not always hold.
    pub expects: Option<&'static str>,
    /// A block whose ids configure the provider that handles this one.
    pub far: Option<&'static str>,
    /// Whether it gets a key of an ephemeral resource, and a block that this one is opened for.
    pub key: Option<Option<&'static str>>,
}

/// A configuration.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub blocks: BTreeMap<&'static str, Block>,
    /// Blocks that a data source looks at.
    pub looked_at: BTreeSet<&'static str>,
    pub moved: Vec<(String, String)>,
    pub forgotten: BTreeSet<&'static str>,
    /// Blocks whose number a check is about.
    pub checked: BTreeSet<&'static str>,
    /// Blocks that a provider is or was configured by.
    pub fars: BTreeSet<&'static str>,
    /// Whether the user has put words in their place, to have something settled by a provider that
    /// could not be configured by what there is.
    pub settling: bool,
    /// Objects to import: block, and id.
    pub imports: Vec<(&'static str, String)>,
}

/// What a run is asked to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    Normal,
    Destroy,
    RefreshOnly,
    Target(&'static str),
    Exclude(&'static str),
    DestroyTarget(&'static str),
    Replace(&'static str),
    WithoutRefresh,
    /// Only what the plan touches is read.
    Light,
}

/// What a user does to the state between runs, to an instance in it (by number).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edit {
    Taint,
    Untaint,
    Remove,
    /// To a block of this name.
    Move(&'static str),
}

/// What others do to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meddling {
    Delete,
    Change,
    /// They make one like it.
    Copy,
}

const MEDDLINGS: [Meddling; 3] = [Meddling::Delete, Meddling::Change, Meddling::Copy];

/// One step: what happens outside, and a run.
#[derive(Clone, Debug)]
pub struct Step {
    pub mode: Mode,
    pub script: Script,
    /// What others do to objects before it, and to which (by number).
    pub outside: Vec<(usize, Meddling)>,
    /// The write at which the process dies, and how.
    pub death: Option<(usize, usize)>,
    pub parallelism: usize,
    /// Whether the provider does not say what became of operations.
    pub silent: bool,
    /// Whether the plan is saved, and applied by another process.
    pub saved: bool,
    /// Whether what cannot be planned yet is left to further rounds.
    pub defers: bool,
    /// What is done to the state before.
    pub edits: Vec<(usize, Edit)>,
    /// Whether something is done to the state between a saved plan and its apply.
    pub overtaken: bool,
    /// Whether the state was written by Terraform, which stores also what objects were made from far off.
    pub transitive: bool,
}

impl Step {
    /// A run in which nothing goes wrong.
    pub fn calm(mode: Mode) -> Self {
        Self {
            mode,
            script: Script::default(),
            outside: Vec::new(),
            death: None,
            parallelism: 10,
            silent: false,
            saved: false,
            defers: true,
            edits: Vec::new(),
            overtaken: false,
            transitive: false,
        }
    }
}

pub struct Maker(pub Fixed);

impl Maker {
    pub fn below(&self, end: usize) -> usize {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        let n = u64::from_le_bytes(bytes) % end.max(1) as u64;
        usize::try_from(n).expect("small")
    }

    pub fn one_in(&self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn pick<'a, T>(&self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    fn repeat(&self) -> Repeat {
        match self.below(4) {
            0 => Repeat::Count(self.below(4)),
            1 => {
                let keys = ["x", "y", "a key"];
                let keys = keys.into_iter().filter(|_| self.one_in(2));
                Repeat::Each(keys.collect())
            }
            _ => Repeat::Single,
        }
    }

    fn block(&self, world: &World, name: &'static str) -> Block {
        let before = |n: &&&'static str| {
            let at = |n: &str| NAMES.iter().position(|m| *m == n);
            at(n) < at(name)
        };
        let others: Vec<&'static str> = world.blocks.keys().filter(before).copied().collect();
        let other =
            |chance| (!others.is_empty() && self.one_in(chance)).then(|| *self.pick(&others));
        let links = (0..self.below(3)).filter_map(|_| other(1)).collect();
        Block {
            repeat: match other(8) {
                Some(by) => Repeat::By(by),
                None => self.repeat(),
            },
            force: self.below(3),
            size: self.one_in(3).then(|| self.below(9)),
            note: format!("n{}", self.below(3)),
            links,
            serial_of: other(4),
            depends_on: other(5),
            create_first: self.one_in(3),
            ignores_note: self.one_in(6),
            replaced_by: if is_module(name) {
                None
            } else {
                other(6).filter(|o| !is_module(o))
            },
            prevents_destroy: self.one_in(25),
            condition: self.one_in(5),
            demands: self.one_in(12),
            sees: {
                let seen: Vec<_> = world.looked_at.iter().copied().collect();
                (!seen.is_empty() && self.one_in(3)).then(|| *self.pick(&seen))
            },
            secret: self.one_in(5),
            disks: self.below(3),
            provisions: self.one_in(6).then(|| {
                *self.pick(&[
                    Provision::Created,
                    Provision::CreatedOrNot,
                    Provision::Destroyed,
                ])
            }),
            expects: other(12).filter(|_| !is_module(name)),
            far: other(10).filter(|_| !is_module(name)),
            key: (self.one_in(8) && !is_module(name)).then(|| other(2)),
        }
    }

    /// The configuration after another.
    pub fn next(&self, old: &World) -> World {
        let mut world = World {
            fars: old.fars.clone(),
            ..World::default()
        };
        for name in NAMES {
            let block = match old.blocks.get(name) {
                Some(_) if self.one_in(6) => {
                    if self.one_in(4) {
                        world.forgotten.insert(name);
                    }
                    continue;
                }
                None if self.one_in(2) => continue,
                None => self.block(&world, name),
                Some(former) => {
                    let fresh = self.block(&world, name);
                    let mut b = former.clone();
                    let here = |n: &&'static str| world.blocks.contains_key(*n);
                    b.links.retain(|n| here(n));
                    b.serial_of = b.serial_of.filter(here);
                    b.depends_on = b.depends_on.filter(here);
                    b.replaced_by = b.replaced_by.filter(here);
                    b.far = b.far.filter(here);
                    b.key = b.key.map(|of| of.filter(here));
                    if let Repeat::By(by) = b.repeat
                        && !here(&by)
                    {
                        b.repeat = Repeat::Count(1);
                    }
                    b.expects = fresh.expects;
                    b.sees = fresh.sees;
                    b.demands = fresh.demands;
                    if self.one_in(4) {
                        b.repeat = fresh.repeat;
                    }
                    if self.one_in(4) {
                        b.force = fresh.force;
                    }
                    if self.one_in(4) {
                        (b.note, b.size, b.disks) = (fresh.note, fresh.size, fresh.disks);
                    }
                    if self.one_in(5) {
                        (b.links, b.serial_of) = (fresh.links, fresh.serial_of);
                    }
                    if self.one_in(8) {
                        b.create_first = fresh.create_first;
                    }
                    if self.one_in(8) {
                        b.replaced_by = fresh.replaced_by;
                        b.depends_on = fresh.depends_on;
                    }
                    if self.one_in(8) {
                        (b.far, b.key) = (fresh.far, fresh.key);
                    }
                    if self.one_in(8) {
                        b.provisions = fresh.provisions;
                    }
                    b.prevents_destroy = fresh.prevents_destroy;
                    b
                }
            };
            if self.one_in(6) && !is_module(name) {
                world.looked_at.insert(name);
            }
            if self.one_in(10) {
                world.checked.insert(name);
            }
            world.fars.extend(block.far);
            world.blocks.insert(name, block);
        }
        self.moves(old, &mut world);
        world
    }

    fn moves(&self, old: &World, world: &mut World) {
        self.key_moves(old, world);
        let only = |a: &World, b: &World| -> Vec<&'static str> {
            let names = a.blocks.keys().filter(|n| !b.blocks.contains_key(*n));
            names.copied().collect()
        };
        let (gone, come) = (only(old, world), only(world, old));
        if gone.is_empty() || come.is_empty() || !self.one_in(2) {
            return;
        }
        let (from, to) = (*self.pick(&gone), *self.pick(&come));
        if is_module(from) && !is_module(to) {
            return;
        }
        world.forgotten.remove(from);
        let into = is_module(to) && !is_module(from);
        let mut repeat = old.blocks[from].repeat.clone();
        if let Repeat::By(_) = repeat {
            repeat = Repeat::Count(2);
        }
        if let Some(block) = world.blocks.get_mut(to) {
            block.repeat = if into { Repeat::Single } else { repeat };
        }
        let inner = if into { ".world_thing.z" } else { "" };
        let whole = format!("{}{inner}", address(to));
        world.moved.push((address(from), whole));
    }

    /// Instances whose block is repeated in another way now.
    fn key_moves(&self, old: &World, world: &mut World) {
        for (name, block) in &world.blocks {
            let Some(former) = old.blocks.get(name) else {
                continue;
            };
            let (was, is) = (&former.repeat, &block.repeat);
            let changed = was != is && std::mem::discriminant(was) != std::mem::discriminant(is);
            if let (true, Some(was), Some(is)) = (changed, first_key(was), first_key(is))
                && !was.is_empty()
                && self.one_in(2)
            {
                let place = address(name);
                world
                    .moved
                    .push((format!("{place}{was}"), format!("{place}{is}")));
            }
        }
    }

    /// Lets a new block take over something that exists and is nobody's.
    pub fn imports(&self, old: &World, world: &mut World, strays: &[String]) {
        let fresh = |n: &&&'static str| {
            let moved = world.moved.iter().any(|(_, to)| *to == address(n));
            !old.blocks.contains_key(**n) && !is_module(n) && !moved
        };
        let fresh: Vec<&'static str> = world.blocks.keys().filter(fresh).copied().collect();
        if fresh.is_empty() || strays.is_empty() || self.one_in(2) {
            return;
        }
        let (to, id) = (*self.pick(&fresh), self.pick(strays).clone());
        if let Some(block) = world.blocks.get_mut(to) {
            block.repeat = Repeat::Single;
        }
        world.imports.push((to, id));
    }

    pub fn step(&self, world: &World) -> Step {
        let names: Vec<&'static str> = world.blocks.keys().copied().collect();
        let named = |make: fn(&'static str) -> Mode| match names.is_empty() {
            true => Mode::Normal,
            false => make(names[self.below(names.len())]),
        };
        let mode = match self.below(15) {
            0 => Mode::Destroy,
            1 => Mode::RefreshOnly,
            2 => named(Mode::Target),
            3 => named(Mode::Exclude),
            4 => named(Mode::DestroyTarget),
            5 | 6 => named(Mode::Replace),
            7 => Mode::WithoutRefresh,
            8 => Mode::Light,
            _ => Mode::Normal,
        };
        let mut script = Script {
            pauses: (0..5).map(|_| self.below(4)).collect(),
            ..Script::default()
        };
        if self.one_in(2) {
            for _ in 0..=self.below(2) {
                let deed = *self.pick(&[
                    Deed::Fails,
                    Deed::FailsWithNothing,
                    Deed::FailsAfter,
                    Deed::DiesBefore,
                    Deed::DiesAfter,
                    Deed::HangsBefore,
                    Deed::HangsAfter,
                    Deed::Lies,
                    Deed::LeavesUnknown,
                    Deed::Contradicts,
                    Deed::PanicsBefore,
                    Deed::PanicsAfter,
                ]);
                script.deeds.insert(self.below(8), deed);
            }
        }
        if self.one_in(12) {
            let thought = *self.pick(&[Thought::Fails, Thought::Lies]);
            script.thoughts.insert(self.below(12), thought);
        }
        if self.one_in(12) {
            script.reads.insert(self.below(6));
        }
        if self.one_in(6) {
            script.provisions.insert(self.below(3));
        }
        if self.one_in(10) {
            script.interrupt = Some(self.below(6));
        }
        script.detaches = self.one_in(2);
        let mut edits = Vec::new();
        if self.one_in(5) {
            let to = *self.pick(&["a", "b", "c", "d", "e", "f"]);
            let edit = [Edit::Taint, Edit::Untaint, Edit::Remove, Edit::Move(to)];
            edits.push((self.below(20), *self.pick(&edit)));
        }
        let saved = self.one_in(5);
        let outside = if self.one_in(3) {
            (0..=self.below(2))
                .map(|_| (self.below(20), *self.pick(&MEDDLINGS)))
                .collect()
        } else {
            Vec::new()
        };
        Step {
            mode,
            script,
            outside,
            death: self.one_in(4).then(|| (self.below(30), self.below(3))),
            parallelism: *self.pick(&[1, 2, 10]),
            silent: self.one_in(6),
            saved,
            defers: self.one_in(3),
            edits,
            overtaken: saved && self.one_in(6),
            transitive: self.one_in(6),
        }
    }
}

/// The address of a block.
pub fn address(name: &str) -> String {
    let kind = if is_module(name) {
        "module"
    } else {
        "world_thing"
    };
    format!("{kind}.{name}")
}

/// The key of the first instance.
pub fn first_key(repeat: &Repeat) -> Option<String> {
    match repeat {
        Repeat::Single => Some(String::new()),
        Repeat::Count(0) | Repeat::By(_) => None,
        Repeat::Count(_) => Some("[0]".to_owned()),
        Repeat::Each(keys) => Some(format!("[\"{}\"]", keys.first()?)),
    }
}

/// The ids of all things of a block, as a list.
fn ids(world: &World, name: &str) -> String {
    let whole = address(name);
    match &world.blocks[name].repeat {
        Repeat::Single => format!("[{whole}.id]"),
        Repeat::Each(_) => format!("[for k, v in {whole} : v.id]"),
        Repeat::Count(_) | Repeat::By(_) => format!("{whole}[*].id"),
    }
}

/// A number that a block has.
fn number(world: &World, name: &str) -> String {
    match &world.blocks[name].repeat {
        Repeat::Single => format!("{}.serial", address(name)),
        _ => format!("length({})", ids(world, name)),
    }
}

/// One text that changes whenever a thing of a block changes.
fn serials(world: &World, name: &str) -> String {
    let whole = address(name);
    match &world.blocks[name].repeat {
        Repeat::Single => format!("jsonencode([{whole}.serial])"),
        Repeat::Count(_) | Repeat::By(_) => format!("jsonencode({whole}[*].serial)"),
        Repeat::Each(_) => format!("jsonencode([for k, v in {whole} : v.serial])"),
    }
}

fn write_repeat(out: &mut String, world: &World, repeat: &Repeat) {
    match repeat {
        Repeat::By(by) => {
            let _ = writeln!(out, "  count = {} % 3", number(world, by));
        }
        Repeat::Single => {}
        Repeat::Count(n) => {
            let _ = writeln!(out, "  count = {n}");
        }
        Repeat::Each(keys) => {
            let keys: Vec<String> = keys.iter().map(|k| format!("\"{k}\"")).collect();
            let _ = writeln!(out, "  for_each = toset([{}])", keys.join(", "));
        }
    }
}

fn key(repeat: &Repeat) -> &'static str {
    match repeat {
        Repeat::Single => "",
        Repeat::Count(_) | Repeat::By(_) => "${count.index}",
        Repeat::Each(_) => "${each.key}",
    }
}

impl World {
    /// What a block waits for, itself.
    pub fn needs(&self, name: &str) -> BTreeSet<&'static str> {
        let Some(block) = self.blocks.get(name) else {
            return BTreeSet::new();
        };
        let more = [
            block.serial_of.filter(|_| block.sees.is_none()),
            block.depends_on,
            block.replaced_by,
            block.sees,
            block.expects,
            block.key.flatten(),
            match block.repeat {
                Repeat::By(by) => Some(by),
                _ => None,
            },
        ];
        let all = block
            .links
            .iter()
            .copied()
            .chain(more.into_iter().flatten());
        all.collect()
    }

    /// Everything that a block waits for, near and far.
    pub fn needs_all(&self, name: &str) -> BTreeSet<&'static str> {
        closure(name, |n| self.needs(n))
    }

    /// The same, and what configures the providers that handle it.
    pub fn takes_along(&self, name: &str) -> BTreeSet<&'static str> {
        closure(name, |n| {
            let far = self.blocks.get(n).and_then(|b| b.far);
            self.needs(n).into_iter().chain(far).collect()
        })
    }

    /// Whether something is as often there as only apply may tell.
    pub fn counts_later(&self) -> bool {
        let mut blocks = self.blocks.values();
        blocks.any(|b| matches!(b.repeat, Repeat::By(_)))
    }

    fn links(&self, block: &Block) -> Option<String> {
        let links: Vec<String> = block.links.iter().map(|n| ids(self, n)).collect();
        (!links.is_empty()).then(|| format!("concat({})", links.join(", ")))
    }

    fn note(&self, block: &Block) -> String {
        match (block.serial_of, block.sees) {
            (_, Some(seen)) => format!("jsonencode(data.world_look.{seen}[*].found)"),
            (None, None) => format!("\"{}\"", block.note),
            (Some(of), None) => serials(self, of),
        }
    }

    /// The files: the root, and the modules by name.
    pub fn texts(&self) -> (String, Vec<(&'static str, String)>) {
        let (mut root, mut modules) = (String::new(), Vec::new());
        for name in &self.fars {
            let region = match self.blocks.contains_key(name) && !self.settling {
                true => format!("jsonencode({})", ids(self, name)),
                false => "\"nowhere\"".to_owned(),
            };
            let _ = writeln!(
                root,
                "provider \"world\" {{\n  alias = \"by_{name}\"\n  region = {region}\n}}"
            );
        }
        for (name, block) in &self.blocks {
            if is_module(name) {
                let _ = writeln!(root, "module \"{name}\" {{\n  source = \"./{name}\"");
                write_repeat(&mut root, self, &block.repeat);
                let _ = writeln!(root, "  key = \"{}\"", key(&block.repeat));
                let _ = writeln!(root, "  note = {}", self.note(block));
                let _ = writeln!(
                    root,
                    "  links = {}",
                    self.links(block).unwrap_or("null".to_owned())
                );
                if let Some(d) = block.depends_on {
                    let _ = writeln!(root, "  depends_on = [{}]", address(d));
                }
                root.push_str("}\n");
                let mut module =
                    "variable \"key\" {}\nvariable \"note\" {}\nvariable \"links\" {}\n\
                     output \"id\" {\n  value = world_thing.z.id\n}\n\
                     output \"serial\" {\n  value = world_thing.z.serial\n}\n"
                        .to_owned();
                let at = format!("{name}/${{var.key}}");
                self.write_block(&mut module, "z", &at, block, "var.note", Some("var.links"));
                modules.push((*name, module));
            } else {
                let at = format!("{name}/{}", key(&block.repeat));
                let links = self.links(block);
                self.write_block(
                    &mut root,
                    name,
                    &at,
                    block,
                    &self.note(block),
                    links.as_deref(),
                );
                let _ = writeln!(
                    root,
                    "output \"{name}\" {{\n  value = {}\n}}",
                    ids(self, name)
                );
            }
            if self.looked_at.contains(name) {
                let _ = writeln!(
                    root,
                    "data \"world_look\" \"{name}\" {{\n  count = length({0})\n  of = ({0})[count.index]\n}}\n\
                     output \"found_{name}\" {{\n  value = data.world_look.{name}[*].found\n}}",
                    ids(self, name)
                );
            }
        }
        for name in &self.checked {
            let number = number(self, name);
            let _ = writeln!(
                root,
                "check \"of_{name}\" {{\n  assert {{\n    condition = {number} % 3 != 0\n    error_message = \"So be it.\"\n  }}\n}}"
            );
        }
        for (from, to) in &self.moved {
            let _ = writeln!(root, "moved {{\n  from = {from}\n  to = {to}\n}}");
        }
        for name in &self.forgotten {
            let _ = writeln!(
                root,
                "removed {{\n  from = {}\n  lifecycle {{\n    destroy = false\n  }}\n}}",
                address(name)
            );
        }
        for (to, id) in &self.imports {
            let _ = writeln!(
                root,
                "import {{\n  to = world_thing.{to}\n  id = \"{id}\"\n}}"
            );
        }
        (root, modules)
    }

    fn write_block(
        &self,
        out: &mut String,
        name: &str,
        at: &str,
        b: &Block,
        note: &str,
        links: Option<&str>,
    ) {
        let _ = writeln!(out, "resource \"world_thing\" \"{name}\" {{");
        if name != "z" {
            write_repeat(out, self, &b.repeat);
        }
        if let Some(far) = b.far {
            let _ = writeln!(out, "  provider = world.by_{far}");
        }
        if b.key.is_some() {
            let _ = writeln!(out, "  key = ephemeral.world_key.{name}.key");
        }
        match b.provisions {
            None => {}
            Some(Provision::Created) => {
                out.push_str("  provisioner \"world\" {\n    of = self.id\n  }\n");
            }
            Some(Provision::CreatedOrNot) => out.push_str(
                "  provisioner \"world\" {\n    of = self.id\n    easy = true\n    on_failure = continue\n  }\n",
            ),
            Some(Provision::Destroyed) => out.push_str(
                "  provisioner \"world\" {\n    of = self.id\n    gone = true\n    when = destroy\n  }\n",
            ),
        }
        let _ = writeln!(
            out,
            "  at = \"{at}\"\n  force = {}\n  note = {note}",
            b.force
        );
        if let Some(size) = b.size {
            let _ = writeln!(out, "  size = {size}");
        }
        if let Some(links) = links {
            let _ = writeln!(out, "  links = {links}");
        }
        if b.secret {
            out.push_str("  secret = sensitive(\"hush\")\n");
        }
        for i in 0..b.disks {
            let _ = writeln!(out, "  disk {{\n    gb = {}\n  }}", 10 + i);
        }
        if let Some(d) = b.depends_on.filter(|_| name != "z") {
            let _ = writeln!(out, "  depends_on = [{}]", address(d));
        }
        let _ = writeln!(
            out,
            "  lifecycle {{\n    create_before_destroy = {}",
            b.create_first
        );
        if b.ignores_note {
            out.push_str("    ignore_changes = [note]\n");
        }
        if let Some(r) = b.replaced_by {
            let _ = writeln!(out, "    replace_triggered_by = [world_thing.{r}]");
        }
        if b.prevents_destroy {
            out.push_str("    prevent_destroy = true\n");
        }
        if let Some(of) = b.expects {
            let number = number(self, of);
            let _ = writeln!(
                out,
                "    precondition {{\n      condition = {number} % 5 != 0\n      error_message = \"Not of that.\"\n    }}"
            );
        }
        if b.condition {
            out.push_str(
                "    postcondition {\n      condition = self.id != \"\"\n      error_message = \"It has an id.\"\n    }\n",
            );
        }
        if b.demands {
            out.push_str(
                "    postcondition {\n      condition = self.serial % 4 != 0\n      error_message = \"Not this one.\"\n    }\n",
            );
        }
        out.push_str("  }\n}\n");
        if let Some(of) = b.key {
            let of = of.map_or("null".to_owned(), |of| {
                format!("jsonencode({})", ids(self, of))
            });
            let _ = writeln!(
                out,
                "ephemeral \"world_key\" \"{name}\" {{\n  of = {of}\n}}"
            );
        }
    }
}

/// Everything that `near` leads to, near and far.
fn closure(name: &str, near: impl Fn(&str) -> BTreeSet<&'static str>) -> BTreeSet<&'static str> {
    let (mut open, mut all) = (near(name), BTreeSet::new());
    while let Some(next) = open.pop_first() {
        if all.insert(next) {
            open.extend(near(next));
        }
    }
    all
}
