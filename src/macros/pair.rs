//! Which tags of a level belong together: `{{name}}content{{/name}}`.
//!
//! Spec: 04 §5, by the linear method of Part 3 rule 1: tags that can take content are matched with closing tags by a stack a name; then
//! one walk from left to right decides which pairs are scopes, which are left as they are, and frees the partners of tags that a scope
//! jumped over.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use super::parse::{Call, Kind, Node, cut};

/// What becomes of a node of a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// Evaluated on its own.
    Plain,
    /// Opens a scope that ends with the node of that index.
    Opens(usize),
    /// Copied as it stands.
    Raw,
}

/// Decides for every node of a slice. `accepts` tells whether a call could take one argument more; `ignore` drops a closing tag of a
/// macro that never takes content from the pairing (fault F22).
pub(super) fn pair(
    src: &str,
    nodes: &[Node],
    accepts: impl Fn(&Call) -> bool,
    ignore: impl Fn(&Call) -> bool,
) -> Vec<Tag> {
    let mut tags = vec![Tag::Plain; nodes.len()];
    if !nodes.iter().any(|n| matches!(&n.kind, Kind::Call(c) if c.closing)) {
        return tags;
    }
    // Per name: open tags that wait, and closing tags without a partner.
    let mut names: IndexMap<String, (Vec<usize>, BTreeSet<usize>)> = IndexMap::new();
    let mut partner: Vec<Option<usize>> = vec![None; nodes.len()];
    let mut key: Vec<usize> = vec![usize::MAX; nodes.len()];
    let mut opens = vec![false; nodes.len()];
    for (i, node) in nodes.iter().enumerate() {
        let Kind::Call(call) = &node.kind else { continue };
        if call.closing && ignore(call) {
            set(&mut tags, i, Tag::Raw);
            continue;
        }
        let entry = names.entry(cut(src, &call.name).to_ascii_lowercase());
        set(&mut key, i, entry.index());
        let (waiting, free) = entry.or_default();
        if call.closing {
            set(&mut tags, i, Tag::Raw);
            match waiting.pop() {
                Some(open) => set(&mut partner, open, Some(i)),
                None => {
                    free.insert(i);
                }
            }
        } else if accepts(call) {
            set(&mut opens, i, true);
            waiting.push(i);
        }
    }
    let name_of = |i: usize| key.get(i).copied().unwrap_or(usize::MAX);
    let mut i = 0;
    while i < nodes.len() {
        let accepting = opens.get(i).copied().unwrap_or(false);
        match partner.get(i).copied().flatten() {
            Some(end) if accepting => {
                set(&mut tags, i, Tag::Opens(end));
                for inner in i + 1..end {
                    if let Some(freed) = partner.get(inner).copied().flatten().filter(|p| *p > end)
                        && let Some((_, (_, free))) = names.get_index_mut(name_of(inner))
                    {
                        free.insert(freed);
                    }
                }
                i = end;
            }
            _ => {
                let closing = matches!(nodes.get(i).map(|n| &n.kind), Some(Kind::Call(c)) if c.closing);
                if !closing
                    && !accepting
                    && let Some((_, (_, free))) = names.get_index_mut(name_of(i))
                    && let Some(end) = free.range(i..).next().copied()
                {
                    free.remove(&end);
                    set(&mut tags, i, Tag::Raw);
                }
            }
        }
        i += 1;
    }
    tags
}

fn set<T>(list: &mut [T], i: usize, value: T) {
    if let Some(slot) = list.get_mut(i) {
        *slot = value;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::macros::parse::{Rules, parse};

    /// The search of spec 04 §5, as it is written there.
    fn searched(src: &str, nodes: &[Node], accepts: impl Fn(&Call) -> bool) -> Vec<Tag> {
        let calls: Vec<&Call> = nodes
            .iter()
            .map(|n| match &n.kind {
                Kind::Call(c) => c,
                _ => unreachable!(),
            })
            .collect();
        let mut tags = vec![Tag::Plain; nodes.len()];
        let mut paired = vec![false; nodes.len()];
        let mut i = 0;
        while i < calls.len() {
            let mut next = i + 1;
            if !calls[i].closing && !paired[i] {
                let mut depth = 1;
                for j in i + 1..calls.len() {
                    if paired[j] || cut(src, &calls[j].name) != cut(src, &calls[i].name) {
                        continue;
                    }
                    if !calls[j].closing {
                        depth += usize::from(accepts(calls[j]));
                        continue;
                    }
                    depth -= 1;
                    if depth == 0 {
                        (paired[i], paired[j]) = (true, true);
                        tags[j] = Tag::Raw;
                        if accepts(calls[i]) {
                            tags[i] = Tag::Opens(j);
                            next = j + 1;
                        } else {
                            tags[i] = Tag::Raw;
                        }
                        break;
                    }
                }
            } else if calls[i].closing && !paired[i] {
                tags[i] = Tag::Raw;
            }
            i = next;
        }
        tags
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

        #[test]
        fn one_pass_finds_what_a_search_finds(words in prop::collection::vec(
            prop::sample::select(vec!["{{a}}", "{{/a}}", "{{a::x}}", "{{b}}", "{{/b}}", "{{b::x}}", "{{c::x}}", "{{/c}}"]), 0..14)
        ) {
            let text = words.concat();
            let tree = parse(&text, Rules { depth: 8, ..Rules::default() });
            let accepts = |c: &Call| c.args.is_empty();
            let fast = pair(&text, &tree.root.nodes, accepts, |_| false);
            let slow = searched(&text, &tree.root.nodes, accepts);
            // Inside a scope this level decides nothing.
            let mut at = 0;
            while at < fast.len() {
                prop_assert_eq!(fast[at], slow[at], "{} at {}", text, at);
                at = if let Tag::Opens(end) = fast[at] { end + 1 } else { at + 1 };
            }
        }
    }
}
