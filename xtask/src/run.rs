//! Runs other programs from the root of the workspace.

use crate::Result;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Returns the root of the workspace.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies in the workspace").to_owned()
}

/// Returns cargo's target folder. Fetched and generated files are below it too.
pub fn target_dir() -> Result<PathBuf> {
    let metadata = cargo_metadata::MetadataCommand::new()
        .no_deps()
        .current_dir(root())
        .exec()
        .map_err(|e| format!("cargo metadata: {e}"))?;
    Ok(metadata.target_directory.into())
}

/// Returns a cargo command that uses the cargo that runs this program.
pub fn cargo(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(args).current_dir(root());
    command
}

/// Runs a command to its end with inherited output.
pub fn run(command: &mut Command) -> Result {
    let line = words(command);
    eprintln!("$ {line}");
    let status = command.status().map_err(|e| format!("`{line}` did not start: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("`{line}` failed: {status}")) }
}

/// Runs a command while others run. Prints its output in one piece when it ends; an error quotes
/// the end of the output.
pub fn run_beside(mut command: Command) -> Result {
    let line = words(&command);
    eprintln!("$ {line}");
    let not_started = |e: std::io::Error| format!("`{line}` did not start: {e}");
    let (mut reader, writer) = std::io::pipe().map_err(not_started)?;
    command.stdin(Stdio::null()).stdout(writer.try_clone().map_err(not_started)?).stderr(writer);
    let mut child = command.spawn().map_err(not_started)?;
    // Otherwise this process keeps the pipe open for writing.
    drop(command);
    let mut printed = Vec::new();
    let read = reader.read_to_end(&mut printed);
    let printed = String::from_utf8_lossy(&printed);
    let printed = printed.trim_end();
    eprintln!("output of `{line}`:\n{printed}");
    let status =
        child.wait().and_then(|status| read.map(|_| status)).map_err(|e| format!("`{line}`: {e}"))?;
    if status.success() {
        return Ok(());
    }
    let lines: Vec<_> = printed.lines().collect();
    let end = lines[lines.len().saturating_sub(END_LINES)..].join("\n");
    Err(format!("`{line}` failed: {status}\n{end}"))
}

/// The number of lines that an error quotes from the end of an output.
const END_LINES: usize = 20;

/// Runs a command and returns its standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let line = words(command);
    let out = command.output().map_err(|e| format!("`{line}` did not start: {e}"))?;
    if !out.status.success() {
        return Err(format!(
            "`{line}` failed: {}\n{}",
            out.status,
            String::from_utf8_lossy(&out.stderr).trim_end()
        ));
    }
    String::from_utf8(out.stdout).map_err(|e| format!("`{line}` did not print UTF-8: {e}"))
}

/// Installs an npm package below `dir`, without its install scripts.
pub fn npm_install(dir: &Path, package: &str) -> Result {
    std::fs::create_dir_all(dir).with_path(dir)?;
    let mut npm = Command::new("npm");
    npm.args(["install", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix"]);
    run(npm.arg(dir).arg(package))
}

/// Adds the path to the error of a failed file operation.
pub trait OnPath<T> {
    fn with_path(self, path: &Path) -> Result<T>;
}

impl<T> OnPath<T> for std::io::Result<T> {
    fn with_path(self, path: &Path) -> Result<T> {
        self.map_err(|e| format!("{}: {e}", path.display()))
    }
}

/// Reads a text file.
pub fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_path(path)
}

/// Writes a text file.
pub fn write(path: &Path, text: &str) -> Result {
    std::fs::write(path, text).with_path(path)
}

/// Returns every file of a folder with its content, for comparison with a stamp.
pub fn listing(folder: &Path) -> Result<String> {
    let entries = std::fs::read_dir(folder)
        .and_then(|all| all.collect::<std::io::Result<Vec<_>>>())
        .with_path(folder)?;
    let mut paths: Vec<PathBuf> = entries.iter().map(std::fs::DirEntry::path).collect();
    paths.sort();
    paths.iter().map(|path| listed(path)).collect()
}

/// Returns a file with its content, or a folder with every file in it, under the path from the
/// workspace.
pub fn listed(path: &Path) -> Result<String> {
    let name = path.strip_prefix(root()).unwrap_or(path).display();
    Ok(format!("{name}\n{}", if path.is_dir() { listing(path)? } else { read(path)? }))
}

/// Creates an empty folder; deletes an existing one first.
pub fn empty_folder(path: &Path) -> Result {
    if path.exists() {
        std::fs::remove_dir_all(path).with_path(path)?;
    }
    std::fs::create_dir_all(path).with_path(path)
}

/// Returns the path of a program on `PATH`.
pub fn which(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// Returns whether a program is on `PATH`.
pub fn on_path(program: &str) -> bool {
    which(program).is_some()
}

fn words(command: &Command) -> String {
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|w| w.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
