//! One state, two tools.

use super::*;

#[test]
fn both_tools_go_on_where_the_other_stopped() {
    let Some(terraform) = terraform() else { return };
    let env = surroundings();
    let bucket = Bucket::new(&env, &Scenario::new());
    let http = StateServer::new();
    for (name, block) in [("gcs", bucket.block("team/a")), ("http", http.block())] {
        let (ours, theirs) = (format!("{name}-ours"), format!("{name}-theirs"));
        for folder in [&ours, &theirs] {
            env.write(&format!("{folder}/main.tf"), format!("{block}{CONTENT}"));
        }
        let own = format!("-chdir={ours}");
        let other = |words: &[&str]| run_terraform(&env, &terraform, &theirs, words);
        // they begin
        other(&["init", "-input=false"]).exits(0);
        other(&["apply", "-auto-approve", "-no-color"]).exits(0);
        env.run(&[&own, "init", "-input=false"]).exits(0);
        env.run(&[&own, "plan", "-detailed-exitcode"])
            .exits(0)
            .says(&["No changes."]);
        // we go on
        env.run(&[&own, "apply", "-auto-approve", "-var=v=2"])
            .exits(0)
            .says(&["0 added, 2 changed, 0 destroyed"]);
        other(&["plan", "-detailed-exitcode", "-no-color", "-var=v=2"])
            .exits(0)
            .says(&["No changes."]);
        // they end it, in a folder that we made ready
        run_terraform(
            &env,
            &terraform,
            &ours,
            &["destroy", "-auto-approve", "-no-color"],
        )
        .exits(0)
        .says(&["2 destroyed"]);
        assert_eq!(env.run(&[&own, "state", "list"]).exits(0).stdout, "");
        // and the other way round
        env.run(&[&own, "apply", "-auto-approve"]).exits(0);
        other(&["plan", "-detailed-exitcode"]).exits(0);
        env.run(&[&format!("-chdir={theirs}"), "destroy", "-auto-approve"])
            .exits(0)
            .says(&["2 destroyed"]);
    }
    // workspaces of one are seen by the other
    let (ours, theirs) = ("-chdir=gcs-ours", "gcs-theirs");
    env.run(&[ours, "workspace", "new", "blue"]).exits(0);
    run_terraform(&env, &terraform, theirs, &["workspace", "new", "green"]).exits(0);
    let list = env.run(&[ours, "workspace", "list"]);
    assert_eq!(list.exits(0).stdout, "  default\n* blue\n  green\n\n");
    assert_eq!(list.stderr, "");
    run_terraform(&env, &terraform, theirs, &["workspace", "select", "blue"]).exits(0);
    env.run(&[ours, "workspace", "delete", "green"]).exits(0);
    assert_eq!(
        bucket.objects(&env),
        ["team/a/blue.tfstate", "team/a/default.tfstate"]
    );
}
