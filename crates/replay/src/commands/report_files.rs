//! The report files of a run: checked before the run begins, and written after it ends.

use super::resolve_optional;
use crate::report::model::Report;
use crate::report::{html, junit};
use std::path::{Path, PathBuf};
use stickpin_client::Call;
use stickpin_kernel::{PathArg, Result, files, io_error};

/// The requested report files.
pub(super) struct ReportFiles {
    junit: Option<PathBuf>,
    /// The path of the HTML page, if one is written.
    pub(super) page: Option<PathBuf>,
    /// The folders that the caller may write to; `None` allows all folders.
    roots: Option<Vec<PathBuf>>,
    /// The folder for the steps' pictures until they are embedded in the page.
    pub(super) pictures: Option<PathBuf>,
}

impl ReportFiles {
    /// Resolves the paths from the command line. A path that cannot be written to is reported
    /// before the run, not after it.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL` for such a path, and the errors of resolving a path.
    pub(super) fn new(call: &Call, junit: Option<&PathArg>, html: Option<&PathArg>) -> Result<Self> {
        let (junit, html) = (resolve_optional(call, junit)?, resolve_optional(call, html)?);
        junit.iter().chain(&html).try_for_each(|path| check_writable(path))?;
        let roots = call.caller.file_roots.clone();
        Ok(Self {
            roots,
            pictures: html.as_deref().map(|page| files::sibling_path(page, "pictures")),
            junit,
            page: html,
        })
    }

    /// Writes the reports, each to a temporary file that then replaces the old one.
    ///
    /// # Errors
    /// Returns `IO` or `STORAGE_FULL` for a report that cannot be written; its old file stays.
    pub(super) fn write(&self, report: &Report) -> Result<()> {
        let write =
            |path: &Path, text: String| files::write_within(self.roots.as_deref(), path, text.as_bytes());
        let page = self.page.as_ref().map_or(Ok(()), |path| {
            let page = write(path, html::render(report, &|picture| std::fs::read(picture).ok()));
            // The page embeds the pictures. Without a page, they are useless.
            let _ = self.pictures.as_ref().map(std::fs::remove_dir_all);
            page
        });
        let junit = self.junit.as_ref().map_or(Ok(()), |path| write(path, junit::write(report)?));
        page.and(junit)
    }
}

/// Checks that a file can be written at this path. Creates the folder of the file if necessary, and
/// leaves no file behind.
fn check_writable(path: &Path) -> Result<()> {
    let failed = |e: &std::io::Error| io_error("write", path, e);
    if path.is_dir() {
        return Err(failed(&std::io::Error::from(std::io::ErrorKind::IsADirectory)));
    }
    std::fs::create_dir_all(path.parent().unwrap_or(path)).map_err(|e| failed(&e))?;
    let probe = files::sibling_path(path, "part");
    std::fs::File::create(&probe).and_then(|_| std::fs::remove_file(&probe)).map_err(|e| failed(&e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_written_where_junit_cannot_be() {
        let dir = tempfile::tempdir().expect("a folder");
        let html = dir.path().join("page.html");
        // A folder exists at the file's path.
        let junit = dir.path().join("junit.xml");
        std::fs::create_dir(&junit).expect("a folder");
        let report_files =
            ReportFiles { junit: Some(junit), page: Some(html.clone()), roots: None, pictures: None };
        let report = Report {
            version: 1,
            program: "0.0.0".to_owned(),
            started_at: 0,
            millis: 0.0,
            workers: 1,
            shard: None,
            ended_early: None,
            files: Vec::new(),
        };
        report_files.write(&report).expect_err("no JUnit file");
        assert!(std::fs::read_to_string(html).expect("a page").contains("<html"));
    }
}
