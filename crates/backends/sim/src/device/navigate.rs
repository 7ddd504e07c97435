//! Navigation to other documents and other apps.

use super::SimDevice;
use crate::app::nav::{How, NavError, Step};
use crate::library;
use crate::options::Options;
use std::time::Duration;
use stickpin_device::{Arrived, CancellationToken, Error, ErrorCode, Navigation, Result, SettleRequest};

/// How long a new document must be quiet to count as loaded.
const ARRIVAL_QUIET: Duration = Duration::from_millis(150);

/// Waits until a new document is quiet. While a dialog asks whether to leave, there is none.
pub(super) async fn arrived(
    device: &SimDevice,
    moved: bool,
    cap: Duration,
    cancel: &CancellationToken,
) -> Result<Arrived> {
    let settled = device.settled(SettleRequest::new(ARRIVAL_QUIET, cap), cancel).await?.settled;
    let sim = device.shared.live()?;
    let moved = moved && sim.dialog.is_none();
    Ok(Arrived::default().moved(moved).url(sim.url()).title(sim.title()).settled(settled))
}

/// Navigates, or requests the document. Returns false when there is no such history entry.
pub(super) fn go(device: &mut SimDevice, to: &Navigation) -> Result<bool> {
    let went = match to {
        Navigation::To(what) if what.starts_with("sim:") => return switch(device, what).map(|()| true),
        Navigation::To(path) if path.starts_with(['/', '?', '#']) => {
            device.shared.live()?.navigator().leave(path, How::Push).map(|()| true)
        }
        Navigation::To(what) => {
            return Err(Error::new(
                ErrorCode::InvalidArgs,
                format!("{what} is not an address of a sim device"),
            )
            .hint("use sim:APP, sim:APP/PATH, or /PATH in the app that is open"));
        }
        Navigation::Back => device.shared.live()?.navigator().history(Step::Back),
        Navigation::Forward => device.shared.live()?.navigator().history(Step::Forward),
        Navigation::Reload => device.shared.live()?.navigator().history(Step::Reload),
        Navigation::Home => {
            let mut sim = device.shared.live()?;
            let start = sim.app.start.clone();
            sim.navigator().leave(&start, How::Push).map(|()| true)
        }
        _ => return Err(stickpin_device::unsupported("sim", "go there")),
    };
    went.map_err(|e| unreachable(&e))
}

/// Replaces the app of this device. Handles continue to count.
fn switch(device: &mut SimDevice, what: &str) -> Result<()> {
    let options = Options::parse(what).map_err(|e| Error::new(ErrorCode::InvalidArgs, e))?;
    if options.set {
        return Err(Error::new(
            ErrorCode::InvalidArgs,
            format!("{what}: grade, clock, log and fault of a running device cannot be changed"),
        )
        .hint("close it first, or open it with `--relaunch`"));
    }
    options.admit(device.file_roots.as_deref())?;
    let mut sim = device.shared.live()?;
    let path = options.path;
    if library::load(&options.app)?.name == sim.app.name {
        let path = path.unwrap_or_else(|| sim.app.start.clone());
        return sim.navigator().leave(&path, How::Push).map_err(|e| unreachable(&e));
    }
    let app = library::load(&options.app)?;
    let path = path.unwrap_or_else(|| app.start.clone());
    let label = format!("sim:{}", app.name);
    sim.navigator().become_app(app, &path).map_err(|e| unreachable(&e))?;
    drop(sim);
    device.info.label = label;
    Ok(())
}

pub(super) fn unreachable(e: &NavError) -> Error {
    Error::new(ErrorCode::DeviceNotFound, e.to_string())
}
