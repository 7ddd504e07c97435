//! A chat that scrolls by itself, by react-virtuoso.

use super::Stage;
use super::agent::Agent;

pub fn flows(stage: &mut Stage) {
    stage.flow("chat", "messages that arrive", "chat/index.html", arrive);
    stage.flow("chat", "write while others write", "chat/index.html", write);
}

fn arrive(a: &mut Agent<'_>) {
    let read = a.look();
    let mut last = a.near(&read, "no. 60", "button", "Heart");
    let mut before = a.near(&read, "no. 59", "button", "Reply");
    for n in 0..4 {
        a.push("message");
        a.expect_ok(&["wait", "text", &format!("no. {}", 61 + n)]);
        a.press(&mut last, "heart 60");
        a.press(&mut before, "reply 59");
    }
}

fn write(a: &mut Agent<'_>) {
    let read = a.look();
    let mut field = a.find(&read, "textbox", "Message");
    let mut send = a.find(&read, "button", "Send");
    let mut last = a.near(&read, "no. 60", "button", "Heart");
    for (n, text) in ["hello", "is anyone there", "hello"].iter().enumerate() {
        a.fill(&mut field, text, "");
        a.push("message");
        a.press(&mut send, &format!("sent {text}"));
        a.press(&mut last, "heart 60");
        a.expect_ok(&["wait", "stable"]);
        if n == 0 {
            let read = a.look();
            let mut mine = a.near(&read, "hello", "button", "Heart");
            a.press(&mut mine, "heart 62");
        }
    }
}
