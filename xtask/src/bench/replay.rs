//! Measures replaying: the cost of a step, a long script, and suites with one worker and with two.
//! Also measures a form in a browser as a script and as separate commands. The measured binary
//! records the scripts.

use super::measure::{Tool, alternate, medians, run_timed};
use super::page::Server;
use super::table::Table;
use crate::Result;
use crate::run::{empty_folder, output, read, write};
use std::fmt::Write as _;
use std::path::Path;

/// The simulated app, with a virtual clock.
const APP: &str = "sim:settings?clock=virtual";

/// The recorded steps: ten, after which the app is in its initial state.
const STEPS: &str = include_str!("pages/settings.txt");

/// A form that is filled and sent in twenty steps.
const FORM: &str = include_str!("pages/form.txt");

/// The text of the page when it has received everything.
const SUBMITTED_FORM: &str = "Ada, Berg, Main street 1, Oslo, 0150, no, ada@example.com, 5551234, courier, gift, For you, Lamp, Chair, l, terms";

/// Steps of the long and the short script; the difference is the cost of steps.
const LONG_SCRIPT_STEPS: usize = 1_000;
const SHORT_SCRIPT_STEPS: usize = 10;

/// The number of scripts of the suite, and of steps in each.
const SCRIPTS: usize = 100;
const STEPS_PER_SCRIPT: usize = 50;

/// The number of runs; a suite takes a second or two.
const RUNS_OF_SUITES: usize = 7;

/// Adds the rows of this part. Its scripts are written to `folder`.
pub fn measure(table: &mut Table, ours: &Tool, server: &Server, folder: &Path, runs: usize) -> Result {
    empty_folder(folder)?;
    empty_folder(&folder.join("suite"))?;
    steps(table, ours, folder, runs)?;
    suites(table, ours, folder, runs.min(RUNS_OF_SUITES))?;
    measure_form(table, ours, server, folder, runs)
}

/// Runs a short and a long script alternately.
fn steps(table: &mut Table, ours: &Tool, folder: &Path, runs: usize) -> Result {
    let recorded = record(ours, APP, &commands(STEPS)?, &folder.join("recorded.ad"))?;
    let script = |name: &str, steps: usize| -> Result<String> {
        let path = folder.join(name);
        write(&path, &repeated(&recorded, steps)?)?;
        text(&path)
    };
    for number in 0..SCRIPTS {
        script(&format!("suite/{number:03}.ad"), STEPS_PER_SCRIPT)?;
    }
    let (short, long) = (script("short.ad", SHORT_SCRIPT_STEPS)?, script("long.ad", LONG_SCRIPT_STEPS)?);
    let (long, short) =
        alternate(runs, || ours.command(&["replay", &long]), Some(|| ours.command(&["replay", &short])))?;
    #[allow(clippy::cast_precision_loss, reason = "a number of steps")]
    let each = (long - short.unwrap_or_default()) / (LONG_SCRIPT_STEPS - SHORT_SCRIPT_STEPS) as f64;
    table.add("a step of a replay on the simulated device", each, "ms", "under 0.5");
    table.add(
        &format!("`replay` of {LONG_SCRIPT_STEPS} steps on it, whole process"),
        long,
        "ms",
        "under 1000",
    );
    Ok(())
}

/// Runs the same scripts with one worker and with two, alternately.
fn suites(table: &mut Table, ours: &Tool, folder: &Path, runs: usize) -> Result {
    let suite = text(&folder.join("suite"))?;
    let with = |workers: &'static str| {
        let suite = suite.clone();
        move || ours.command(&["test", &suite, "--workers", workers])
    };
    let (two, one) = alternate(runs, with("2"), Some(with("1")))?;
    let one = one.unwrap_or(f64::NAN);
    let what = format!("`test` of {SCRIPTS} scripts of {STEPS_PER_SCRIPT} steps, one worker");
    table.add(&what, one, "ms", "");
    table.add("how much faster two workers are, on two cores", one / two, "x", "at least 1.7");
    Ok(())
}

/// Runs a form in a browser as a script and as separate commands.
fn measure_form(table: &mut Table, ours: &Tool, server: &Server, folder: &Path, runs: usize) -> Result {
    let url = server.page("form");
    let file = folder.join("form.ad");
    let steps = commands(FORM)?;
    record(ours, &url, &steps, &file)?;
    let file = text(&file)?;
    ours.run(&["open", &url])?;
    let (replayed, typed) = medians(runs, || {
        let script = run_timed(&mut ours.command(&["replay", &file]))?;
        check_submitted(ours, &url)?;
        let each = steps.iter().map(|step| run_timed(&mut ours.command(step))).sum::<Result<f64>>()?;
        check_submitted(ours, &url)?;
        Ok((script, Some(each)))
    })?;
    ours.run(&["close"])?;
    table.compare(
        "`replay` of a form of 20 steps in Chromium; compared with the same steps as 20 commands",
        replayed,
        typed,
        "ms",
        "faster",
    );
    Ok(())
}

/// Checks that the page received everything, and opens a new one.
fn check_submitted(ours: &Tool, url: &str) -> Result {
    let said = output(&mut ours.command(&["get", "text", "role=status"]))?;
    if said.trim() != SUBMITTED_FORM {
        return Err(format!("the form says {:?}, not {SUBMITTED_FORM:?}", said.trim()));
    }
    ours.run(&["open", url])
}

/// Splits commands, one per line, into words.
fn commands(lines: &str) -> Result<Vec<Vec<String>>> {
    lines.lines().map(|line| stickpin_cmdline::split(line).map_err(|e| e.to_string())).collect()
}

/// Records commands, and returns the recording.
fn record(ours: &Tool, what: &str, steps: &[Vec<String>], file: &Path) -> Result<String> {
    ours.run(&["open", what])?;
    ours.run(&["record", "start"])?;
    for step in steps {
        ours.run(step)?;
    }
    ours.run(&["record", "stop", &text(file)?])?;
    ours.run(&["close"])?;
    read(file)
}

/// Repeats the recorded steps until there are `steps`.
fn repeated(recorded: &str, steps: usize) -> Result<String> {
    let mut lines = Vec::new();
    let mut comments = String::new();
    for line in recorded.lines().filter(|line| !line.starts_with("context ") && !line.is_empty()) {
        comments.push_str(line);
        comments.push('\n');
        if !line.starts_with('#') {
            lines.push(std::mem::take(&mut comments));
        }
    }
    let all = STEPS.lines().count();
    if lines.len() != all {
        return Err(format!("{} of {all} steps were recorded:\n{recorded}", lines.len()));
    }
    let mut script = format!("context platform=sim\nopen {APP}\n");
    for line in lines.iter().cycle().take(steps) {
        script.push_str(line);
    }
    writeln!(script, "close").expect("writing to a string");
    Ok(script)
}

fn text(path: &Path) -> Result<String> {
    path.to_str().map(str::to_owned).ok_or_else(|| format!("{} is not UTF-8", path.display()))
}

#[cfg(test)]
mod tests {
    use super::{STEPS, repeated};

    #[test]
    fn a_long_script_is_the_recorded_one_again_and_again() {
        let line = |n: usize| format!("# target button \"{n}\"\npress text={n}\n");
        let recorded: String = (0..STEPS.lines().count()).map(line).collect();
        let script =
            repeated(&format!("context platform=sim\n{recorded}"), STEPS.lines().count() + 2).unwrap();
        assert_eq!(script.matches("press ").count(), STEPS.lines().count() + 2);
        assert!(script.starts_with("context platform=sim\nopen sim:"), "{script}");
        assert!(script.ends_with("# target button \"1\"\npress text=1\nclose\n"), "{script}");
        assert!(repeated("press text=1\n", 5).is_err());
    }
}
