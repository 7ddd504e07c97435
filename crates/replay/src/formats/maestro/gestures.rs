//! Points, directions and movements along them: scrolling and swiping.

use super::super::agent_device::{VIEWPORT, scroll_of_swipe};
use super::super::yaml::Yaml;
use super::commands::{Command, Nodes, option, word};
use super::{FlowHeader, selector};
use crate::script::{ScriptError, Template};

/// Returns a point in pixels for `100,200`. A percentage is refused, because it could hit another
/// element on another screen.
pub(super) fn point(yaml: &Yaml) -> Result<Template, ScriptError> {
    let (x, y) = coordinates(yaml)?;
    match (x, y) {
        (Length::Pixels(x), Length::Pixels(y)) => Ok(Template::text(format!("{x},{y}"))),
        _ => Err(yaml.at.error_at(
            "a `point` given as a percentage is not supported, because it depends on the screen size",
            "use `text`, `id` or `css`, or a point in pixels: `point: \"100,200\"`",
        )),
    }
}

/// A length on the screen.
#[derive(Debug, Clone, Copy)]
enum Length {
    Pixels(u32),
    /// A value from 0 to 100.
    Percent(u32),
}

impl Length {
    /// Converts to pixels. A percentage refers to `extent`, which is in pixels.
    fn to_pixels(self, extent: f64) -> f64 {
        match self {
            Self::Pixels(n) => f64::from(n),
            Self::Percent(n) => f64::from(n) / 100.0 * extent,
        }
    }
}

/// Parses `50%, 80%` or `100, 200`.
fn coordinates(yaml: &Yaml) -> Result<(Length, Length), ScriptError> {
    let length = |text: &str| match text.trim().strip_suffix('%') {
        Some(part) => part.parse().ok().filter(|n| *n <= 100).map(Length::Percent),
        None => text.trim().parse().ok().map(Length::Pixels),
    };
    let lengths = yaml.value.as_text().split_once(',').and_then(|(x, y)| Some((length(x)?, length(y)?)));
    lengths.ok_or_else(|| {
        yaml.at.error_at("a point needs two lengths", "for example, in pixels: `\"100, 200\"`")
    })
}

pub(super) fn scroll_until_visible(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let Some(element) = command.fields.take("element") else {
        return Err(command.at.error_at("`scrollUntilVisible` needs `element`", ""));
    };
    let element = selector::from_yaml("element", element)?;
    let (direction, _) = command.fields.take("direction").map_or(Ok(DIRECTIONS[0]), direction)?;
    let timeout = command.fields.text("timeout")?;
    // Neither value changes where the scrolling ends: the element is brought fully into view.
    command.fields.ignore(&["speed", "visibilityPercentage"]);
    let hint =
        "put the commands that need the element into `runFlow: {when: {visible: ...}, commands: [...]}`";
    command.fields.expect_default("optional", false, hint)?;
    let mut words = vec![word("scroll"), word(direction), option("until", &element)];
    words.extend(timeout.map(|ms| option("timeout", &ms)));
    Ok(vec![command.line(words)])
}

/// Pairs of opposites: a finger that moves up scrolls the page down.
const DIRECTIONS: [(&str, &str); 4] = [("down", "up"), ("up", "down"), ("left", "right"), ("right", "left")];

fn direction(yaml: &Yaml) -> Result<(&'static str, &'static str), ScriptError> {
    let found = DIRECTIONS.into_iter().find(|(name, _)| yaml.value.as_text().eq_ignore_ascii_case(name));
    found.ok_or_else(|| yaml.at.error_at("`direction` must be `UP`, `DOWN`, `LEFT` or `RIGHT`", ""))
}

pub(super) fn swipe(_: &FlowHeader, command: &mut Command<'_>, _: usize) -> Nodes {
    let fields = &mut command.fields;
    // The duration does not change where the swipe ends.
    fields.ignore(&["duration", "waitToSettleTimeoutMs"]);
    let points = match (fields.take("start"), fields.take("end")) {
        (Some(start), Some(end)) => Some((start, end)),
        (None, None) => None,
        (Some(lone), None) | (None, Some(lone)) => {
            return Err(lone.at.error_at(
                "`swipe` goes from `start` to `end`; one of them is missing",
                "for example: `start: \"50%, 80%\"` and `end: \"50%, 20%\"`",
            ));
        }
    };
    if let Some((start, end)) = points {
        let (scroll_direction, distance) = scroll_between(coordinates(start)?, coordinates(end)?)
            .ok_or_else(|| {
                let hint = "for example, vertically: `start: \"50%, 80%\"` and `end: \"50%, 20%\"`";
                end.at.error_at("a diagonal `swipe` is not supported", hint)
            })?;
        return Ok(vec![command.line(vec![
            word("scroll"),
            word(scroll_direction),
            Template::text(distance.to_string()),
        ])]);
    }
    let Some(finger_direction) = fields.take("direction") else {
        return Err(command
            .at
            .error_at("`swipe` needs a `direction`, or `start` and `end`", "for example: `direction: UP`"));
    };
    let (_, scroll_direction) = direction(finger_direction)?;
    let from = fields.take("from").map(|yaml| selector::from_yaml("from", yaml)).transpose()?;
    let mut words = vec![word("scroll"), word(scroll_direction)];
    words.extend(from.map(|target| option("in", &target)));
    Ok(vec![command.line(words)])
}

/// Returns the direction and distance in pixels that the page scrolls when a finger moves between
/// two points.
fn scroll_between(start: (Length, Length), end: (Length, Length)) -> Option<(&'static str, u32)> {
    let (width, height) = VIEWPORT;
    let x = end.0.to_pixels(width) - start.0.to_pixels(width);
    let y = end.1.to_pixels(height) - start.1.to_pixels(height);
    scroll_of_swipe(x, y)
}
