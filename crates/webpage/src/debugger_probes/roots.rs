//! Closed shadow roots: scripts cannot find them, but the debugger can. Once found, they are read
//! like open ones.

use super::{GROUP, call_all, objects, release};
use crate::agent::GLOBAL;
use crate::capture::Columns;
use crate::tab::{Tab, TabError, World, expression};
use serde::de::IgnoredAny;
use stickpin_devtools::protocol as cdp;

/// The maximum number of elements queried per document in one capture; the next captures query the
/// rest.
const MAX_ELEMENTS: usize = 200;

/// The maximum nesting of closed roots that one capture follows.
const MAX_ROOT_DEPTH: usize = 5;

/// Searches for the closed roots of possible hosts, and walks the document again as long as any are
/// found, at most [`MAX_ROOT_DEPTH`] times. Also returns whether some hosts were not queried.
pub(super) async fn find_closed_roots(
    tab: &Tab,
    world: &World,
    mut columns: Columns,
    expression: &str,
) -> Result<(Columns, bool), TabError> {
    for _ in 0..MAX_ROOT_DEPTH {
        let hosts: Vec<u64> = columns.hosts().take(MAX_ELEMENTS).collect();
        if hosts.is_empty() || !adopt_closed_roots(tab, world, &hosts).await? {
            let is_over_limit = columns.hosts().count() > MAX_ELEMENTS;
            return Ok((columns, is_over_limit));
        }
        let json: String = tab.evaluate(world, expression.to_owned()).await?;
        columns = Columns::parse(&json).map_err(|e| TabError::Threw(e.to_string()))?;
    }
    let has_hosts = columns.hosts().next().is_some();
    Ok((columns, has_hosts))
}

/// Makes the closed roots of these hosts available to the script. Returns whether any of them is
/// new.
async fn adopt_closed_roots(tab: &Tab, world: &World, hosts: &[u64]) -> Result<bool, TabError> {
    let objects = objects(tab, world, hosts).await?;
    let describe = objects.into_iter().flatten().map(|object_id| cdp::DescribeNode { object_id, depth: 0 });
    let described = call_all(tab, world, describe.collect()).await?;
    let roots = described.into_iter().flatten().flat_map(|d| d.node.shadow_roots);
    let context = tab.context_number(world)?;
    let resolve =
        roots.filter(|r| r.shadow_root_type.as_deref() == Some("closed")).map(|root| cdp::ResolveInGroup {
            backend_node_id: root.backend_node_id,
            execution_context_id: context,
            object_group: GROUP,
        });
    let resolved = call_all(tab, world, resolve.collect()).await?;
    let calls = resolved.into_iter().flatten().filter_map(|r| r.object.object_id).map(|object_id| {
        let function_declaration = format!("function(){{return {GLOBAL}.adoptRoot(this)}}");
        cdp::CallFunctionOn { function_declaration, object_id, return_by_value: true }
    });
    let answers = call_all(tab, world, calls.collect()).await?;
    tab.evaluate::<Option<IgnoredAny>>(world, expression("rootsAsked", (hosts,))?).await?;
    release(tab, world);
    Ok(answers.into_iter().flatten().any(|a| a.result.value.is_some_and(|v| v.get() == "true")))
}
