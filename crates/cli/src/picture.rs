//! `--show`: the picture of a response in the terminal, through a protocol that the terminal is
//! known to support. Terminals are not queried, because one that does not answer would make the
//! command wait, and its late answer would appear as typed text.

use crate::env::Env;
use crate::output::Streams;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use icy_sixel::SixelImage;
use std::fmt::Write as _;
use std::path::Path;
use stickpin_cmdline::Options;
use stickpin_kernel::{Error, Image, Response, Result, io_error};

/// A protocol for pictures in a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    /// The kitty graphics protocol: PNG in base64, in chunks.
    Kitty,
    /// The inline images of iTerm2: a file in base64.
    Iterm2,
    /// Sixel: pixels of at most 256 colors.
    Sixel,
}

/// The condition on the value of an environment variable for a rule to apply.
#[derive(Debug, Clone, Copy)]
enum Value {
    Any,
    Is(&'static str),
    StartsWith(&'static str),
}

impl Value {
    fn matches(self, value: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Is(expected) => value == expected,
            Self::StartsWith(prefix) => value.starts_with(prefix),
        }
    }
}

/// What an environment variable reveals about the terminal.
struct Rule {
    variable: &'static str,
    value: Value,
    /// The protocol, or why the terminal shows no pictures.
    protocol: Result<Protocol, &'static str>,
}

const fn rule(variable: &'static str, value: Value, protocol: Protocol) -> Rule {
    Rule { variable, value, protocol: Ok(protocol) }
}

const fn no_pictures(variable: &'static str, value: Value, why: &'static str) -> Rule {
    Rule { variable, value, protocol: Err(why) }
}

const MULTIPLEXER: &str = "a terminal multiplexer does not pass pictures on";

/// The rules; the first one that applies decides. Programs inherit most variables from the terminal
/// outside a multiplexer, so the multiplexers come first.
const RULES: &[Rule] = &[
    no_pictures("TMUX", Value::Any, MULTIPLEXER),
    no_pictures("STY", Value::Any, MULTIPLEXER),
    no_pictures("ZELLIJ", Value::Any, MULTIPLEXER),
    no_pictures("TERM", Value::StartsWith("tmux"), MULTIPLEXER),
    no_pictures("TERM", Value::StartsWith("screen"), MULTIPLEXER),
    no_pictures("TERM", Value::Is("dumb"), "TERM=dumb means that the terminal shows only text"),
    // A terminal sets TERM for itself, and ssh passes it on.
    rule("TERM", Value::Is("xterm-kitty"), Protocol::Kitty),
    rule("TERM", Value::Is("xterm-ghostty"), Protocol::Kitty),
    rule("TERM", Value::StartsWith("foot"), Protocol::Sixel),
    rule("TERM", Value::StartsWith("mlterm"), Protocol::Sixel),
    rule("TERM", Value::StartsWith("contour"), Protocol::Sixel),
    rule("TERM", Value::StartsWith("yaft"), Protocol::Sixel),
    rule("TERM_PROGRAM", Value::Is("ghostty"), Protocol::Kitty),
    rule("TERM_PROGRAM", Value::Is("iTerm.app"), Protocol::Iterm2),
    rule("TERM_PROGRAM", Value::Is("WezTerm"), Protocol::Iterm2),
    rule("TERM_PROGRAM", Value::Is("mintty"), Protocol::Iterm2),
    rule("LC_TERMINAL", Value::Is("iTerm2"), Protocol::Iterm2),
    rule("KITTY_WINDOW_ID", Value::Any, Protocol::Kitty),
    rule("KONSOLE_VERSION", Value::Any, Protocol::Kitty),
    rule("WT_SESSION", Value::Any, Protocol::Sixel),
];

/// Returns the names of the environment variables that reveal the terminal.
pub fn terminal_variables() -> impl Iterator<Item = &'static str> {
    let names = RULES.iter().map(|rule| rule.variable);
    names.enumerate().filter(|(at, name)| !RULES[..*at].iter().any(|r| r.variable == *name)).map(|(_, n)| n)
}

/// Returns the terminal's protocol, or why the terminal shows no pictures.
fn protocol(env: &Env) -> Result<Protocol, &'static str> {
    let applies = |rule: &&Rule| {
        env.terminal_variables.get(rule.variable).is_some_and(|value| rule.value.matches(value))
    };
    let unknown = Err("the terminal is not known to support kitty, iTerm2 or sixel pictures");
    RULES.iter().find(applies).map_or(unknown, |rule| rule.protocol)
}

/// Shows the picture of a response below its text. Writes a note to stderr if that is not possible;
/// the command has succeeded nevertheless.
pub(crate) fn show(response: &Response, options: &Options, env: &Env, streams: &mut Streams<'_>) {
    let Some(path) = &response.image else { return };
    let protocol = match (options.json, env.answer_on_terminal) {
        (true, _) => Err("the output is JSON"),
        (false, false) => Err("the output does not go to a terminal"),
        (false, true) => protocol(env),
    };
    let encode = |protocol| encode_file(path, protocol, env).map_err(|error| error.message);
    match protocol.map_err(str::to_owned).and_then(encode) {
        Ok(escape) => streams.print(&escape),
        Err(why) => streams.print_error(&format!("the picture is not shown: {why}")),
    }
}

/// The width of a character cell in pixels, for a terminal that does not report it.
const CELL_WIDTH: u32 = 8;

/// The width of the terminal, to which pictures are fitted.
#[derive(Debug, Clone, Copy)]
struct Room {
    columns: u32,
    /// The width in pixels.
    pixels: u32,
}

impl Room {
    fn of(env: &Env) -> Self {
        let columns = u32::from(env.columns.unwrap_or(80)).max(1);
        Self { columns, pixels: columns * env.cell_width.map_or(CELL_WIDTH, u32::from) }
    }
}

fn encode_file(path: &Path, protocol: Protocol, env: &Env) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| io_error("read", path, &e))?;
    encode(&bytes, protocol, Room::of(env))
}

/// Returns the escape sequence that shows a picture, scaled down if it is wider than the terminal.
fn encode(bytes: &[u8], protocol: Protocol, room: Room) -> Result<String> {
    match protocol {
        Protocol::Kitty => kitty(bytes, room),
        Protocol::Iterm2 => Ok(iterm2(bytes, room)),
        Protocol::Sixel => sixel(bytes, room),
    }
}

/// The maximum length of the base64 data in one kitty sequence, in bytes.
const KITTY_CHUNK: usize = 4096;

fn kitty(bytes: &[u8], room: Room) -> Result<String> {
    let image = Image::from_bytes(bytes)?;
    let is_png = bytes.starts_with(b"\x89PNG");
    let data = if is_png { STANDARD.encode(bytes) } else { STANDARD.encode(image.to_png()?) };
    // The terminal must not respond (`q=2`): its response would appear as typed text.
    let mut control = "a=T,f=100,q=2".to_owned();
    if image.dimensions().0 > room.pixels {
        control += &format!(",c={}", room.columns);
    }
    let mut out = String::with_capacity(data.len() + data.len() / 100 + 64);
    let mut rest = &*data;
    loop {
        // Base64 is ASCII, so any position is a character boundary.
        let (chunk, after) = rest.split_at(rest.len().min(KITTY_CHUNK));
        let more = u8::from(!after.is_empty());
        // Writing to a string cannot fail.
        let _ = write!(out, "\x1b_G{control},m={more};{chunk}\x1b\\");
        if after.is_empty() {
            return Ok(out);
        }
        (rest, control) = (after, "q=2".to_owned());
    }
}

fn iterm2(bytes: &[u8], room: Room) -> String {
    // The terminal also shows formats that are not decoded here, at a width of its own choice.
    let too_wide = Image::from_bytes(bytes).is_ok_and(|image| image.dimensions().0 > room.pixels);
    let width = if too_wide { room.columns.to_string() } else { "auto".to_owned() };
    let (size, data) = (bytes.len(), STANDARD.encode(bytes));
    format!("\x1b]1337;File=inline=1;size={size};width={width};preserveAspectRatio=1:{data}\x07")
}

fn sixel(bytes: &[u8], room: Room) -> Result<String> {
    let image = Image::from_bytes(bytes)?.fit_width(room.pixels);
    let (width, height) = image.dimensions();
    let rgba = image.rgb().chunks_exact(3).flat_map(|p| [p[0], p[1], p[2], 255]).collect();
    SixelImage::from_rgba(rgba, width as usize, height as usize)
        .encode()
        .map_err(|e| Error::internal(format!("cannot convert the picture to sixel: {e}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A terminal with these variables, 100 columns of 10 pixels.
    fn env(variables: &[(&str, &str)]) -> Env {
        Env {
            terminal_variables: variables.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect(),
            answer_on_terminal: true,
            columns: Some(100),
            cell_width: Some(10),
            ..Env::default()
        }
    }

    /// A PNG of the given width whose pixels do not compress well.
    fn png(width: u32) -> Vec<u8> {
        let mut seed = 1u32;
        let mut noise = || {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 24) as u8
        };
        let pixels: Vec<u8> = (0..3 * width * 8).map(|_| noise()).collect();
        let mut out = Vec::new();
        let mut encoder = png::Encoder::new(&mut out, width, 8);
        encoder.set_color(png::ColorType::Rgb);
        encoder.write_header().unwrap().write_image_data(&pixels).unwrap();
        out
    }

    const ROOM: Room = Room { columns: 100, pixels: 1000 };

    #[test]
    fn terminal_is_recognized_by_its_variables() {
        for (variables, expected) in [
            (&[("TERM", "xterm-kitty"), ("KITTY_WINDOW_ID", "1")][..], Some(Protocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "ghostty")], Some(Protocol::Kitty)),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], Some(Protocol::Iterm2)),
            (&[("TERM", "xterm-256color"), ("LC_TERMINAL", "iTerm2")], Some(Protocol::Iterm2)),
            // Started from kitty, and not kitty itself.
            (&[("TERM", "foot"), ("KITTY_WINDOW_ID", "1")], Some(Protocol::Sixel)),
            (&[("TERM", "tmux-256color"), ("TMUX", "/tmp/1"), ("KITTY_WINDOW_ID", "1")], None),
            (&[("TERM", "screen"), ("TERM_PROGRAM", "iTerm.app")], None),
            (&[("TERM", "dumb")], None),
            (&[("TERM", "xterm-256color")], None),
            (&[], None),
        ] {
            assert_eq!(protocol(&env(variables)).ok(), expected, "{variables:?}");
        }
        let names: Vec<_> = terminal_variables().collect();
        assert_eq!(names.iter().filter(|name| **name == "TERM").count(), 1, "{names:?}");
    }

    #[test]
    fn kitty_picture_arrives_in_chunks() {
        let png = png(400);
        let shown = kitty(&png, ROOM).unwrap();
        let chunks: Vec<_> = shown.split("\x1b\\").filter(|chunk| !chunk.is_empty()).collect();
        assert!(chunks.len() > 2, "{}", chunks.len());
        let mut data = String::new();
        for (at, chunk) in chunks.iter().enumerate() {
            let (control, payload) = chunk.strip_prefix("\x1b_G").unwrap().split_once(';').unwrap();
            assert!(payload.len() <= KITTY_CHUNK, "{}", payload.len());
            let more = u8::from(at + 1 < chunks.len());
            let expected = match at {
                0 => format!("a=T,f=100,q=2,m={more}"),
                _ => format!("q=2,m={more}"),
            };
            assert_eq!(control, expected);
            data += payload;
        }
        assert_eq!(STANDARD.decode(data).unwrap(), png);
    }

    #[test]
    fn wide_picture_is_fitted_to_the_terminal() {
        let wide = png(1200);
        assert!(kitty(&wide, ROOM).unwrap().starts_with("\x1b_Ga=T,f=100,q=2,c=100,m=1;"));
        assert!(iterm2(&wide, ROOM).contains(";width=100;preserveAspectRatio=1:"));
        assert!(iterm2(&png(400), ROOM).contains(";width=auto;"));
        let shown = sixel(&wide, ROOM).unwrap();
        assert!(shown.starts_with("\x1bP") && shown.ends_with("\x1b\\"), "{}", shown.len());
        let decoded = SixelImage::decode(shown.as_bytes()).unwrap();
        // Sixel rows come in bands of six.
        assert_eq!((decoded.width, decoded.height), (1000, 12));
    }

    #[test]
    fn picture_that_cannot_be_shown_is_a_note() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("p1.png");
        std::fs::write(&file, png(20)).unwrap();
        let jpeg = dir.path().join("p1.jpeg");
        std::fs::write(&jpeg, b"\xff\xd8\xff").unwrap();
        let kitty = env(&[("TERM", "xterm-kitty")]);
        let json = Options { json: true, ..Options::default() };
        let shown = |path: &Path, options: &Options, env: &Env| {
            let (mut out, mut err) = (Vec::new(), Vec::new());
            let response = Response { ok: true, image: Some(path.to_owned()), ..Response::default() };
            show(&response, options, env, &mut Streams::new(&mut out, &mut err));
            (String::from_utf8(out).unwrap(), String::from_utf8(err).unwrap())
        };
        let (out, err) = shown(&file, &Options::default(), &kitty);
        assert!(out.starts_with("\x1b_G") && out.ends_with("\x1b\\\n") && err.is_empty(), "{out:?} {err}");
        for (path, options, env, why) in [
            (&file, &json, kitty.clone(), "the output is JSON"),
            (&file, &Options::default(), Env { answer_on_terminal: false, ..kitty.clone() }, "to a terminal"),
            (&file, &Options::default(), env(&[("TERM", "xterm")]), "not known to support"),
            (&file, &Options::default(), env(&[("TMUX", "1")]), "multiplexer"),
            (&jpeg, &Options::default(), kitty.clone(), "cannot be decoded as PNG or WebP"),
            (&dir.path().join("gone.png"), &Options::default(), kitty.clone(), "gone.png"),
        ] {
            let (out, err) = shown(path, options, &env);
            assert!(out.is_empty() && err.starts_with("the picture is not shown: "), "{out:?} {err}");
            assert!(err.contains(why) && err.lines().count() == 1, "{err}");
        }
    }
}
