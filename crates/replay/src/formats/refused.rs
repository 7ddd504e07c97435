//! Commands of other formats that have no counterpart here.

/// Format, name of a command, why it has no counterpart, and what to write instead.
const REFUSED: &str = include_str!("refused.tsv");

/// Why a command of a format is not read, and what to write instead, where the table lists it.
pub(super) fn unsupported(format: &str, name: &str) -> Option<(String, &'static str)> {
    let (why, hint) = REFUSED.lines().find_map(|line| {
        let rest = line.strip_prefix(format)?.strip_prefix('\t')?.strip_prefix(name)?;
        rest.strip_prefix('\t')?.split_once('\t')
    })?;
    Some((format!("`{name}` of {format} is not supported: {why}"), hint))
}
