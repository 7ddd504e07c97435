//! The stream to a viewer: server-sent events, which are built when the viewer can receive them.

use crate::board::Viewer;
use futures_util::stream::{self, Stream};
use hyper::body::{Bytes, Frame};
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::timeout;

/// The interval at which a viewer is informed that the connection still works.
const HEARTBEAT: Duration = Duration::from_secs(15);

struct Reader {
    viewer: Viewer,
    versions: watch::Receiver<u64>,
    seen: u64,
}

/// Returns the events for a viewer. Nothing is queued: each part is built from the state when the
/// connection requests the part.
pub(crate) fn events(viewer: Viewer) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    let versions = viewer.board().versions();
    let reader = Reader { viewer, versions, seen: 0 };
    stream::unfold(reader, |mut reader| async move {
        let part = reader.next().await?;
        Some((Ok(Frame::data(part)), reader))
    })
}

impl Reader {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            self.versions.mark_unchanged();
            let (seen, messages) = self.viewer.board().messages(self.seen);
            self.seen = seen;
            if !messages.is_empty() {
                // JSON has no line breaks outside strings and escapes those inside.
                let lines = messages.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n"));
                return Some(lines.collect::<String>().into());
            }
            match timeout(HEARTBEAT, self.versions.changed()).await {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Board;
    use crate::steps;
    use futures_util::StreamExt as _;
    use std::pin::pin;
    use std::sync::Arc;

    #[tokio::test]
    async fn each_part_is_made_when_it_is_asked_for() {
        let board = Arc::new(Board::new("shop"));
        let mut events = pin!(events(board.enter(1).expect("a place")));
        let mut part = async || {
            let frame = events.next().await.expect("a part").expect("never fails");
            String::from_utf8(frame.into_data().expect("data").to_vec()).expect("text")
        };
        assert!(part().await.starts_with("event: session\ndata: {\"session\":\"shop\""));
        for id in 1..=500 {
            let title = "line\nbreak</script>".to_owned();
            board.add_frame(steps::Frame { id, title, ..steps::Frame::default() }, Vec::new());
        }
        let frames = part().await;
        assert_eq!((frames.matches("event: ").count(), frames.lines().count()), (1, 3), "{frames}");
        assert!(frames.contains("\"id\":500"), "{frames}");
    }
}
