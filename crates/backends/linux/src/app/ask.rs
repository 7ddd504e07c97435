//! Questions about one object that many parts ask, and what the faults of their answers mean.

use crate::app::{App, gone, life};
use crate::bus::calls::listed;
use crate::bus::fault::{Fault, unless_lost};
use crate::bus::names::{ACCESSIBLE, ACTION};
use crate::bus::{Call, Link, Message, calls};
use crate::limits::{DONE, FRAME};
use crate::model::{rows, states as s};
use std::time::Duration;
use stickpin_device::{Dispatched, Result};
use stickpin_tree::Rect;
use tokio::time::{Instant, sleep};

/// The names of the actions that an object has.
pub(crate) async fn actions_of(app: &App, path: &str) -> Result<Vec<String>> {
    let actions = listed(&app.link, path).await;
    Ok(answered(app, path, actions).await?.unwrap_or_default())
}

/// What an object answered to a question or an order of an act; none where it will not.
///
/// # Errors
/// As [`refused`].
pub(crate) async fn answered<T>(app: &App, path: &str, answer: Result<T, Fault>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(fault) => refused(app, path, fault).await.map(|()| None),
    }
}

/// Gives an order; whether it was taken. What is busy with it, or shows a dialog from inside, has
/// taken it.
///
/// # Errors
/// As [`refused`].
pub(crate) async fn ordered(app: &App, call: &Call<'_>) -> Result<bool> {
    let answer = answered(app, call.path, app.link.order(call, DONE).await).await?;
    Ok(answer.is_some_and(|answer| answer.is_none_or(|answer| answer.read().unwrap_or(false))))
}

/// The order to do one of the actions of an object, by its place among them.
pub(crate) fn do_action(path: &str, action: usize) -> Call<'_> {
    Call::new(path, ACTION, "DoAction").with((i32::try_from(action).unwrap_or(i32::MAX),))
}

/// What a fault of one act means: an object that is gone is an error, one that will not is another
/// way's turn.
pub(crate) async fn refused(app: &App, path: &str, fault: Fault) -> Result<()> {
    match fault {
        // Qt says that there is no object where there is no such method.
        Fault::Vanished => match app.link.call(Call::new(path, ACCESSIBLE, "GetState")).await {
            Ok(_) => Ok(()),
            Err(Fault::Closed(why)) => Err(life::failed(app, Fault::Closed(why)).await),
            Err(_) => Err(gone()),
        },
        Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_) => Ok(()),
        fault => Err(life::failed(app, fault).await.dispatched(Dispatched::Unknown)),
    }
}

/// An answer, where there is one: what an object does not know, and what is gone, is none.
///
/// # Errors
/// `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn or_none<T>(app: &App, answer: Result<T, Fault>) -> Result<Option<T>> {
    life::judged(app, unless_lost(answer)).await
}

/// A property of an object.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn property(app: &App, path: &str, interface: &str, name: &str) -> Result<Message, Fault> {
    app.link.call(calls::property(path, interface, name)).await
}

/// A property that is a number; none where it has no value.
///
/// # Errors
/// As [`property`].
pub(crate) async fn number(app: &App, path: &str, interface: &str, name: &str) -> Result<Option<f64>, Fault> {
    property(app, path, interface, name).await?.property_number()
}

/// A property that counts something; none where it does not say.
///
/// # Errors
/// As [`property`].
pub(crate) async fn count(
    app: &App,
    path: &str,
    interface: &str,
    name: &str,
) -> Result<Option<usize>, Fault> {
    let count = number(app, path, interface, name).await?.filter(|count| *count >= 0.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count, not below 0")]
    let count = count.map(|count| count as usize);
    Ok(count)
}

/// Asks again and again, a frame apart, until there is something; none where there is nothing so
/// long.
///
/// # Errors
/// What it is asked with.
pub(crate) async fn comes<T, F>(patience: Duration, look: impl Fn() -> F) -> Result<Option<T>>
where
    F: Future<Output = Result<Option<T>>>,
{
    let until = Instant::now() + patience;
    loop {
        let found = look().await?;
        if found.is_some() || Instant::now() >= until {
            return Ok(found);
        }
        sleep(FRAME).await;
    }
}

/// Whether something comes to hold, as [`comes`] asks.
///
/// # Errors
/// What it is asked with.
pub(crate) async fn comes_true<F>(patience: Duration, holds: impl Fn() -> F) -> Result<bool>
where
    F: Future<Output = Result<bool>>,
{
    let held = comes(patience, || async { Ok(holds().await?.then_some(())) });
    held.await.map(|held| held.is_some())
}

pub(crate) async fn has_focus(app: &App, path: &str) -> Result<bool> {
    Ok(states_of(app, path).await? & s::FOCUSED != 0)
}

/// The states that an object has now.
///
/// # Errors
/// Why there is no answer.
pub(crate) async fn states_now(app: &App, path: &str) -> Result<u64, Fault> {
    let answer = app.link.call(Call::new(path, ACCESSIBLE, "GetState")).await?;
    Ok(s::joined(&answer.read::<Vec<u32>>()?))
}

/// Asks as above; none for an object that does not say.
///
/// # Errors
/// `ELEMENT_NOT_FOUND`, `BACKEND_LOST`, `TIMEOUT`.
pub(crate) async fn states_of(app: &App, path: &str) -> Result<u64> {
    match states_now(app, path).await {
        Err(Fault::Vanished) => Err(gone()),
        states => Ok(or_none(app, states).await?.unwrap_or_default()),
    }
}

/// What the toolkit says of where something is; none for what has no place or is gone.
pub(crate) async fn place(app: &App, path: &str) -> Result<Option<Rect>> {
    Ok(said(app, &[path.to_owned()]).await?.pop().flatten())
}

/// What the toolkit says of where these are; none for what has no place or is gone.
pub(crate) async fn said(app: &App, paths: &[String]) -> Result<Vec<Option<Rect>>> {
    life::judged(app, extents_said(&app.link, paths).await).await
}

/// What a toolkit says of where these are; none for what has no place or is gone.
pub(crate) async fn extents_said(link: &Link, paths: &[String]) -> Result<Vec<Option<Rect>>, Fault> {
    // What we made up, the app cannot be asked about.
    let real = |path: &&String| !path.is_empty() && !path.ends_with(rows::ROW);
    let calls: Vec<Call<'_>> = paths.iter().filter(real).map(|path| calls::extents(path)).collect();
    let mut places = link.each::<[i32; 4]>(&calls).await?.into_iter();
    let mut place = |path| real(&path).then(|| places.next().flatten()).flatten().and_then(rect);
    Ok(paths.iter().map(&mut place).collect())
}

/// A place as it is answered; none where it has no size.
pub(crate) fn rect(place: [i32; 4]) -> Option<Rect> {
    let [x, y, width, height] = place.map(f64::from);
    (width > 0.0 && height > 0.0).then_some(Rect { x, y, width, height })
}
