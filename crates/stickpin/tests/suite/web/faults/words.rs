//! Words that only `read` shows: `find` returns the element that contains them.

use super::web::{Web, html};

#[test]
fn value_that_a_snapshot_cuts_is_returned_whole() {
    let body = "<textarea id=t aria-label=Long></textarea><script>t.value='ab'.repeat(5100)+'end'</script>";
    let Some(mut site) = Web::new(&[("/", html(body))]) else { return };
    site.open("/");
    assert_eq!(site.text(&["get", "value", "label=Long"]).trim(), "ab".repeat(5_100) + "end");
}

#[test]
fn words_of_read_are_found_wherever_they_stand() {
    let body = "<main>Loose words in the page<p>A paragraph with <b>bold</b> words, 10&nbsp;000 of them</p>\
        <p>Ver&shy;fassungs&shy;beschwerde and very<wbr>long</p>\
        <pre><code><span>let</span> <span>total</span> = <i>sum</i>(a,\n    b)</code></pre>\
        <table><tr><th>Name</th><th>Age</th></tr><tr><td>Ada&nbsp;L.</td><td>36</td></tr></table>\
        <blockquote>Quoted words</blockquote><figure><img alt='A drawn cat' src=data:,><figcaption>Caption words</figcaption></figure>\
        <details open><summary>More</summary>Inside words</details><dl><dt>Term words</dt><dd>Meaning words</dd></dl></main>";
    let Some(mut site) = Web::new(&[("/words", html(body)), ("/bare", html("Nothing but words"))]) else {
        return;
    };
    site.open("/words");
    for words in [
        "Loose words",
        "with bold words",
        "10 000 of them",
        "10\u{a0}000 of them",
        "Verfassungsbeschwerde",
        "verylong",
        "let total = sum(a,",
        "let total = sum(a,\n    b)",
        "sum(a, b)",
        "Ada L.",
        "Ada L. 36",
        "Quoted words",
        "A drawn cat",
        "Caption words",
        "Inside words",
        "Term words",
        "Meaning words",
    ] {
        let found = site.text(&["find", words]);
        assert!(found.trim_start().starts_with("@e"), "{words}: {found}");
    }
    // Also directly in the page, without an element around it.
    site.open("/bare");
    let found = site.text(&["find", "but words"]);
    assert!(found.trim_start().starts_with("@e"), "{found}");
}
