//! Commands in other formats that have no counterpart.

/// A table whose columns are the format, the command's name, why the command has no counterpart,
/// and what to write instead.
const UNSUPPORTED: &str = include_str!("refused.tsv");

/// Returns why a format's command is not supported, and what to write instead. `None` if the table
/// does not list the command.
pub(super) fn unsupported(format: &str, name: &str) -> Option<(String, &'static str)> {
    let (why, hint) = UNSUPPORTED.lines().find_map(|line| {
        let rest = line.strip_prefix(format)?.strip_prefix('\t')?.strip_prefix(name)?;
        rest.strip_prefix('\t')?.split_once('\t')
    })?;
    Some((format!("the {format} command `{name}` is not supported: {why}"), hint))
}
