//! Counts steps in tests, to assert linear growth with the size of the tree instead of measuring
//! time.

#[cfg(test)]
thread_local! {
    static STEPS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

/// Counts one step of work that depends on the size of the tree.
#[inline]
pub(crate) fn count_step() {
    #[cfg(test)]
    STEPS.with(|s| s.set(s.get() + 1));
}

/// Returns the number of steps that a closure takes.
#[cfg(test)]
pub(crate) fn count_steps(step_count: impl FnOnce()) -> u64 {
    let before = STEPS.with(std::cell::Cell::get);
    step_count();
    STEPS.with(std::cell::Cell::get) - before
}
