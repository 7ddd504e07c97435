//! A browser, the server of its pages, and one client that reads and uses refs.

use super::account::UseOutcome;
use super::data::{Kind, Pick, Preparation, Situation, View, filled};
use super::site::{Hit, Site};
use super::verdict::{Relisting, is_notice, judge};
use serde_json::Value;
use std::sync::Arc;
use stickpin_device::Provider;
use stickpin_kernel::Response;
use stickpin_testkit::{InProcess, Listing};

pub struct Stage {
    surface: InProcess,
    pub site: Site,
    dir: tempfile::TempDir,
}

/// A use of a ref: the last answer, what the page received, and whether a notice came first.
pub struct RefUse {
    pub response: Response,
    pub hits: Vec<Hit>,
    pub noticed: bool,
}

impl Stage {
    pub fn new(provider: Arc<dyn Provider>, situations: &[Situation]) -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        std::fs::write(dir.path().join("scan.txt"), "a scan").expect("a file");
        let surface = InProcess::new(dir.path(), vec![provider]);
        Self { surface, site: Site::new(situations), dir }
    }

    fn dir(&self) -> String {
        self.dir.path().to_string_lossy().into_owned()
    }

    pub fn call(&mut self, words: &[String]) -> Response {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let response = self.surface.request(&words, |_| {});
        if std::env::var_os("GAUNTLET_TRACE").is_some() {
            let error =
                response.error.as_ref().map(|e| format!("{}: {}\n{}", e.code.name(), e.message, e.hint));
            let [text, warning] = [&response.text, &response.warning].map(|t| t.clone().unwrap_or_default());
            eprintln!("$ {}\n{text}\n{warning}{}", words.join(" "), error.unwrap_or_default());
        }
        response
    }

    /// Runs a command that prepares the measured one.
    fn expect_ok(&mut self, words: &[&str]) -> Result<Response, String> {
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        let response = self.call(&words);
        match &response.error {
            Some(e) => Err(format!("{words:?}: {}: {}", e.code.name(), e.message)),
            None => Ok(response),
        }
    }

    /// Opens the page of a situation: a document of its own, in the same browser.
    pub fn open(&mut self, situation: &Situation) -> Result<(), String> {
        let fresh = std::env::var_os("GAUNTLET_RELAUNCH").is_some();
        self.site.prepare_open(fresh);
        let url = self.site.url(situation);
        let relaunch: &[&str] = if fresh { &["--relaunch"] } else { &[] };
        self.expect_ok(&[&["open", url.as_str(), "--context", "tell"], relaunch].concat())?;
        self.site.wait_ready()?;
        for Preparation { pick, run } in &situation.before {
            let refs = if pick.is_empty() { Vec::new() } else { resolve(pick, &self.look(View::Full)?)? };
            let dir = self.dir();
            let words: Vec<String> = run.iter().map(|word| filled(word, &refs, &dir)).collect();
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            self.expect_ok(&words)?;
        }
        Ok(())
    }

    fn look(&mut self, view: View) -> Result<Listing, String> {
        let words: &[&str] = match view {
            View::Interactive => &["snapshot", "-i", "--all"],
            View::Full => &["snapshot", "--all"],
        };
        Ok(Listing::read(self.expect_ok(words)?.text.as_deref().unwrap_or("")))
    }

    /// Takes the client's snapshot and returns the refs of a situation.
    pub fn refs(&mut self, situation: &Situation) -> Result<Vec<String>, String> {
        resolve(&situation.pick, &self.look(situation.view)?)
    }

    /// Runs a script in the page and discards earlier reports.
    pub fn page(&mut self, code: &str) -> Result<Value, String> {
        Ok(self.site.evaluate(code)?.0)
    }

    /// Uses the refs. `insist`: repeats the command once after a notice.
    pub fn use_refs(
        &mut self,
        situation: &Situation,
        refs: &[String],
        insist: bool,
    ) -> Result<RefUse, String> {
        self.page("0")?;
        let words = situation.words(refs, &self.dir());
        let mut response = self.call(&words);
        let noticed = is_notice(&response);
        if noticed && insist {
            response = self.call(&words);
        }
        let (_, mut hits) = self.site.evaluate("0")?;
        hits.retain(|hit| situation.counts(hit));
        Ok(RefUse { response, hits, noticed })
    }

    /// Plays one situation. With `look_again`, the client takes a snapshot between the change and
    /// the use.
    pub fn play(&mut self, situation: &Situation, look_again: bool) -> Result<UseOutcome, String> {
        self.open(situation)?;
        let refs = self.refs(situation)?;
        self.page(&format!("remember({})", serde_json::json!(situation.want)))?;
        if let Some(change) = &situation.change {
            self.page(change)?;
        }
        let mut relisting = None;
        if look_again {
            let seen = self.look(situation.view)?;
            if seen.0.iter().any(|line| line.id == refs[0]) {
                let record = self.page("remembered()")?;
                relisting = Some(Relisting(record.as_str().map(str::to_owned)));
            }
        }
        let must_act = situation.kind == Kind::Act;
        let RefUse { response, hits, noticed } = self.use_refs(situation, &refs, must_act)?;
        let verdict = judge(situation, &response, &hits, relisting.as_ref());
        let outcome = UseOutcome::new(situation, verdict, noticed, &hits, &response);
        let id = format!("{}{}", situation.id, if look_again { ".re" } else { "" });
        Ok(UseOutcome { id, relisted: relisting.is_some(), ..outcome })
    }
}

/// Returns the refs of the matching lines.
fn resolve(picks: &[Pick], seen: &Listing) -> Result<Vec<String>, String> {
    let one = |pick: &Pick| {
        let fits = seen.0.iter().filter(|l| !l.id.is_empty() && pick.fits(&l.role, &l.name));
        let line = fits.into_iter().nth(pick.nth);
        line.map(|l| l.id.clone()).ok_or_else(|| {
            let lines: Vec<String> =
                seen.0.iter().map(|l| format!("{} {} {:?}", l.id, l.role, l.name)).collect();
            format!("no {pick:?} in\n{}", lines.join("\n"))
        })
    };
    picks.iter().map(one).collect()
}
