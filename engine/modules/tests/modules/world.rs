//! A working directory, repositories and servers of a test's own.

use formwork_configuration::{
    Configuration, DiskReader, LanguageLevel, Loading, ModuleFetcher, StaticInputs, load,
};
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_environment::{Environment, Fixed};
use formwork_modules::{Installed, Installer, Manifest, Settings, Told};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A folder with a working directory and repositories in it.
pub struct World {
    pub folder: tempfile::TempDir,
    pub settings: Settings,
    told: Arc<Mutex<Vec<Told>>>,
}

/// What came of an installation.
pub struct Came {
    pub said: Diagnostics,
    pub manifest: Manifest,
    pub told: Vec<Told>,
}

/// Whether there is a git to test with; says so if not.
pub fn has_git() -> bool {
    let there = Command::new("git").arg("--version").output().is_ok();
    if !there {
        eprintln!("SKIPPED: there is no git on this machine");
    }
    there
}

impl World {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let working = folder.path().join("work");
        std::fs::create_dir_all(&working).unwrap();
        let home = folder.path().join("home");
        std::fs::create_dir_all(&home).unwrap();
        // a seed of its own for each world, so that runs in one folder have folders of their own
        let fixed = Arc::new(Fixed::new(1_700_000_000, seed()));
        let path = std::env::var("PATH").unwrap_or_default();
        let variables = BTreeMap::from([
            ("PATH".to_owned(), path),
            ("HOME".to_owned(), home.display().to_string()),
            ("GIT_CONFIG_NOSYSTEM".to_owned(), "1".to_owned()),
        ]);
        let environment = Environment {
            variables,
            home: Some(home),
            working,
            temporary: folder.path().to_owned(),
            who: "tester@here".to_owned(),
            process: 1,
            clock: fixed.clone(),
            randomness: fixed,
        };
        let told = Arc::new(Mutex::new(Vec::new()));
        let mut settings = Settings::new(environment, ".terraform");
        settings.pause = Duration::from_millis(1);
        let log = told.clone();
        settings.tell = Arc::new(move |t| log.lock().unwrap().push(t));
        Self {
            folder,
            settings,
            told,
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.settings.environment.working.join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        write(&self.path(name), text.as_bytes());
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
    }

    /// What `init` does.
    pub fn install(&self) -> Came {
        self.run(false)
    }

    /// What `init -upgrade` does.
    pub fn upgrade(&self) -> Came {
        self.run(true)
    }

    fn run(&self, upgrade: bool) -> Came {
        self.told.lock().unwrap().clear();
        let installer = Installer::new(self.settings.clone(), upgrade);
        let (configuration, said, sources) = self.load(&installer);
        drop(sources);
        let manifest = installer
            .finish(&configuration, !said.has_errors())
            .unwrap_or_else(|d| panic!("{d:?}"));
        let leftovers: Vec<String> = std::fs::read_dir(self.path(".terraform/modules"))
            .map(|all| {
                all.flatten()
                    .map(|e| e.file_name().to_string_lossy().into_owned())
                    .filter(|n| n.starts_with(".fetch-") || n.ends_with(".new"))
                    .collect()
            })
            .unwrap_or_default();
        assert!(leftovers.is_empty(), "{leftovers:?}");
        Came {
            said,
            manifest,
            told: self.told.lock().unwrap().clone(),
        }
    }

    pub fn load(&self, fetcher: &dyn ModuleFetcher) -> (Configuration, Diagnostics, SourceMap) {
        let reader = DiskReader {
            base: self.settings.environment.working.clone(),
        };
        let loading = Loading {
            reader: &reader,
            fetcher,
            level: LanguageLevel::default(),
            statics: StaticInputs::default(),
        };
        let mut sources = SourceMap::new();
        let (configuration, said) = load(Path::new("."), &loading, &mut sources);
        (configuration, said, sources)
    }

    /// What `plan` does: everything is there already.
    pub fn use_installed(&self) -> Diagnostics {
        let installed = Installed::new(
            &self.settings.environment.working,
            &self.settings.data_directory,
            "formwork",
        );
        self.load(&installed).1
    }

    /// A repository with one commit that holds these files.
    pub fn repository(&self, name: &str, files: &[(&str, &str)]) -> Repository {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(&path).unwrap();
        let repository = Repository { path };
        repository.git(&["init", "-q", "-b", "main"]);
        repository.commit(files);
        repository
    }
}

fn seed() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

pub fn write(path: &Path, bytes: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, bytes).unwrap();
}

impl Came {
    #[track_caller]
    pub fn well(self) -> Self {
        assert!(self.said.is_empty(), "{:#?}", self.said);
        self
    }

    /// The keys that were fetched or copied newly.
    pub fn installed(&self) -> Vec<&str> {
        self.told
            .iter()
            .filter_map(|t| match t {
                Told::Installed { module, .. } => Some(module.as_str()),
                _ => None,
            })
            .collect()
    }

    /// How many packages were fetched.
    pub fn fetched(&self) -> usize {
        let is = |t: &&Told| matches!(t, Told::Fetching { .. });
        self.told.iter().filter(is).count()
    }

    /// The one error there is: its summary and all that it says.
    #[track_caller]
    pub fn error(&self) -> (String, String) {
        let errors: Vec<_> = self.said.iter().filter(|d| d.is_error()).collect();
        assert_eq!(errors.len(), 1, "{:#?}", self.said);
        let d = errors[0];
        (
            d.summary.clone(),
            format!("{}\n{}", d.detail, d.hints.join("\n")),
        )
    }

    #[track_caller]
    pub fn fails(&self, summary: &str, says: &[&str]) {
        let (found, text) = self.error();
        assert_eq!(found, summary, "{text}");
        for part in says {
            assert!(text.contains(part), "{part:?} is not in:\n{text}");
        }
    }
}

/// A git repository.
pub struct Repository {
    pub path: PathBuf,
}

impl Repository {
    pub fn git(&self, arguments: &[&str]) -> String {
        let output = Command::new("git")
            .args([
                "-c",
                "user.name=tester",
                "-c",
                "user.email=tester@example.com",
            ])
            .arg("-C")
            .arg(&self.path)
            .args(arguments)
            .env_clear()
            .env("PATH", std::env::var("PATH").unwrap_or_default())
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", &self.path)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "git {arguments:?}: {said}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    pub fn commit(&self, files: &[(&str, &str)]) -> String {
        for (name, text) in files {
            write(&self.path.join(name), text.as_bytes());
        }
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "--allow-empty", "-m", "a change"]);
        self.git(&["rev-parse", "HEAD"])
    }

    /// Its address as a source.
    pub fn source(&self) -> String {
        format!("git::file://{}", self.path.display())
    }
}

/// A zip archive of files.
pub fn zipped(files: &[(&str, &str)]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        let options = zip::write::SimpleFileOptions::default();
        writer.start_file(*name, options).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

/// A tar archive, packed with gzip, whose entries a closure adds.
pub fn tarred(fill: impl FnOnce(&mut tar::Builder<Vec<u8>>)) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    fill(&mut builder);
    let plain = builder.into_inner().unwrap();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(&plain).unwrap();
    packed.finish().unwrap()
}

/// Adds a file to a tar archive, whatever its name is.
pub fn add(
    builder: &mut tar::Builder<Vec<u8>>,
    name: &str,
    kind: tar::EntryType,
    link: &str,
    body: &[u8],
) {
    let mut header = tar::Header::new_gnu();
    {
        let raw = header.as_old_mut();
        raw.name[..name.len()].copy_from_slice(name.as_bytes());
        raw.linkname[..link.len()].copy_from_slice(link.as_bytes());
    }
    header.set_entry_type(kind);
    header.set_size(body.len() as u64);
    header.set_mode(0o644);
    header.set_cksum();
    builder.append(&header, body).unwrap();
}
