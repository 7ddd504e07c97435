//! A browser starts, is driven, and leaves nothing behind.

mod support;

use stickpin_backend_web::cdp::protocol::Evaluate;

#[tokio::test]
async fn a_browser_answers() {
    let t = std::time::Instant::now();
    let Some((_dir, device)) = support::start().await else { return };
    eprintln!("{:?}", t.elapsed());
    let (client, session) = device.devtools();
    for _ in 0..3 {
        let t = std::time::Instant::now();
        let sum = Evaluate { expression: "40 + 2".into(), return_by_value: true, ..Evaluate::default() };
        let answer = client.call(Some(session), &sum).await.unwrap();
        assert_eq!(answer.result.value.unwrap().get(), "42");
        eprintln!("{:?}", t.elapsed());
    }
}
