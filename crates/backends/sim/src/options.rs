//! The options of an app, typed after `sim:`.

use std::path::PathBuf;
use stickpin_device::{Error, paths};
use stickpin_tree::IdentityGrade;

/// The default number of renderings before the id of a removed node is reused: high enough that
/// earlier captures are usually forgotten by then.
const DEFAULT_REUSE_AFTER: u64 = 16;

words! {
    /// The clock of an app.
    ClockKind {
        /// Runs in real time.
        Real = "real",
        /// Stands still, and jumps ahead while a command waits for the app.
        Virtual = "virtual",
    }
}

words! {
    /// A fault that occurs once, at the first opportunity.
    Fault {
        /// The device never responds to the action.
        Hang = "hang",
        /// The app dies when it is acted on.
        Lost = "lost",
        /// The device panics when it acts, as a bug in a backend would.
        Panic = "panic",
        /// The target is removed after it is located.
        Vanish = "vanish-before-act",
        /// Everything moves down after the target is located.
        Move = "move-before-act",
        /// The target's text changes after the target is located.
        Relabel = "relabel-before-act",
        /// The target's text changes after the target is aimed at.
        RelabelAfterAim = "relabel-after-aim",
        /// The content around the target changes after the target is aimed at.
        RewriteAfterAim = "rewrite-after-aim",
        /// An overlay covers everything after the target is located.
        Cover = "cover-before-act",
        /// The device cannot determine what is at the point of an aim.
        HitTest = "no-hit-test",
        /// A confirm dialog opens on the press.
        Dialog = "dialog-on-press",
        /// A reload of the document is in progress when the target is located.
        Navigate = "navigate-in-flight",
        /// The arrival of the pointer moves the target down.
        Insert = "insert-on-hover",
    }
}

/// The parsed form of `sim:shop/cart?grade=while-alive&clock=virtual&q=lamp`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Options {
    /// The name of the app, such as `shop`, or the path of a file.
    pub(crate) app: String,
    /// The path, such as `/cart?q=lamp`; `None` for the app's own start page.
    pub(crate) path: Option<String>,
    pub(crate) grade: IdentityGrade,
    /// On a `while-alive` device, the number of renderings after which the id of a removed node is
    /// reused.
    pub(crate) reuse_after: u64,
    pub(crate) clock: ClockKind,
    pub(crate) log: Option<PathBuf>,
    pub(crate) fault: Option<Fault>,
    /// Whether `grade`, `rest`, `clock`, `log` or `fault` was given. None of these options can
    /// change while the app is running.
    pub(crate) is_explicit: bool,
}

impl Options {
    /// Checks the files that the options name against the folders that the caller may reach.
    ///
    /// # Errors
    /// Returns `POLICY_DENIED` for a file outside these folders.
    pub(crate) fn check_reachable(&self, roots: Option<&[PathBuf]>) -> Result<(), Error> {
        let Some(roots) = roots else { return Ok(()) };
        let app = crate::library::embedded_app(&self.app).is_none().then(|| PathBuf::from(&self.app));
        let mut files =
            app.iter().filter(|path| path.extension().is_some_and(|e| e == "toml")).chain(&self.log);
        match files.find(|path| !paths::is_within(path, roots)) {
            Some(path) => Err(paths::outside_roots_error(path, roots)),
            None => Ok(()),
        }
    }

    /// Parses the argument of `open`.
    ///
    /// # Errors
    /// Returns a sentence that names the part that cannot be parsed.
    pub(crate) fn parse(what: &str) -> Result<Self, String> {
        let rest = what.strip_prefix("sim:").unwrap_or(what);
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (app, path) = match path.find(".toml") {
            Some(at) => path.split_at(at + ".toml".len()),
            None => path.split_at(path.find('/').unwrap_or(path.len())),
        };
        if app.is_empty() {
            return Err(format!("`{what}` is not the name of an app"));
        }
        let mut options = Self {
            app: app.into(),
            path: None,
            grade: IdentityGrade::NeverReused,
            reuse_after: DEFAULT_REUSE_AFTER,
            clock: ClockKind::Real,
            log: None,
            fault: None,
            is_explicit: false,
        };
        let mut own = Vec::new();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "grade" => options.grade = parse_grade(value)?,
                "clock" => {
                    let unknown = || format!("`clock={value}`: the clock must be `real` or `virtual`");
                    options.clock = ClockKind::from_word(value).ok_or_else(unknown)?;
                }
                "rest" => {
                    options.reuse_after = value.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
                        format!("`rest={value}`: expected a number of renderings, 1 or more")
                    })?;
                }
                "log" => options.log = Some(value.into()),
                "fault" => {
                    let words = || Fault::ALL.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
                    let unknown = || format!("`fault={value}` is not one of {}", words());
                    options.fault = Some(Fault::from_word(value).ok_or_else(unknown)?);
                }
                _ => own.push(pair),
            }
            options.is_explicit |= matches!(key, "grade" | "rest" | "clock" | "log" | "fault");
        }
        if !path.is_empty() || !own.is_empty() {
            let path = if path.is_empty() { "/" } else { path };
            let query = if own.is_empty() { String::new() } else { format!("?{}", own.join("&")) };
            options.path = Some(format!("{path}{query}"));
        }
        Ok(options)
    }
}

/// The names of the identity grades in `open`.
const GRADES: [(&str, IdentityGrade); 3] = [
    ("never-reused", IdentityGrade::NeverReused),
    ("while-alive", IdentityGrade::WhileAlive),
    ("none", IdentityGrade::None),
];

fn parse_grade(word: &str) -> Result<IdentityGrade, String> {
    let known = GRADES.iter().find(|(name, _)| *name == word).map(|(_, grade)| *grade);
    known.ok_or_else(|| format!("`grade={word}`: the grade must be `never-reused`, `while-alive` or `none`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_removed_from_the_query_of_the_address() {
        let o =
            Options::parse("sim:shop/cart?grade=none&q=lamp&clock=virtual&fault=hang&log=/tmp/x").unwrap();
        assert_eq!((o.app.as_str(), o.path.as_deref()), ("shop", Some("/cart?q=lamp")));
        assert_eq!((o.grade, o.clock, o.fault), (IdentityGrade::None, ClockKind::Virtual, Some(Fault::Hang)));
        assert_eq!(o.log, Some("/tmp/x".into()));
        assert_eq!(Options::parse("sim:shop?grade=none").unwrap().path, None);
    }

    #[test]
    fn a_file_is_named_by_its_path() {
        let o = Options::parse("sim:/home/me/apps/todo.toml/list?clock=real").unwrap();
        assert_eq!((o.app.as_str(), o.path.as_deref()), ("/home/me/apps/todo.toml", Some("/list")));
    }

    #[test]
    fn words_that_are_none_are_refused() {
        for what in ["sim:", "sim:shop?grade=x", "sim:shop?clock=x", "sim:shop?fault=x"] {
            assert!(Options::parse(what).is_err(), "{what}");
        }
    }
}
