//! Progress of client commands on stderr: bars on a terminal; elsewhere, as in CI, the lines that
//! stay and, from time to time, the current step.

use crate::env::Env;
use crate::output::Streams;
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use stickpin_client::Progress;

/// The maximum width of the bar in characters.
const MAX_BAR_WIDTH: u16 = 24;

/// The time without a line after which a log shows the current step, so that a fast command adds no
/// steps to what an agent reads.
const LOG_INTERVAL: Duration = Duration::from_secs(2);

/// The progress of a command on stderr.
pub(crate) enum ProgressView {
    /// On a terminal that can move its cursor: bars, and the terminal that they are drawn on.
    Bars { bars: Bars, terminal: BufferedTerminal },
    /// Lines, for a log or for a terminal that cannot move its cursor.
    Log(LogLines),
}

impl ProgressView {
    /// Creates the view: bars if stderr is a terminal that can move its cursor, otherwise lines.
    pub(crate) fn new(env: &Env) -> Self {
        if !env.terminal || env.dumb_terminal {
            return Self::Log(LogLines { last: Instant::now() });
        }
        let terminal = BufferedTerminal { columns: env.progress_columns, out: Arc::default() };
        Self::Bars { bars: Bars::new(Box::new(terminal.clone())), terminal }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, progress: &Progress, streams: &mut Streams<'_>) {
        match self {
            Self::Log(lines) => {
                if let Some(line) = lines.line(progress, Instant::now()) {
                    streams.print_error(&line);
                }
            }
            Self::Bars { bars, terminal } => {
                bars.show(progress, terminal.width());
                streams.print_to_stderr(&terminal.take());
            }
        }
    }

    /// Removes the bars. The lines that stay are kept.
    pub(crate) fn finish(self, streams: &mut Streams<'_>) {
        if let Self::Bars { bars, terminal } = self {
            bars.clear();
            streams.print_to_stderr(&terminal.take());
        }
    }
}

/// Lines of a log: those that stay, and the current step after a time without a line.
pub(crate) struct LogLines {
    /// When the last line was printed.
    last: Instant,
}

impl LogLines {
    /// Returns the line for an event, if it is due.
    fn line(&mut self, progress: &Progress, now: Instant) -> Option<String> {
        let line = match &progress.part {
            _ if progress.lasting => progress.line.clone(),
            _ if now.duration_since(self.last) < LOG_INTERVAL => return None,
            Some(part) => format!("{}/{} {}", part.done, part.total, printable(&progress.line)),
            None => format!("{}/{} {}", progress.done, progress.total, printable(&progress.line)),
        };
        self.last = now;
        Some(line)
    }
}

/// A bar for the whole command, below one line for each of its running parts.
pub(crate) struct Bars {
    all: MultiProgress,
    whole: Option<ProgressBar>,
    parts: BTreeMap<String, ProgressBar>,
}

impl Bars {
    fn new(terminal: Box<dyn TermLike>) -> Self {
        let all = MultiProgress::with_draw_target(ProgressDrawTarget::term_like(terminal));
        Self { all, whole: None, parts: BTreeMap::new() }
    }

    fn show(&mut self, progress: &Progress, columns: u16) {
        if let Some(part) = &progress.part {
            if progress.lasting {
                if let Some(bar) = self.parts.remove(&part.name) {
                    self.all.remove(&bar);
                }
            } else {
                let whole = whole_bar(&mut self.whole, &self.all);
                let bar = self.parts.entry(part.name.clone()).or_insert_with(|| {
                    self.all.insert_before(whole, ProgressBar::no_length().with_style(style(PART)))
                });
                bar.set_length(part.total as u64);
                bar.set_position(part.done as u64);
                bar.set_message(printable(&progress.line));
            }
        }
        if progress.lasting {
            // The bars are drawn on a buffer, which accepts every line.
            let _ = self.all.println(&progress.line);
        }
        if progress.total == 0 {
            return;
        }
        let bar = whole_bar(&mut self.whole, &self.all);
        let width = (columns / 4).clamp(1, MAX_BAR_WIDTH);
        bar.set_style(style(&format!("{{bar:{width}}} {PART}")).progress_chars("█░"));
        bar.set_length(progress.total as u64);
        bar.set_position(progress.done as u64);
        let is_own = progress.part.is_none() && !progress.lasting;
        bar.set_message(if is_own { printable(&progress.line) } else { String::new() });
    }

    fn clear(&self) {
        // The bars are drawn on a buffer, which accepts every line.
        let _ = self.all.clear();
    }
}

/// Returns the bar of the whole command, which is added at the bottom when it is first needed.
fn whole_bar<'a>(whole: &'a mut Option<ProgressBar>, all: &MultiProgress) -> &'a ProgressBar {
    whole.get_or_insert_with(|| all.add(ProgressBar::no_length().with_style(style(PART))))
}

/// The template for the counts and the last event. A message that does not fit on the line is
/// truncated.
const PART: &str = "{pos}/{len} {wide_msg}";

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Returns a line without characters that would move the cursor or reorder the text.
fn printable(line: &str) -> String {
    line.chars().map(|c| if stickpin_tree::is_unsafe(c) { '\u{fffd}' } else { c }).collect()
}

/// A terminal whose output is collected for [`Streams`].
#[derive(Debug, Clone)]
pub(crate) struct BufferedTerminal {
    columns: Option<fn() -> u16>,
    out: Arc<Mutex<String>>,
}

impl BufferedTerminal {
    /// Returns what was written since the last call.
    fn take(&self) -> String {
        std::mem::take(&mut self.out.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        out.write_fmt(text).map_err(io::Error::other)
    }

    fn move_cursor(&self, n: usize, direction: char) -> io::Result<()> {
        if n == 0 { Ok(()) } else { self.push(format_args!("\x1b[{n}{direction}")) }
    }
}

impl TermLike for BufferedTerminal {
    fn width(&self) -> u16 {
        self.columns.map_or(80, |columns| columns())
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.move_cursor(n, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.push(format_args!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.push(format_args!("{text}"))
    }

    fn clear_line(&self) -> io::Result<()> {
        self.push(format_args!("\r\x1b[2K"))
    }

    fn flush(&self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use indicatif::InMemoryTerm;
    use stickpin_client::ProgressPart;

    fn event(done: usize, total: usize, line: &str) -> Progress {
        Progress { done, total, line: line.to_owned(), lasting: false, part: None }
    }

    fn step(script: &str, done: usize, total: usize) -> Progress {
        let part = ProgressPart { name: script.to_owned(), done, total };
        Progress { part: Some(part), ..event(1, 3, &format!("{script}:{done} press @e{done}")) }
    }

    fn lasting(line: &str) -> Progress {
        Progress { lasting: true, ..event(2, 3, line) }
    }

    /// Shows events on a terminal of this width. Returns its contents after each event, and after
    /// the bars are removed.
    fn contents(columns: u16, events: &[Progress]) -> (Vec<String>, String) {
        let terminal = InMemoryTerm::new(10, columns);
        let mut bars = Bars::new(Box::new(terminal.clone()));
        let each = events.iter().map(|event| {
            bars.show(event, columns);
            terminal.contents()
        });
        let each = each.collect();
        bars.clear();
        (each, terminal.contents())
    }

    #[test]
    fn replay_shows_its_step_beside_the_bar() {
        let (shown, after) =
            contents(60, &[event(1, 4, "shop.ad:2 press @e1"), event(2, 4, "shop.ad:3 back")]);
        assert_eq!(shown, ["███░░░░░░░░░░░░ 1/4 shop.ad:2 press @e1", "███████░░░░░░░░ 2/4 shop.ad:3 back"]);
        assert_eq!(after, "");
    }

    #[test]
    fn suite_shows_each_running_script_and_keeps_finished_ones() {
        let done = Progress {
            part: Some(ProgressPart { name: "a.ad".to_owned(), done: 2, total: 2 }),
            ..lasting("ok a.ad 12 ms")
        };
        let (shown, after) = contents(60, &[step("a.ad", 1, 2), step("b.ad", 1, 5), done]);
        assert_eq!(shown[1], "1/2 a.ad:1 press @e1\n1/5 b.ad:1 press @e1\n█████░░░░░░░░░░ 1/3");
        assert_eq!(shown[2], "ok a.ad 12 ms\n1/5 b.ad:1 press @e1\n██████████░░░░░ 2/3");
        assert_eq!(after, "ok a.ad 12 ms");
    }

    #[test]
    fn twenty_columns_hold_every_line() {
        let events =
            [step("checkout/very-long-name.ad", 3, 40), event(1, 3, "漢字漢字漢字漢字漢字\u{1b}[2J")];
        let (shown, after) = contents(20, &events);
        assert_eq!(shown[0].lines().count(), 2, "{shown:?}");
        assert_eq!(shown[1].lines().count(), 2, "{shown:?}");
        assert!(shown[1].ends_with("1/3 漢字漢字漢"), "{shown:?}");
        assert_eq!(after, "");
    }

    #[test]
    fn log_shows_the_current_step_after_a_time_without_a_line() {
        let begin = Instant::now();
        let mut lines = LogLines { last: begin };
        let mut line =
            |seconds: u64, event: &Progress| lines.line(event, begin + Duration::from_secs(seconds));
        assert_eq!(line(1, &event(1, 40, "shop.ad:2 back")), None);
        assert_eq!(
            line(2, &event(2, 40, "shop.ad:3 \u{1b}[2J")).as_deref(),
            Some("2/40 shop.ad:3 \u{fffd}[2J")
        );
        assert_eq!(line(3, &event(3, 40, "shop.ad:4 back")), None);
        assert_eq!(line(4, &step("a.ad", 7, 9)).as_deref(), Some("7/9 a.ad:7 press @e7"));
        assert_eq!(line(4, &lasting("ok a.ad")).as_deref(), Some("ok a.ad"));
        assert_eq!(line(5, &step("b.ad", 1, 5)), None);
    }

    #[test]
    fn log_of_a_fast_command_has_only_the_lines_that_stay() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = Streams::new(&mut out, &mut err);
        let dumb = Env { terminal: true, dumb_terminal: true, ..Env::default() };
        for env in [Env::default(), dumb] {
            let mut view = ProgressView::new(&env);
            view.show(&event(1, 2, "shop.ad:1 press @e1"), &mut streams);
            view.show(&lasting("ok shop.ad"), &mut streams);
            view.finish(&mut streams);
        }
        assert_eq!(String::from_utf8(err).unwrap(), "ok shop.ad\nok shop.ad\n");
    }

    #[test]
    fn terminal_gets_bars_that_are_removed_at_the_end() {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let mut streams = Streams::new(&mut out, &mut err);
        let env = Env { terminal: true, progress_columns: Some(|| 40), ..Env::default() };
        let mut view = ProgressView::new(&env);
        view.show(&event(1, 2, "shop.ad:1 press @e1"), &mut streams);
        view.finish(&mut streams);
        let err = String::from_utf8(err).unwrap();
        assert!(err.contains("█████░░░░░ 1/2 shop.ad:1 press @e1"), "{err:?}");
        assert!(err.trim_end().ends_with("\u{1b}[2K"), "{err:?}");
        assert!(!err.contains("\u{1b}[3"), "no colors: {err:?}");
        assert!(out.is_empty());
    }
}
