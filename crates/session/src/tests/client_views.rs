//! What clients were shown, were notified of and did themselves, and what is learned from
//! observation.

use super::*;
use crate::ContextPolicy;
use stickpin_tree::ContextChange;

const PAGE: &str =
    "group #4\n  paragraph #5\n    text \"Ada\"\n  paragraph #6\n    text \"3 items\"\nbutton \"Delete\"* #9";

impl Bench {
    fn unseen(&self, client: &ClientId) -> Vec<ContextChange> {
        let tree = self.session.tree().unwrap();
        self.session.unseen_changes(client, tree, self.button())
    }

    fn button(&self) -> NodeId {
        self.session.tree().unwrap().find_address(Handle { scope: 1, id: 9 }).unwrap().id()
    }

    fn tell(&mut self, client: &ClientId) {
        let changes = self.unseen(client);
        let (tree, node) = (self.session.tree().unwrap().clone(), self.button());
        self.session.note_notice(client, &tree, node, &changes);
    }

    /// Performs an action of the client that changes the page to `body`, and returns what its
    /// response reports.
    fn act(&mut self, client: &ClientId, body: &str) -> Vec<ContextChange> {
        let (before, node) = (self.session.tree().unwrap().clone(), self.button());
        self.session.note_act(node);
        self.capture(body);
        let after = self.session.tree().unwrap().clone();
        self.session.note_effects(client, &before, &after, after.node(self.button()).handle()).0
    }
}

#[test]
fn client_without_view_has_no_context_changes() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.capture(&PAGE.replace("Ada", "Nils"));
    assert_eq!(b.unseen(&me()).len(), 1);
    assert_eq!(b.unseen(&other()), []);
}

#[test]
fn notice_counts_for_its_client_only() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.issue_all(&other());
    b.capture(&PAGE.replace("Ada", "Nils"));
    b.tell(&me());
    assert_eq!(b.unseen(&me()), []);
    assert_eq!(b.unseen(&other()).len(), 1);
    b.session.mark_read_in_full(&other());
    assert_eq!(b.unseen(&other()), [], "read anew");
}

#[test]
fn own_effects_are_in_receipt_and_notices_for_others() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.issue_all(&other());
    let told = b.act(&me(), &PAGE.replace("Ada", "Nils"));
    assert_eq!(told.iter().map(|c| c.after.as_str()).collect::<Vec<_>>(), ["Nils"]);
    assert_eq!(b.unseen(&me()), []);
    assert!(!b.session.was_last_act_by_another(&me()) && b.session.was_last_act_by_another(&other()));
    assert_eq!(b.unseen(&other()).len(), 1);
}

#[test]
fn receipt_excludes_the_target() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    assert_eq!(b.act(&me(), &PAGE.replace("Delete", "Undo")), []);
}

#[test]
fn partial_view_does_not_confirm_earlier_content() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.capture(&PAGE.replace("Ada", "Nils"));
    let node = b.session.tree().unwrap().find_address(Handle { scope: 1, id: 4 }).unwrap().id();
    b.session.issue(&me(), &[node]).unwrap();
    assert_eq!(b.unseen(&me()).len(), 1);
}

#[test]
fn numbers_changing_without_actions_tick_but_words_do_not() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.capture(&PAGE.replace("3 items", "4 items"));
    assert_eq!(b.unseen(&me()).len(), 1, "seen once");
    b.capture(&PAGE.replace("3 items", "5 items"));
    assert_eq!(b.unseen(&me()), [], "seen twice");
    let tree = b.session.tree().unwrap().clone();
    let text = |id| tree.find_address(Handle { scope: 1, id }).unwrap().id();
    assert!(b.session.is_ticker(&tree, text(6)) && !b.session.is_ticker(&tree, text(5)));
    b.capture(&PAGE.replace("3 items", "orders"));
    assert_eq!(b.unseen(&me()).len(), 1, "changed words there still mean another record");
}

#[test]
fn numbers_that_change_with_actions_do_not_tick() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.issue_all(&other());
    for count in 4..8 {
        b.act(&other(), &PAGE.replace("3 items", &format!("{count} items")));
    }
    assert_eq!(b.unseen(&me()).len(), 1);
    b.tell(&me());
    b.act(&other(), &PAGE.replace("3 items", "9 items"));
    assert_eq!(b.unseen(&me()).len(), 1, "nothing is learned from a notice about another client's action");
}

#[test]
fn number_reported_twice_makes_similar_slots_tick() {
    let page = |loads: [u32; 3], order: u32| {
        let more = format!("  paragraph #7\n    text \"Load {} kB\"\nbutton", loads[2]);
        PAGE.replace("Ada", &format!("Load {} kB", loads[0]))
            .replace("3 items", &format!("Load {} kB", loads[1]))
            .replace("button", &more)
            .replace("group #4", &format!("group #4\n  paragraph #8\n    text \"Order {order}\""))
    };
    let mut b = Bench::new("never-reused");
    b.show(&me(), &page([1, 1, 1], 1));
    for loads in [[2, 1, 1], [2, 2, 1]] {
        b.capture(&page(loads, 1));
        assert_eq!(b.unseen(&me()).len(), 1, "one change may be another record");
        b.tell(&me());
    }
    b.capture(&page([2, 2, 2], 1));
    assert_eq!(b.unseen(&me()), [], "the other load");
    b.capture(&page([2, 2, 2], 2));
    assert_eq!(b.unseen(&me()).len(), 1, "an order is not a load");
}

#[test]
fn price_reported_once_ticks() {
    let page = |price: &str| PAGE.replace("3 items", price);
    let mut b = Bench::new("never-reused");
    b.show(&me(), &page("€ 3"));
    b.capture(&page("€ 4"));
    assert_eq!(b.unseen(&me()).len(), 1);
    b.tell(&me());
    b.capture(&page("€ 5"));
    assert_eq!(b.unseen(&me()), []);
}

#[test]
fn closed_surfaces_and_waived_contexts_are_forgotten() {
    let mut b = Bench::new("never-reused");
    b.show(&me(), PAGE);
    b.capture(&PAGE.replace("Ada", "Nils"));
    b.session.waive_context(&me(), None);
    assert_eq!(b.unseen(&me()), []);
    b.session.mark_read_in_full(&me());
    b.capture(PAGE);
    assert_eq!(b.unseen(&me()).len(), 1);
    let surface = b.session.tree().unwrap().surface();
    b.session.end_surface(surface);
    assert!(b.session.views.maps().next().is_none());
}

#[test]
fn waived_context_keeps_window_titles() {
    let window = |title: &str, who: &str| {
        format!("window \"{title}\" #2\n  heading \"Order\" #3\n  text \"{who}\"\n  button \"Delete\"* #9")
    };
    let mut b = Bench::new("never-reused");
    b.show(&me(), &window("Ada", "Ada"));
    let before = b.session.tree().unwrap().clone();
    b.capture(&window("Nils (2)", "Nils"));
    let seen = b.session.tree().unwrap().clone();
    let told = b.session.waive_context(&me(), Some((&before, &seen)));
    assert_eq!(told.iter().map(|c| (&*c.before, &*c.after)).collect::<Vec<_>>(), [("Ada", "Nils")]);
    assert_eq!(b.unseen(&me()), [], "told");
    b.capture(&window("*Nils (3)", "Bo"));
    assert_eq!(b.unseen(&me()), [], "not saved yet, and counts");
    b.capture(&window("Ines", "Ines"));
    let unseen = b.unseen(&me());
    assert_eq!(unseen.iter().map(|c| (&*c.before, &*c.after)).collect::<Vec<_>>(), [("Nils", "Ines")]);
    b.session.waive_context(&me(), None);
    assert_eq!(b.unseen(&me()), unseen, "nobody was notified");
}

#[test]
fn least_recently_viewed_surface_is_forgotten_first() {
    let mut b = Bench::new("never-reused");
    let show = |b: &mut Bench, surface: u64, part: bool| {
        b.store(&format!("surface={surface}"), PAGE, Origin::Snapshot);
        if part {
            let node = b.button();
            b.session.issue(&me(), &[node]).unwrap();
        } else {
            b.session.mark_read_in_full(&me());
        }
    };
    for surface in 1..=16 {
        show(&mut b, surface, surface % 2 == 0);
    }
    show(&mut b, 1, false);
    show(&mut b, 17, true);
    let mut unseen = |surface: u64| {
        b.store(&format!("surface={surface}"), &PAGE.replace("Ada", "Nils"), Origin::Snapshot);
        b.unseen(&me()).len()
    };
    assert_eq!([unseen(1), unseen(2), unseen(3), unseen(17)], [1, 0, 1, 1]);
}

#[test]
fn no_views_are_kept_when_context_policy_is_off() {
    let mut b = Bench::new("never-reused");
    b.session.set_context_policy(ContextPolicy::Off);
    b.show(&me(), PAGE);
    assert!(b.session.views.maps().next().is_none());
}

#[test]
fn trees_above_the_limit_are_compacted_to_facts() {
    let mut b = Bench::new("never-reused");
    b.session.views.max_nodes = 10;
    b.show(&me(), PAGE);
    b.capture(&PAGE.replace("Ada", "Nils"));
    let facts = |b: &Bench| b.session.views.maps().map(|map| map.len()).sum::<usize>();
    assert_eq!(facts(&b), 0, "one old tree of nine nodes");
    b.issue_all(&other());
    b.capture(&PAGE.replace("Ada", "Ines"));
    assert!(facts(&b) > 0, "two old trees");
    let was = |b: &Bench, client| b.unseen(&client)[0].before.clone();
    assert_eq!([was(&b, me()), was(&b, other())], ["Ada", "Nils"]);
}
