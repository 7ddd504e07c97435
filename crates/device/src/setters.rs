//! Setters for values that other crates build. The types of these values may gain fields, so only
//! this crate writes them as struct literals.

/// Generates a setter per field, which returns the changed value.
macro_rules! setters {
    ($type:ident $(<$life:lifetime>)? { $($field:ident: $of:ty),+ $(,)? }) => {
        impl $(<$life>)? $type $(<$life>)? {
            $(
                #[doc = concat!("Returns the value with another `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $of) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}
pub(crate) use setters;
