//! A real `slurmctld` on the loopback interface, fed with rendered files.
//!
//! Only what names the place is replaced: host names, ports, directories, users, AuthType and
//! CredType, and the nodes' state, which becomes CLOUD with programs that do nothing, so that Slurm
//! plans with nodes that nobody started. Every other line reaches Slurm as the blueprint wrote it,
//! and [`localise`] fails on a file that would need more.

use std::fmt::Write as _;
use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// The programs of Debian's Slurm packages that the test runs.
const PROGRAMS: [&str; 4] = ["slurmctld", "slurmd", "scontrol", "sbatch"];

/// Says on standard error, past the test runner's capture, that something was not tested.
pub fn skipped(what: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

/// The search path with the system directories in which Debian puts the daemons.
fn search_path() -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{path}:/usr/sbin:/sbin")
}

/// A command of the test: found in the system directories too, with a plain locale.
pub fn command(program: &str) -> Command {
    let mut c = Command::new(program);
    c.env("PATH", search_path()).env("LC_ALL", "C");
    // Resolved here, for Command looks in the parent's path.
    if let Some(found) = find(program) {
        c = Command::new(found);
        c.env("PATH", search_path()).env("LC_ALL", "C");
    }
    c
}

/// Where a program lies.
pub fn find(program: &str) -> Option<PathBuf> {
    search_path()
        .split(':')
        .map(|d| Path::new(d).join(program))
        .find(|p| p.is_file())
}

/// Whether Slurm is installed; says so if not.
pub fn installed() -> bool {
    match PROGRAMS.iter().find(|p| find(p).is_none()) {
        None => true,
        Some(missing) => {
            skipped(&format!(
                "the Slurm test, since {missing} is not installed (Debian: slurm-wlm)"
            ));
            false
        }
    }
}

/// Whether the process may mount; says so if not.
pub fn may_mount() -> bool {
    let ok = command("unshare")
        .args(["-m", "mount", "-t", "tmpfs", "none", "/mnt"])
        .output()
        .is_ok_and(|o| o.status.success());
    if !ok {
        skipped("slurmd -G with device files, since that needs root and mount namespaces");
    }
    ok
}

/// Standard output and error as one text.
pub fn said(output: &Output) -> String {
    format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

/// Files with the place replaced; what was replaced is checked against the short list of what may be.
pub fn localise(rendered: &Path, into: &Path) {
    let etc = into.join("etc");
    for d in ["etc", "state", "spool", "log", "run"] {
        std::fs::create_dir_all(into.join(d)).expect("a folder");
    }
    for entry in std::fs::read_dir(rendered).expect("the rendered files") {
        let entry = entry.expect("a file");
        std::fs::copy(entry.path(), etc.join(entry.file_name())).expect("a copy");
    }
    let noop = into.join("noop");
    std::fs::write(&noop, "#!/bin/sh\nexit 0\n").expect("a program");
    make_executable(&noop);

    let text = std::fs::read_to_string(rendered.join("slurm.conf")).expect("slurm.conf");
    let (port_a, port_b) = (free_port(), free_port());
    let host = said(&command("hostname").arg("-s").output().expect("hostname"));
    let user = said(&command("id").arg("-un").output().expect("id"));
    let here = |p: &str| into.join(p).display().to_string();
    let mut local = String::new();
    for line in text.lines() {
        let (key, _) = line.split_once('=').unwrap_or((line, ""));
        let new = match key {
            "SlurmctldHost" => format!("{key}={}(127.0.0.1)", host.trim()),
            "SlurmUser" => format!("{key}={}", user.trim()),
            "SlurmctldPort" => format!("{key}={port_a}"),
            "SlurmdPort" => format!("{key}={port_b}"),
            "AuthType" => format!("{key}=auth/none"),
            "CredType" => format!("{key}=cred/none"),
            "StateSaveLocation" => format!("{key}={}", here("state")),
            "SlurmdSpoolDir" => format!("{key}={}", here("spool")),
            "SlurmctldPidFile" => format!("{key}={}", here("run/slurmctld.pid")),
            "SlurmdPidFile" => format!("{key}={}", here("run/slurmd.pid")),
            "SlurmctldLogFile" => format!("{key}={}", here("log/slurmctld.log")),
            "SlurmdLogFile" => format!("{key}={}", here("log/slurmd.log")),
            "NodeName" => line.replace("State=UNKNOWN", "State=CLOUD"),
            _ => line.to_owned(),
        };
        local.push_str(&new);
        local.push('\n');
    }
    assert!(local.contains("State=CLOUD"), "no node state in:\n{text}");
    let _ = write!(
        local,
        "SuspendProgram={0}\nResumeProgram={0}\nSuspendTime=600\n",
        noop.display()
    );
    std::fs::write(etc.join("slurm.conf"), local).expect("the local slurm.conf");
}

fn make_executable(path: &Path) {
    let done = command("chmod").arg("755").arg(path).status();
    assert!(done.is_ok_and(|s| s.success()), "chmod {}", path.display());
}

fn free_port() -> u16 {
    // Released before Slurm takes it; a clash shows as a controller that does not come up.
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    listener.local_addr().expect("its address").port()
}

/// A running controller; killed when dropped.
pub struct Controller {
    child: Child,
    folder: PathBuf,
}

impl Controller {
    /// Starts `slurmctld` on files that [`localise`] put into `folder`, and waits until it answers.
    pub fn start(folder: &Path) -> Self {
        let conf = folder.join("etc/slurm.conf");
        let log = std::fs::File::create(folder.join("log/stderr")).expect("a log");
        let child = command("slurmctld")
            .args(["-D", "-i", "-f"])
            .arg(&conf)
            .env("SLURM_CONF", &conf)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("slurmctld");
        let mut controller = Self {
            child,
            folder: folder.to_owned(),
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while !controller
            .run("scontrol", &["ping"])
            .is_ok_and(|text| text.contains("is UP"))
        {
            let ended = controller.child.try_wait().expect("its state");
            assert!(
                ended.is_none() && Instant::now() < deadline,
                "slurmctld does not answer:\n{}",
                controller.log()
            );
            std::thread::sleep(Duration::from_millis(100));
        }
        controller
    }

    /// What the controller wrote.
    pub fn log(&self) -> String {
        let read = |p: &str| std::fs::read_to_string(self.folder.join(p)).unwrap_or_default();
        format!("{}{}", read("log/stderr"), read("log/slurmctld.log"))
    }

    /// Runs a client program: its words, `Ok` if it succeeded.
    pub fn run(&self, program: &str, arguments: &[&str]) -> Result<String, String> {
        let output = command(program)
            .args(arguments)
            .env("SLURM_CONF", self.folder.join("etc/slurm.conf"))
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .output()
            .expect(program);
        let text = said(&output);
        if output.status.success() {
            Ok(text)
        } else {
            Err(text)
        }
    }

    /// Names in a host list such as `a-gpu-[0-3]`.
    pub fn names(&self, list: &str) -> Vec<String> {
        let text = self
            .run("scontrol", &["show", "hostnames", list])
            .expect("host names");
        text.lines().map(str::to_owned).collect()
    }

    /// One line per node, as `scontrol show node -o` gives it. Nodes in the cloud are shown only
    /// once they were asked to power up.
    pub fn nodes(&self, names: &[String]) -> Vec<String> {
        let list = format!("nodename={}", names.join(","));
        self.run("scontrol", &["update", &list, "state=power_up"])
            .expect("power up");
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let text = self
                .run("scontrol", &["-o", "show", "node"])
                .unwrap_or_default();
            let lines: Vec<String> = text
                .lines()
                .filter(|l| l.starts_with("NodeName="))
                .map(str::to_owned)
                .collect();
            if lines.len() >= names.len() {
                return lines;
            }
            assert!(
                Instant::now() < deadline,
                "nodes do not show:\n{text}{}",
                self.log()
            );
            std::thread::sleep(Duration::from_millis(200));
        }
    }
}

impl Drop for Controller {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The value of `key=` in a line of `scontrol`.
pub fn field<'a>(line: &'a str, key: &str) -> &'a str {
    line.split_whitespace()
        .find_map(|w| w.strip_prefix(key)?.strip_prefix('='))
        .unwrap_or_else(|| panic!("no {key} in {line}"))
}

/// What `slurmd -G` says on a machine that has `gpus` device files: `Ok` if it accepts them.
pub fn slurmd_gres(folder: &Path, node: &str, gpus: u32) -> Result<String, String> {
    // A /dev of its own, with the few devices that programs cannot do without.
    let script = r#"
set -e
dev="$1/dev"; mkdir -p "$dev"; mount -t tmpfs none "$dev"
for d in null zero urandom random tty; do
  touch "$dev/$d"; mount --bind "/dev/$d" "$dev/$d"
done
i=0
while [ "$i" -lt "$2" ]; do mknod "$dev/nvidia$i" c 195 "$i"; i=$((i+1)); done
mount --rbind "$dev" /dev
exec slurmd -N "$3" -f "$1/etc/slurm.conf" -G
"#;
    let output = command("unshare")
        .args(["-m", "sh", "-c", script, "sh"])
        .arg(folder)
        .arg(gpus.to_string())
        .arg(node)
        .env("SLURM_CONF", folder.join("etc/slurm.conf"))
        .stdin(Stdio::null())
        .output()
        .expect("unshare");
    let text = said(&output);
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}
