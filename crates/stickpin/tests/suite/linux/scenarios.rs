//! Scenarios on real desktop apps, each on a private display: all of them in process, all but the
//! longest as scripts, and those of the apps that people use also through the real binary and MCP.
//! The app's own display or log shows the outcome of an action.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use stickpin_testkit::{
    InProcess, McpClient, McpSurface, ProcessText, Scenario, Script, Surface, SurfaceName, desktop,
    heavy_desktop, run_file, scenario_files, workspace_root,
};

const PROGRAM: &str = env!("CARGO_BIN_EXE_stickpin");

/// A front end, or `None` if its requirements are missing.
type Made = Option<Box<dyn Surface>>;

/// The programs that a scenario needs, separated by spaces, and whether they are large.
struct Needs {
    programs: &'static str,
    heavy: bool,
}

impl Needs {
    fn provider(&self) -> Option<stickpin_backend_linux::LinuxProvider> {
        let programs: Vec<&str> = self.programs.split(' ').collect();
        if self.heavy { heavy_desktop(&programs) } else { desktop(&programs) }
    }
}

fn run(name: &str, needs: &Needs, surface: impl FnOnce(&Path, &Needs) -> Made) {
    let dir = tempfile::tempdir().expect("a folder");
    let Some(mut surface) = surface(dir.path(), needs) else { return };
    let path = workspace_root().join("fixtures/scenarios").join(name.replace('_', "-") + ".toml");
    if let Err(e) = run_file(&path, dir.path(), surface.as_mut()) {
        panic!("{e}");
    }
}

fn in_process(dir: &Path, needs: &Needs) -> Made {
    Some(Box::new(InProcess::new(dir, vec![Arc::new(needs.provider()?)])))
}

fn script(dir: &Path, needs: &Needs) -> Made {
    Some(Box::new(Script::new(dir, vec![Arc::new(needs.provider()?)])))
}

fn process_text(dir: &Path, needs: &Needs) -> Made {
    needs.provider()?;
    Some(Box::new(ProcessText::new(dir, Path::new(PROGRAM))))
}

fn mcp(dir: &Path, needs: &Needs) -> Made {
    needs.provider()?;
    Some(Box::new(McpSurface::new(dir, Path::new(PROGRAM), McpClient::Rust)))
}

macro_rules! scenarios {
    ($($name:ident($programs:literal, $heavy:literal): $($surface:ident)*;)*) => {
        /// Each file with the front ends that it runs on.
        const RUNS: &[(&str, &[&str])] = &[$((stringify!($name), &[$(stringify!($surface)),*]),)*];

        $(mod $name {
            $(#[test]
            fn $surface() {
                let needs = super::Needs { programs: $programs, heavy: $heavy };
                super::run(stringify!($name), &needs, super::$surface);
            })*
        })*
    };
}

scenarios! {
    linux_calculator("gnome-calculator", false): in_process script process_text mcp;
    linux_desktop("gnome-calculator", false): in_process script process_text mcp;
    linux_gedit("gedit", false): in_process script process_text mcp;
    linux_zenity("zenity", false): in_process script process_text mcp;
    linux_qt("featherpad", false): in_process script process_text mcp;
    linux_widgets_docks("/usr/bin/python3", false): in_process script;
    linux_widgets_gtk3("/usr/bin/python3", false): in_process;
    linux_widgets_gtk4("/usr/bin/python3", false): in_process;
    linux_widgets_qt("/usr/bin/python3", false): in_process;
    linux_widgets_toggles("/usr/bin/python3", false): in_process script;
    linux_widgets_sign("/usr/bin/python3", false): in_process script;
    linux_widgets_asks("/usr/bin/python3", false): in_process script;
    linux_widgets_cells("/usr/bin/python3", false): in_process script;
    linux_trees("/usr/bin/python3", false): in_process script;
    linux_firefox("firefox-esr", true): in_process script mcp;
    linux_calc("soffice", true): in_process script mcp;
    linux_desktop_apps("firefox-esr soffice featherpad gedit", true): in_process script mcp;
}

#[test]
fn every_file_runs() {
    let files = scenario_files("linux").expect("the scenarios");
    let there: BTreeSet<&str> = files.iter().filter_map(|path| path.file_stem()?.to_str()).collect();
    let run: Vec<String> = RUNS.iter().map(|(name, _)| name.replace('_', "-")).collect();
    assert_eq!(
        there,
        run.iter().map(String::as_str).collect(),
        "the files of fixtures/scenarios and the tests above"
    );
}

#[test]
fn every_file_with_a_form_as_a_script_runs_as_one() {
    for path in scenario_files("linux").expect("the scenarios") {
        let scenario = Scenario::read(&path).expect("a scenario");
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().replace('-', "_");
        let runs = RUNS.iter().find(|(name, _)| *name == stem).map_or(&[][..], |(_, surfaces)| *surfaces);
        let scripted = runs.contains(&"script");
        assert_ne!(scripted, scenario.without.contains_key(&SurfaceName::Script), "{}", path.display());
    }
}

#[test]
fn the_apps_of_other_people_run_on_every_surface() {
    let heavy = ["linux_firefox", "linux_calc", "linux_desktop_apps"];
    for (name, surfaces) in
        RUNS.iter().filter(|(name, _)| !name.starts_with("linux_widgets") && *name != "linux_trees")
    {
        let all = ["in_process", "script", "process_text", "mcp"];
        let wanted = all.iter().filter(|surface| **surface != "process_text" || !heavy.contains(name));
        let missing: Vec<_> = wanted.filter(|surface| !surfaces.contains(surface)).collect();
        assert!(missing.is_empty(), "{name} does not run on {missing:?}");
    }
}
