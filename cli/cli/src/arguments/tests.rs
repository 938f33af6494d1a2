use super::*;
use clap::CommandFactory;

fn run(
    line: &str,
    variables: &[(&str, &str)],
) -> Result<Parsed, formwork_diagnostics::Diagnostics> {
    let words = words::shell_words(line).expect("words");
    parse(words, |name| {
        let found = variables.iter().find(|(n, _)| *n == name);
        found.map(|(_, v)| (*v).to_owned())
    })
}

fn arguments(line: &str, variables: &[(&str, &str)]) -> Arguments {
    match run(line, variables) {
        Ok(Parsed::Run(a)) => *a,
        other => panic!("{line}: {other:?}"),
    }
}

fn refusal(line: &str) -> (String, String) {
    let d = run(line, &[]).expect_err(line);
    let d = d.iter().next().expect("one");
    (
        d.summary.clone(),
        format!("{} {}", d.detail, d.hints.join(" ")),
    )
}

#[test]
fn definitions_hold() {
    Arguments::command().debug_assert();
}

#[test]
fn one_dash_or_two() {
    for line in [
        "plan -detailed-exitcode -out=p -var a=1 -var-file f -var=b=2 -refresh=false -no-color",
        "plan --detailed-exitcode=true --out p --var a=1 --var-file=f --var b=2 --refresh=false --no-color=true",
        "-no-color plan -detailed-exitcode -out p -var a=1 -var-file f -var b=2 -refresh=false",
    ] {
        let a = arguments(line, &[]);
        assert!(a.anywhere.no_color, "{line}");
        let Command::Plan(p) = a.command else {
            panic!("{line}")
        };
        assert!(
            p.detailed_exitcode && p.planning.refresh == Refresh::Nothing && !p.planning.destroy
        );
        assert_eq!(p.out, Some("p".into()));
        assert_eq!(p.planning.parallelism, 10);
        assert_eq!(
            p.planning.variables.inputs.0,
            [
                Input::Value("a=1".into()),
                Input::File("f".into()),
                Input::Value("b=2".into())
            ]
        );
    }
}

#[test]
fn values_that_look_like_flags_and_switches() {
    let Command::Apply(a) = arguments("apply -var -x=-y -auto-approve plan.out", &[]).command
    else {
        panic!()
    };
    assert_eq!(
        a.planning.variables.inputs.0,
        [Input::Value("-x=-y".into())]
    );
    assert!(a.auto_approve);
    assert_eq!(a.plan, Some("plan.out".into()));
    let Command::Fmt(f) = arguments("fmt -check -", &[]).command else {
        panic!()
    };
    assert!(f.check && f.paths == [PathBuf::from("-")]);
    let mock = |line: &str| arguments(line, &[]).anywhere.mock;
    assert_eq!(mock("plan -mock"), Some(String::new()));
    assert_eq!(mock("-mock plan"), Some(String::new()));
    assert_eq!(mock("apply -mock plan.out"), Some(String::new()));
    assert_eq!(mock("plan -mock=http://h:1"), Some("http://h:1".into()));
    assert_eq!(mock("plan"), None);
    assert_eq!(
        arguments("-chdir=a/b plan", &[]).before.chdir,
        Some("a/b".into())
    );
}

#[test]
fn the_environment_comes_first() {
    let variables = [
        ("TF_CLI_ARGS", "-no-color -parallelism=3"),
        ("TF_CLI_ARGS_plan", "-parallelism 4 -var 'a=x y'"),
        ("TF_CLI_ARGS_apply", "-auto-approve"),
    ];
    let a = arguments("plan -var b=1", &variables);
    assert!(a.anywhere.no_color);
    let Command::Plan(p) = a.command else {
        panic!()
    };
    assert_eq!(p.planning.parallelism, 4);
    assert_eq!(
        p.planning.variables.inputs.0,
        [Input::Value("a=x y".into()), Input::Value("b=1".into())]
    );
    let Command::Plan(p) = arguments("plan -parallelism=7", &variables).command else {
        panic!()
    };
    assert_eq!(p.planning.parallelism, 7);
    let Command::Plan(p) = arguments("plan -parallelism=0 -out=", &[]).command else {
        panic!("plan");
    };
    assert_eq!(p.planning.parallelism, 10, "as without the flag");
    assert!(run("plan", &[("TF_CLI_ARGS", "'")]).is_err());
}

#[test]
fn refusals() {
    let check = |line: &str, summary: &str, part: &str| {
        let (s, d) = refusal(line);
        assert_eq!(s, summary, "{line}: {d}");
        assert!(d.contains(part), "{line}: {d}");
    };
    let flags = "Failed to parse command-line flags";
    check("plann", "Unknown command", "Did you mean \"plan\"?");
    check("state lst", "Unknown command", "Did you mean \"list\"?");
    check("providers lock", "Command not served yet", "providers lock");
    check(
        "providers shcema",
        "Unknown command",
        "Did you mean \"schema\"?",
    );
    check("graph -format=x", flags, "mermaid");
    check(
        "state identities",
        "Command not served yet",
        "state identities",
    );
    check("init -lockfile=x", "Flag not served yet", "-lockfile");
    check("workspace show -json", "Flag not served yet", "-json");
    check(
        "plan -detailed-exit-code",
        flags,
        "Did you mean -detailed-exitcode?",
    );
    check("plan -chdir=x", flags, "before the command");
    check("plan -out", flags, "-out=FILE");
    check(
        "plan -parallelism=x",
        flags,
        "The flag -parallelism".to_lowercase().as_str(),
    );
    check("plan -parallelism=-1", flags, "1 or more");
    check("plan -refresh=maybe", flags, "true, false");
    check("plan -lock-timeout=5", flags, "duration");
    check("plan extra", flags, "extra");
    check("state show", flags, "ADDRESS");
}

#[test]
fn explanations() {
    assert!(matches!(run("", &[]), Ok(Parsed::NoCommand(_))));
    assert!(matches!(run("state", &[]), Ok(Parsed::NoSubcommand(_))));
    let text = |line: &str| match run(line, &[]) {
        Ok(Parsed::Help(text)) => text,
        other => panic!("{line}: {other:?}"),
    };
    let all = text("-help");
    for name in ["plan", "apply", "-chdir=DIR", "-mock[=URL]"] {
        assert!(all.contains(name), "{all}");
    }
    for line in [
        "plan -help",
        "plan --help",
        "plan -out x -h",
        "plan -out=x -help extra",
    ] {
        let plan = text(line);
        assert!(plan.starts_with("Usage: formwork plan [flags]\n"), "{plan}");
        assert!(
            plan.contains("-refresh[=WHAT]") && plan.contains("-out=FILE"),
            "{plan}"
        );
    }
    assert!(text("state settle -help").contains("Usage: formwork state settle [flags] ADDRESS\n"));
    // every flag and command is explained
    let mut commands = vec![Arguments::command()];
    while let Some(command) = commands.pop() {
        for arg in command.get_arguments() {
            assert!(
                arg.get_help().is_some(),
                "{} {}",
                command.get_name(),
                arg.get_id()
            );
        }
        for sub in command.get_subcommands() {
            assert!(sub.get_about().is_some(), "{}", sub.get_name());
            commands.push(sub.clone());
        }
    }
    assert!(matches!(
        run("-version", &[]),
        Ok(Parsed::Run(a)) if matches!(a.command, Command::Version(_))
    ));
}
