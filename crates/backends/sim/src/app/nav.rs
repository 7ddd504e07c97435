//! Documents, routes, history and tabs.

use super::render::TOASTS;
use super::sim::{DialogContinuation, Entry, OpenDialog, Sim};
use super::time::Job;
use super::value::Value;
use stickpin_device::{Dialog, EndedTab, Notice, TabEndReason};

/// A requested document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PendingNavigation {
    pub(crate) url: String,
    pub(crate) change: HistoryChange,
}

/// A step in the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub(crate) enum HistoryStep {
    Back,
    Forward,
    Reload,
}

/// How a navigation changes the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryChange {
    /// Adds an entry.
    Push,
    /// Loads the document of the current entry again.
    Reload,
    /// Moves to the entry at this index, and replaces it.
    Step(usize),
}

/// The reason why a document does not load.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NavError {
    #[error("{app} has no screen at `{url}`")]
    NoScreen { app: String, url: String },
    #[error("{url} did not respond (simulated failure {load} of {fails})")]
    Failed { url: String, load: u64, fails: u64 },
}

/// Returns the path of an address, without query and fragment.
fn path_of(url: &str) -> &str {
    url.split(['?', '#']).next().unwrap_or_default()
}

/// Performs navigations.
pub(crate) struct Navigator<'a> {
    pub(crate) sim: &'a mut Sim,
}

impl Sim {
    pub(crate) fn navigator(&mut self) -> Navigator<'_> {
        Navigator { sim: self }
    }
}

impl Navigator<'_> {
    /// Resolves an address relative to the current one. The address of another app stays as it is,
    /// and no screen has it.
    pub(crate) fn absolute(&self, url: &str) -> String {
        let current_path = self.sim.path();
        let prefix = format!("sim:{}", self.sim.app.name);
        let is_path = |rest: &&str| rest.is_empty() || rest.starts_with(['/', '?', '#']);
        let own = url.strip_prefix(&prefix).filter(is_path);
        if own.is_none() && url.starts_with("sim:") {
            return url.into();
        }
        let url = own.unwrap_or(url);
        match url.chars().next() {
            None => "/".into(),
            Some('/') => url.into(),
            Some('?') => format!("{}{url}", path_of(&current_path)),
            Some('#') => format!("{}{url}", current_path.split('#').next().unwrap_or_default()),
            Some(_) => {
                let folder = path_of(&current_path).rsplit_once('/').map_or("", |(folder, _)| folder);
                format!("{folder}/{url}")
            }
        }
    }

    fn screen(&self, url: &str) -> Result<(usize, Vec<(String, Value)>), NavError> {
        let none = || NavError::NoScreen { app: format!("sim:{}", self.sim.app.name), url: url.into() };
        let (screen, mut captured) = self.sim.app.route(path_of(url)).ok_or_else(none)?;
        let index = self.sim.app.screens.iter().position(|s| s.name == screen.name).ok_or_else(none)?;
        let query = url.split_once('?').map_or("", |(_, q)| q).split('#').next().unwrap_or_default();
        for pair in query.split('&').filter(|p| !p.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            captured.push((key.into(), Value::text(value)));
        }
        captured.push(("path".into(), Value::text(path_of(url))));
        Ok((index, captured))
    }

    /// Requests another document. It loads immediately or after the screen's delay; if the guard
    /// opens a dialog, only after that dialog has been accepted.
    pub(crate) fn request_navigation(&mut self, url: &str, change: HistoryChange) -> Result<(), NavError> {
        let navigation = PendingNavigation { url: self.absolute(url), change };
        self.screen(&navigation.url)?;
        let tab = self.sim.tab();
        if !tab.entries.is_empty() && !self.sim.discards {
            let guard = self.sim.app.screens[tab.screen].guard.as_ref();
            if guard.is_some_and(|g| super::eval::eval(g, &self.sim.state, &[]).truthy()) {
                let dialog = Dialog::new("beforeunload", "Changes you made may not be saved.");
                self.sim.dialog = Some(OpenDialog { dialog, then: DialogContinuation::Leave(navigation) });
                return Ok(());
            }
        }
        self.fetch(navigation)
    }

    /// Requests another document without evaluating the guard.
    pub(crate) fn fetch(&mut self, navigation: PendingNavigation) -> Result<(), NavError> {
        let (index, _) = self.screen(&navigation.url)?;
        let screen = &self.sim.app.screens[index];
        let (delay, fails) = (screen.delay, screen.flaky);
        let load = self.sim.loads.entry(screen.name.clone()).or_default();
        *load += 1;
        if *load <= fails {
            let url = format!("sim:{}{}", self.sim.app.name, navigation.url);
            return Err(NavError::Failed { url, load: *load, fails });
        }
        // A newer navigation replaces a pending one.
        self.sim.timers.retain(|t| !matches!(t.job, Job::Commit(_)));
        if delay > 0 {
            let name = format!("GET {}", navigation.url);
            self.sim.set_timer(delay, &name, Job::Commit(navigation));
        } else {
            self.commit(navigation);
        }
        Ok(())
    }

    /// Shows the requested document.
    pub(crate) fn commit(&mut self, navigation: PendingNavigation) {
        // The screen was already found when the document was requested.
        let Ok((index, captured)) = self.screen(&navigation.url) else { return };
        let old = self.sim.tab().entries.get(self.sim.tab().at).map(|e| e.scope);
        self.sim.timers.retain(|t| Some(t.scope) != old);
        self.sim.state.lists.insert(TOASTS.into(), Vec::new());
        self.sim.state.vars.extend(self.sim.app.page.clone());
        self.sim.hover = None;
        let entry = Entry { url: navigation.url, scope: self.sim.ids.scope() };
        let tab = self.sim.tab_mut();
        tab.scroll.clear();
        tab.epochs.clear();
        tab.typed.clear();
        tab.focus = None;
        tab.push_history(entry, navigation.change);
        self.show(index, captured);
    }

    /// Changes the address within the current document.
    pub(crate) fn route(&mut self, url: &str, change: HistoryChange) -> Result<(), NavError> {
        let url = self.absolute(url);
        let (index, captured) = self.screen(&url)?;
        let scope = self.sim.tab().entries[self.sim.tab().at].scope;
        self.sim.tab_mut().push_history(Entry { url, scope }, change);
        self.show(index, captured);
        Ok(())
    }

    fn show(&mut self, screen: usize, captured: Vec<(String, Value)>) {
        self.sim.tab_mut().screen = screen;
        self.sim.state.vars.extend(captured);
        let app = self.sim.app.clone();
        let url = self.sim.url();
        self.sim.notice(Notice::Navigated { url });
        self.sim.run(&app.screens[screen].enter, &[].into());
        self.sim.forget_live_texts();
        self.sim.refresh();
    }

    /// Moves in the history. Returns false if there is no such entry.
    pub(crate) fn history(&mut self, step: HistoryStep) -> Result<bool, NavError> {
        let tab = self.sim.tab();
        let to = match step {
            HistoryStep::Back => tab.at.checked_sub(1),
            HistoryStep::Forward => Some(tab.at + 1).filter(|to| *to < tab.entries.len()),
            HistoryStep::Reload => {
                let url = self.sim.path();
                self.request_navigation(&url, HistoryChange::Reload)?;
                return Ok(true);
            }
        };
        let Some(to) = to else { return Ok(false) };
        let (entry, here) = (tab.entries[to].clone(), tab.entries[tab.at].scope);
        if entry.scope == here {
            self.route(&entry.url, HistoryChange::Step(to))?;
        } else {
            self.request_navigation(&entry.url, HistoryChange::Step(to))?;
        }
        Ok(true)
    }

    /// Replaces the app. History and data start over; the numbering of identities continues.
    pub(crate) fn replace_app(
        &mut self,
        app: std::sync::Arc<super::model::App>,
        path: &str,
    ) -> Result<(), NavError> {
        if app.route(path_of(path)).is_none() {
            return Err(NavError::NoScreen { app: format!("sim:{}", app.name), url: path.into() });
        }
        // The clock continues: a caller that is waiting for the new app started counting earlier.
        let now_ms = self.sim.state.now_ms;
        self.sim.state = super::state::State::new(&app);
        self.sim.state.now_ms = now_ms;
        self.sim.app = app;
        self.sim.timers.clear();
        self.sim.loads.clear();
        self.sim.tabs.truncate(1);
        self.sim.active = 0;
        self.sim.tabs[0].entries.clear();
        self.request_navigation(path, HistoryChange::Push)
    }

    /// Reloads the document, which takes 300 ms.
    pub(crate) fn reload_slowly(&mut self) {
        let navigation = PendingNavigation { url: self.sim.path(), change: HistoryChange::Reload };
        let name = format!("GET {}", navigation.url);
        self.sim.set_timer(300, &name, Job::Commit(navigation));
    }

    /// Opens another tab and brings it to the front.
    pub(crate) fn open_tab(&mut self, url: &str) -> Result<(), NavError> {
        let url = self.absolute(url);
        self.screen(&url)?;
        self.sim.add_tab();
        let opened = Notice::TabOpened { id: format!("t{}", self.sim.tab_serial), what: url.clone() };
        self.sim.notice(opened);
        self.fetch(PendingNavigation { url, change: HistoryChange::Push })
    }

    /// Closes the front tab. The next tab, or the previous one if there is no next tab, comes to
    /// the front. The only tab stays.
    pub(crate) fn close_tab(&mut self) {
        if self.sim.tabs.len() > 1 {
            self.remove_tab(self.sim.active, TabEndReason::Closed);
        }
    }

    /// Removes a tab. If it was the front one, the next tab comes to the front, or the previous one
    /// if there is no next tab.
    pub(crate) fn remove_tab(&mut self, at: usize, reason: TabEndReason) {
        let removed = self.sim.tabs.remove(at);
        let scopes: Vec<u64> = removed.entries.iter().map(|e| e.scope).collect();
        self.sim.timers.retain(|t| !scopes.contains(&t.scope));
        let was_front = at == self.sim.active;
        if at < self.sim.active || self.sim.active == self.sim.tabs.len() {
            self.sim.active -= 1;
        }
        let now = was_front.then(|| format!("t{} {}", self.sim.tab().surface.0, self.sim.url()));
        let id = format!("t{}", removed.surface.0);
        self.sim.notice(Notice::TabClosed { id: id.clone() });
        self.sim.ended.push(EndedTab::new(id, removed.surface, reason).active_tab(now));
        if was_front {
            self.update_front_tab();
        }
    }

    /// Updates the app after another tab has come to the front.
    pub(crate) fn update_front_tab(&mut self) {
        if let Ok((_, captured)) = self.screen(&self.sim.path()) {
            self.sim.state.vars.extend(captured);
        }
        // Another surface counts as a change even if its text is equal.
        self.sim.revision += 1;
        self.sim.refresh();
    }
}

impl super::sim::Tab {
    fn push_history(&mut self, entry: Entry, change: HistoryChange) {
        match change {
            HistoryChange::Push => {
                if !self.entries.is_empty() {
                    self.entries.truncate(self.at + 1);
                }
                self.entries.push(entry);
                self.at = self.entries.len() - 1;
            }
            HistoryChange::Reload => {
                // All entries of the reloaded document move to the new one.
                let old = self.entries[self.at].scope;
                for e in self.entries.iter_mut().filter(|e| e.scope == old) {
                    e.scope = entry.scope;
                }
                self.entries[self.at] = entry;
            }
            HistoryChange::Step(to) => {
                self.at = to;
                self.entries[to] = entry;
            }
        }
    }
}
