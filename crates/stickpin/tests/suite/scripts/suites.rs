//! Suites: discovery, distribution, retries and reports.

use super::Desk;

/// Writes a script that passes, one that fails, one for includes, and a repaired one that was not
/// adopted.
fn folder(desk: &Desk) {
    let open = format!("open {}\n", desk.address());
    desk.write("flows/a.ad", &format!("{open}press text=Order\n"));
    desk.write("flows/deep/b.ad", &format!("{open}include ../_order.ad\nis visible 'text~=Thank'\n"));
    desk.write("flows/c.ad", &format!("{open}press text=Nothing\n"));
    desk.write("flows/_order.ad", "press text=Order\n");
    desk.write("flows/a.repaired.ad", "press text=Nothing\n");
    desk.write("flows/notes.txt", "no script");
}

#[test]
fn a_folder_is_run_and_accounted_for() {
    let desk = Desk::new();
    folder(&desk);
    let ran = desk.run("test flows --wait 0 --workers 2 --artifacts kept --junit out/results.xml");
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(ran.out.contains("\n3 scripts: 2 passed, 1 failed · "), "{}", ran.out);
    assert!(ran.out.contains("REPLAY_DIVERGENCE: flows/c.ad:2: "), "{}", ran.out);
    for line in ["pass    flows/a.ad", "pass    flows/deep/b.ad", "FAIL    flows/c.ad"] {
        assert!(ran.err.contains(line), "{line} in {}", ran.err);
    }
    assert_eq!(desk.received().len(), 2);
    let xml = desk.read("out/results.xml");
    assert!(
        xml.contains("tests=\"3\"") && xml.contains("failures=\"1\"") && xml.contains("errors=\"0\""),
        "{xml}"
    );
    let kept = "kept/002-flows-c-ad/attempt-1";
    assert!(desk.read(&format!("{kept}/screen.txt")).contains("button \"Order\""));
    assert!(desk.read(&format!("{kept}/attempt.json")).contains("\"outcome\": \"failed\""));
    assert!(desk.path(&format!("{kept}/screen.png")).exists());
    assert!(!desk.path("kept/001-flows-a-ad").exists(), "a passed script is not kept");
    let list = desk.run("session list --json").json();
    assert_eq!(list["output"]["sessions"].as_array().map(Vec::len), Some(0), "{list}");
    // The parts contain each script exactly once.
    let parts: Vec<String> = (1..=2)
        .flat_map(|n| {
            let ran =
                desk.run(&format!("test 'flows/**/[abc].ad' flows --wait 0 --shard {n}/2 --json")).json();
            let files = ran["output"]["files"].as_array().cloned().unwrap_or_default();
            files.iter().map(|f| f["file"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(parts, ["flows/a.ad", "flows/deep/b.ad", "flows/c.ad"]);
}

#[test]
fn flows_of_maestro_in_a_folder_are_run_and_other_yaml_is_not() {
    let desk = Desk::new();
    let flow = |taps: &str| format!("appId: \"{}\"\n---\n- launchApp\n- tapOn: {taps}\n", desk.address());
    desk.write("flows/buy.yaml", &flow("Order"));
    desk.write("flows/gone.yml", &flow("Nothing"));
    desk.write("flows/torn.yaml", "appId: sim:shop\n---\n- tapOn: [\n");
    // Settings of other tools, flows that other flows run, and files in subfolders.
    desk.write("flows/config.yaml", "flows:\n  - '*'\n");
    desk.write("flows/_login.yaml", &flow("Order"));
    desk.write("flows/parts/name.yaml", &flow("Order"));
    let ran = desk.run("test flows --wait 0");
    assert_eq!(ran.code, 1, "{ran:?}");
    for line in ["pass    flows/buy.yaml", "FAIL    flows/gone.yml", "FAIL    flows/torn.yaml"] {
        assert!(ran.err.contains(line), "{line} in {}", ran.err);
    }
    assert!(ran.out.contains("\n3 scripts: 1 passed, 2 failed"), "{}", ran.out);
    assert!(ran.out.contains("flows/torn.yaml:") && ran.out.contains("this is not YAML"), "{}", ran.out);
    assert_eq!(desk.received(), ["press button Order"]);
    // A pattern selects them.
    assert!(desk.run("test 'flows/parts/*.yaml' --wait 0").out.contains("1 script: 1 passed"));
    std::fs::create_dir(desk.path("empty")).expect("a folder");
    desk.write("empty/config.yaml", "a: 1\n");
    let ran = desk.run("test empty");
    assert!(ran.code == 2 && ran.err.contains("Maestro flows"), "{ran:?}");
}

#[test]
fn it_ends_at_the_first_failure_and_in_time_when_told_so() {
    let desk = Desk::new();
    let open = format!("open {}\n", desk.address());
    desk.write("a.ad", &format!("{open}press text=Nothing\n"));
    desk.write("b.ad", &open);
    let report = desk.run("test a.ad b.ad --wait 0 --fail-fast --json").json()["output"].clone();
    assert_eq!(report["endedEarly"], "failFast", "{report}");
    assert_eq!(report["files"][1]["outcome"], "notRun", "{report}");
    desk.write("slow.ad", &format!("{open}wait text Never --timeout 60000\n"));
    let begun = std::time::Instant::now();
    let ran = desk.run("test slow.ad --timeout 3000");
    assert!(begun.elapsed().as_secs() < 30, "the wait continues after the end of its script: {ran:?}");
    assert!(ran.code == 1 && ran.out.contains("the script exceeded 3000 ms at slow.ad:2"), "{ran:?}");
}

#[test]
fn script_variables_come_from_flags_environment_and_file() {
    let desk = Desk::new();
    desk.write(
        "v.ad",
        &format!("env WHO=Script\nopen {}\nfill label=Name ${{WHO}}\nclose\n", desk.address()),
    );
    let mut heard = Vec::new();
    let mut run = |args: &[&str], vars: &[(&str, &str)]| {
        let mut command = desk.world.command(&[&["replay", "v.ad"], args].concat());
        let output = command.envs(vars.iter().copied()).output().expect("it runs");
        assert!(output.status.success(), "{output:?}");
        heard.extend(desk.received());
    };
    run(&[], &[]);
    run(&[], &[("AD_VAR_WHO", "Other")]);
    run(&[], &[("AD_VAR_WHO", "Other"), ("STICKPIN_VAR_WHO", "Ours")]);
    run(&["-e", "WHO=Given"], &[("STICKPIN_VAR_WHO", "Ours")]);
    let filled: Vec<&str> = heard.iter().map(|line| line.rsplit(' ').next().unwrap_or_default()).collect();
    assert_eq!(filled, ["Script", "Other", "Ours", "Given"], "{heard:?}");
}
