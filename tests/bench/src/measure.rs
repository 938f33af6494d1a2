//! Running a child and asking what it used.
//!
//! The kernel tells a process the resources of its ended children as a sum, and their peak memory as
//! a maximum. So each measured command runs below a fresh process of this same program, whose only
//! child it is.

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::{Value, json};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Usage {
    /// User and system time together.
    pub cpu: Duration,
    /// Time on the wall.
    pub wall: Duration,
    /// Most memory held at once, in bytes.
    pub peak: u64,
}

/// The programs under measurement.
pub(crate) struct Tools {
    formwork: PathBuf,
    terraform: Option<(PathBuf, String)>,
    runs: usize,
}

/// What is kept of a run beside its usage.
#[derive(Clone, Copy, Default)]
pub(crate) struct Keeping<'a> {
    /// The file that its standard output goes to.
    pub text: Option<&'a Path>,
    /// The file that `strace` writes every `fdatasync` and `fsync` into.
    pub trace: Option<&'a Path>,
}

impl Tools {
    pub(crate) fn new(formwork: &Path, terraform: &Path, runs: usize) -> Result<Self, String> {
        let version = |program: &Path| {
            let out = Command::new(program).arg("version").output().ok()?;
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            text.lines().next().map(str::to_owned)
        };
        let ours = version(formwork).ok_or_else(|| {
            format!(
                "{} does not run. Build it first: cargo build --release -p formwork",
                formwork.display()
            )
        })?;
        let theirs = version(terraform);
        println!(
            "{ours} beside {}",
            theirs.as_deref().unwrap_or("no terraform (there is none)")
        );
        Ok(Self {
            formwork: formwork.canonicalize().map_err(|e| e.to_string())?,
            terraform: theirs.map(|version| (terraform.to_path_buf(), version)),
            runs: runs.max(1),
        })
    }

    /// Our binary.
    pub(crate) fn ours(&self) -> &Path {
        &self.formwork
    }

    /// Terraform's, if it is there.
    pub(crate) fn theirs(&self) -> Option<&Path> {
        self.terraform.as_ref().map(|(program, _)| &**program)
    }

    /// The first line of what it says of its version.
    pub(crate) fn terraform_version(&self) -> Option<&str> {
        self.terraform.as_ref().map(|(_, version)| &**version)
    }

    /// What a command of ours uses in a directory: the median of the runs by CPU.
    pub(crate) fn formwork(&self, directory: &Path, arguments: &[&str]) -> Result<Usage, String> {
        median(self.runs, || self.formwork_once(directory, arguments))
    }

    /// The same of Terraform, if it is there.
    pub(crate) fn terraform(
        &self,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Option<Usage>, String> {
        let keeping = Keeping::default();
        self.theirs()
            .map(|program| median(self.runs, || once(program, directory, arguments, &keeping)))
            .transpose()
    }

    /// Runs a command of ours once, for what it leaves behind.
    pub(crate) fn formwork_once(
        &self,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Usage, String> {
        once(&self.formwork, directory, arguments, &Keeping::default())
    }

    /// Runs a command of Terraform's once, if it is there.
    pub(crate) fn terraform_once(
        &self,
        directory: &Path,
        arguments: &[&str],
    ) -> Result<Option<Usage>, String> {
        self.theirs()
            .map(|program| once(program, directory, arguments, &Keeping::default()))
            .transpose()
    }
}

fn median(runs: usize, mut run: impl FnMut() -> Result<Usage, String>) -> Result<Usage, String> {
    let mut all = (0..runs).map(|_| run()).collect::<Result<Vec<_>, _>>()?;
    all.sort_by_key(|u| u.cpu);
    Ok(all[all.len() / 2])
}

/// Runs a program and asks what it used.
pub(crate) fn once(
    program: &Path,
    directory: &Path,
    arguments: &[&str],
    keeping: &Keeping<'_>,
) -> Result<Usage, String> {
    let this = std::env::current_exe().map_err(|e| e.to_string())?;
    let mut command = Command::new(this);
    command.arg("measure");
    if let Some(file) = keeping.text {
        command.arg("--text").arg(file);
    }
    command.arg("--");
    if let Some(file) = keeping.trace {
        // With a filter in the kernel nothing else stops the program.
        let calls = ["-f", "--seccomp-bpf", "-e", "trace=fdatasync,fsync", "-o"];
        command.arg("strace").args(calls).arg(file);
    }
    let out = command
        .arg(program)
        .args(arguments)
        .current_dir(directory)
        .env("CHECKPOINT_DISABLE", "1")
        .stdin(Stdio::null())
        .output()
        .map_err(|e| e.to_string())?;
    let told = String::from_utf8_lossy(&out.stdout);
    let failed = || {
        format!(
            "{} {} in {} failed:\n{}",
            program.display(),
            arguments.join(" "),
            directory.display(),
            String::from_utf8_lossy(&out.stderr)
        )
    };
    if !out.status.success() {
        return Err(failed());
    }
    let told: Value = serde_json::from_str(&told).map_err(|_| failed())?;
    let number = |name: &str| told[name].as_u64().unwrap_or_default();
    Ok(Usage {
        cpu: Duration::from_micros(number("cpu")),
        wall: Duration::from_micros(number("wall")),
        peak: number("peak"),
    })
}

/// `formwork-bench measure -- COMMAND`: runs it, prints its usage.
pub(crate) fn as_child(command: &[OsString], text: Option<&Path>) -> Result<(), String> {
    let [program, arguments @ ..] = command else {
        return Err("No command to measure.".to_owned());
    };
    let stdout = match text {
        None => Stdio::piped(),
        Some(file) => std::fs::File::create(file)
            .map_err(|e| format!("{}: {e}", file.display()))?
            .into(),
    };
    let begun = Instant::now();
    let out = Command::new(program)
        .args(
            arguments
                .iter()
                .map(OsString::as_os_str)
                .collect::<Vec<&OsStr>>(),
        )
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .output()
        .map_err(|e| format!("{}: {e}", program.display()))?;
    let wall = begun.elapsed();
    if !out.status.success() {
        let said = [&out.stdout[..], &out.stderr[..]].concat();
        return Err(format!(
            "{}\n{}",
            out.status,
            String::from_utf8_lossy(&said)
        ));
    }
    let used = getrusage(UsageWho::RUSAGE_CHILDREN).map_err(|e| e.to_string())?;
    let micros = |t: nix::sys::time::TimeVal| t.tv_sec() * 1_000_000 + t.tv_usec();
    println!(
        "{}",
        json!({
            "cpu": micros(used.user_time()) + micros(used.system_time()),
            "wall": u64::try_from(wall.as_micros()).unwrap_or(u64::MAX),
            "peak": used.max_rss() * 1024,
        })
    );
    Ok(())
}
