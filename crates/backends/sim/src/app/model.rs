//! A parsed and checked app file.

use super::eval::eval;
use super::expr::{Expr, Script};
use super::state::State;
use super::value::Value;
use super::view::{Parser, ViewLine};
use serde::Deserialize;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

/// An app.
#[derive(Debug)]
pub(crate) struct App {
    /// The word after `sim:`.
    pub(crate) name: String,
    /// The canonical path of the app's file; `None` for a built-in app.
    pub(crate) file: Option<PathBuf>,
    pub(crate) title: String,
    pub(crate) about: String,
    /// The address that `sim:APP` opens.
    pub(crate) start: String,
    /// The variables that live as long as the app, like those of a server.
    pub(crate) state: HashMap<String, Value>,
    /// The variables that every new document resets.
    pub(crate) page: HashMap<String, Value>,
    pub(crate) lists: BTreeMap<String, Vec<FieldValues>>,
    pub(crate) actions: HashMap<String, Script>,
    pub(crate) screens: Vec<Screen>,
}

/// The content that an app shows at an address.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) name: String,
    /// A pattern such as `/orders/:order`.
    pub(crate) url: String,
    pub(crate) title: Expr,
    pub(crate) view: Vec<ViewLine>,
    /// Runs when the screen is shown.
    pub(crate) enter: Script,
    /// The time that the screen's document takes to load, in milliseconds.
    pub(crate) delay: u64,
    /// The number of initial loads that fail.
    pub(crate) flaky: u64,
    /// The condition under which leaving the screen must be confirmed; `None` if it never must be.
    pub(crate) guard: Option<Expr>,
    /// The actions of the screen, which take precedence over the app's actions of the same name.
    pub(crate) actions: HashMap<String, Script>,
}

/// The fields of a record, by name.
pub(crate) type FieldValues = Vec<(Arc<str>, Value)>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawApp {
    title: String,
    #[serde(default)]
    about: String,
    #[serde(default = "root")]
    start: String,
    #[serde(default)]
    state: toml::Table,
    #[serde(default)]
    page: toml::Table,
    #[serde(default)]
    lists: BTreeMap<String, Vec<toml::Table>>,
    #[serde(default)]
    generate: BTreeMap<String, Generate>,
    #[serde(default, rename = "do")]
    actions: BTreeMap<String, String>,
    #[serde(default)]
    parts: HashMap<String, String>,
    screens: BTreeMap<String, RawScreen>,
}

#[derive(Deserialize)]
struct Generate {
    count: u32,
    #[serde(flatten)]
    fields: toml::Table,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawScreen {
    url: String,
    #[serde(default)]
    title: Option<String>,
    view: String,
    #[serde(default)]
    enter: String,
    #[serde(default)]
    delay: u64,
    #[serde(default)]
    flaky: u64,
    #[serde(default)]
    guard: Option<String>,
    #[serde(default, rename = "do")]
    actions: BTreeMap<String, String>,
}

fn root() -> String {
    "/".into()
}

impl App {
    /// Parses and checks an app.
    ///
    /// # Errors
    /// Returns a description of the error and its position.
    pub(crate) fn parse(name: &str, source: &str) -> Result<Self, String> {
        let raw: RawApp = toml::from_str(source).map_err(|e| e.to_string())?;
        let mut parser = Parser { parts: &raw.parts, next: 0 };
        let mut screens = Vec::new();
        for (screen, raw_screen) in &raw.screens {
            let read = |e: String| format!("screen `{screen}`: {e}");
            screens.push(Screen {
                name: screen.clone(),
                url: raw_screen.url.clone(),
                title: Expr::template(raw_screen.title.as_deref().unwrap_or(&raw.title)).map_err(read)?,
                view: parser.parse(&raw_screen.view).map_err(read)?,
                enter: Expr::script(&raw_screen.enter).map_err(read)?,
                delay: raw_screen.delay,
                flaky: raw_screen.flaky,
                guard: raw_screen.guard.as_deref().map(Expr::parse).transpose().map_err(read)?,
                actions: actions(&raw_screen.actions).map_err(read)?,
            });
        }
        let mut lists = BTreeMap::new();
        for (list, records) in &raw.lists {
            let section = format!("lists.{list}");
            let records: Result<_, String> = records.iter().map(|record| values(&section, record)).collect();
            lists.insert(list.clone(), records?);
        }
        for (list, generate) in &raw.generate {
            lists.insert(list.clone(), generate_records(list, generate)?);
        }
        let app = Self {
            name: name.into(),
            file: None,
            title: raw.title,
            about: raw.about,
            start: raw.start,
            state: values("state", &raw.state)?,
            page: values("page", &raw.page)?,
            lists,
            actions: actions(&raw.actions)?,
            screens,
        };
        super::check::check(&app)?;
        Ok(app)
    }

    /// Returns the screen for a path, with the values that its pattern captures. Patterns with
    /// fewer captures win.
    pub(crate) fn route(&self, path: &str) -> Option<(&Screen, Vec<(String, Value)>)> {
        let candidates = self.screens.iter().filter_map(|s| Some((s, match_path(&s.url, path)?)));
        candidates.min_by_key(|(_, captured)| captured.len())
    }
}

fn actions(raw: &BTreeMap<String, String>) -> Result<HashMap<String, Script>, String> {
    let read = |(name, source): (&String, &String)| {
        let script = Expr::script(source).map_err(|e| format!("action `{name}`: {e}"))?;
        Ok((name.clone(), script))
    };
    raw.iter().map(read).collect()
}

/// Returns the names that a pattern captures.
pub(crate) fn captured_names(pattern: &str) -> impl Iterator<Item = &str> {
    pattern.split('/').filter_map(|part| part.strip_prefix(':'))
}

fn match_path(pattern: &str, path: &str) -> Option<Vec<(String, Value)>> {
    let (mut wanted, mut given) = (pattern.split('/'), path.split('/'));
    let mut captured = Vec::new();
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return Some(captured),
            (Some(w), Some(g)) => match w.strip_prefix(':') {
                Some(name) if !g.is_empty() => captured.push((name.into(), Value::text(g))),
                None if w == g => {}
                _ => return None,
            },
            _ => return None,
        }
    }
}

/// Returns the values of a table, by name.
fn values<T, N>(section: &str, table: &toml::Table) -> Result<T, String>
where
    T: FromIterator<(N, Value)>,
    N: for<'n> From<&'n str>,
{
    let value = |(name, v): (&String, &toml::Value)| {
        Ok((name.as_str().into(), Value::try_from(v).map_err(|e| format!("{section}.{name}: {e}"))?))
    };
    table.iter().map(value).collect()
}

/// Returns records generated from templates over `n`, which counts from 1.
fn generate_records(list: &str, generate: &Generate) -> Result<Vec<FieldValues>, String> {
    let mut templates: Vec<(Arc<str>, Expr)> = Vec::new();
    for (name, v) in &generate.fields {
        let expr = match v {
            // A text that is a single expression keeps its type: `"{n * 3}"` is a number.
            toml::Value::String(s) => match Expr::template(s)? {
                Expr::Text(mut parts) if parts.len() == 1 => parts.remove(0),
                e => e,
            },
            other => Expr::Value(Value::try_from(other).map_err(|e| format!("generate.{list}: {e}"))?),
        };
        templates.push((name.as_str().into(), expr));
    }
    let mut state = State::default();
    Ok((1..=i64::from(generate.count))
        .map(|n| {
            state.vars.insert("n".into(), Value::Int(n));
            templates.iter().map(|(name, e)| (name.clone(), eval(e, &state, &[]))).collect()
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_capture_and_literal_ones_win() {
        let app = App::parse(
            "t",
            "title='T'\nstart='/o/new'\n[screens.a]\nurl='/o/:id'\nview='p \"{id}\"'\n[screens.b]\nurl='/o/new'\nview='p \"n\"'",
        )
        .unwrap();
        let (screen, captured) = app.route("/o/7").unwrap();
        assert_eq!((screen.name.as_str(), captured), ("a", vec![("id".into(), Value::text("7"))]));
        assert_eq!(app.route("/o/new").unwrap().0.name, "b");
        assert!(app.route("/o").is_none() && app.route("/o/").is_none());
    }

    #[test]
    fn the_example_of_the_docs_is_an_app() {
        let docs = include_str!("../../../../../docs/sim-apps.md");
        let (_, rest) = docs.split_once("```toml\n").unwrap();
        let (source, _) = rest.split_once("\n```").unwrap();
        let app = App::parse("docs", source).unwrap();
        assert_eq!((app.screens.len(), app.lists["posts"].len()), (1, 10_000));
    }

    #[test]
    fn generated_records_count_from_one_and_keep_numbers() {
        let app = App::parse(
            "t",
            "title='T'\n[generate.p]\ncount=3\nid='p{n}'\nlikes='{n * 2}'\n[screens.a]\nurl='/'\nview=''",
        )
        .unwrap();
        let last: HashMap<_, _> = app.lists["p"][2].iter().cloned().collect();
        assert_eq!((&last["id"], &last["likes"]), (&Value::text("p3"), &Value::Int(6)));
    }
}
