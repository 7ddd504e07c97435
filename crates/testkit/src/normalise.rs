//! Replaces values that differ between runs: generations, lifetimes, ports, folders.

use serde_json::Value;

/// Makes answers of different runs comparable. Generations are relative to the first one seen.
#[derive(Debug, Clone, Default)]
pub struct Normaliser {
    first_generation: Option<u64>,
    lifetimes: Vec<String>,
    words: Vec<(String, String)>,
    /// Named generations, with their `s`.
    kept: Vec<(String, String)>,
    /// Texts that only look like pinned refs.
    decoys: Vec<String>,
}

impl Normaliser {
    /// Replaces text specific to this run (a port, a folder) with a word.
    pub fn replace(&mut self, own: impl Into<String>, word: impl Into<String>) {
        self.words.push((own.into(), word.into()));
    }

    /// Names a generation, which is written as `$NAME` from now on.
    pub fn keep(&mut self, name: &str, generation: u64) {
        self.kept.push((format!("s{generation}"), format!("${name}")));
    }

    /// Sets the texts in an app that look like pinned refs.
    pub fn decoys(&mut self, decoys: &[String]) {
        self.decoys = decoys.to_vec();
    }

    /// Removes the decoys from text.
    #[must_use]
    pub fn without_decoys(&self, text: &str) -> String {
        self.decoys.iter().fold(text.to_owned(), |text, decoy| text.replace(decoy, ""))
    }

    /// Replaces names in a command line with their generations.
    #[must_use]
    pub fn with_kept(&self, line: &str) -> String {
        self.kept.iter().fold(line.to_owned(), |line, (own, name)| line.replace(name, own))
    }

    /// Returns a generation relative to the first one seen.
    pub fn generation(&mut self, n: u64) -> Option<u64> {
        n.checked_sub(*self.first_generation.get_or_insert(n))
    }

    /// Normalizes text: `s482913` becomes `s+0`, the next generation `s+1`.
    pub fn text(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let bytes = text.as_bytes();
        let mut from = 0;
        let mut i = 0;
        while i < bytes.len() {
            let digits = bytes[i + 1..].iter().take_while(|b| b.is_ascii_digit()).count();
            let starts = bytes[i] == b's' && (i == 0 || !bytes[i - 1].is_ascii_alphanumeric());
            if starts && digits == 6 && !bytes.get(i + 7).is_some_and(u8::is_ascii_alphanumeric) {
                let n = text[i + 1..i + 7].parse().expect("six digits");
                out.push_str(&text[from..i]);
                let kept =
                    self.kept.iter().find(|(own, _)| *own == text[i..i + 7]).map(|(_, name)| name.clone());
                match (kept, self.generation(n)) {
                    (Some(name), _) => out.push_str(&name),
                    (None, Some(n)) => out.push_str(&format!("s+{n}")),
                    (None, None) => out.push_str(&text[i..i + 7]),
                }
                i += 7;
                from = i;
            } else {
                i += 1;
            }
        }
        out.push_str(&text[from..]);
        for (own, word) in &self.words {
            out = out.replace(own, word);
        }
        out
    }

    /// Returns `L1` for the first lifetime seen, `L2` for the next.
    pub fn lifetime(&mut self, lifetime: &str) -> String {
        let at = self.lifetimes.iter().position(|l| l == lifetime).unwrap_or_else(|| {
            self.lifetimes.push(lifetime.to_owned());
            self.first_generation = None;
            self.lifetimes.len() - 1
        });
        format!("L{}", at + 1)
    }

    /// Normalizes all strings below a value.
    pub fn json(&mut self, value: &mut Value) {
        match value {
            Value::String(s) => *s = self.text(s),
            Value::Array(items) => items.iter_mut().for_each(|v| self.json(v)),
            Value::Object(fields) => fields.iter_mut().for_each(|(_, v)| self.json(v)),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_are_relative() {
        let mut n = Normaliser::default();
        n.replace("/tmp/x", "$STATE");
        assert_eq!(
            n.text("refs s482913 · @e1~s482914 css123456 s4829131 /tmp/x/a"),
            "refs s+0 · @e1~s+1 css123456 s4829131 $STATE/a"
        );
        n.keep("before", 482_915);
        assert_eq!(n.with_kept("press @e1~$before"), "press @e1~s482915");
        assert_eq!(n.text("s482915 s482916"), "$before s+3");
        assert_eq!(n.lifetime("a"), "L1");
        assert_eq!(n.lifetime("b"), "L2");
        assert_eq!(n.text("s100000"), "s+0", "a new lifetime counts anew");
    }
}
