//! Active entries -> texts at their places.
//!
//! Spec: 03 §14. Differs from ST under `lore.places`.

use indexmap::IndexMap;

use super::entry::{Entry, Position, Source};
use super::scan::Active;
use super::source::by_order;
use super::{Activated, DepthEntries, ExamplePlace, LoreResult, Personal};

/// Texts in front of their list, so that lists read ascending by order; outlets at the end.
pub(super) fn build(
    mut active: Vec<Active>,
    fixed: bool,
    scripts: &mut dyn FnMut(String, Option<f64>) -> String,
) -> LoreResult {
    let mut result = LoreResult {
        activated: active
            .iter()
            .map(|a| Activated { book: a.what.world.clone(), uid: a.what.uid.clone() })
            .collect(),
        scanned: true,
        ..LoreResult::default()
    };
    active = by_order(active, |a| a.what.order);
    let (mut before, mut after) = (Vec::new(), Vec::new());
    let mut outlets: IndexMap<String, Vec<String>> = IndexMap::new();
    for Active { what, text, .. } in active {
        let content = scripts(text, what.script_depth());
        if content.is_empty() {
            continue;
        }
        let filtered = !(what.filter.names.is_empty() && what.filter.tags.is_empty());
        let own = what.source == Source::Character || filtered;
        if own || content != what.content {
            let raw = if own { String::new() } else { what.content.clone() };
            result.personal.push(Personal { text: content.clone(), raw });
        }
        match what.position {
            Position::Before => before.push(content),
            Position::After => after.push(content),
            Position::NoteTop => result.an_before.push(content),
            Position::NoteBottom => result.an_after.push(content),
            Position::ExamplesTop => result.examples.push((ExamplePlace::Top, content)),
            Position::ExamplesBottom => result.examples.push((ExamplePlace::Bottom, content)),
            Position::Depth => at_depth(&mut result.depth, &what, content, fixed),
            Position::Outlet if !what.outlet.is_empty() => {
                outlets.entry(what.outlet).or_default().push(content);
            }
            Position::Outlet | Position::Nowhere => {}
        }
    }
    for list in [&mut before, &mut after, &mut result.an_before, &mut result.an_after] {
        list.reverse();
    }
    result.examples.reverse();
    if fixed {
        // Top examples are put in front one by one later, which turns their order round (03 F39).
        let top: Vec<_> =
            result.examples.iter().filter(|e| e.0 == ExamplePlace::Top).rev().cloned().collect();
        let bottom = result.examples.iter().filter(|e| e.0 == ExamplePlace::Bottom).cloned();
        result.examples = top.into_iter().chain(bottom).collect();
        outlets.values_mut().for_each(|list| list.reverse());
    }
    for bucket in &mut result.depth {
        bucket.entries.reverse();
    }
    result.before = before.join("\n");
    result.after = after.join("\n");
    result.slots = [before, after];
    result.outlets = outlets;
    result
}

/// Into the bucket of its depth and role. A missing depth counts as 4 only in the search (03 F38).
fn at_depth(buckets: &mut Vec<DepthEntries>, entry: &Entry, content: String, fixed: bool) {
    let (wanted, role) = (entry.depth.unwrap_or(4.0), entry.role);
    let found = buckets.iter_mut().find(|b| {
        #[expect(clippy::float_cmp, reason = "depths are compared as JavaScript compares them")]
        let same = b.depth == wanted && b.role == role;
        same
    });
    if let Some(bucket) = found {
        bucket.entries.push(content);
        return;
    }
    let depth = if fixed { wanted } else { entry.depth.unwrap_or(entry.no_depth) };
    buckets.push(DepthEntries { depth, role, entries: vec![content] });
}
