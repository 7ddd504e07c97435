//! Navigation to other documents and other apps.

use super::SimDevice;
use crate::app::nav::{HistoryChange, HistoryStep, NavError};
use crate::library;
use crate::options::Options;
use std::path::Path;
use std::time::Duration;
use stickpin_device::{
    CancellationToken, Device, Error, Navigation, NavigationResult, Result, SettleRequest,
};

/// How long a new document must be quiet to count as loaded.
const ARRIVAL_QUIET: Duration = Duration::from_millis(150);

/// Waits until a new document is quiet. While a dialog asks whether to leave, there is no new
/// document.
pub(super) async fn wait_until_loaded(
    device: &mut SimDevice,
    moved: bool,
    timeout: Duration,
    cancel: &CancellationToken,
) -> Result<NavigationResult> {
    let arrival = device.settle(SettleRequest::new(ARRIVAL_QUIET, timeout), cancel).await?;
    let sim = device.shared.running_app()?;
    let moved = moved && sim.dialog.is_none();
    Ok(NavigationResult::default().moved(moved).url(sim.url()).title(sim.title()).quiet(arrival))
}

/// Moves in the history, requests a document, or replaces the app. Returns false when there is no
/// such history entry.
pub(super) fn navigate_to(device: &mut SimDevice, to: &Navigation) -> Result<bool> {
    if let Navigation::To(what) = to
        && what.starts_with("sim:")
    {
        return switch(device, what).map(|()| true);
    }
    let mut sim = device.shared.running_app()?;
    let start = sim.app.start.clone();
    let mut navigator = sim.navigator();
    let path = match to {
        Navigation::To(path) if path.starts_with(['/', '?', '#']) => path,
        Navigation::To(what) => {
            return Err(Error::invalid_args(format!("`{what}` is not an address of a simulated device"))
                .hint("use `sim:APP`, `sim:APP/PATH`, or `/PATH` in the open app"));
        }
        Navigation::Back => return Ok(navigator.history(HistoryStep::Back)?),
        Navigation::Forward => return Ok(navigator.history(HistoryStep::Forward)?),
        Navigation::Reload => return Ok(navigator.history(HistoryStep::Reload)?),
        Navigation::Home => &start,
        _ => return Err(stickpin_device::unsupported("sim", "go there")),
    };
    navigator.request_navigation(path, HistoryChange::Push)?;
    Ok(true)
}

/// Replaces the app of this device, or navigates if it is the same app: the one that has the name
/// in its addresses, or that was read from the file. The numbering of handles continues.
fn switch(device: &mut SimDevice, what: &str) -> Result<()> {
    let options = Options::parse(what).map_err(Error::invalid_args)?;
    if options.is_explicit {
        return Err(Error::invalid_args(format!(
            "{what}: `grade`, `rest`, `clock`, `log` and `fault` cannot be changed while the app is running"
        ))
        .hint("close the app first with `stickpin close`, or open it with `--relaunch`"));
    }
    options.check_reachable(device.file_roots.as_deref())?;
    let mut sim = device.shared.running_app()?;
    let path = options.path;
    let is_open_file = || {
        let file = Path::new(&options.app).canonicalize().ok();
        file.is_some() && file == sim.app.file
    };
    if options.app == sim.app.name || is_open_file() {
        let path = path.unwrap_or_else(|| sim.app.start.clone());
        return Ok(sim.navigator().request_navigation(&path, HistoryChange::Push)?);
    }
    let app = library::load(&options.app)?;
    let path = path.unwrap_or_else(|| app.start.clone());
    let label = format!("sim:{}", app.name);
    sim.navigator().replace_app(app, &path)?;
    drop(sim);
    device.info.label = label;
    Ok(())
}

impl From<NavError> for Error {
    fn from(e: NavError) -> Self {
        Self::device_not_found(e.to_string())
    }
}
