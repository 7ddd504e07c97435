//! Addresses without a page.

use super::web::{Web, html, raw};
use stickpin_kernel::ErrorCode;

/// Paths, and the error for each.
const NOTHING: &[(&str, &str)] = &[
    ("/file", "report.csv"),
    ("/empty", "204"),
    ("/reset", "205"),
    ("/script", "shows no page"),
    ("/twice", "204"),
];

fn web() -> Option<Web> {
    let file = raw(
        "200 OK",
        &["Content-Disposition: attachment; filename=report.csv", "Content-Type: text/csv"],
        "a,b",
    );
    Web::new(&[
        ("/", html("<title>Here</title><button onclick=\"tell('pressed')\">Save</button>")),
        ("/file", file),
        ("/empty", raw("204 No Content", &[], "")),
        ("/reset", raw("205 Reset Content", &[], "")),
        ("/script", raw("302 Found", &["Location: javascript:alert(1)"], "")),
        ("/twice", raw("302 Found", &["Location: /empty"], "")),
    ])
}

#[test]
fn url_without_a_page_is_an_error_that_names_the_result() {
    let Some(mut web) = web() else { return };
    for (path, what) in NOTHING {
        let url = web.url(path);
        let error = web.fails(&["open", &url], ErrorCode::DeviceNotFound);
        assert!(error.message.contains(what), "{path} without a session: {error:?}");
        web.fails(&["get", "title"], ErrorCode::SessionNotFound);
    }
    for (path, what) in NOTHING {
        let url = web.url(path);
        web.open("/");
        let error = web.fails(&["open", &url], ErrorCode::DeviceNotFound);
        assert!(error.message.contains(what), "{path}: {error:?}");
        // The previous page is still there and usable.
        web.ok(&["press", "text=Save"]);
        web.was_asked("/log?pressed");
        web.open("/");
        let error = web.fails(&["tab", "new", &url], ErrorCode::DeviceNotFound);
        assert!(error.message.contains(what), "{path} in a tab: {error:?}");
        assert_eq!(web.text(&["tab", "list"]).lines().count(), 1, "{path}");
        assert_eq!(web.text(&["get", "title"]).trim(), "Here", "{path}");
    }
}

#[test]
fn what_was_downloaded_instead_of_a_page_is_there() {
    let Some(mut web) = web() else { return };
    web.open("/");
    let url = web.url("/file");
    web.fails(&["open", &url], ErrorCode::DeviceNotFound);
    let told = web.ok(&["wait", "download"]).output.unwrap();
    let path = told.to_string();
    assert!(path.contains("report.csv"), "{told}");
}
