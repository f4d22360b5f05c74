//! Inclusion groups: of the new entries of a loop, one stays per group.
//!
//! Spec: 03 §11. Differs from ST under `lore.groups`.

use indexmap::IndexMap;

use super::explain::{Outcome, Reason};
use super::scan::{Candidate, Scanner};
use crate::host::Site;
use crate::profile;

/// A group while it is decided: its members as indices of entries, and whether a sticky one holds it.
#[derive(Default)]
struct Group {
    members: Vec<usize>,
    sticky: bool,
}

/// Takes the losers out of the list.
pub(super) fn filter(scan: &mut Scanner<'_, '_>, new: &mut Vec<Candidate>) {
    let fixed = scan.profile.on(&profile::LORE_GROUPS);
    let mut groups: IndexMap<String, Group> = IndexMap::new();
    for candidate in new.iter() {
        let names: Vec<String> =
            entry_of(scan, candidate).map_or_else(Vec::new, |e| e.groups().map(str::to_owned).collect());
        for name in names {
            groups.entry(name).or_default().members.push(candidate.entry);
        }
    }
    if groups.is_empty() {
        return;
    }
    if !fixed {
        // Property order of a JavaScript object: integer-like names first (03 F22).
        groups.sort_by_cached_key(|name, _| integer_like(name).map_or((1, 0), |n| (0, n)));
    }
    for (name, group) in &mut groups {
        timed(scan, new, name, group, fixed);
    }
    for (name, group) in &mut groups {
        score(scan, new, name, group, fixed);
    }
    for (name, group) in &groups {
        decide(scan, new, name, group, fixed);
    }
}

fn integer_like(name: &str) -> Option<u32> {
    let plain = name == "0"
        || (!name.starts_with('0') && !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit()));
    plain.then(|| name.parse().ok()).flatten().filter(|n| *n != u32::MAX)
}

/// The object that is a candidate: the stored entry, or the forced one.
fn entry_of<'s>(scan: &'s Scanner<'_, '_>, candidate: &'s Candidate) -> Option<&'s super::entry::Entry> {
    candidate.forced.as_deref().or_else(|| scan.entries.get(candidate.entry))
}

/// Removes an entry from the list. In the reference, removing one that is gone already takes the last one instead (03 F19).
fn remove(
    scan: &mut Scanner<'_, '_>,
    new: &mut Vec<Candidate>,
    entry: usize,
    group: &str,
    by: &str,
    fixed: bool,
) {
    match new.iter().position(|c| c.entry == entry) {
        Some(at) => {
            new.remove(at);
        }
        None if fixed => return,
        None => {
            new.pop();
        }
    }
    scan.explain(entry, Outcome::Removed, Some(lost(group, by)));
}

fn lost(group: &str, by: &str) -> Reason {
    Reason::GroupLost { group: group.to_owned(), by: by.to_owned() }
}

/// Phase 1: sticky members hold their group; resting and delayed ones leave.
fn timed(scan: &mut Scanner<'_, '_>, new: &mut Vec<Candidate>, name: &str, group: &mut Group, fixed: bool) {
    let sticky: Vec<usize> = group.members.iter().copied().filter(|m| scan.timers.sticky(*m)).collect();
    if !sticky.is_empty() {
        group.sticky = true;
        // Of several sticky members the latest stays (03 F24).
        let keeper = fixed
            .then(|| {
                sticky
                    .iter()
                    .copied()
                    .max_by(|a, b| scan.timers.started(*a).total_cmp(&scan.timers.started(*b)))
            })
            .flatten();
        for member in group.members.clone() {
            if !sticky.contains(&member) || keeper.is_some_and(|k| k != member) {
                remove(scan, new, member, name, "sticky", fixed);
                if fixed {
                    scan.lose(member);
                }
            }
        }
    }
    for member in group.members.clone() {
        // A resting sticky member removes itself in the reference (03 F23).
        if scan.timers.cooling(member) && !(fixed && scan.timers.sticky(member)) {
            remove(scan, new, member, name, "cooldown", fixed);
        }
    }
    for member in group.members.clone() {
        if scan.entries.get(member).is_some_and(|e| scan.timers.delayed(e).is_some()) {
            remove(scan, new, member, name, "delay", fixed);
        }
    }
}

/// Phase 2: the lower scores leave, where scoring is on.
fn score(scan: &mut Scanner<'_, '_>, new: &mut Vec<Candidate>, name: &str, group: &mut Group, fixed: bool) {
    if group.sticky {
        return;
    }
    let global = scan.globals.group_scoring;
    let own = |scan: &Scanner<'_, '_>, m: usize| scan.entries.get(m).and_then(|e| e.group_scoring);
    if !global && !group.members.iter().any(|m| own(scan, *m) == Some(true)) {
        return;
    }
    let scores: Vec<(usize, usize)> = group.members.iter().map(|m| (*m, scan.score(*m))).collect();
    let best = scores.iter().map(|(_, s)| *s).max().unwrap_or(0);
    for (member, score) in scores {
        if score < best && own(scan, member).unwrap_or(global) {
            remove(scan, new, member, name, "score", fixed);
            group.members.retain(|m| *m != member);
        }
    }
}

/// Phase 3: an earlier winner, an override, or a weighted draw.
fn decide(scan: &mut Scanner<'_, '_>, new: &mut Vec<Candidate>, name: &str, group: &Group, fixed: bool) {
    if group.sticky {
        return;
    }
    // Who left in the meantime takes no part where the fault is put right.
    let members: Vec<usize> =
        group.members.iter().copied().filter(|m| !fixed || new.iter().any(|c| c.entry == *m)).collect();
    let holds = |groups: &str| {
        if fixed {
            groups.split(',').map(crate::js::trim).any(|g| g == crate::js::trim(name))
        } else {
            groups == name
        }
    };
    let holder = scan.active().find(|a| holds(&a.what.group));
    if let Some((at, stays)) = holder.map(|a| (a.at, a.what.group_override || scan.timers.sticky(a.at))) {
        let overrides = |m: &usize| {
            new.iter().any(|c| c.entry == *m && entry_of(scan, c).is_some_and(|e| e.group_override))
        };
        if !fixed || stays || !members.iter().any(overrides) {
            for member in members {
                remove(scan, new, member, name, "already_active", fixed);
            }
            return;
        }
        // An override that recursion found takes the group over (03 F25).
        scan.retract(at, lost(name, "override"));
    }
    if members.len() <= 1 {
        return;
    }
    let object = |scan: &Scanner<'_, '_>, m: usize| {
        let forced = new.iter().find(|c| c.entry == m).and_then(|c| c.forced.as_deref()).cloned();
        forced.or_else(|| scan.entries.get(m).cloned())
    };
    let objects: Vec<_> = members.iter().filter_map(|m| Some((*m, object(scan, *m)?))).collect();
    let mut winner: Option<(usize, f64)> = None;
    for (member, entry) in objects.iter().filter(|(_, e)| e.group_override) {
        if winner.is_none_or(|(_, order)| entry.order > order) {
            winner = Some((*member, entry.order));
        }
    }
    let (winner, by) = if let Some((member, _)) = winner {
        (Some(member), "override")
    } else {
        let total: f64 = objects.iter().map(|(_, e)| e.group_weight).sum();
        let roll = scan.host.dice.draw(Site::LoreGroup) * total;
        let mut sum = 0.0;
        let chosen = objects.iter().find(|(_, e)| {
            sum += e.group_weight;
            roll <= sum
        });
        (chosen.map(|(m, _)| *m), "roll")
    };
    let Some(winner) = winner else { return };
    for member in members {
        if member != winner {
            remove(scan, new, member, name, by, fixed);
            if fixed {
                scan.lose(member);
            }
        }
    }
}
