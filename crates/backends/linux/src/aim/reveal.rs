//! Bringing into view what lies outside of what its scrolling containers show.

use super::place::{panes, shifted};
use crate::aim::{place, scroll};
use crate::app::look::{Placed, Sight};
use crate::app::{App, Reading, ask, life};
use crate::bus::fault::Fault;
use crate::bus::names::{COMPONENT, PROPERTIES, VALUE};
use crate::bus::{Args, calls};
use crate::limits::FRAME;
use crate::model::Interfaces;
use crate::model::extents::common;
use crate::model::roles::number as n;
use std::time::Duration;
use stickpin_device::{ErrorCode, Result};
use stickpin_tree::{Handle, Rect};
use tokio::time::{Instant, sleep};

/// Scroll until it can be seen, wherever that is (`AtspiScrollType`).
const ANYWHERE: u32 = 6;

/// How often a container is scrolled until an element is in view.
const ROUNDS: usize = 12;

/// How long an app may take to lay out what the wheel scrolled.
const SCROLLED: Duration = Duration::from_millis(400);

/// Scrolls until an element can be seen, by the toolkit's own means.
pub(crate) async fn scroll_into_view(
    app: &App,
    reading: &Reading,
    at: usize,
    sight: Option<&Sight>,
    before: Option<Placed>,
) -> Result<Option<Placed>> {
    let Some(last) = &reading.last else { return Ok(before) };
    let path = last.picture.objects[at].path.clone();
    let args = Args::new().unsigned(ANYWHERE);
    match app.link.call(&path, COMPONENT, "ScrollTo", args).await {
        Ok(_) | Err(Fault::Vanished | Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => {}
        Err(fault) => return Err(life::failed(app, fault).await),
    }
    let mut placed = place::placed(app, reading, at, sight).await?;
    if placed.is_none() && approach(app, reading, at).await? {
        placed = place::placed(app, reading, at, sight).await?;
    }
    for _ in 0..ROUNDS {
        let Some(now) = &placed else { break };
        if now.seen == Some(now.rect) || !nudge(app, reading, at, now.rect, now.offset).await? {
            break;
        }
        let next = place::placed(app, reading, at, sight).await?;
        let moved = next.as_ref().map(|p| p.rect) != Some(now.rect);
        placed = next;
        if !moved {
            break;
        }
    }
    if sight.is_some() {
        placed = wheel_into_view(app, reading, at, sight, placed).await?;
    }
    Ok(placed)
}

/// Scrolls to about where something must be that has no place while it is out of sight, as GTK 3 has it of rows: by its
/// place among its siblings. False when nothing moved.
async fn approach(app: &App, reading: &Reading, at: usize) -> Result<bool> {
    let Some(last) = &reading.last else { return Ok(false) };
    let objects = &last.picture.objects;
    let Some(&pane) = panes(&last.picture, at).first() else { return Ok(false) };
    let up = last.chain(at);
    let inside = up.windows(2).take_while(|pair| pair[0] != pane);
    let among = inside.map(|pair| (&objects[pair[1]].children, pair[0]));
    let Some((siblings, own)) = among.max_by_key(|(siblings, _)| siblings.len()) else {
        return Ok(false);
    };
    let Some(before) = siblings.iter().position(|&sibling| sibling == own) else { return Ok(false) };
    #[expect(clippy::cast_precision_loss, reason = "children are few enough")]
    let part = before as f64 / (siblings.len().max(2) - 1) as f64;
    let bars = objects[pane].children.iter().map(|&child| &objects[child]);
    let bars = bars.filter(|o| o.role == n::SCROLL_BAR && o.has(Interfaces::VALUE));
    let bars: Vec<String> = bars.map(|o| o.path.clone()).collect();
    let mut moved = false;
    for bar in bars {
        let (least, most) =
            (end_of_bar(app, &bar, "MinimumValue").await?, end_of_bar(app, &bar, "MaximumValue").await?);
        let (Some(least), Some(most)) = (least, most) else { continue };
        let Some(now) = number(app, &bar).await? else { continue };
        moved |= scroll_by(app, &bar, least + (most - least) * part - now).await?;
    }
    Ok(moved)
}

/// The same with the wheel: the scroll bars of GTK 4 say nothing of how far they are.
async fn wheel_into_view(
    app: &App,
    reading: &Reading,
    at: usize,
    sight: Option<&Sight>,
    mut placed: Option<Placed>,
) -> Result<Option<Placed>> {
    for _ in 0..ROUNDS {
        let Some(now) = placed.as_ref().filter(|now| now.seen != Some(now.rect)) else { break };
        let Some((pane, (dx, dy))) = pane_away(app, reading, at, now.rect, now.offset).await? else { break };
        let before = now.rect;
        match scroll::scroll(app, reading, Some(pane), dx, dy).await {
            Ok(_) => {}
            Err(e) if e.code == ErrorCode::BackendLost => return Err(e),
            // A pane that the wheel does not reach is one that cannot be scrolled, which is what is said then.
            Err(_) => break,
        }
        let until = Instant::now() + SCROLLED;
        loop {
            placed = place::placed(app, reading, at, sight).await?;
            if placed.as_ref().is_none_or(|now| now.rect != before) {
                break;
            }
            if Instant::now() >= until {
                return Ok(placed);
            }
            sleep(FRAME).await;
        }
    }
    Ok(placed)
}

/// The innermost scrolling container that does not show the whole of a place, and how far away that is.
async fn pane_away(
    app: &App,
    reading: &Reading,
    at: usize,
    rect: Rect,
    offset: (f64, f64),
) -> Result<Option<(Handle, (f64, f64))>> {
    let Some(last) = &reading.last else { return Ok(None) };
    let objects = &last.picture.objects;
    let panes = panes(&last.picture, at).into_iter();
    let panes: Vec<String> = panes.map(|i| objects[i].path.clone()).collect();
    let views = ask::said(app, &panes).await?;
    let away = |view: Rect| (rect.center().0 - view.center().0, rect.center().1 - view.center().1);
    let beyond = |(dx, dy): (f64, f64), view: Rect| {
        let over = |away: f64, size: f64, room: f64| if away.abs() * 2.0 + size > room { away } else { 0.0 };
        (over(dx, rect.width, view.width), over(dy, rect.height, view.height))
    };
    let mut found = panes.iter().zip(views).filter_map(|(path, view)| {
        let view = shifted(view?, offset);
        (common(view, rect) != Some(rect)).then(|| (path, beyond(away(view), view)))
    });
    let found = found.next().map(|(path, by)| (path.clone(), by));
    Ok(found.map(|(path, by)| (app.ids.handle(&path), by)))
}

/// Moves the scroll bars around an element so that it comes to the middle; false when none moves.
async fn nudge(app: &App, reading: &Reading, at: usize, rect: Rect, offset: (f64, f64)) -> Result<bool> {
    let Some(last) = &reading.last else { return Ok(false) };
    let objects = &last.picture.objects;
    let panes = panes(&last.picture, at).into_iter();
    let bars = |pane: usize| -> Vec<String> {
        let children = objects[pane].children.iter().map(|&c| &objects[c]);
        let bars = children.filter(|o| o.role == n::SCROLL_BAR && o.has(Interfaces::VALUE));
        bars.map(|o| o.path.clone()).collect()
    };
    let panes: Vec<(String, Vec<String>)> =
        panes.map(|pane| (objects[pane].path.clone(), bars(pane))).collect();
    for (pane, bars) in panes {
        let mut paths = vec![pane];
        paths.extend(bars.iter().cloned());
        let said = ask::said(app, &paths).await?;
        let Some(Some(view)) = said.first().copied() else { continue };
        let view = shifted(view, offset);
        if common(view, rect) == Some(rect) {
            continue;
        }
        let away = (rect.center().0 - view.center().0, rect.center().1 - view.center().1);
        let mut moved = false;
        for (bar, at) in bars.iter().zip(&said[1..]) {
            let Some(at) = at else { continue };
            let by = if at.height > at.width { away.1 } else { away.0 };
            moved |= scroll_by(app, bar, by).await?;
        }
        if moved {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Moves a scroll bar by so many pixels of its content; false when it stays where it was.
pub(crate) async fn scroll_by(app: &App, bar: &str, by: f64) -> Result<bool> {
    if by.abs() < 1.0 {
        return Ok(false);
    }
    let Some(before) = number(app, bar).await? else { return Ok(false) };
    let args = Args::new().text(VALUE).text("CurrentValue").variant_double(before + by);
    match app.link.call(bar, PROPERTIES, "Set", args).await {
        Ok(_) | Err(Fault::Vanished | Fault::Unknown | Fault::Refused(_) | Fault::Corrupt(_)) => {}
        Err(fault) => return Err(life::failed(app, fault).await),
    }
    Ok(number(app, bar).await?.is_some_and(|after| (after - before).abs() > f64::EPSILON))
}

async fn number(app: &App, path: &str) -> Result<Option<f64>> {
    end_of_bar(app, path, "CurrentValue").await
}

/// A number of a scroll bar.
async fn end_of_bar(app: &App, path: &str, which: &str) -> Result<Option<f64>> {
    let asked = [calls::property(path, VALUE, which)];
    match app.link.calls(&asked).await.pop() {
        Some(Ok(answer)) => Ok(answer.body().variant_number().ok().flatten()),
        Some(Err(fault @ (Fault::Closed(_) | Fault::Silent(_)))) => Err(life::failed(app, fault).await),
        _ => Ok(None),
    }
}
