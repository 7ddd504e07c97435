//! Questions about one object that many parts ask, and what the faults of their answers mean.

use crate::app::{App, gone, life};
use crate::bus::calls::listed;
use crate::bus::fault::Fault;
use crate::bus::names::{ACCESSIBLE, COMPONENT, SCREEN};
use crate::bus::{Args, Call, Cursor, Link};
use crate::model::{rows, states as s};
use stickpin_device::{Dispatched, Result};
use stickpin_tree::Rect;

/// The names of the actions that an object has.
pub(crate) async fn actions_of(app: &App, path: &str) -> Result<Vec<String>> {
    match listed(&app.link, path).await {
        Ok(actions) => Ok(actions),
        Err(fault) => refused(app, path, fault).await.map(|()| Vec::new()),
    }
}

/// What a fault of one act means: an object that is gone is an error, one that will not is another way's turn.
pub(crate) async fn refused(app: &App, path: &str, fault: Fault) -> Result<()> {
    match fault {
        // Qt says that there is no object where there is no such method.
        Fault::Vanished => match app.link.call(path, ACCESSIBLE, "GetState", Args::new()).await {
            Ok(_) => Ok(()),
            Err(Fault::Closed(why)) => Err(life::failed(app, Fault::Closed(why)).await),
            Err(_) => Err(gone()),
        },
        Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_) => Ok(()),
        fault => Err(life::failed(app, fault).await.dispatched(Dispatched::Unknown)),
    }
}

pub(crate) async fn has_focus(app: &App, path: &str) -> Result<bool> {
    Ok(states_of(app, path).await? & s::FOCUSED != 0)
}

/// The states that an object has now; none of one that does not say.
pub(crate) async fn states_of(app: &App, path: &str) -> Result<u64> {
    match app.link.call(path, ACCESSIBLE, "GetState", Args::new()).await {
        Ok(answer) => {
            let words = answer.body().items(4, Cursor::unsigned).unwrap_or_default();
            Ok(s::joined(&words))
        }
        Err(Fault::Vanished) => Err(gone()),
        Err(Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => Ok(0),
        Err(fault) => Err(life::failed(app, fault).await),
    }
}

/// What the toolkit says of where these are; none for what has no place or is gone.
pub(crate) async fn said(app: &App, paths: &[String]) -> Result<Vec<Option<Rect>>> {
    match extents_said(&app.link, paths).await {
        Ok(said) => Ok(said),
        Err(fault) => Err(life::failed(app, fault).await),
    }
}

/// What a toolkit says of where these are; none for what has no place or is gone.
pub(crate) async fn extents_said(
    link: &Link,
    paths: &[String],
) -> std::result::Result<Vec<Option<Rect>>, Fault> {
    let call =
        |path| Call { path, interface: COMPONENT, member: "GetExtents", args: Args::new().unsigned(SCREEN) };
    // What we made up, the app cannot be asked about.
    let real = |path: &&String| !path.is_empty() && !path.ends_with(rows::ROW);
    let calls: Vec<Call<'_>> = paths.iter().filter(real).map(|path| call(path.as_str())).collect();
    let mut answers = link.calls(&calls).await.into_iter();
    let mut out = Vec::with_capacity(paths.len());
    for path in paths {
        out.push(match real(&path).then(|| answers.next()).flatten() {
            Some(Ok(answer)) => rect(&mut answer.body()).ok().flatten(),
            Some(Err(fault @ (Fault::Closed(_) | Fault::Silent(_)))) => return Err(fault),
            Some(Err(_)) | None => None,
        });
    }
    Ok(out)
}

pub(crate) fn rect(c: &mut Cursor<'_>) -> std::result::Result<Option<Rect>, Fault> {
    c.fields()?;
    let [x, y, width, height] = [c.int()?, c.int()?, c.int()?, c.int()?].map(f64::from);
    Ok((width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height }))
}
