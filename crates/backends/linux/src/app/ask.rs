//! Common queries about one object, and the interpretation of errors in their answers.

use crate::app::{App, lifecycle};
use crate::bus::calls::query_actions;
use crate::bus::{ACCESSIBLE, ACTION, BusError, BusResult, Call, Link, calls, unless_lost, whole};
use crate::limits::{DONE, FRAME};
use crate::model::{is_real, rect, states as s};
use std::time::Duration;
use stickpin_device::{Dispatched, Result, element_gone};
use stickpin_tree::Rect;
use tokio::time::{Instant, sleep};

/// Returns the names of an object's actions.
pub(crate) async fn actions_of(app: &App, path: &str) -> Result<Vec<String>> {
    let actions = query_actions(&app.link, path).await;
    Ok(unless_vanished(app, path, actions).await?.unwrap_or_default())
}

/// Returns an object's answer during an action; `None` if the object refuses.
///
/// # Errors
/// Returns the errors of [`refused`].
pub(crate) async fn unless_vanished<T>(app: &App, path: &str, answer: BusResult<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(fault) => refused(app, path, fault).await.map(|()| None),
    }
}

/// Sends an order. Returns whether the app accepted it. An app that is busy with the order, or
/// shows a dialog from inside it, has accepted it.
///
/// # Errors
/// Returns the errors of [`refused`].
pub(crate) async fn send_order(app: &App, call: &Call<'_>) -> Result<bool> {
    let answer = unless_vanished(app, call.path, app.link.order(call, DONE).await).await?;
    Ok(answer.is_some_and(|answer| answer.is_none_or(|answer| answer.read().unwrap_or(false))))
}

/// Creates the order that performs an object's action, given the action's index.
pub(crate) fn do_action(path: &str, action: usize) -> Call<'_> {
    Call::new(path, ACTION, "DoAction").with((i32::try_from(action).unwrap_or(i32::MAX),))
}

/// Interprets the [`BusError`] of an action: an object that is gone is an error, but after a
/// refusal, the caller may try another method.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn refused(app: &App, path: &str, fault: BusError) -> Result<()> {
    match fault {
        // Qt reports a missing method as a missing object.
        BusError::Vanished => match app.link.call(Call::new(path, ACCESSIBLE, "GetState")).await {
            Ok(_) => Ok(()),
            Err(BusError::Closed(why)) => Err(lifecycle::capture_error(app, BusError::Closed(why)).await),
            Err(_) => Err(element_gone()),
        },
        BusError::Unknown | BusError::Refused(_) | BusError::Corrupt(_) => Ok(()),
        fault => Err(lifecycle::capture_error(app, fault).await.dispatched(Dispatched::Unknown)),
    }
}

/// Returns an answer; `None` if the object is gone or does not support the query.
///
/// # Errors
/// Returns `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn or_none<T>(app: &App, answer: BusResult<T>) -> Result<Option<T>> {
    lifecycle::check_answer(app, unless_lost(answer)).await
}

/// Reads a numeric property; `None` if it has no value.
///
/// # Errors
/// Returns the error of the answer.
pub(crate) async fn number(app: &App, path: &str, interface: &str, name: &str) -> BusResult<Option<f64>> {
    app.link.call(calls::property(path, interface, name)).await?.property_number()
}

/// Reads a property that is a count; `None` if it is unknown.
///
/// # Errors
/// Returns the errors of [`number`].
pub(crate) async fn count(app: &App, path: &str, interface: &str, name: &str) -> BusResult<Option<usize>> {
    Ok(usize::try_from(whole(number(app, path, interface, name).await?)).ok())
}

/// Repeats a query once per frame until it has a result; `None` after the timeout.
///
/// # Errors
/// Returns the error of the query.
pub(crate) async fn wait_for_value<T, F>(patience: Duration, look: impl Fn() -> F) -> Result<Option<T>>
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

/// Waits, like [`wait_for_value`], until a condition holds. Returns false after the timeout.
///
/// # Errors
/// Returns the error of the condition.
pub(crate) async fn wait_until<F>(patience: Duration, holds: impl Fn() -> F) -> Result<bool>
where
    F: Future<Output = Result<bool>>,
{
    let held = wait_for_value(patience, || async { Ok(holds().await?.then_some(())) });
    held.await.map(|held| held.is_some())
}

pub(crate) async fn has_focus(app: &App, path: &str) -> Result<bool> {
    Ok(states_of(app, path).await? & s::FOCUSED != 0)
}

/// Reads the current states of an object.
///
/// # Errors
/// Returns the error of the answer.
pub(crate) async fn states_now(app: &App, path: &str) -> BusResult<u64> {
    let answer = app.link.call(Call::new(path, ACCESSIBLE, "GetState")).await?;
    Ok(s::join_words(&answer.read::<Vec<u32>>()?))
}

/// Reads states like [`states_now`], but returns no states for an object that does not report them.
///
/// # Errors
/// Returns `ELEMENT_NOT_FOUND`, `BACKEND_LOST` or `TIMEOUT`.
pub(crate) async fn states_of(app: &App, path: &str) -> Result<u64> {
    match states_now(app, path).await {
        Err(BusError::Vanished) => Err(element_gone()),
        states => Ok(or_none(app, states).await?.unwrap_or_default()),
    }
}

/// Reads the rectangle of an object in the toolkit's coordinates; `None` if the object has no
/// rectangle or is gone.
pub(crate) async fn place(app: &App, path: &str) -> Result<Option<Rect>> {
    Ok(extents_of(app, &[path.to_owned()]).await?.pop().flatten())
}

/// Reads the rectangles of objects in the toolkit's coordinates; `None` for objects that have no
/// rectangle or are gone.
pub(crate) async fn extents_of(app: &App, paths: &[String]) -> Result<Vec<Option<Rect>>> {
    lifecycle::check_answer(app, query_extents(&app.link, paths).await).await
}

/// Reads rectangles like [`extents_of`], but returns the [`BusError`] itself.
pub(crate) async fn query_extents(link: &Link, paths: &[String]) -> BusResult<Vec<Option<Rect>>> {
    // Objects that a capture created are unknown to the app.
    let real = |path: &&String| is_real(path);
    let calls: Vec<Call<'_>> =
        paths.iter().filter(real).map(|path| calls::extents(path, link.toolkit)).collect();
    let mut places = link.each::<[i32; 4]>(&calls).await?.into_iter();
    let mut place = |path| real(&path).then(|| places.next().flatten()).flatten().and_then(rect);
    Ok(paths.iter().map(&mut place).collect())
}
