use super::*;
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;

const DIR: &str = "/s";

/// Builds a response of session `shop` with these envelope fields.
fn response(mut refs: serde_json::Value) -> Response {
    if refs["lifetime"].is_null() {
        refs["lifetime"] = json!("L1");
    }
    serde_json::from_value(json!({
        "ok": true, "command": "find", "session": "shop", "stateDir": DIR, "exit": 0, "refs": refs,
    }))
    .expect("a response")
}

fn pinned(pins: &Pins, target: &str) -> Option<String> {
    pins.pin(Path::new(DIR), "shop", target)
}

/// Returns how each plain ref is sent after these envelopes.
fn after(envelopes: &[serde_json::Value]) -> impl Fn(&str) -> String + use<> {
    let mut pins = Pins::default();
    for refs in envelopes {
        pins.merge(Path::new("/elsewhere"), &response(refs.clone()), &Shown::Whole);
    }
    move |target| pinned(&pins, target).unwrap_or_else(|| target.to_owned())
}

#[test]
fn pins_follow_the_contract_table() {
    let first = json!({"generation": 10, "issued": [[1, 40]]});
    let sent = |more: &[serde_json::Value], target: &str| {
        after(&[std::slice::from_ref(&first), more].concat())(target)
    };
    for (what, more, target, expected) in [
        ("issued", vec![], "@e37", "@e37~s10"),
        ("without its at sign", vec![], "e37", "@e37~s10"),
        ("never issued here", vec![], "@e41", "@e41"),
        ("pinned already", vec![], "@e37~s9", "@e37~s9"),
        ("malformed", vec![], "@e37~s", "@e37~s"),
        ("a selector", vec![], "text=@e37", "text=@e37"),
        ("a point", vec![], "37,10", "37,10"),
        ("a search does not bless", vec![json!({"generation": 11, "issued": [[5, 5]]})], "@e37", "@e37~s10"),
        ("what it lists is fresh", vec![json!({"generation": 11, "issued": [[5, 5]]})], "@e5", "@e5~s11"),
        ("a complete diff renews", vec![json!({"generation": 12, "base": 10})], "@e37", "@e37~s12"),
        (
            "what it lists as ended is dropped",
            vec![json!({"generation": 12, "base": 10, "ended": [[30, 37]]})],
            "@e37",
            "@e37",
        ),
        (
            "what is older than its base keeps its pin",
            vec![json!({"generation": 11, "issued": [[5, 5]]}), json!({"generation": 12, "base": 11})],
            "@e37",
            "@e37~s10",
        ),
        (
            "what is as old as its base moves",
            vec![json!({"generation": 11, "issued": [[5, 5]]}), json!({"generation": 12, "base": 11})],
            "@e5",
            "@e5~s12",
        ),
        (
            "an answer that was overtaken",
            vec![
                json!({"generation": 12, "issued": [[5, 5]]}),
                json!({"generation": 11, "issued": [[5, 6]]}),
            ],
            "@e5",
            "@e5~s12",
        ),
        ("ended without a word about trees", vec![json!({"ended": [[37, 37]]})], "@e37", "@e37"),
        ("issued without a generation clears", vec![json!({"issued": [[50, 50]]})], "@e37", "@e37"),
        (
            "a new lifetime clears",
            vec![json!({"generation": 11, "issued": [[5, 5]], "lifetime": "L2"})],
            "@e37",
            "@e37",
        ),
    ] {
        assert_eq!(sent(&more, target), expected, "{what}");
    }
}

#[test]
fn close_clears_the_pins_of_the_session() {
    let close = |session: Option<&str>| {
        serde_json::from_value::<Response>(
            json!({"ok": true, "command": "close", "session": session, "exit": 0}),
        )
        .expect("a response")
    };
    let pins = |closed: &Response| {
        let mut pins = Pins::default();
        pins.merge(Path::new(DIR), &response(json!({"generation": 10, "issued": [[1, 1]]})), &Shown::Whole);
        pins.merge(Path::new(DIR), closed, &Shown::Whole);
        pinned(&pins, "@e1")
    };
    assert_eq!(pins(&close(Some("shop"))), None);
    assert_eq!(pins(&close(Some("other"))), Some("@e1~s10".to_owned()));
    assert_eq!(pins(&close(None)), None, "close --all");
    assert_eq!(pins(&Response { ok: false, ..close(Some("shop")) }), Some("@e1~s10".to_owned()));
}

#[test]
fn pins_are_separate_per_session_and_state_dir() {
    let mut pins = Pins::default();
    pins.merge(Path::new(DIR), &response(json!({"generation": 10, "issued": [[1, 1]]})), &Shown::Whole);
    assert_eq!(pins.pin(Path::new(DIR), "other", "@e1"), None);
    assert_eq!(pins.pin(Path::new("/elsewhere"), "shop", "@e1"), None);
}

#[test]
fn batch_steps_are_recorded_separately() {
    let step = |n: u32, generation: u64| {
        json!({"ok": true, "command": "find", "session": "shop", "exit": 0,
            "refs": {"generation": generation, "issued": [[n, n]], "lifetime": "L1"}})
    };
    let batch: Response = serde_json::from_value(json!({
        "ok": false, "command": "batch", "stateDir": DIR, "exit": 1,
        "output": {"steps": [step(1, 10), step(2, 11)], "skipped": 1},
    }))
    .expect("a response");
    let mut pins = Pins::default();
    pins.merge(Path::new("/elsewhere"), &batch, &Shown::Whole);
    assert_eq!(pinned(&pins, "@e1"), Some("@e1~s10".to_owned()));
    assert_eq!(pinned(&pins, "@e2"), Some("@e2~s11".to_owned()));
}

#[test]
fn since_is_the_last_full_snapshot_or_renewal() {
    let mut pins = Pins::default();
    let mut since = |refs, shown: &Shown| {
        pins.merge(Path::new(DIR), &response(refs), shown);
        pins.since(Path::new(DIR), "shop")
    };
    assert_eq!(since(json!({"generation": 10, "issued": [[1, 5]]}), &Shown::Whole), None, "a search");
    assert_eq!(since(json!({"generation": 11, "issued": [[1, 9]], "full": true}), &Shown::Whole), Some(11));
    assert_eq!(since(json!({"generation": 12, "base": 11}), &Shown::Whole), Some(12));
    let cut = Shown::Cut(HashSet::from([1]));
    assert_eq!(since(json!({"generation": 13, "issued": [[1, 9]], "full": true}), &cut), Some(12), "cut");
    assert_eq!(since(json!({"generation": 9, "issued": [[1, 1]], "full": true}), &Shown::Whole), Some(12));
    assert_eq!(since(json!({"generation": 9, "issued": [[1, 1]], "lifetime": "L2"}), &Shown::Whole), None);
}

#[test]
fn refs_cut_from_the_text_get_no_pin() {
    let mut pins = Pins::default();
    pins.merge(Path::new(DIR), &response(json!({"generation": 10, "issued": [[1, 9]]})), &Shown::Whole);
    let cut = Shown::Cut(refs_in("@e1 button \"@e2\"\n  @e3 link\n… cut after @e12"));
    let again = json!({"generation": 11, "base": 10, "issued": [[1, 9]]});
    pins.merge(Path::new(DIR), &response(again), &cut);
    assert_eq!(pinned(&pins, "@e3"), Some("@e3~s11".to_owned()));
    assert_eq!(pinned(&pins, "@e4"), Some("@e4~s10".to_owned()));
}

#[test]
fn oldest_pins_are_forgotten_first() {
    let mut pins = Pins::default();
    let issue = |pins: &mut Pins, generation: u64, first: u32, last: u32| {
        let refs = json!({"generation": generation, "issued": [[first, last]]});
        pins.merge(Path::new(DIR), &response(refs), &Shown::Whole);
    };
    issue(&mut pins, 10, 1, 600);
    issue(&mut pins, 11, 1, 5);
    issue(&mut pins, 12, 601, 1_200);
    let kept = (1..=1_200).filter(|n| pinned(&pins, &format!("@e{n}")).is_some()).count();
    assert_eq!(kept, MAX_PINS);
    assert_eq!(pinned(&pins, "@e5"), Some("@e5~s11".to_owned()));
    assert_eq!(pinned(&pins, "@e1200"), Some("@e1200~s12".to_owned()));
    for n in 0..=MAX_SCOPES {
        let other = Response {
            session: Some(format!("s{n}")),
            ..response(json!({"generation": 9, "issued": [[1, 1]]}))
        };
        pins.merge(Path::new(DIR), &other, &Shown::Whole);
    }
    assert!(pins.scopes.len() <= MAX_SCOPES);
}

/// Events between a session and its clients.
#[derive(Debug, Clone)]
enum Event {
    /// The tree advances.
    Move,
    /// A client is issued these numbers, in an answer of which it sees the first `seen`.
    Issue { client: usize, numbers: Vec<u32>, seen: Option<usize> },
    /// A client gets a complete diff from `back` trees ago that lists these refs as ended.
    Renew { client: usize, back: u64, ended: Vec<u32> },
    /// Refs end, and a client is informed.
    End { client: usize, ended: Vec<u32> },
    /// A client's answer arrives out of order: the one at index `at`.
    Arrive { client: usize, at: usize },
    /// A new lifetime begins.
    Reopen,
}

const CLIENTS: usize = 3;

fn event() -> impl Strategy<Value = Event> {
    let client = || 0..CLIENTS;
    let numbers = || prop::collection::vec(1..30u32, 1..8);
    prop_oneof![
        3 => Just(Event::Move),
        6 => (client(), numbers(), prop::option::weighted(0.2, 0..8usize))
            .prop_map(|(client, numbers, seen)| Event::Issue { client, numbers, seen }),
        3 => (client(), 0..5u64, prop::collection::vec(1..30u32, 0..4))
            .prop_map(|(client, back, ended)| Event::Renew { client, back, ended }),
        1 => (client(), numbers()).prop_map(|(client, ended)| Event::End { client, ended }),
        8 => (client(), 0..3usize).prop_map(|(client, at)| Event::Arrive { client, at }),
        1 => Just(Event::Reopen),
    ]
}

/// A pending answer and its content for the client.
struct Answer {
    response: Response,
    shown: Shown,
    lifetime: u64,
    generation: u64,
    issued: Vec<u32>,
    /// The base of a renewal, and the refs that it excludes.
    renews: Option<(u64, Vec<u32>)>,
}

/// The model: the last generation at which the client was informed of each ref.
#[derive(Default)]
struct Told {
    lifetime: u64,
    last: BTreeMap<u32, u64>,
    /// Whether a ref has ended in this lifetime, so that some refs may be sent without a pin.
    ended: bool,
}

impl Told {
    fn hear(&mut self, answer: &Answer) {
        if self.lifetime != answer.lifetime {
            *self = Self { lifetime: answer.lifetime, ..Self::default() };
        }
        self.ended |= answer.response.refs.as_ref().is_some_and(|refs| !refs.ended.is_empty());
        if let Some((base, ended)) = &answer.renews {
            for (n, last) in &mut self.last {
                if *base <= *last && *last < answer.generation && !ended.contains(n) {
                    *last = answer.generation;
                }
            }
        }
        for n in &answer.issued {
            let last = self.last.entry(*n).or_default();
            *last = (*last).max(answer.generation);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn pin_is_never_newer_than_the_client_view(
        events in prop::collection::vec(event(), 1..120)
    ) {
        let mut pins: Vec<Pins> = (0..CLIENTS).map(|_| Pins::default()).collect();
        let mut told: Vec<Told> = (0..CLIENTS).map(|_| Told::default()).collect();
        let mut under_way: Vec<Vec<Answer>> = (0..CLIENTS).map(|_| Vec::new()).collect();
        let (mut generation, mut lifetime) = (100u64, 1u64);
        for event in events {
            let envelope = |refs: serde_json::Value| {
                let mut refs = refs;
                refs["lifetime"] = json!(format!("L{lifetime}"));
                response(refs)
            };
            let ranges = |numbers: &[u32]| numbers.iter().map(|n| (*n, *n)).collect::<Vec<_>>();
            match event {
                Event::Move => generation += 1,
                Event::Reopen => { lifetime += 1; generation += 5_000; }
                Event::Issue { client, numbers, seen } => {
                    let visible: Vec<u32> = match seen {
                        Some(seen) => numbers.iter().copied().take(seen).collect(),
                        None => numbers.clone(),
                    };
                    let shown = match seen {
                        Some(_) => Shown::Cut(visible.iter().copied().collect()),
                        None => Shown::Whole,
                    };
                    let refs = json!({"generation": generation, "issued": ranges(&numbers), "full": true});
                    under_way[client].push(Answer {
                        response: envelope(refs), shown, lifetime, generation, issued: visible, renews: None,
                    });
                }
                Event::Renew { client, back, ended } => {
                    let base = generation - back;
                    let refs = json!({"generation": generation, "base": base, "ended": ranges(&ended)});
                    under_way[client].push(Answer {
                        response: envelope(refs), shown: Shown::Whole, lifetime, generation,
                        issued: vec![], renews: Some((base, ended)),
                    });
                }
                Event::End { client, ended } => {
                    under_way[client].push(Answer {
                        response: envelope(json!({"ended": ranges(&ended)})), shown: Shown::Whole, lifetime,
                        generation, issued: vec![], renews: None,
                    });
                }
                Event::Arrive { client, at } => {
                    if !under_way[client].is_empty() {
                        let at = at.min(under_way[client].len() - 1);
                        let answer = under_way[client].remove(at);
                        pins[client].merge(Path::new(DIR), &answer.response, &answer.shown);
                        told[client].hear(&answer);
                        for n in 1..30u32 {
                            let last = told[client].last.get(&n).copied();
                            let Some(target) = pinned(&pins[client], &format!("@e{n}")) else {
                                let plain = last.is_none() || told[client].ended;
                                prop_assert!(plain, "@e{n} was told of and goes out plain");
                                continue;
                            };
                            let pin = target.rsplit_once("~s").and_then(|(_, p)| p.parse::<u64>().ok());
                            prop_assert!(pin.is_some() && pin <= last, "@e{n}: {pin:?} after {last:?}");
                        }
                    }
                }
            }
        }
    }
}
