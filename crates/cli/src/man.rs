//! Manual pages, generated from the grammar that help uses.

use crate::help;
use crate::local::{self, FrontEndCommand};
use clap::Command;
use clap_mangen::Man;
use std::path::Path;
use stickpin_kernel::{Error, Result, io_error};

/// Returns the page of a command, or of the program if `name` is empty.
///
/// # Errors
/// Returns `INVALID_ARGS` if there is no such command.
pub(crate) fn page(name: &str, others: &[FrontEndCommand]) -> Result<String> {
    let command = if name.is_empty() {
        let overview = help::overview(others);
        Command::new("stickpin").about("drive real apps through short snapshots").after_help(overview)
    } else if let Some(command) = local::grammar(name, others) {
        command
    } else {
        let message = format!("there is no command {}", stickpin_tree::quote(name));
        return Err(Error::invalid_args(message).hint("run `stickpin help` to list the commands"));
    };
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let summary = about.lines().next().unwrap_or_default().trim_end_matches('.').to_owned();
    let command = command.about(summary).long_about(about);
    let title = command.get_name().replace(' ', "-");
    let version = stickpin_wire::rpc::VERSION;
    let mut page = Vec::new();
    let rendered = Man::new(command.no_binary_name(false).version(version)).title(title).render(&mut page);
    rendered.map_err(|e| Error::internal(format!("cannot render the manual page: {e}")))?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

/// Writes the page of every command into a folder, which is created if necessary. Returns the
/// number of pages.
///
/// # Errors
/// Returns `IO` if the folder cannot be created or a page cannot be written.
pub(crate) fn write_all(dir: &Path, others: &[FrontEndCommand]) -> Result<usize> {
    std::fs::create_dir_all(dir).map_err(|e| io_error("create", dir, &e))?;
    let names: Vec<&str> = std::iter::once("").chain(stickpin_cmdline::names(others)).collect();
    for name in &names {
        let file = match *name {
            "" => "stickpin.1".to_owned(),
            name => format!("stickpin-{}.1", name.replace(' ', "-")),
        };
        let file = dir.join(file);
        std::fs::write(&file, page(name, others)?).map_err(|e| io_error("write", &file, &e))?;
    }
    Ok(names.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::local::front_end_commands;
    use crate::tests::client_commands;
    use stickpin_kernel::ErrorCode;

    #[test]
    fn every_command_has_a_page_with_its_options() {
        let others = front_end_commands(client_commands());
        for name in stickpin_cmdline::names(&others) {
            let page = page(name, &others).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(page.contains(".SH NAME") && page.contains("state\\-dir"), "{name}: {page}");
        }
        for (name, option) in [("console", "ephemeral"), ("watch", "port"), ("screenshot", "show")] {
            let page = page(name, &others).unwrap();
            assert!(page.contains(&format!(".TH stickpin-{name} 1")) && page.contains(option), "{page}");
        }
        assert!(page("", &others).unwrap().contains("snapshot"));
        assert!(page("fill", &others).unwrap().contains("stickpin fill @e2"));
        assert_eq!(page("nonsense", &others).unwrap_err().code, ErrorCode::InvalidArgs);
    }
}
