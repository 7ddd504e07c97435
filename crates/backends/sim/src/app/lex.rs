//! The tokens of the app language.

/// A token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Token<'s> {
    /// A name or a keyword.
    Word(&'s str),
    /// A whole number.
    Int(i64),
    /// The inside of a quoted text, in which `{...}` is an expression.
    Text(&'s str),
    /// An operator, a bracket or a separator.
    Op(&'s str),
    /// The end of the source.
    End,
}

/// A cursor over a source text with one token of lookahead.
#[derive(Debug, Clone)]
pub(crate) struct Lexer<'s> {
    rest: &'s str,
}

const OPS: &[&str] =
    &["==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "%", "(", ")", ",", ".", "=", "~", ";"];

impl<'s> Lexer<'s> {
    pub(crate) fn new(source: &'s str) -> Self {
        Self { rest: source.trim_start() }
    }

    /// Returns the unread rest.
    pub(crate) fn rest(&self) -> &'s str {
        self.rest
    }

    /// Returns the next token without consuming it.
    pub(crate) fn peek(&self) -> Result<Token<'s>, String> {
        self.clone().next()
    }

    /// Consumes and returns the next token.
    pub(crate) fn next(&mut self) -> Result<Token<'s>, String> {
        let s = self.rest;
        let Some(c) = s.chars().next() else { return Ok(Token::End) };
        let (token, len) = if c == '\'' || c == '"' {
            let inner = text_in_quotes(s, c)?;
            (Token::Text(inner), inner.len() + 2)
        } else if c.is_ascii_digit() {
            let len = s.find(|c: char| !c.is_ascii_digit()).unwrap_or(s.len());
            (
                Token::Int(s[..len].parse().map_err(|_| format!("the number `{}` is too large", &s[..len]))?),
                len,
            )
        } else if c.is_alphabetic() || c == '_' {
            let len = s.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(s.len());
            (Token::Word(&s[..len]), len)
        } else {
            let op = OPS
                .iter()
                .find(|op| s.starts_with(**op))
                .ok_or_else(|| format!("`{c}` is not an operator"))?;
            (Token::Op(op), op.len())
        };
        self.rest = s[len..].trim_start();
        Ok(token)
    }

    /// Consumes this operator or word if it is next. Returns whether it was consumed.
    pub(crate) fn take(&mut self, what: &str) -> Result<bool, String> {
        let is_match = matches!(self.peek()?, Token::Op(t) | Token::Word(t) if t == what);
        if is_match {
            self.next()?;
        }
        Ok(is_match)
    }

    /// Consumes this operator or word, or reports where it is missing.
    pub(crate) fn expect(&mut self, what: &str) -> Result<(), String> {
        if self.take(what)? { Ok(()) } else { Err(format!("`{what}` is missing {}", position(self.rest))) }
    }

    /// Consumes a name.
    pub(crate) fn word(&mut self) -> Result<&'s str, String> {
        let before = self.rest;
        match self.next()? {
            Token::Word(w) => Ok(w),
            _ => Err(format!("a name is missing {}", position(before))),
        }
    }

    /// Checks that the source ends here.
    pub(crate) fn end(&self) -> Result<(), String> {
        if self.rest.is_empty() { Ok(()) } else { Err(format!("unexpected `{}`", self.rest)) }
    }
}

/// Describes the position before the unread rest of a source.
pub(crate) fn position(rest: &str) -> String {
    if rest.is_empty() { "at the end".to_owned() } else { format!("before `{rest}`") }
}

/// Returns the inside of the quoted text at the start of `s`. Quotes inside `{...}` do not end it.
fn text_in_quotes(s: &str, quote: char) -> Result<&str, String> {
    let mut depth = 0usize;
    for (at, c) in s.char_indices().skip(1) {
        match c {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            c if c == quote && depth == 0 => return Ok(&s[1..at]),
            _ => {}
        }
    }
    Err(format!("the quoted text `{s}` is not closed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(source: &str) -> Vec<Token<'_>> {
        let mut lexer = Lexer::new(source);
        std::iter::from_fn(|| match lexer.next() {
            Ok(Token::End) => None,
            other => Some(other.unwrap()),
        })
        .collect()
    }

    #[test]
    fn quotes_inside_braces_do_not_end_a_text() {
        assert_eq!(
            all(r#"x "a {if(y, "b", 'c')}" 12"#),
            [Token::Word("x"), Token::Text(r#"a {if(y, "b", 'c')}"#), Token::Int(12)]
        );
    }

    #[test]
    fn an_open_quote_is_named() {
        assert!(Lexer::new("'abc").next().unwrap_err().contains("is not closed"));
    }
}
