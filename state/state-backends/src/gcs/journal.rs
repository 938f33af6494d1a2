//! The journal as objects: `PREFIX/WORKSPACE.tfjournal/EPOCH-NUMBER`, ten digits each.
//!
//! An epoch is a journal from its beginning. A reader reads the objects of the latest epoch in order of
//! their numbers, which begin at 0 and have no gap. To replace all of it a new epoch is begun with one
//! object; that moment is the replacement. Objects of former epochs are then removed, and so is the
//! object of an epoch that is empty. A process that dies in between leaves objects that nobody reads.

use super::objects::{Generation, Objects, Written};
use formwork_diagnostics::{Diagnostic, Diagnostics};
use formwork_google_client::GoogleError;
use futures::stream::{self, StreamExt, TryStreamExt};

/// How many objects are read or removed at a time.
const AT_ONCE: usize = 16;

/// The journal of one workspace, as far as this process knows it.
pub(super) struct Journal {
    /// `PREFIX/WORKSPACE.tfjournal/`
    folder: String,
    /// Where the next object goes; `None` before the first look.
    next: Option<(u64, u64)>,
    /// Why an append failed: what follows would not stand on firm ground.
    broken: Option<Diagnostics>,
}

/// The objects of a journal.
struct Found {
    /// The number of the latest epoch; 0 if there is none.
    epoch: u64,
    /// Its objects in order.
    current: Vec<String>,
    /// Of former epochs, or of no known form.
    former: Vec<(String, Generation)>,
    /// Generation of each current one.
    generations: Vec<Generation>,
}

impl Journal {
    pub fn new(folder: String) -> Self {
        Self {
            folder,
            next: None,
            broken: None,
        }
    }

    fn name(&self, epoch: u64, number: u64) -> String {
        format!("{}{epoch:010}-{number:010}", self.folder)
    }

    async fn look(&self, objects: &Objects) -> Result<Found, Diagnostics> {
        let failed = |e: GoogleError| {
            super::explain::explain(
                "Failed to read the journal",
                "Listing",
                &objects.shown(&self.folder),
                &e,
            )
        };
        let all = objects.list(&self.folder).await.map_err(failed)?;
        let mut found = Found {
            epoch: 0,
            current: Vec::new(),
            former: Vec::new(),
            generations: Vec::new(),
        };
        let numbered = |name: &str| {
            let (epoch, number) = name.get(self.folder.len()..)?.split_once('-')?;
            Some((epoch.parse::<u64>().ok()?, number.parse::<u64>().ok()?))
        };
        found.epoch = all
            .iter()
            .filter_map(|(name, _)| numbered(name))
            .map(|(epoch, _)| epoch)
            .max()
            .unwrap_or(0);
        for (name, generation) in all {
            match numbered(&name) {
                Some((epoch, number)) if epoch == found.epoch => {
                    if number != found.current.len() as u64 {
                        return Err(Diagnostic::error(
                            "Failed to read the journal",
                            format!(
                                "The journal {} has no object {}, but later ones. Somebody has removed a \
                                 part of it; what it said is not known.",
                                objects.shown(&self.folder),
                                self.name(epoch, found.current.len() as u64)
                            ),
                        )
                        .hint(
                            "Restore the object if the bucket keeps versions. Otherwise look at what the \
                             run that wrote it did, then remove the rest.",
                        )
                        .into());
                    }
                    found.current.push(name);
                    found.generations.push(generation);
                }
                Some(_) => found.former.push((name, generation)),
                None => {}
            }
        }
        Ok(found)
    }

    /// All of it.
    pub async fn read(&mut self, objects: &Objects) -> Result<Vec<u8>, Diagnostics> {
        let found = self.look(objects).await?;
        let parts: Vec<Vec<u8>> = stream::iter(&found.current)
            .map(|name| async move {
                objects.content(name).await.map_err(|e| {
                    Diagnostics::from(super::explain::explain(
                        "Failed to read the journal",
                        "Reading",
                        &objects.shown(name),
                        &e,
                    ))
                })
            })
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        self.next = Some((found.epoch, found.current.len() as u64));
        Ok(parts.concat())
    }

    /// Adds bytes behind what is there. After a failure nothing can be added any more.
    pub async fn append(&mut self, objects: &Objects, bytes: &[u8]) -> Result<(), Diagnostics> {
        if let Some(why) = &self.broken {
            return Err(why.clone());
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let result = self.try_append(objects, bytes).await;
        if let Err(why) = &result {
            self.broken = Some(why.clone());
        }
        result
    }

    /// Stops appending, for the journal may be somebody else's by now. Where it is, because it was
    /// replaced since, the last object appended is one that nobody would read and that would look like
    /// the rest of a broken journal: it is removed. What it says was settled by the other, or is told
    /// by this run's error.
    pub async fn give_up(&mut self, objects: &Objects, why: Diagnostics) {
        self.broken = Some(why);
        let Some((epoch, number)) = self.next else {
            return;
        };
        let last = self.name(epoch, number.saturating_sub(1));
        let Ok(all) = objects.list(&self.folder).await else {
            return;
        };
        let first = self.name(epoch, 0);
        let later = self.name(epoch + 1, 0);
        let replaced = all.iter().any(|(name, _)| *name >= later)
            || !all.iter().any(|(name, _)| *name == first);
        if replaced && let Some((_, generation)) = all.iter().find(|(name, _)| *name == last) {
            // what stays is told by whoever reads the journal
            let _ = objects.delete(&last, *generation).await;
        }
    }

    async fn try_append(&mut self, objects: &Objects, bytes: &[u8]) -> Result<(), Diagnostics> {
        let (epoch, number) = match self.next {
            Some(next) => next,
            None => {
                let found = self.look(objects).await?;
                (found.epoch, found.current.len() as u64)
            }
        };
        self.create(objects, epoch, number, bytes).await?;
        self.next = Some((epoch, number + 1));
        Ok(())
    }

    async fn create(
        &self,
        objects: &Objects,
        epoch: u64,
        number: u64,
        bytes: &[u8],
    ) -> Result<(), Diagnostics> {
        let name = self.name(epoch, number);
        match objects.write(&name, bytes, Generation::NONE).await {
            Ok(Written::Done(_)) => Ok(()),
            Ok(Written::Lost) => Err(Diagnostic::error(
                "Failed to write the journal",
                format!(
                    "Another run has written {}: two runs work on one state. This one stops before it \
                     changes anything more.",
                    objects.shown(&name)
                ),
            )
            .hint("Runs exclude each other unless one is told -lock=false.")
            .into()),
            Err(e) => Err(super::explain::explain(
                "Failed to write the journal",
                "Writing",
                &objects.shown(&name),
                &e,
            )
            .into()),
        }
    }

    /// Puts `bytes` in place of all that is there.
    pub async fn replace(&mut self, objects: &Objects, bytes: &[u8]) -> Result<(), Diagnostics> {
        let found = self.look(objects).await?;
        if found.current.is_empty() && bytes.is_empty() {
            self.next = Some((0, 0));
            self.broken = None;
            return Ok(());
        }
        let epoch = found.epoch + 1;
        self.create(objects, epoch, 0, bytes).await?;
        self.next = Some((epoch, 1));
        self.broken = None;
        // What cannot be removed is not read any more either.
        let old = found.former.into_iter().chain(
            found
                .current
                .into_iter()
                .zip(found.generations.iter().copied()),
        );
        let removed = stream::iter(old)
            .map(|(name, generation)| async move { objects.delete(&name, generation).await })
            .buffer_unordered(AT_ONCE)
            .collect::<Vec<_>>()
            .await;
        if bytes.is_empty() && removed.iter().all(Result::is_ok) {
            let name = self.name(epoch, 0);
            if let Ok(generation) = objects.generation(&name).await
                && objects.delete(&name, generation).await.is_ok()
            {
                self.next = Some((0, 0));
            }
        }
        Ok(())
    }
}
