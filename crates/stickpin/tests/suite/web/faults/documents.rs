//! Documents other than HTML: each opens quickly, is captured, shown and left again, and its
//! controls can be pressed.

use super::web::{Web, html, page, raw};
use std::time::{Duration, Instant};

/// The time limit for a command on such a document on a busy machine.
const SOON: Duration = Duration::from_secs(6);

const GIF: &[u8] =
    b"GIF89a\x01\x00\x01\x00\x80\x00\x00\xff\xff\xff\x00\x00\x00!\xf9\x04\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;";

const PDF: &str = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
    3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj\n\
    4 0 obj<</Length 38>>stream\nBT /F1 24 Tf 20 100 Td (Invoice) Tj ET\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n";

const TELL: &str = "const tell=w=>{const x=new XMLHttpRequest();x.open('POST','/log?'+w,false);x.send()};";

fn bytes(media: &str, body: &[u8]) -> Vec<u8> {
    let mut answer = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {media}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    answer
}

/// Documents by their paths, and the expected content of each.
fn documents() -> Vec<(&'static str, Vec<u8>, &'static str)> {
    let svg = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='400' height='200'><title>Chart</title><script>{TELL}</script>\
         <rect id='bar' width='100' height='100' onclick='tell(\"svg\")'/><text x='150' y='50'>Sales</text></svg>"
    );
    let xhtml = format!(
        "<html xmlns='http://www.w3.org/1999/xhtml'><head><title>Form</title><script>{TELL}</script></head><body>\
         <button id='b' onclick='tell(\"xhtml\")'>Save</button></body></html>"
    );
    let text = "text/plain; charset=utf-8";
    vec![
        ("/chart.svg", page("image/svg+xml", &svg), "Sales"),
        ("/form.xhtml", page("application/xhtml+xml", &xhtml), "Save"),
        ("/list.xml", page("text/xml", "<?xml version='1.0'?><list><item>One</item></list>"), "One"),
        (
            "/feed.rss",
            page("application/rss+xml", "<rss><channel><title>News</title></channel></rss>"),
            "News",
        ),
        ("/broken.xml", page("application/xml", "<list><item>One</list>"), "error"),
        (
            "/styled.xml",
            page("text/xml", "<?xml-stylesheet href='/s.css'?><list><item>Two</item></list>"),
            "Two",
        ),
        ("/notes.txt", raw("200 OK", &[&format!("Content-Type: {text}")], "Plain words"), "Plain words"),
        ("/data.json", page("application/json", "{\"name\":\"Ada\"}"), "Ada"),
        ("/dot.gif", bytes("image/gif", GIF), ""),
        ("/invoice.pdf", bytes("application/pdf", PDF.as_bytes()), ""),
    ]
}

fn timed<T>(what: &str, work: impl FnOnce() -> T) -> T {
    let began = Instant::now();
    let done = work();
    eprintln!("{what}: {:?}", began.elapsed());
    assert!(began.elapsed() < SOON, "{what} took {:?}", began.elapsed());
    done
}

/// Runs every reading command on a document.
fn look_at(web: &mut Web, address: &str, reads: &str) {
    timed(&format!("open {address}"), || web.ok(&["open", address]));
    let text = timed("snapshot", || web.text(&["snapshot"]));
    assert!(text.contains(reads), "{address}: {text}");
    let text = timed("read", || web.text(&["read"]));
    assert!(text.contains(reads), "{address}: {text}");
    for words in [
        &["snapshot", "-i"][..],
        &["get", "title"],
        &["get", "url"],
        &["wait", "stable"],
        &["screenshot"],
        &["key", "Escape"],
        &["tab", "list"],
        &["reload"],
        &["snapshot"],
    ] {
        timed(words[0], || web.ok(words));
    }
}

#[test]
fn documents_of_all_kinds_are_read_and_left_again() {
    let mut pages: Vec<(&str, Vec<u8>)> =
        documents().into_iter().map(|(path, answer, _)| (path, answer)).collect();
    pages.push(("/", html("<title>Home</title><button onclick=\"tell('home')\">Home</button>")));
    let Some(mut web) = Web::new(&pages) else { return };
    // A browser needs time to start.
    web.open("/");
    for (path, _, reads) in documents() {
        let address = web.url(path);
        look_at(&mut web, &address, reads);
        timed("back", || web.ok(&["back"]));
        assert_eq!(web.text(&["get", "title"]).trim(), "Home", "{path}");
        web.ok(&["press", "text=Home"]);
        web.was_asked("/log?home");
        timed("tab new", || web.ok(&["tab", "new", &address]));
        timed("tab close", || web.ok(&["tab", "close"]));
    }
}

#[test]
fn press_in_a_non_html_document_reaches_its_listener() {
    let pages: Vec<(&str, Vec<u8>)> =
        documents().into_iter().map(|(path, answer, _)| (path, answer)).collect();
    let Some(mut web) = Web::new(&pages) else { return };
    for (path, target, told) in
        [("/chart.svg", "css=\"#bar\"", "/log?svg"), ("/form.xhtml", "role=button", "/log?xhtml")]
    {
        web.open(path);
        let text = web.text(&["snapshot", "-i"]);
        assert!(text.contains("@e1 ") || text.contains("@e2 "), "{path}: {text}");
        timed("press", || web.ok(&["press", target]));
        web.was_asked(told);
    }
}

#[test]
fn files_of_all_kinds_are_opened_from_a_folder() {
    let Some(mut web) = Web::new(&[("/", html("<title>Home</title>"))]) else { return };
    web.open("/");
    let folder = web.dir.path().join("files");
    std::fs::create_dir(&folder).unwrap();
    for (path, answer, reads) in documents().into_iter().filter(|(path, ..)| *path != "/feed.rss") {
        let body = answer.windows(4).position(|w| w == b"\r\n\r\n").unwrap() + 4;
        let file = folder.join(&path[1..]);
        std::fs::write(&file, &answer[body..]).unwrap();
        look_at(&mut web, &format!("file://{}", file.to_str().unwrap()), reads);
    }
}

#[test]
fn documents_in_object_and_embed_are_read_and_pressed() {
    let inside = |word: &str| html(&format!("<button onclick=\"tell('{word}')\">{word}</button>"));
    let outside = "<object data='/object' type='text/html'><button>Fallback</button></object>\
         <embed src='/embed' type='text/html'><object data='/missing'><button>Instead</button></object>";
    let pages = [("/", html(outside)), ("/object", inside("Chart")), ("/embed", inside("Player"))];
    let Some(mut web) = Web::new(&pages) else { return };
    web.open("/");
    let text = web.text(&["snapshot", "-i"]);
    assert!(text.contains("Instead") && !text.contains("Fallback"), "{text}");
    for word in ["Chart", "Player"] {
        assert!(text.contains(&format!("button \"{word}\"")), "{text}");
        web.ok(&["press", &format!("text={word}")]);
        web.was_asked(&format!("/log?{word}"));
    }
}

/// The content of a PDF viewer is in no document: the answer must not claim that the page is empty.
#[test]
fn capture_of_a_pdf_says_that_there_is_more() {
    let pages = [
        ("/invoice.pdf", bytes("application/pdf", PDF.as_bytes())),
        ("/", html("<button>Pay</button><iframe src='/invoice.pdf'></iframe>")),
    ];
    let Some(mut web) = Web::new(&pages) else { return };
    for path in ["/invoice.pdf", "/"] {
        web.open(path);
        let text = web.text(&["snapshot"]);
        assert!(text.contains("the app has more than was captured"), "{path}: {text}");
    }
}

#[test]
fn capture_beyond_the_text_budget_says_that_there_is_more() {
    let many = "<button>First</button><main></main><script>document.querySelector('main').innerHTML=Array.from({length:9500},\
         (_, i) => `<p title='${i}${'words '.repeat(320)}'>${i}</p>`).join('')</script>";
    let Some(mut web) = Web::new(&[("/", html(many))]) else { return };
    web.open("/");
    let text = web.text(&["snapshot", "-i"]);
    assert!(text.contains("First") && text.contains("the app has more than was captured"), "{text}");
}
