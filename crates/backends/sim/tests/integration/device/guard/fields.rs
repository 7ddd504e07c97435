//! Inputs into fields and lists, which have an event per key or option.

use super::super::common::Bench;
use super::{ADA, BEFORE, GRADES, MIDWAY, STATE, handles, open, perform, received};
use stickpin_device::{Action, AimOptions, Delivery, InputOutcome};
use stickpin_tree::{Handle, Role};

const NAME: (Role, &str) = (Role::TextBox, "Name");

async fn into_field(b: &mut Bench, action: impl Fn(Handle) -> Action) -> InputOutcome {
    let all = handles(b, &[NAME, ADA]).await;
    let guarded = &all[1..];
    b.device.aim(all[0], AimOptions::default().guarded(guarded)).await.unwrap();
    perform(b, &action(all[0])).await
}

fn form(words: &str) -> String {
    format!("p \"{{who}}\"\ntextbox \"Name\" #name bind=field {words}\ntextbox \"Next\" #next bind=other")
}

#[tokio::test]
async fn fill_stops_before_the_field_changes() {
    let fill = |target| Action::Fill { target, text: "Eve".into() };
    for grade in GRADES {
        for (words, landed, value) in [
            ("", Delivery::Confirmed, "Eve"),
            ("act=set(who, 'Nils')", BEFORE, ""),
            ("focused=set(who, 'Nils')", MIDWAY, ""),
        ] {
            let mut b = open(grade, &form(words)).await;
            assert_eq!(into_field(&mut b, fill).await.delivery, landed, "{grade}: {words}");
            assert_eq!(b.probe.variable("field"), value, "{grade}: {words}");
            let delivered = received(&b);
            assert_eq!(delivered.len(), usize::from(!value.is_empty()), "{grade}: {words}: {delivered:?}");
        }
    }
}

#[tokio::test]
async fn typing_stops_at_the_key_before_which_content_changed() {
    let text = |target| Action::Type { target: Some(target), text: "abcdef".into() };
    let after_third = "between=(set(n, n + 1); if(n == 3, set(who, 'Nils')))";
    let away_after_third = "between=(set(n, n + 1); if(n == 3, focus('next')))";
    for grade in GRADES {
        for (words, landed, log) in [
            ("", Delivery::Confirmed, Some("abcdef")),
            ("act=set(who, 'Nils')", BEFORE, None),
            ("focused=set(who, 'Nils')", MIDWAY, None),
            ("focused=focus('next')", MIDWAY, None),
            (after_third, MIDWAY, Some("abc")),
            (away_after_third, MIDWAY, Some("abc")),
            // Changes made by the handlers of an earlier key do not count.
            ("input=(set(who, 'Nils {n}'); set(n, n + 1))", Delivery::Confirmed, Some("abcdef")),
            ("input=focus('next')", Delivery::Confirmed, Some("abcdef")),
        ] {
            let mut b = open(grade, &form(words)).await;
            assert_eq!(into_field(&mut b, text).await.delivery, landed, "{grade}: {words}");
            let expected: Vec<String> = log.iter().map(|t| format!("type textbox Name {t}")).collect();
            assert_eq!(received(&b), expected, "{grade}: {words}");
            let mut typed = b.probe.variable("field");
            if words == "input=focus('next')" {
                assert_eq!((typed.as_str(), b.probe.variable("other").as_str()), ("a", "xbcdef"), "{grade}");
                typed = "abcdef".into();
            }
            assert_eq!(typed, log.unwrap_or_default(), "{grade}: {words}");
        }
    }
}

#[tokio::test]
async fn select_stops_before_the_next_option() {
    let list = (Role::ListBox, "Topics");
    let lists = "[lists]\ntopics = [{ t = 'News', on = false }, { t = 'Offers', on = false }, { t = 'Events', on = false }]\n";
    for grade in GRADES {
        for (words, landed, log, chosen) in [
            ("", Delivery::Confirmed, Some("Offers, Events"), "2"),
            ("act=set(who, 'Nils')", BEFORE, None, "0"),
            ("between=set(who, 'Nils')", MIDWAY, Some("Offers"), "1"),
            ("input=set(who, 'Nils')", MIDWAY, Some("Offers"), "1"),
        ] {
            let view = format!(
                "p \"{{who}}\"\np \"{{count(topics, it.on)}} chosen\"\nlistbox \"Topics\" native multiple {words}\n  for t in topics key t.t\n    option \"{{t.t}}\" bind=t.on"
            );
            let options = format!("grade={grade}");
            let mut b = Bench::app_with(&format!("{STATE}{lists}"), &view, &options).await;
            let all = handles(&mut b, &[list, ADA, (Role::Option, "News")]).await;
            b.device.aim(all[0], AimOptions::default().guarded(&all[1..])).await.unwrap();
            let options = vec!["Offers".to_owned(), "Events".to_owned()];
            let done = perform(&mut b, &Action::Select { target: all[0], options }).await;
            assert_eq!(done.delivery, landed, "{grade}: {words}");
            let expected: Vec<String> = log.iter().map(|t| format!("select listbox Topics {t}")).collect();
            assert_eq!(received(&b), expected, "{grade}: {words}");
            assert!(b.text().await.contains(&format!("\"{chosen} chosen\"")), "{grade}: {words}");
        }
    }
}
