//! Giving files to an app, as a person does who types their path: what opens a file chooser is pressed, the path goes
//! into the field of the chooser, and Enter takes it.

mod foreign;

pub(crate) use foreign::{Foreign, is_foreign};

use crate::act::DONE;
use crate::aim::chain;
use crate::bus::{ACTION, Args, Call, Toolkit};
use crate::capture::read::is_field;
use crate::device::{LinuxDevice, gone};
use crate::model::{Interfaces, Object, Picture};
use crate::mouse::NONE;
use crate::roles::number as n;
use crate::states as s;
use std::path::PathBuf;
use std::time::Duration;
use stickpin_kernel::device::{Action, CancellationToken, FileInput, Modifiers, Performed};
use stickpin_kernel::{Dispatched, Error, ErrorCode, Result};
use stickpin_tree::{Handle, quote};
use tokio::time::{Instant, timeout};

/// How long a chooser may take to come, to show its field, and to go.
const CHOOSER: Duration = Duration::from_secs(5);

/// How long an app may say nothing after a press until it opens no chooser.
const SILENT: Duration = Duration::from_millis(600);

/// How long the window of another process may take to come that a press was to open.
const STRANGER: Duration = Duration::from_secs(3);

/// How often a path is given to a chooser that does not take it.
const TRIES: usize = 4;

/// How often a chooser is told to close: the first time may only put away the list below its field.
const ESCAPES: usize = 3;

/// What GTK 4 calls the content of its chooser.
const GTK4_CHOOSER: &str = "GtkFileChooserWidget";

impl LinuxDevice {
    /// The file chooser that a handle stands for: its window, or the field for paths in it.
    pub(crate) fn chooser_of(&mut self, handle: Handle) -> Option<FileInput> {
        if is_foreign(handle) {
            return self.foreign_of(handle);
        }
        let at = self.index(handle)?;
        let picture = &self.last.as_ref()?.picture;
        let top = *chain(picture, at).last()?;
        if !is_chooser(picture, top) || (at != top && !is_field(picture.objects[at].role)) {
            return None;
        }
        let path = picture.objects[top].path.clone();
        let input = self.ids.handle(&path);
        Some(self.takes(input))
    }

    /// What a chooser of this app takes.
    fn takes(&self, input: Handle) -> FileInput {
        let multiple = self.takes_several();
        FileInput { input, multiple, directory: false, accept: String::new(), holds: Vec::new() }
    }

    /// Whether the choosers of its toolkit take several files.
    fn takes_several(&self) -> bool {
        self.link.toolkit == Toolkit::Qt
    }

    /// Presses what may open a file chooser, and waits for that.
    pub(crate) async fn choose(
        &mut self,
        point: (f64, f64),
        target: Handle,
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        let before: Vec<String> = self.choosers();
        let strangers: Vec<u32> = self.beside().await?.into_iter().map(|window| window.id).collect();
        let press = Action::press(point, Some(target));
        self.until_activated(target).await?;
        let mut performed = match self.press(target).await? {
            Some(performed) => performed,
            None => self.press_at(&press, cancel).await?,
        };
        let opened =
            self.until_shown(cancel, |d| d.choosers().into_iter().find(|path| !before.contains(path)));
        let unknown = |e: Error| e.dispatched(Dispatched::Unknown);
        let opened = opened.await.map_err(unknown)?;
        if opened.is_none()
            && let Some(window) = self.stranger_beside(&strangers, cancel).await.map_err(unknown)?
        {
            performed.chooser = Some(self.meet(window, cancel).await.map_err(unknown)?);
            return Ok(performed);
        }
        if let Some(top) = opened.as_deref().filter(|top| self.saves(top)) {
            let error = to_save_in(&self.title_of(top));
            let closed = self.escape(top).await.map_err(unknown)?;
            return Err(unknown(if closed {
                error.hint("it was closed again, with nothing chosen; stickpin press opens it, stickpin fill says the name")
            } else {
                error
            }));
        }
        performed.chooser = opened.map(|path| self.ids.handle(&path));
        Ok(performed)
    }

    /// Types the paths of files into a chooser, and takes them.
    pub(crate) async fn give_files(
        &mut self,
        chooser: Handle,
        files: &[PathBuf],
        cancel: &CancellationToken,
    ) -> Result<Performed> {
        if is_foreign(chooser) {
            return self.give_elsewhere(chooser, files, cancel).await;
        }
        let at = self.index(chooser).ok_or_else(gone)?;
        let top = self.last.as_ref().map(|last| last.picture.objects[at].path.clone()).ok_or_else(gone)?;
        let title = self.title_of(&top);
        let text = as_text(files);
        let unknown = |e: Error| e.dispatched(Dispatched::Unknown);
        let mut taken = false;
        // A chooser that still reads a folder does not take a path, and may even put its field away again.
        for again in 0..TRIES {
            let Some(field) = self.shown_field(&top, cancel).await? else {
                if again > 0 {
                    break;
                }
                return Err(Error::new(
                    ErrorCode::Unsupported,
                    format!("the file chooser {} shows no field for a path", quote(&title)),
                )
                .hint("stickpin snapshot -i shows what it has instead; stickpin key Escape closes it"));
            };
            if self.saves(&top) {
                return Err(to_save_in(&title));
            }
            let before = self.modal_windows();
            self.type_path(&top, &field, &text, cancel).await.map_err(unknown)?;
            let became = self.until_shown(cancel, |d| {
                let asks = || d.modal_windows().into_iter().find(|window| !before.contains(window)).map(Some);
                if d.choosers().contains(&top) { asks() } else { Some(None) }
            });
            match became.await.map_err(unknown)? {
                Some(None) => taken = true,
                // Whatever it asks, Enter would answer it.
                Some(Some(window)) => {
                    let message = format!(
                        "the file chooser {} did not take {}: {} has opened over it",
                        quote(&title),
                        quote(&text),
                        quote(&self.title_of(&window))
                    );
                    return Err(unknown(Error::new(ErrorCode::InvalidArgs, message).hint(
                        "both are still open: stickpin snapshot -i shows what it says; stickpin key Escape closes one at a time",
                    )));
                }
                None => {}
            }
            if taken || cancel.is_cancelled() {
                break;
            }
        }
        if !taken {
            return Err(unknown(
                Error::new(
                    ErrorCode::InvalidArgs,
                    format!("the file chooser {} did not take {}", quote(&title), quote(&text)),
                )
                .hint("it is still open, and may want files of another kind: stickpin snapshot -i; stickpin key Escape closes it"),
            ));
        }
        let name = |file: &PathBuf| file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let value = files.iter().map(name).collect::<Vec<_>>().join(", ");
        Ok(Performed { handled: true, value: Some(value), ..Performed::default() })
    }

    /// Closes a chooser; whether it is gone.
    pub(crate) async fn close_chooser(&mut self, chooser: Handle) -> Result<bool> {
        if is_foreign(chooser) {
            return self.close_elsewhere(chooser).await;
        }
        let path = self.path(chooser)?;
        self.escape(&path).await
    }

    /// Closes the chooser with this path as a person would; whether it is gone.
    async fn escape(&mut self, top: &str) -> Result<bool> {
        let cancel = CancellationToken::new();
        for _ in 0..ESCAPES {
            if !self.choosers().iter().any(|path| path == top) {
                return Ok(true);
            }
            self.chord_in(top, NONE, "Escape").await?;
            let left = |d: &Self| (!d.choosers().iter().any(|path| path == top)).then_some(());
            if self.until_shown(&cancel, left).await?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The field for paths of a chooser, which GTK shows when it is asked to.
    async fn shown_field(&mut self, top: &str, cancel: &CancellationToken) -> Result<Option<Object>> {
        match self.field_of(top) {
            Some(field) => Ok(Some(field)),
            None => {
                self.chord_in(top, Modifiers { control: true, ..NONE }, "l").await?;
                self.until_shown(cancel, |d| d.field_of(top)).await
            }
        }
    }

    /// Puts a path into a field and takes it.
    async fn type_path(
        &mut self,
        top: &str,
        field: &Object,
        text: &str,
        cancel: &CancellationToken,
    ) -> Result<()> {
        let handle = self.ids.handle(&field.path);
        if !self.set_text(field, text).await? {
            self.fill_by_keys(handle, text, cancel).await?;
        }
        if !self.activates(field).await? {
            // It has the focus when this comes back: Enter goes nowhere else.
            self.focus(handle).await?;
            self.chord_in(top, NONE, "Enter").await?;
        }
        Ok(())
    }

    /// Does what Enter does in a field, by the field's own action, if it has one. GTK 4 says of one that it did it, and
    /// does nothing.
    async fn activates(&mut self, field: &Object) -> Result<bool> {
        if !field.has(Interfaces::ACTION) || self.link.toolkit == Toolkit::Gtk4 {
            return Ok(false);
        }
        let path = field.path.clone();
        let actions = self.actions_of(&path).await?;
        let Some(index) = actions.iter().position(|action| action.eq_ignore_ascii_case("activate")) else {
            return Ok(false);
        };
        let index = i32::try_from(index).unwrap_or(i32::MAX);
        let args = Args::new().int(index);
        let call = Call { path: &path, interface: ACTION, member: "DoAction", args };
        match self.link.order(&call, DONE).await {
            Ok(Some(answer)) => Ok(answer.body().bool().unwrap_or(true)),
            // It asks something from inside.
            Ok(None) => Ok(true),
            Err(fault) => self.refused(&path, fault).await.map(|()| false),
        }
    }

    /// The paths of the windows that are file choosers.
    fn choosers(&self) -> Vec<String> {
        let Some(last) = &self.last else { return Vec::new() };
        let picture = &last.picture;
        let windows = picture.root().children.iter().copied();
        let choosers = windows.filter(|&window| is_chooser(picture, window));
        choosers.map(|window| picture.objects[window].path.clone()).collect()
    }

    /// The paths of the windows that take all input of the app.
    fn modal_windows(&self) -> Vec<String> {
        let Some(last) = &self.last else { return Vec::new() };
        let objects = &last.picture.objects;
        let windows = last.picture.root().children.iter().map(|&window| &objects[window]);
        windows.filter(|o| o.shown && o.is(s::MODAL)).map(|o| o.path.clone()).collect()
    }

    /// Whether the chooser with this path is one to save in.
    fn saves(&self, top: &str) -> bool {
        let Some(last) = &self.last else { return false };
        let at = last.picture.objects.iter().position(|object| object.path == top);
        at.is_some_and(|at| is_to_save_in(&last.picture, at))
    }

    /// The title of the window with this path.
    fn title_of(&self, top: &str) -> String {
        self.object_at(top).map_or_else(String::new, |object| object.name.clone())
    }

    /// Those with this title.
    fn choosers_called(&self, title: &str) -> Vec<String> {
        let called = |path: &String| self.object_at(path).is_some_and(|object| object.name == title);
        self.choosers().into_iter().filter(called).collect()
    }

    fn object_at(&self, path: &str) -> Option<&Object> {
        self.last.as_ref()?.picture.objects.iter().find(|object| object.path == path)
    }

    /// The field for paths in the chooser with this path.
    fn field_of(&self, top: &str) -> Option<Object> {
        let picture = &self.last.as_ref()?.picture;
        let at = picture.objects.iter().position(|object| object.path == top)?;
        path_field(picture, at).map(|field| picture.objects[field].clone())
    }

    /// Reads the app again and again until it shows what is looked for; none when it has been silent before.
    async fn until_shown<T>(
        &mut self,
        cancel: &CancellationToken,
        mut look: impl FnMut(&Self) -> Option<T>,
    ) -> Result<Option<T>> {
        let until = Instant::now() + CHOOSER;
        loop {
            self.alive().await?;
            self.look(&[]).await?;
            let found = look(self);
            let left = until.saturating_duration_since(Instant::now());
            if found.is_some() || left.is_zero() || cancel.is_cancelled() {
                return Ok(found);
            }
            let seen = self.seen;
            let more = self.heard.until(|heard| (heard.changes != seen || heard.gone).then_some(()));
            if timeout(left.min(SILENT), more).await.is_err() {
                // One that is busy has not signalled yet.
                self.link.barrier().await.map_err(|fault| self.lost(&fault))?;
                if self.heard.state().changes == seen {
                    return Ok(None);
                }
            }
        }
    }
}

/// Whether a window is a file chooser.
fn is_chooser(picture: &Picture, window: usize) -> bool {
    let object = &picture.objects[window];
    if !object.shown {
        return false;
    }
    let has = |is: &dyn Fn(&Object) -> bool| any_below(picture, window, 0, is);
    match picture.toolkit {
        Toolkit::Gtk4 => has(&|o| o.name == GTK4_CHOOSER),
        // That of Qt has no role of its own: it says in a list which folder it shows, and has a field beside.
        Toolkit::Qt => {
            let folder = |o: &Object| o.role == n::COMBO_BOX && o.name.starts_with('/');
            object.role == n::DIALOG && has(&folder) && path_field(picture, window).is_some()
        }
        _ => object.role == n::FILE_CHOOSER || has(&|o| o.role == n::FILE_CHOOSER),
    }
}

/// The field of a chooser that takes paths: the first that is not in a list.
fn path_field(picture: &Picture, window: usize) -> Option<usize> {
    let holds = |o: &Object| matches!(o.role, n::COMBO_BOX | n::TREE | n::TABLE | n::TREE_TABLE | n::LIST);
    let mut next = vec![window];
    while let Some(at) = next.pop() {
        let object = &picture.objects[at];
        if !object.shown || holds(object) {
            continue;
        }
        if is_field(object.role) && object.role != n::PASSWORD {
            // In GTK 4 the field that can be written is inside one that cannot.
            let inner = object.children.iter().find(|&&child| is_field(picture.objects[child].role));
            return Some(inner.copied().filter(|&child| picture.objects[child].shown).unwrap_or(at));
        }
        next.extend(object.children.iter().rev());
    }
    None
}

/// Whether a chooser of GTK is one to save in: it has its field for the name before its list of places, where one to open
/// has it behind that, if at all. That of Qt asks before it writes over a file.
fn is_to_save_in(picture: &Picture, window: usize) -> bool {
    if !matches!(picture.toolkit, Toolkit::Gtk3 | Toolkit::Gtk4) {
        return false;
    }
    let (mut next, mut field) = (vec![window], false);
    while let Some(at) = next.pop() {
        let object = &picture.objects[at];
        match object.role {
            _ if !object.shown => continue,
            n::LIST | n::LIST_BOX => return field,
            n::TABLE | n::TREE_TABLE | n::TREE => continue,
            role => field |= is_field(role),
        }
        next.extend(object.children.iter().rev());
    }
    false
}

/// The error of a chooser that gives a file to nobody: what is named there is written over.
fn to_save_in(title: &str) -> Error {
    Error::new(
        ErrorCode::InvalidArgs,
        format!(
            "the file chooser {} is one to save in: it takes no file, but would write over it",
            quote(title)
        ),
    )
    .hint("it is still open: stickpin fill says the name, stickpin key Escape closes it")
}

/// Whether an object below another one is such.
fn any_below(picture: &Picture, at: usize, depth: usize, is: &dyn Fn(&Object) -> bool) -> bool {
    let shown = |child: &&usize| picture.objects[**child].shown;
    depth <= crate::capture::DEPTH
        && picture.objects[at]
            .children
            .iter()
            .filter(shown)
            .any(|&child| is(&picture.objects[child]) || any_below(picture, child, depth + 1, is))
}

/// Paths as a chooser reads them: one as it is, several in quotes.
fn as_text(files: &[PathBuf]) -> String {
    match files {
        [one] => one.to_string_lossy().into_owned(),
        several => several.iter().map(|file| format!("\"{}\"", file.display())).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(role: u32, name: &str, children: &[usize]) -> Object {
        Object { role, name: name.to_owned(), children: children.to_vec(), shown: true, ..Object::default() }
    }

    #[test]
    fn a_chooser_is_told_by_what_its_toolkit_says_of_it() {
        let of = |toolkit, objects: Vec<Object>| {
            let picture = Picture { toolkit, objects, truncated: false };
            (is_chooser(&picture, 1), path_field(&picture, 1))
        };
        let app = || object(75, "app", &[1]);
        let gtk3 = vec![app(), object(n::FILE_CHOOSER, "Open", &[2]), object(n::PANEL, "", &[])];
        assert_eq!(of(Toolkit::Gtk3, gtk3), (true, None));
        let gtk4 = |name| {
            vec![
                app(),
                object(n::FILLER, "Open", &[2]),
                object(n::FILLER, name, &[3, 4]),
                object(n::ENTRY, "", &[5]),
                object(n::ENTRY, "", &[]),
                object(n::TEXT, "", &[]),
            ]
        };
        assert_eq!(of(Toolkit::Gtk4, gtk4(GTK4_CHOOSER)), (true, Some(5)));
        assert!(!of(Toolkit::Gtk4, gtk4("Notes")).0);
        let qt = |folder| {
            vec![
                app(),
                object(n::DIALOG, "Open", &[2, 3, 5]),
                object(n::COMBO_BOX, folder, &[]),
                object(n::TREE, "Files", &[4]),
                object(n::TEXT, "a name that is being written", &[]),
                object(n::TEXT, "File name:", &[]),
            ]
        };
        assert_eq!(of(Toolkit::Qt, qt("/home")), (true, Some(5)));
        assert!(!of(Toolkit::Qt, qt("Normal")).0);
    }

    #[test]
    fn a_chooser_to_save_in_has_its_field_before_the_places() {
        let saves = |toolkit, order: &[usize]| {
            let objects = vec![
                object(75, "app", &[1]),
                object(n::FILE_CHOOSER, "Choose", order),
                object(n::TEXT, "", &[]),
                object(n::LIST_BOX, "", &[]),
                object(n::TABLE, "", &[5]),
                object(n::TEXT, "a name that is being written", &[]),
            ];
            is_to_save_in(&Picture { toolkit, objects, truncated: false }, 1)
        };
        for toolkit in [Toolkit::Gtk3, Toolkit::Gtk4] {
            assert!(saves(toolkit, &[2, 3, 4]));
            assert!(!saves(toolkit, &[3, 2, 4]), "the field that Control+l shows");
            assert!(!saves(toolkit, &[3, 4]) && !saves(toolkit, &[4, 3]));
        }
        assert!(!saves(Toolkit::Qt, &[2, 3, 4]));
    }

    #[test]
    fn several_paths_are_in_quotes() {
        assert_eq!(as_text(&["/a b".into()]), "/a b");
        assert_eq!(as_text(&["/a b".into(), "/c".into()]), "\"/a b\" \"/c\"");
    }
}
