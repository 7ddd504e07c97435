//! One-time codes with which a connection proves which agent it belongs to.

use crate::turn::AgentId;

/// The characters of a code, of which no two look alike.
const ALPHABET: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";

/// The number of characters of a code.
const LENGTH: usize = 6;

/// The number of wrong codes in a row after which all codes expire.
const MAX_WRONG: u32 = 10;

/// The codes that have been issued but not used yet.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LinkCodes {
    codes: Vec<Issued>,
    wrong: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Issued {
    code: String,
    agent: AgentId,
    until_ms: u64,
}

impl LinkCodes {
    /// The time in milliseconds after which a code expires.
    pub const TTL_MS: u64 = 120_000;

    /// Issues a code for an agent. An earlier code for that agent expires. `random` determines the
    /// code; `now_ms` is on a monotonic clock.
    pub fn issue(&mut self, agent: &AgentId, random: u128, now_ms: u64) -> String {
        let mut rest = random;
        let code: String = std::iter::repeat_with(|| {
            let at = usize::try_from(rest % 32).unwrap_or_default();
            rest /= 32;
            char::from(ALPHABET[at])
        })
        .take(LENGTH)
        .collect();
        // An agent has at most one code, and a code belongs to the agent that received it last.
        self.codes.retain(|issued| issued.until_ms > now_ms && issued.agent != *agent && issued.code != code);
        let until_ms = now_ms.saturating_add(Self::TTL_MS);
        self.codes.push(Issued { code: code.clone(), agent: agent.clone(), until_ms });
        code
    }

    /// Returns the agent to which a code was issued, and invalidates the code; `None` for a wrong
    /// or expired code. After ten such codes in a row, all codes expire.
    pub fn redeem(&mut self, code: &str, now_ms: u64) -> Option<AgentId> {
        let code = code.to_ascii_lowercase();
        self.codes.retain(|issued| issued.until_ms > now_ms);
        match self.codes.iter().position(|issued| issued.code == code) {
            Some(at) => {
                self.wrong = 0;
                Some(self.codes.swap_remove(at).agent)
            }
            None => {
                self.wrong += 1;
                if self.wrong >= MAX_WRONG {
                    self.codes.clear();
                    self.wrong = 0;
                }
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_works_once_and_for_two_minutes() {
        let (ada, bob) = (AgentId::new("claude:ada"), AgentId::new("codex:bob"));
        let mut codes = LinkCodes::default();
        let first = codes.issue(&ada, 0x1234_5678_9abc, 0);
        let second = codes.issue(&bob, 7, 0);
        assert_eq!((first.len(), second.as_str()), (6, "haaaaa"));
        assert_eq!(codes.redeem(&first.to_ascii_uppercase(), 0), Some(ada.clone()));
        assert_eq!(codes.redeem(&first, 0), None, "it was used");
        assert_eq!(codes.redeem(&second, LinkCodes::TTL_MS), None, "it expired");
        let old = codes.issue(&ada, 1, 0);
        let new = codes.issue(&ada, 2, 0);
        assert_eq!((codes.redeem(&old, 1), codes.redeem(&new, 1)), (None, Some(ada)));
    }

    #[test]
    fn guessing_ends_all_codes() {
        let mut codes = LinkCodes::default();
        let code = codes.issue(&AgentId::new("claude:ada"), 5, 0);
        for _ in 0..MAX_WRONG {
            assert_eq!(codes.redeem("nowhere", 0), None);
        }
        assert_eq!(codes.redeem(&code, 0), None);
    }
}
