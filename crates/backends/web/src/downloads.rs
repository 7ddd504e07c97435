//! Downloads: their state, their file names, and the notices about them.

use std::path::{Path, PathBuf};
use std::time::Instant;
use stickpin_device::{Download, DownloadState, Notice};
use stickpin_devtools::protocol as cdp;

/// The maximum number of downloads that are remembered.
const MAX_DOWNLOADS: usize = 50;

/// The maximum length of a file name in bytes, without the number that makes it unique.
const MAX_NAME_BYTES: usize = 150;

/// A download, in progress or ended.
#[derive(Debug)]
pub(crate) struct TrackedDownload {
    guid: String,
    pub(crate) download: Download,
    pub(crate) began: Instant,
    pub(crate) ended: Option<Instant>,
    /// Whether a notice reported that the download is in progress.
    was_reported: bool,
}
/// Records that a download began.
pub(crate) fn download_began(downloads: &mut Vec<TrackedDownload>, guid: String, suggested: &str) {
    if downloads.len() == MAX_DOWNLOADS {
        downloads.remove(0);
    }
    let download = Download::new(file_name(suggested), DownloadState::UnderWay);
    downloads.push(TrackedDownload {
        guid,
        download,
        began: Instant::now(),
        ended: None,
        was_reported: false,
    });
}

/// Records progress or the end of a download, and returns a notice if the download ended. Until a
/// download is complete, its file is named after its id; then the file gets its final name.
pub(crate) fn download_progress(
    downloads: &mut [TrackedDownload],
    folder: &Path,
    event: &cdp::DownloadProgress,
) -> Option<Notice> {
    let download = downloads.iter_mut().find(|d| d.guid == event.guid && d.ended.is_none())?;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of files, not negative"
    )]
    let bytes = |count: f64| count.max(0.0) as u64;
    download.download.received = bytes(event.received_bytes);
    download.download.total = Some(bytes(event.total_bytes)).filter(|total| *total > 0);
    let name = download.download.name.clone();
    let (state, notice) = match event.state.as_str() {
        "completed" => match rename_download(folder, &event.guid, &name) {
            Ok(path) => (DownloadState::Done(path.clone()), Notice::Downloaded { path }),
            Err(why) => (DownloadState::Failed(why.clone()), Notice::DownloadFailed { name, why }),
        },
        "canceled" => {
            let why = "it was cancelled or interrupted".to_owned();
            (DownloadState::Failed(why.clone()), Notice::DownloadFailed { name, why })
        }
        _ => return None,
    };
    download.download.state = state;
    download.ended = Some(Instant::now());
    Some(notice)
}

/// Renames a file to its suggested name. If that name is taken, adds a number, as in `a (2).txt`.
fn rename_download(folder: &Path, guid: &str, name: &str) -> std::result::Result<PathBuf, String> {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() => (stem, format!(".{extension}")),
        _ => (name, String::new()),
    };
    let mut path = folder.join(name);
    let mut number = 2;
    while path.exists() {
        path = folder.join(format!("{stem} ({number}){extension}"));
        number += 1;
    }
    std::fs::rename(folder.join(guid), &path).map_err(|e| format!("cannot rename the download: {e}"))?;
    Ok(path)
}

/// Returns the suggested name as a plain, visible file name. The page chose the name, so it must
/// not lead out of the download directory.
fn file_name(suggested: &str) -> String {
    let last = suggested.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |c: char| if stickpin_tree::is_unsafe(c) || ":*?\"<>|".contains(c) { '_' } else { c };
    let name: String = last.chars().map(plain).collect();
    let name = name.trim_matches(|c: char| c == '.' || c.is_whitespace());
    if name.is_empty() {
        return "download".to_owned();
    }
    if name.len() <= MAX_NAME_BYTES {
        return name.to_owned();
    }
    // Keep an extension of ordinary length, because it shows the file type.
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let extension = if extension.len() < 20 { format!(".{extension}") } else { String::new() };
    let stem = &name[..name.floor_char_boundary(MAX_NAME_BYTES - extension.len())];
    format!("{stem}{extension}")
}
impl TrackedDownload {
    /// Returns the notice that the download is in progress; `None` if it was returned before or the
    /// download has ended.
    pub(crate) fn progress_notice(&mut self) -> Option<Notice> {
        if self.was_reported || self.ended.is_some() {
            return None;
        }
        self.was_reported = true;
        let Download { name, received, total, .. } = self.download.clone();
        Some(Notice::Downloading { name, received, total })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggested_name_stays_in_its_folder_and_hides_nothing() {
        for (suggested, name) in [
            ("report.csv", "report.csv"),
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("..", "download"),
            ("", "download"),
            (".bashrc", "bashrc"),
            ("a\u{202e}fdp.exe", "a_fdp.exe"),
            ("a\nb\u{7}.txt ", "a_b_.txt"),
            ("C:stream", "C_stream"),
        ] {
            assert_eq!(file_name(suggested), name);
        }
        let long = file_name(&format!("{}.tar.gz", "é".repeat(200)));
        assert!(long.len() <= MAX_NAME_BYTES && long.ends_with(".gz"), "{long}");
    }

    #[test]
    fn a_name_that_is_taken_gets_a_number() {
        let folder = tempfile::tempdir().unwrap();
        let mut downloads = Vec::new();
        for (guid, name) in [("g1", "a.txt"), ("g2", "a.txt"), ("g3", "none"), ("g4", "none")] {
            std::fs::write(folder.path().join(guid), guid).unwrap();
            download_began(&mut downloads, guid.to_owned(), name);
            let event = cdp::DownloadProgress {
                guid: guid.to_owned(),
                state: "completed".to_owned(),
                received_bytes: 2.0,
                total_bytes: 2.0,
            };
            assert!(matches!(
                download_progress(&mut downloads, folder.path(), &event),
                Some(Notice::Downloaded { .. })
            ));
            // A repeated event has no effect.
            assert_eq!(download_progress(&mut downloads, folder.path(), &event), None);
        }
        for (name, content) in [("a.txt", "g1"), ("a (2).txt", "g2"), ("none", "g3"), ("none (2)", "g4")] {
            assert_eq!(std::fs::read_to_string(folder.path().join(name)).unwrap(), content);
        }
    }
}
