//! Repositories, over the `git` program.
//!
//! git is asked rather than rewritten because people's access lives in it: credential helpers, ssh
//! configuration, LFS. It is never asked in a way that lets it ask back (there is nobody to answer),
//! nothing of an address can become one of its options, and a name and password in an address are
//! handed over in its environment, since arguments can be seen by everybody on the machine.
//!
//! Only the commit that is wanted is fetched where the server allows it. What is kept is the files,
//! not the history.

use crate::address::{Address, HIDDEN};
use crate::problem::{Outcome, Problem};
use base64::Engine;
use formwork_environment::Environment;
use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::Stdio;

/// What in the environment would point git at another repository than the one it is started for.
const FOREIGN: &[&str] = &[
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_PREFIX",
];

struct Git<'a> {
    environment: Vec<(String, String)>,
    folder: &'a Path,
    /// The address, as it may be shown.
    shown: String,
    secrets: Vec<String>,
}

/// What git said when it would not.
struct Refusal {
    status: String,
    said: String,
}

/// Fetches a repository into `folder`, which exists and is empty; `beside` is a folder for what must
/// not be in it. Gives the commit.
pub(crate) async fn fetch(
    address: &Address,
    folder: &Path,
    beside: &Path,
    environment: &Environment,
) -> Outcome<String> {
    tracing::debug!(repository = %address, "fetching");
    let reference = address.parameter("ref");
    let url = address.without(&["ref", "depth", "sshkey"]);
    let mut git = Git {
        environment: surroundings(environment),
        folder,
        shown: url.to_string(),
        secrets: address.secrets(),
    };
    let mut sent = url.exposed().to_owned();
    if !sent.starts_with("ssh://") && url.user_information().is_some() {
        sent = url.without_user().exposed().to_owned();
        git.configure(&format!("url.{}.insteadOf", url.exposed()), &sent);
    }
    if let Some(key) = address.parameter("sshkey") {
        git.use_key(&key, beside)?;
    }

    // no template: what it holds (hooks) would be run
    git.run(&["init", "--quiet", "--template="]).await?;
    git.run(&["remote", "add", "--", "origin", &sent]).await?;
    let commit = git.bring(reference.as_deref()).await?;
    git.run(&["checkout", "--quiet", "--detach", &commit])
        .await?;
    if folder.join(".gitmodules").exists() {
        // a file of the repository names these addresses: none of this machine's own repositories
        git.environment.retain(|(n, _)| n != "GIT_ALLOW_PROTOCOL");
        git.environment.push((
            "GIT_ALLOW_PROTOCOL".to_owned(),
            "https:http:ssh:git".to_owned(),
        ));
        git.run(&["submodule", "--quiet", "update", "--init", "--recursive"])
            .await?;
    }
    Ok(commit)
}

fn surroundings(environment: &Environment) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = environment
        .variables
        .iter()
        .filter(|(name, _)| !FOREIGN.contains(&name.as_str()))
        .map(|(n, v)| (n.clone(), v.clone()))
        .collect();
    let mut set = |name: &str, value: &str, instead: bool| {
        let there = all.iter().position(|(n, _)| n == name);
        match there {
            Some(at) if instead => {
                if let Some(pair) = all.get_mut(at) {
                    value.clone_into(&mut pair.1);
                }
            }
            Some(_) => {}
            None => all.push((name.to_owned(), value.to_owned())),
        }
    };
    set("GIT_TERMINAL_PROMPT", "0", true);
    set("GCM_INTERACTIVE", "never", true);
    // ssh asks this instead of the terminal, and is told nothing
    set("SSH_ASKPASS", "false", false);
    set("SSH_ASKPASS_REQUIRE", "force", true);
    set("GIT_ALLOW_PROTOCOL", "https:http:ssh:git:file", false);
    // what it says is quoted, and looked at
    set("LC_ALL", "C", true);
    all
}

impl Git<'_> {
    /// Sets something for this run only, by the environment.
    fn configure(&mut self, name: &str, value: &str) {
        let count = self
            .environment
            .iter()
            .find(|(n, _)| n == "GIT_CONFIG_COUNT")
            .and_then(|(_, v)| v.parse::<u32>().ok())
            .unwrap_or(0);
        self.environment.retain(|(n, _)| n != "GIT_CONFIG_COUNT");
        self.environment.extend([
            ("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string()),
            (format!("GIT_CONFIG_KEY_{count}"), name.to_owned()),
            (format!("GIT_CONFIG_VALUE_{count}"), value.to_owned()),
        ]);
    }

    /// Has ssh use a private key, given in base64 as text.
    fn use_key(&mut self, key: &str, beside: &Path) -> Outcome<()> {
        let engine = base64::engine::general_purpose::STANDARD;
        // a plus sign in a query means a space
        let bytes = engine
            .decode(key.replace(' ', "+"))
            .map_err(|_| Problem::failed("The parameter sshkey is no private key in base64."))?;
        let path = beside.join("key");
        let written = write_private(&path, &bytes);
        written.map_err(|e| Problem::local("The key of sshkey cannot be written", &e))?;
        let quoted = path.display().to_string().replace('\'', r"'\''");
        self.environment.retain(|(n, _)| n != "GIT_SSH_COMMAND");
        self.environment.push((
            "GIT_SSH_COMMAND".to_owned(),
            format!("ssh -o IdentitiesOnly=yes -i '{quoted}'"),
        ));
        Ok(())
    }

    /// Fetches what is wanted, and gives the commit.
    async fn bring(&self, reference: Option<&str>) -> Outcome<String> {
        let wanted = reference.unwrap_or("HEAD");
        // names that a server can be asked for; a commit must be written in full for that
        let plain = !wanted.contains([':', '^', '~', '*', '?', '[', '\\', '+', '@'])
            && !wanted.contains("..");
        if plain {
            let quick = [
                "fetch",
                "--quiet",
                "--no-tags",
                "--depth=1",
                "--",
                "origin",
                wanted,
            ];
            match self.attempt(&quick).await? {
                Ok(_) => {
                    let commit = self
                        .run(&["rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}"])
                        .await?;
                    return Ok(commit.trim().to_owned());
                }
                Err(refusal) => {
                    let unknown = refusal.said.contains("couldn't find remote ref");
                    let hexadecimal =
                        wanted.len() >= 4 && wanted.bytes().all(|b| b.is_ascii_hexdigit());
                    if unknown && !hexadecimal {
                        return Err(match reference {
                            Some(r) => self.no_such(r),
                            None => Problem::failed(format!(
                                "The repository {} holds no commit yet.",
                                self.shown
                            )),
                        });
                    }
                    let shallow = [
                        "not our ref",
                        "unadvertised object",
                        "shallow",
                        "allow request",
                    ];
                    if !unknown && !shallow.iter().any(|s| refusal.said.contains(s)) {
                        return Err(self.problem(&refusal));
                    }
                }
            }
        }
        // the whole history: then any way of naming a commit will do
        let all = [
            "fetch",
            "--quiet",
            "--tags",
            "--",
            "origin",
            "+refs/heads/*:refs/remotes/origin/*",
        ];
        self.run(&all).await?;
        if reference.is_none() {
            self.run(&["remote", "set-head", "origin", "--auto"])
                .await?;
        }
        for candidate in [wanted.to_owned(), format!("origin/{wanted}")] {
            let name = format!("{candidate}^{{commit}}");
            let found = self
                .attempt(&[
                    "rev-parse",
                    "--verify",
                    "--quiet",
                    "--end-of-options",
                    &name,
                ])
                .await?;
            if let Ok(commit) = found {
                return Ok(commit.trim().to_owned());
            }
        }
        Err(self.no_such(wanted))
    }

    async fn run(&self, arguments: &[&str]) -> Outcome<String> {
        self.attempt(arguments).await?.map_err(|r| self.problem(&r))
    }

    /// Runs git; the outer error is that there is none to run.
    async fn attempt(&self, arguments: &[&str]) -> Outcome<Result<String, Refusal>> {
        let mut command = tokio::process::Command::new("git");
        command
            .arg("-C")
            .arg(OsString::from(self.folder))
            .args([
                "-c",
                "core.hooksPath=/dev/null",
                "-c",
                "advice.detachedHead=false",
            ])
            .args(["-c", "protocol.ext.allow=never", "-c", "core.symlinks=true"])
            .args(arguments)
            .env_clear()
            .envs(self.environment.iter().map(|(n, v)| (n, v)))
            .stdin(Stdio::null())
            .kill_on_drop(true);
        let output = command.output().await.map_err(|e| {
            if e.kind() == io::ErrorKind::NotFound {
                Problem::failed("There is no program \"git\" to fetch it with.")
                    .hint("Install git, and make sure that its directory is named in PATH.")
            } else {
                Problem::failed(format!("git cannot be started: {e}."))
            }
        })?;
        if output.status.success() {
            return Ok(Ok(String::from_utf8_lossy(&output.stdout).into_owned()));
        }
        Ok(Err(Refusal {
            status: output
                .status
                .code()
                .map_or_else(|| "was stopped".to_owned(), |c| format!("ended with {c}")),
            said: self.quotable(&String::from_utf8_lossy(&output.stderr)),
        }))
    }

    /// What may be shown of what git said.
    fn quotable(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for secret in &self.secrets {
            text = text.replace(secret.as_str(), HIDDEN);
        }
        text
    }

    fn no_such(&self, reference: &str) -> Problem {
        Problem::failed(format!(
            "The repository {} has no branch, tag or commit \"{reference}\".",
            self.shown
        ))
    }

    fn problem(&self, refusal: &Refusal) -> Problem {
        let lines: Vec<&str> = refusal
            .said
            .lines()
            .map(str::trim_end)
            .filter(|l| !l.is_empty())
            .collect();
        let shown = lines
            .get(lines.len().saturating_sub(12)..)
            .unwrap_or_default();
        let detail = if shown.is_empty() {
            format!(
                "git, asked for {}, {}, and said nothing.",
                self.shown, refusal.status
            )
        } else {
            format!(
                "git, asked for {}, {}, and said:\n  {}",
                self.shown,
                refusal.status,
                shown.join("\n  ")
            )
        };
        let problem = Problem::failed(detail);
        let said = &refusal.said;
        if [
            "Authentication failed",
            "could not read Username",
            "Permission denied",
            "terminal prompts disabled",
        ]
        .iter()
        .any(|s| said.contains(s))
        {
            problem.hint(
                "Give git access to the repository: a credential helper for https, a key in the agent \
                 for ssh. Nobody is asked for a password here.",
            )
        } else if said.contains("Host key verification failed") {
            problem.hint("Add the server's key to known_hosts (ssh-keyscan shows it).")
        } else {
            problem
        }
    }
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)?.write_all(bytes)
}
