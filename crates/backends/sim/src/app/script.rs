//! Scripts: what an app does when something happens. One statement per line, or several with `;` between.

use super::expr::Expr;
use super::lex::{Lexer, Token};
use super::value::Value;
use std::sync::Arc;

/// Statements in order.
pub(crate) type Script = Arc<[Stmt]>;

/// Fields of a new or patched record.
pub(crate) type Fields = Vec<(Arc<str>, Expr)>;

/// One statement: a verb, and what stands behind it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Stmt {
    pub(crate) verb: Verb,
    /// The list, action or timer that it names.
    pub(crate) name: Arc<str>,
    pub(crate) exprs: Vec<Expr>,
    pub(crate) fields: Fields,
    pub(crate) then: Script,
    pub(crate) otherwise: Script,
}

macro_rules! verbs {
    ($($(#[$doc:meta])* $verb:ident = $word:literal $form:literal,)*) => {
        words! {
            /// What a statement does.
            Verb { $($(#[$doc])* $verb = $word,)* }
        }

        impl Verb {
            /// What stands behind the verb. `list`, `name` and `word` are names, `place` is what can be written to, `fields`
            /// are `a=1 b='x'`, `stmt` is a statement and `job` one that gives a timer its name. What has a `?` may be
            /// missing; all else stands there as it is.
            fn form(self) -> &'static str {
                match self { $(Self::$verb => $form,)* }
            }
        }
    };
}

verbs! {
    Set = "set" "place = expr",
    Push = "push" "list fields",
    Insert = "insert" "list at expr fields",
    Remove = "remove" "list where expr",
    /// The same record with other fields.
    Update = "update" "list where expr fields",
    /// Another record in its place.
    Replace = "replace" "list where expr fields",
    Move = "move" "list where expr to expr",
    Sort = "sort" "list by word",
    Reverse = "reverse" "list",
    /// The children of a mark get new nodes, as with `innerHTML`.
    Rerender = "rerender" "expr",
    /// Another document.
    Goto = "goto" "expr",
    /// The same document under another address, with history.
    Route = "route" "expr",
    /// The same, in place of the present entry.
    Url = "url" "expr",
    Back = "back" "",
    Forward = "forward" "",
    Reload = "reload" "",
    /// In another tab, which comes to the front.
    Tab = "tab" "expr",
    CloseTab = "close_tab" "",
    Toast = "toast" "expr number?",
    Alert = "alert" "expr",
    Confirm = "confirm" "expr then stmt else?",
    Prompt = "prompt" "expr expr into place then?",
    Console = "console" "expr",
    /// A request that failed: its method, address and why.
    Fail = "fail" "expr expr expr",
    Download = "download" "expr",
    After = "after" "expr job",
    /// Until it is cancelled or the document ends.
    Every = "every" "expr job",
    /// Once, and the app is waiting for it: not idle before.
    Load = "load" "expr job",
    Cancel = "cancel" "name",
    If = "if" "expr then stmt else?",
    Focus = "focus" "expr",
    Blur = "blur" "",
    Scroll = "scroll" "expr expr",
    /// `do name`, or only `name`
    Do = "do" "name",
    /// The app dies.
    Crash = "crash" "",
}

impl Verb {
    /// Whether the name of a statement is that of a list.
    pub(crate) fn is_of_list(self) -> bool {
        self.form().starts_with("list")
    }
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

fn statement(lexer: &mut Lexer<'_>) -> Result<Stmt, String> {
    let word = lexer.word()?;
    let named = Verb::named(word);
    let mut stmt = Stmt {
        verb: named.unwrap_or(Verb::Do),
        name: word.into(),
        exprs: Vec::new(),
        fields: Vec::new(),
        then: [].into(),
        otherwise: [].into(),
    };
    for part in named.map_or("", Verb::form).split_whitespace() {
        match part {
            "list" | "name" => stmt.name = lexer.word()?.into(),
            "word" => stmt.exprs.push(Expr::Value(Value::text(lexer.word()?))),
            "place" => stmt.exprs.push(Expr::place(lexer)?),
            "expr" => stmt.exprs.push(Expr::read(lexer)?),
            "number?" if !matches!(lexer.peek()?, Token::Int(_)) => {}
            "number?" => stmt.exprs.push(Expr::read(lexer)?),
            "fields" => stmt.fields = fields(lexer)?,
            "stmt" => stmt.then = [statement(lexer)?].into(),
            "then?" if lexer.take("then")? => stmt.then = [statement(lexer)?].into(),
            "else?" if lexer.take("else")? => stmt.otherwise = [statement(lexer)?].into(),
            "then?" | "else?" => {}
            "job" => {
                let source = lexer.rest();
                let job = statement(lexer)?;
                // A timer is named after the action that it does, which is what `cancel` and a failed settle say.
                stmt.name = match job.verb {
                    Verb::Do => job.name.clone(),
                    _ => source[..source.len() - lexer.rest().len()].trim().into(),
                };
                stmt.then = [job].into();
            }
            literal => lexer.expect(literal)?,
        }
    }
    Ok(stmt)
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
