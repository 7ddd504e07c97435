//! Scripts: what an app does when something happens. One statement per line, or several with `;` between.

use super::expr::Expr;
use super::lex::{Lexer, Token};
use super::state::Place;
use std::sync::Arc;

/// Statements in order.
pub(crate) type Script = Arc<[Stmt]>;

/// Fields of a new or patched record.
pub(crate) type Fields = Vec<(Arc<str>, Expr)>;

/// One statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Stmt {
    /// `set place = expr`
    Set(Place, Expr),
    /// `push list a=1 b='x'`, `insert list AT a=1`
    Insert { list: Arc<str>, at: Option<Expr>, fields: Fields },
    /// `remove list where it.id == r.id`
    Remove { list: Arc<str>, which: Expr },
    /// `update list where it.id == r.id a=1`: the same record with other fields
    Update { list: Arc<str>, which: Expr, fields: Fields },
    /// `replace list where it.id == r.id a=1`: another record in its place
    Replace { list: Arc<str>, which: Expr, fields: Fields },
    /// `move list where it.id == r.id to 0`
    Move { list: Arc<str>, which: Expr, to: Expr },
    /// `sort list by field`, `reverse list`
    Sort { list: Arc<str>, field: Option<Arc<str>> },
    /// `rerender 'mark'`: the children get new nodes, as with `innerHTML`
    Rerender(Expr),
    /// `goto '/x'`: another document
    Goto(Expr),
    /// `route '/x'`: the same document under another address, with history
    Route(Expr),
    /// `url '/x'`: the same, in place of the present entry
    Url(Expr),
    /// `back`, `forward`, `reload`
    History(Step),
    /// `tab '/x'`: in another tab, which comes to the front
    Tab(Expr),
    /// `close_tab`
    CloseTab,
    /// `toast 'Saved'`, `toast 'Saved' 3000`
    Toast(Expr, Expr),
    /// `alert 'text'`
    Alert(Expr),
    /// `confirm 'text' then STMT else STMT`
    Confirm { text: Expr, yes: Script, no: Script },
    /// `prompt 'text' 'default' into place then STMT`
    Prompt { text: Expr, default: Expr, into: Place, then: Script },
    /// `console 'text'`
    Console(Expr),
    /// `fail 'POST' '/api' '500'`
    Fail(Expr, Expr, Expr),
    /// `download 'name.csv'`
    Download(Expr),
    /// `after MS STMT`, `every MS STMT`, `load MS STMT` (counts as a request until it is done)
    Timer { ms: Expr, kind: Repeat, then: Script, name: Arc<str> },
    /// `cancel name`
    Cancel(Arc<str>),
    /// `if expr then STMT else STMT`
    If { test: Expr, yes: Script, no: Script },
    /// `focus 'mark'`, `blur`
    Focus(Option<Expr>),
    /// `scroll 'mark' Y`
    Scroll(Expr, Expr),
    /// `do name`, or only `name`
    Do(Arc<str>),
    /// `crash`: the app dies
    Crash,
}

/// Where to go in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(crate) enum Step {
    Back,
    Forward,
    Reload,
}

/// How a timer goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// Once.
    Once,
    /// Until it is cancelled or the document ends.
    Every,
    /// Once, and the app is waiting for it: not idle before.
    Load,
}

/// Reads a script.
pub(crate) fn parse(source: &str) -> Result<Script, String> {
    let mut script = Vec::new();
    for line in source.lines() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let mut lexer = Lexer::new(line);
        loop {
            script.push(statement(&mut lexer).map_err(|e| format!("{e} (in `{line}`)"))?);
            if !lexer.take(";")? {
                break;
            }
        }
        lexer.end().map_err(|e| format!("{e} (in `{line}`)"))?;
    }
    Ok(script.into())
}

fn one(lexer: &mut Lexer<'_>) -> Result<Script, String> {
    Ok([statement(lexer)?].into())
}

fn otherwise(lexer: &mut Lexer<'_>) -> Result<Script, String> {
    if lexer.take("else")? { one(lexer) } else { Ok([].into()) }
}

fn statement(lexer: &mut Lexer<'_>) -> Result<Stmt, String> {
    let verb = lexer.word()?;
    let expr = Expr::read;
    Ok(match verb {
        "set" => {
            let place = place(lexer)?;
            lexer.expect("=")?;
            Stmt::Set(place, expr(lexer)?)
        }
        "push" => Stmt::Insert { list: lexer.word()?.into(), at: None, fields: fields(lexer)? },
        "insert" => {
            let list = lexer.word()?.into();
            lexer.expect("at")?;
            Stmt::Insert { list, at: Some(expr(lexer)?), fields: fields(lexer)? }
        }
        "remove" => Stmt::Remove { list: lexer.word()?.into(), which: which(lexer)? },
        "update" => Stmt::Update { list: lexer.word()?.into(), which: which(lexer)?, fields: fields(lexer)? },
        "replace" => {
            Stmt::Replace { list: lexer.word()?.into(), which: which(lexer)?, fields: fields(lexer)? }
        }
        "move" => {
            let (list, which) = (lexer.word()?.into(), which(lexer)?);
            lexer.expect("to")?;
            Stmt::Move { list, which, to: expr(lexer)? }
        }
        "sort" => {
            let list = lexer.word()?.into();
            lexer.expect("by")?;
            Stmt::Sort { list, field: Some(lexer.word()?.into()) }
        }
        "reverse" => Stmt::Sort { list: lexer.word()?.into(), field: None },
        "rerender" => Stmt::Rerender(expr(lexer)?),
        "goto" => Stmt::Goto(expr(lexer)?),
        "route" => Stmt::Route(expr(lexer)?),
        "url" => Stmt::Url(expr(lexer)?),
        "back" => Stmt::History(Step::Back),
        "forward" => Stmt::History(Step::Forward),
        "reload" => Stmt::History(Step::Reload),
        "tab" => Stmt::Tab(expr(lexer)?),
        "close_tab" => Stmt::CloseTab,
        "toast" => {
            let text = expr(lexer)?;
            let ms = if matches!(lexer.peek()?, Token::Int(_)) {
                expr(lexer)?
            } else {
                Expr::Value(super::value::Value::Int(4000))
            };
            Stmt::Toast(text, ms)
        }
        "alert" => Stmt::Alert(expr(lexer)?),
        "confirm" => {
            let text = expr(lexer)?;
            lexer.expect("then")?;
            Stmt::Confirm { text, yes: one(lexer)?, no: otherwise(lexer)? }
        }
        "prompt" => {
            let (text, default) = (expr(lexer)?, expr(lexer)?);
            lexer.expect("into")?;
            let into = place(lexer)?;
            let then = if lexer.take("then")? { one(lexer)? } else { [].into() };
            Stmt::Prompt { text, default, into, then }
        }
        "console" => Stmt::Console(expr(lexer)?),
        "fail" => Stmt::Fail(expr(lexer)?, expr(lexer)?, expr(lexer)?),
        "download" => Stmt::Download(expr(lexer)?),
        "after" => timer(lexer, Repeat::Once)?,
        "every" => timer(lexer, Repeat::Every)?,
        "load" => timer(lexer, Repeat::Load)?,
        "cancel" => Stmt::Cancel(lexer.word()?.into()),
        "if" => {
            let test = expr(lexer)?;
            lexer.expect("then")?;
            Stmt::If { test, yes: one(lexer)?, no: otherwise(lexer)? }
        }
        "focus" => Stmt::Focus(Some(expr(lexer)?)),
        "blur" => Stmt::Focus(None),
        "scroll" => Stmt::Scroll(expr(lexer)?, expr(lexer)?),
        "crash" => Stmt::Crash,
        "do" => Stmt::Do(lexer.word()?.into()),
        name => Stmt::Do(name.into()),
    })
}

fn timer(lexer: &mut Lexer<'_>, kind: Repeat) -> Result<Stmt, String> {
    let ms = Expr::read(lexer)?;
    let source = lexer.rest();
    let then = one(lexer)?;
    // A timer is named after the action that it does, which is what `cancel` and a failed settle say.
    let name = match &then[0] {
        Stmt::Do(name) => name.clone(),
        _ => source[..source.len() - lexer.rest().len()].trim().into(),
    };
    Ok(Stmt::Timer { ms, kind, then, name })
}

fn place(lexer: &mut Lexer<'_>) -> Result<Place, String> {
    let var = lexer.word()?.to_owned();
    Ok(if lexer.take(".")? { Place::Field(var, lexer.word()?.into()) } else { Place::Var(var) })
}

fn which(lexer: &mut Lexer<'_>) -> Result<Expr, String> {
    lexer.expect("where")?;
    Expr::read(lexer)
}

fn fields(lexer: &mut Lexer<'_>) -> Result<Fields, String> {
    let mut fields = Vec::new();
    while let Token::Word(name) = lexer.peek()? {
        if name == "else" {
            break;
        }
        lexer.next()?;
        lexer.expect("=")?;
        fields.push((name.into(), Expr::read(lexer)?));
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_of_every_kind_are_read() {
        for source in [
            "set a = 1; set r.qty = r.qty + 1",
            "push rows id='n{n}' name='New'",
            "insert rows at 0 id=1",
            "remove rows where it.id == r.id",
            "update rows where it.index == 0 name='B' id=2",
            "replace rows where it.id == 'a' name='B'",
            "move rows where it.id == 'a' to 2",
            "sort rows by name\nreverse rows",
            "after 300 set a = 2; every 1000 tick; load 50 do fill; cancel tick",
            "confirm 'Delete {r.name}?' then remove rows where it.id == r.id else set a = 0",
            "prompt 'Name' 'x' into name then save",
            "if a == 1 then goto '/x' else crash",
            "fail 'POST' '/api' '500'; console 'oops'; download 'a.csv'",
            "focus 'q'; blur; scroll 'list' 400; toast 'Saved' 500; toast 'b'",
        ] {
            parse(source).unwrap_or_else(|e| panic!("{source}: {e}"));
        }
    }

    #[test]
    fn mistakes_show_the_line() {
        let error = parse("set a = 1\nremove rows").unwrap_err();
        assert!(error.contains("`where` is missing") && error.contains("remove rows"), "{error}");
    }
}
