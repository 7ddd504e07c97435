//! A custom command, composed of kernel commands and added to a host.
//!
//! `cargo run -p stickpin-kernel --example custom_command`

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use stickpin_backend_sim::SimProvider;
use stickpin_kernel::commands::page::WaitText;
use stickpin_kernel::{Caller, CancellationToken, Command, Cx, Effect, Fill, Host, Press};
use stickpin_kernel::{Request, Result, Show, Spec, Target, Text};

/// Sign in with an email address and a password.
///
/// Waits until the app shows a greeting.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignIn {
    /// The email address.
    #[schemars(extend("x-positional" = 0, "x-text" = true))]
    email: String,
    /// The password.
    #[schemars(extend("x-positional" = 1, "x-text" = true))]
    password: String,
}

/// Who is signed in now.
#[derive(Debug, Serialize, Deserialize)]
struct SignedIn {
    greeting: String,
}

impl Show for SignedIn {
    fn show(&self, text: &mut Text) {
        text.line(format_args!("signed in: {}", self.greeting));
    }
}

impl Command for SignIn {
    const SPEC: Spec = Spec {
        name: "sign in",
        effect: Effect::Mutates,
        deadline: Duration::from_secs(60),
        examples: &["stickpin sign in ada@example.com lantern"],
        ..Spec::SESSION
    };
    type Output = SignedIn;

    async fn run(self, cx: &mut Cx) -> Result<SignedIn> {
        // Each command checks its target, as it does when run on its own.
        for (field, text) in [("label=Email", self.email), ("label=Password", self.password)] {
            let target: Target = field.parse()?;
            Fill { text: Some(text), ..Fill::new(target) }.run(cx).await?;
        }
        let go_on: Target = "role=button text=Continue".parse()?;
        Press::new(go_on).run(cx).await?;
        let waited = WaitText { text: "Welcome".to_owned(), timeout: 5_000 }.run(cx).await?;
        Ok(SignedIn { greeting: waited.truth })
    }
}

#[tokio::main]
pub(crate) async fn main() -> Result<()> {
    let state_dir = std::env::temp_dir().join(format!("stickpin-command-{}", std::process::id()));
    let host = Host::builder(&state_dir).provider(SimProvider::default()).command::<SignIn>().build()?;

    let app = host.session("app");
    app.open("sim:signin").await?;
    let sign_in = SignIn { email: "ada@example.com".to_owned(), password: "lantern".to_owned() };
    let signed_in = app.run(sign_in).await?;
    println!("{signed_in}");

    // The command also runs by name, as a front end or a script would call it.
    let again = Request::new("sign in", Caller::new("someone")).argument("email", "ada@example.com");
    let response = host.call(again, CancellationToken::new()).await;
    println!("{}", response.text.unwrap_or_default());

    host.shutdown().await;
    std::fs::remove_dir_all(&state_dir).map_err(|e| stickpin_kernel::io_error("remove", &state_dir, &e))
}
