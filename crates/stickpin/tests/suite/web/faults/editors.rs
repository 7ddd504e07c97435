//! Code and text editors from npm, each set up as documented. The editor's own model must contain
//! the filled and typed text; a button of the page reports it.

use super::web::{PATIENCE, Web, html};
use std::sync::Arc;
use stickpin_kernel::{ErrorCode, Response};
use stickpin_testkit::{InProcess, PageRequest, PageResponse, PageServer, chromium, workspace_root};

/// Automatic brackets and indentation would change this text if it were typed by keys.
const CODE: &str = "function f(a) {\n    if (a) {\n  return [\"x\", 'y']\n    }\n}\n\n// end (";

struct Editors {
    surface: InProcess,
    server: PageServer,
    _dir: tempfile::TempDir,
}

impl Editors {
    fn new() -> Option<Self> {
        let modules = stickpin_testkit::editors()?.join("node_modules");
        let provider = chromium()?;
        let answers = move |asked: PageRequest<'_>| {
            let path = asked.target.split('?').next()?.strip_prefix("/npm/")?;
            let media = match path.rsplit_once('.')?.1 {
                "css" => "text/css",
                "js" => "text/javascript",
                _ => "application/octet-stream",
            };
            Some(PageResponse { media, body: std::fs::read(modules.join(path)).ok()?, log: None })
        };
        let pages = workspace_root().join("fixtures/web/editors");
        let server = PageServer::start_with(&pages, Box::new(answers)).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let surface = InProcess::new(dir.path(), vec![Arc::new(provider)]);
        Some(Self { surface, server, _dir: dir })
    }

    fn open(&mut self, page: &str) {
        let url = format!("{}/{page}", self.server.origin());
        self.ok(&["open", &url]);
        self.ok(&["wait", "text", "Report"]);
    }

    #[track_caller]
    fn ok(&mut self, words: &[&str]) -> Response {
        let response = self.surface.request(words, |_| {});
        assert!(response.ok, "{words:?}: {response:#?}");
        response
    }

    /// Returns the ref of the only text box other than the title.
    #[track_caller]
    fn field(&mut self) -> String {
        let shown = self.ok(&["snapshot", "-i", "--all"]).text.unwrap_or_default();
        let fields = shown.lines().filter(|line| line.contains(" textbox") && !line.contains("\"Title\""));
        let mut refs = fields.filter_map(|line| line.trim().split(' ').next());
        match (refs.next(), refs.next()) {
            (Some(field), None) => field.to_owned(),
            _ => panic!("not one field:\n{shown}"),
        }
    }

    /// Checks the content of the editor's model.
    #[track_caller]
    fn holds(&mut self, text: &str) {
        self.ok(&["press", "role=button \"Report\""]);
        let held = self.server.wait_for_prefix("", PATIENCE).expect("the page reports");
        assert_eq!(serde_json::from_str::<String>(&held).unwrap(), text);
    }

    /// Fills a text and reads it back.
    #[track_caller]
    fn fills(&mut self, field: &str, text: &str) {
        let filled = self.ok(&["fill", field, text]);
        let warning = filled.warning.as_deref().unwrap_or_default();
        assert!(!warning.contains("read back"), "{filled:#?}");
    }
}

/// Fills in code unchanged over any content, clears it, and extends it by typing.
fn takes_code(page: &str) {
    let Some(mut site) = Editors::new() else { return };
    for lines in [2, 300] {
        let query = if page.contains('?') { '&' } else { '?' };
        site.open(&format!("{page}{query}lines={lines}"));
        let field = site.field();
        site.fills(&field, CODE);
        site.holds(CODE);
        // This is more than an editor renders at a time.
        let long = (0..400).map(|n| format!("line({n}) {{")).collect::<Vec<_>>().join("\n");
        site.fills(&field, &long);
        site.holds(&long);
        // Again, by its original ref.
        site.fills(&field, "x");
        site.holds("x");
        site.ok(&["type", " = y", "--into", &field]);
        site.holds("x = y");
        site.fills(&field, "");
        site.holds("");
        site.fills(&field, "let a");
        // The caret is after the text, and nothing is selected.
        site.ok(&["type", " = 1"]);
        site.holds("let a = 1");
        // The neighboring field is unchanged.
        let title = site.ok(&["get", "value", "label=Title"]).output.unwrap_or_default();
        assert_eq!(title["value"], "", "{title:#?}");
    }
}

#[test]
fn monaco_is_filled_through_its_edit_context() {
    takes_code("monaco.html");
}

#[test]
fn monaco_is_filled_through_its_text_area() {
    takes_code("monaco.html?field=textarea");
}

#[test]
fn codemirror_5_is_filled_through_its_text_area() {
    takes_code("codemirror5.html");
}

#[test]
fn codemirror_5_is_filled_where_it_is_edited_in_place() {
    takes_code("codemirror5.html?field=contenteditable");
}

#[test]
fn codemirror_6_is_filled() {
    takes_code("codemirror6.html");
}

#[test]
fn ace_is_filled() {
    takes_code("ace.html");
}

/// Fills in, replaces, clears and extends a text.
fn takes_text(page: &str) {
    let Some(mut site) = Editors::new() else { return };
    site.open(page);
    let field = site.field();
    for text in ["Dear Ada", "Dear Grace (thank you)"] {
        site.fills(&field, text);
        site.holds(text);
    }
    site.ok(&["type", "!\nYours", "--into", &field]);
    site.holds("Dear Grace (thank you)!\nYours");
    site.ok(&["fill", &field, "one\ntwo"]);
    site.holds("one\ntwo");
    site.ok(&["fill", &field, ""]);
    site.holds("");
}

#[test]
fn prosemirror_is_filled() {
    takes_text("prosemirror.html");
}

#[test]
fn tinymce_is_filled_inside_its_frame() {
    takes_text("tinymce.html");
}

#[test]
fn editor_that_refuses_a_text_is_a_mismatch() {
    let Some(mut site) = Editors::new() else { return };
    for page in [
        "monaco.html?readonly",
        "codemirror5.html?readonly",
        "codemirror6.html?readonly",
        "ace.html?readonly",
    ] {
        site.open(page);
        let field = site.field();
        let refused = site.surface.request(&["fill", &field, "new"], |_| {});
        let error = refused.error.unwrap_or_else(|| panic!("{page}: filled"));
        assert!(
            matches!(
                error.code,
                ErrorCode::FillMismatch | ErrorCode::ElementDisabled | ErrorCode::Unsupported
            ),
            "{page}: {error:#?}"
        );
        site.holds("line 1\nline 2");
    }
}

/// An editor that does not support copying: its content is unknown, and neither confirmed nor
/// denied.
#[test]
fn editor_that_gives_no_copy_is_filled_with_a_word_about_it() {
    let page = "<div class=ace_editor style='width: 300px; height: 100px'><textarea class=ace_text-input aria-label=Code style='opacity: 0; width: 1px'></textarea>\
        <div class=ace_line id=line> </div></div><script>document.querySelector('textarea').onpaste = e => { e.preventDefault();\
        const text = e.clipboardData.getData('text/plain'); line.textContent = text.slice(0, 3) + '...'; tell('got:' + text); }</script>";
    let Some(mut site) = Web::new(&[("/mute", html(page))]) else { return };
    site.open("/mute");
    let filled = site.ok(&["fill", "role=textbox", "secrets"]);
    assert!(filled.warning.unwrap_or_default().contains("could not be read back"));
    site.was_asked("/log?got:secrets");
    // It is unknown whether the key selects the content, so nothing is pasted.
    site.fails(&["fill", "role=textbox", "more"], ErrorCode::Unsupported);
    assert_eq!(site.times("/log?got:more"), 0);
}
