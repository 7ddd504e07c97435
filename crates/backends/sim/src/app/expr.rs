//! The app language: expressions, and calls with effects, which are the statements of scripts.
//!
//! ```text
//! count(cart, it.qty > 0) == 0
//! 'Cart ({count(cart)})'
//! set(r.qty, r.qty + 1); toast('Saved')
//! push(rows, id='n{n}', name='New')
//! if(name == '', complain, load(400, send))
//! ```

use super::lex::{Lexer, Token, position};
use super::value::Value;
use std::sync::Arc;

/// A parsed expression or statement.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Expr {
    /// A constant.
    Value(Value),
    /// A text made of pieces.
    Text(Vec<Expr>),
    /// A variable.
    Var(String),
    /// A field of the record that a loop variable is bound to.
    Field(String, String),
    /// A list, as the argument of a function.
    List(Arc<str>),
    /// An action, as a statement.
    Action(Arc<str>),
    /// A field of a new or changed record: `name='New'`.
    Named(Arc<str>, Box<Expr>),
    /// A call or operator: `a op b`, `not a`, `name(a, b)`.
    Call(Function, Vec<Expr>),
}

/// Statements in order.
pub(crate) type Script = Arc<[Expr]>;

macro_rules! functions {
    ($($(#[$doc:meta])* $function:ident = $word:literal $signature:literal,)*) => {
        words! {
            /// Operators, functions and statements.
            Function { $($(#[$doc])* $function = $word,)* }
        }

        impl Function {
            /// Returns the signature: `infix` and the precedence, or `prefix`, for an operator;
            /// otherwise the arguments. `expr` is an expression, `list` and `place` are names of
            /// lists and of writable places. `job` is a statement, and `fields` are `a=1, b='x'`.
            /// `?` marks an optional argument, `*` a repeatable one.
            fn signature(self) -> &'static str {
                match self { $(Self::$function => $signature,)* }
            }
        }
    };
}

functions! {
    Or = "or" "infix 1",
    And = "and" "infix 2",
    Equal = "==" "infix 3",
    Unequal = "!=" "infix 3",
    Less = "<" "infix 3",
    AtMost = "<=" "infix 3",
    More = ">" "infix 3",
    AtLeast = ">=" "infix 3",
    Contains = "~" "infix 3",
    Plus = "+" "infix 4",
    Minus = "-" "infix 4",
    Times = "*" "infix 5",
    Over = "/" "infix 5",
    Modulo = "%" "infix 5",
    Not = "not" "prefix",
    /// The number of all records, or of those for which the expression holds, with each as `it`.
    Count = "count" "list expr?",
    Sum = "sum" "list expr",
    /// The id of the first record for which the expression holds.
    First = "first" "list expr",
    /// The value or statement that a condition selects; the last argument may be omitted.
    If = "if" "expr expr expr?",
    /// The argument at an index, which wraps around.
    Pick = "pick" "expr expr expr*",
    /// `money(cents)`: `12.50`
    Money = "money" "expr",
    /// `12:00:07`
    Clock = "clock" "",
    /// `ago(seconds)`: `2 min ago`
    Ago = "ago" "expr",
    /// Seconds since the app was opened.
    Seconds = "seconds" "",
    Lower = "lower" "expr",
    Set = "set" "place expr",
    Push = "push" "list fields*",
    /// Inserts a record at a position.
    Insert = "insert" "list expr fields*",
    Remove = "remove" "list expr",
    /// Changes fields of the matching records, which keep their identity.
    Update = "update" "list expr fields*",
    /// Replaces each matching record with a new one.
    Replace = "replace" "list expr fields*",
    Move = "move" "list expr expr",
    /// Sorts a list by a field.
    Sort = "sort" "list expr",
    Reverse = "reverse" "list",
    /// Replaces the children of a marked element with new nodes, as `innerHTML` does.
    Rerender = "rerender" "expr",
    /// Loads another document.
    Goto = "goto" "expr",
    /// Changes the address of the current document and adds a history entry.
    Route = "route" "expr",
    /// Changes the address of the current document and replaces the current history entry.
    Url = "url" "expr",
    Back = "back" "",
    Forward = "forward" "",
    Reload = "reload" "",
    /// Opens another tab and brings it to the front.
    Tab = "tab" "expr",
    CloseTab = "close_tab" "",
    /// Shows a toast, optionally for a given duration.
    Toast = "toast" "expr expr?",
    Alert = "alert" "expr",
    Confirm = "confirm" "expr job job?",
    /// Asks for a text. Arguments: the message, the default, the place for the answer, and an
    /// optional next statement.
    Prompt = "prompt" "expr expr place job?",
    Console = "console" "expr",
    /// Reports a failed request: its method, address and reason.
    Fail = "fail" "expr expr expr",
    Download = "download" "expr",
    After = "after" "expr job",
    /// Runs a statement repeatedly, until the timer is cancelled or the document ends.
    Every = "every" "expr job",
    /// Runs a statement once, after a delay. The app does not count as idle until then.
    Load = "load" "expr job",
    /// Cancels the timers of an action.
    Cancel = "cancel" "expr",
    Focus = "focus" "expr",
    Blur = "blur" "",
    Scroll = "scroll" "expr expr",
    /// Makes the app crash.
    Crash = "crash" "",
}

impl Function {
    /// Returns the precedence of an infix operator; `None` for functions and prefix operators.
    fn precedence(self) -> Option<u8> {
        self.signature().strip_prefix("infix ")?.parse().ok()
    }

    /// Returns whether the function is written with its arguments in parentheses.
    fn is_called(self) -> bool {
        self.precedence().is_none() && self != Self::Not
    }
}

impl Expr {
    /// Parses a whole source as one expression.
    pub(crate) fn parse(source: &str) -> Result<Self, String> {
        let mut lexer = Lexer::new(source);
        let expr = Self::read(&mut lexer)?;
        lexer.end()?;
        Ok(expr)
    }

    /// Parses the inside of a quoted text.
    pub(crate) fn template(source: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut rest = source;
        while let Some(open) = rest.find('{') {
            let close =
                closing(&rest[open..]).ok_or_else(|| format!("`{{` in `{source}` is not closed"))? + open;
            if open > 0 {
                parts.push(Self::Value(Value::text(&rest[..open])));
            }
            parts.push(Self::parse(&rest[open + 1..close])?);
            rest = &rest[close + 1..];
        }
        if parts.is_empty() {
            return Ok(Self::Value(Value::text(rest)));
        }
        if !rest.is_empty() {
            parts.push(Self::Value(Value::text(rest)));
        }
        Ok(Self::Text(parts))
    }

    /// Parses a script: one statement per line, or several separated by `;`.
    pub(crate) fn script(source: &str) -> Result<Script, String> {
        let lines = source.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
        let mut script = Vec::new();
        for line in lines {
            let mut lexer = Lexer::new(line);
            let read = Self::statements(&mut lexer).and_then(|read| lexer.end().map(|()| read));
            script.extend(read.map_err(|e| format!("{e} (in `{line}`)"))?);
        }
        Ok(script.into())
    }

    /// Parses a handler: a statement, or several in parentheses.
    pub(crate) fn handler(lexer: &mut Lexer<'_>) -> Result<Script, String> {
        if !lexer.take("(")? {
            return Ok([Self::parse_operand(lexer)?.into_statement()?].into());
        }
        let script = Self::statements(lexer)?;
        lexer.expect(")")?;
        Ok(script.into())
    }

    fn statements(lexer: &mut Lexer<'_>) -> Result<Vec<Self>, String> {
        let mut script = Vec::new();
        loop {
            script.push(Self::read(lexer)?.into_statement()?);
            if !lexer.take(";")? {
                return Ok(script);
            }
        }
    }

    /// Converts the expression to a statement, in which a name is that of an action.
    fn into_statement(self) -> Result<Self, String> {
        match self {
            Self::Var(name) => Ok(Self::Action(name.into())),
            Self::Call(Function::If, mut args) => {
                let branches = args.split_off(1).into_iter().map(Self::into_statement);
                let args = args.into_iter().map(Ok).chain(branches).collect::<Result<_, _>>()?;
                Ok(Self::Call(Function::If, args))
            }
            Self::Call(function, args) if function.is_called() => Ok(Self::Call(function, args)),
            _ => Err("a statement must be a call or the name of an action".to_owned()),
        }
    }

    /// Returns the name of a list argument.
    pub(crate) fn list(&self) -> Arc<str> {
        if let Self::List(name) = self { name.clone() } else { Arc::default() }
    }

    /// Parses one expression and leaves the rest unread.
    pub(crate) fn read(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        Self::parse_binary(lexer, 0)
    }

    /// Parses a writable place: `query`, `item.qty`.
    pub(crate) fn parse_place(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        let name = lexer.word()?.to_owned();
        Ok(if lexer.take(".")? { Self::Field(name, lexer.word()?.into()) } else { Self::Var(name) })
    }

    fn parse_binary(lexer: &mut Lexer<'_>, min: u8) -> Result<Self, String> {
        let mut left = Self::parse_operand(lexer)?;
        while let Token::Op(word) | Token::Word(word) = lexer.peek()?
            && let Some(operator) = Function::from_word(word)
            && let Some(precedence) = operator.precedence().filter(|precedence| *precedence >= min)
        {
            lexer.next()?;
            let right = Self::parse_binary(lexer, precedence + 1)?;
            left = Self::Call(operator, vec![left, right]);
        }
        Ok(left)
    }

    /// Parses one operand: a constant, a name, a call, an expression in parentheses, or a negation
    /// with `not` or `-`.
    pub(crate) fn parse_operand(lexer: &mut Lexer<'_>) -> Result<Self, String> {
        if lexer.take("not")? {
            return Ok(Self::Call(Function::Not, vec![Self::parse_binary(lexer, 3)?]));
        }
        if lexer.take("-")? {
            let zero = Self::Value(Value::Int(0));
            return Ok(Self::Call(Function::Minus, vec![zero, Self::parse_operand(lexer)?]));
        }
        let before = lexer.rest();
        match lexer.next()? {
            Token::Int(n) => Ok(Self::Value(Value::Int(n))),
            Token::Text(t) => Self::template(t),
            Token::Op("(") => {
                let inner = Self::read(lexer)?;
                lexer.expect(")")?;
                Ok(inner)
            }
            Token::Word("true") => Ok(Self::Value(Value::Bool(true))),
            Token::Word("false") => Ok(Self::Value(Value::Bool(false))),
            Token::Word(name) => Self::name(lexer, name),
            _ => Err(format!("an expression is missing {}", position(before))),
        }
    }

    fn name(lexer: &mut Lexer<'_>, name: &str) -> Result<Self, String> {
        if lexer.take(".")? {
            return Ok(Self::Field(name.into(), lexer.word()?.into()));
        }
        if !lexer.take("(")? {
            return Ok(Self::Var(name.into()));
        }
        let function = Function::from_word(name).filter(|function| function.is_called());
        let function = function.ok_or_else(|| format!("`{name}` is not a function"))?;
        let mut parameters =
            function.signature().split(' ').filter(|parameter| !parameter.is_empty()).peekable();
        let mut args = Vec::new();
        while !lexer.take(")")? {
            if !args.is_empty() {
                lexer.expect(",")?;
            }
            let parameter = match parameters.peek() {
                Some(parameter) if parameter.ends_with('*') => parameter,
                _ => {
                    parameters.next().ok_or_else(|| format!("`{name}` does not take that many arguments"))?
                }
            };
            args.push(Self::argument(lexer, parameter.trim_end_matches(['?', '*']))?);
        }
        match parameters.next() {
            Some(parameter) if !parameter.ends_with(['?', '*']) => {
                Err(format!("`{name}` needs more arguments"))
            }
            _ => Ok(Self::Call(function, args)),
        }
    }

    fn argument(lexer: &mut Lexer<'_>, parameter: &str) -> Result<Self, String> {
        Ok(match parameter {
            "list" => Self::List(lexer.word()?.into()),
            "place" => Self::parse_place(lexer)?,
            "fields" => {
                let name = lexer.word()?.into();
                lexer.expect("=")?;
                Self::Named(name, Box::new(Self::read(lexer)?))
            }
            "job" => Self::read(lexer)?.into_statement()?,
            _ => Self::read(lexer)?,
        })
    }
}

/// Returns the position of the brace that closes the one at the start of `s`; `None` if it is
/// missing.
fn closing(s: &str) -> Option<usize> {
    let mut depth = 0usize;
    for (at, c) in s.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_bind_tighter_than_sums_and_comparisons() {
        assert_eq!(Expr::parse("a + 2 * 3 == b"), Expr::parse("(a + (2 * 3)) == b"));
        assert_eq!(Expr::parse("not a == b and c"), Expr::parse("(not (a == b)) and c"));
        assert_eq!(Expr::parse("a - b - c"), Expr::parse("(a - b) - c"));
    }

    #[test]
    fn mistakes_are_named() {
        for (source, part) in [
            ("a +", "missing"),
            ("f(x)", "not a function"),
            ("sum(x)", "arguments"),
            ("'{a'", "not closed"),
            ("a b", "`b`"),
        ] {
            let error = Expr::parse(source).unwrap_err();
            assert!(error.contains(part), "{source}: {error}");
        }
        assert!(Expr::script("set a = 1").is_err() && Expr::script("'set(a, 1)'").is_err());
        let error = Expr::script("set(a, 1)\nremove(rows)").unwrap_err();
        assert!(error.contains("arguments") && error.contains("remove(rows)"), "{error}");
    }

    #[test]
    fn statements_of_every_kind_are_read() {
        for source in [
            "set(a, 1); set(r.qty, r.qty + 1)",
            "push(rows, id='n{n}', name='New')",
            "insert(rows, 0, id=1)",
            "remove(rows, it.id == r.id)",
            "update(rows, it.index == 0, name='B', id=2)",
            "replace(rows, it.id == 'a', name='B')",
            "move(rows, it.id == 'a', 2)",
            "sort(rows, 'name')\nreverse(rows)",
            "after(300, set(a, 2)); every(1000, tick); load(50, fill); cancel('tick')",
            "confirm('Delete {r.name}?', remove(rows, it.id == r.id), set(a, 0))",
            "prompt('Name', 'x', name, save)",
            "if(a == 1, goto('/x'), crash())",
            "fail('POST', '/api', '500'); console('oops'); download('a.csv')",
            "focus('q'); blur(); scroll('list', 400); toast('Saved', 500); toast('b')",
        ] {
            Expr::script(source).unwrap_or_else(|e| panic!("{source}: {e}"));
        }
    }
}
