//! A regex script as data: the stored object, read as tolerantly as its public format is written (spec 05 §1, spec 08 §10).

use serde_json::Value;

use super::Scope;
use super::find::Substitute;
use super::replace::Piece;
use crate::error::Warning;
use crate::host::Limits;
use crate::js;
use crate::scene::Reader;

/// One script.
#[expect(clippy::struct_excessive_bools, reason = "these are the switches of the script editor")]
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Whose it is.
    pub scope: Scope,
    /// Where it stood, such as `scripts.global[2]`.
    pub path: String,
    /// Its name; the id when it has none.
    pub name: String,
    /// The find text: `/pattern/flags`, or a bare pattern.
    pub find: String,
    /// What macros do in the find text.
    pub substitute: Substitute,
    /// The replacement as it was written.
    pub replace: String,
    /// The replacement, taken apart.
    pub(super) pieces: Vec<Piece>,
    /// Texts taken out of what `$1`, `$<name>` and `{{match}}` insert.
    pub trim: Vec<String>,
    /// Numbers of the placements.
    pub placement: Vec<i64>,
    /// Switched off.
    pub disabled: bool,
    /// Changes what is shown.
    pub markdown_only: bool,
    /// Changes what is sent.
    pub prompt_only: bool,
    /// Also runs when a message is edited.
    pub run_on_edit: bool,
    /// Smallest depth; `None` when not set.
    pub min_depth: Option<f64>,
    /// Largest depth; `None` when not set.
    pub max_depth: Option<f64>,
    /// Smallest message index from the start of the chat, under `scripts.order`.
    pub min_index: Option<f64>,
    /// Largest message index from the start of the chat, under `scripts.order`.
    pub max_index: Option<f64>,
    /// Lower ones run first, whatever their scope, under `scripts.order` (default 0).
    pub priority: f64,
}

impl Script {
    /// Reads a stored script. Missing lists and texts are empty (fault R16 in both profiles); what is too long is cut or, for the find text
    /// and the replacement, switches the script off (spec 05 §3.4).
    pub(super) fn read(
        value: &Value,
        scope: Scope,
        path: String,
        limits: &Limits,
        warnings: &mut Vec<Warning>,
    ) -> Option<Self> {
        let Some(object) = value.as_object() else {
            warnings.push(Warning::new("script-dropped", path, "is no object"));
            return None;
        };
        let mut r = Reader::new(object, path.clone());
        let find = r.text("findRegex");
        let replace = r.text("replaceString");
        let too_long = find.len() > limits.script_find || replace.len() > limits.script_replace;
        let mut trim = r.texts("trimStrings");
        let many = trim.len() > limits.script_trims || trim.iter().any(|t| t.len() > limits.script_trim);
        trim.retain(|t| t.len() <= limits.script_trim);
        trim.truncate(limits.script_trims);
        let number =
            |key: &str| r.raw(key).filter(|v| !v.is_null()).map(js::value_to_number).filter(|n| !n.is_nan());
        let substitute = match number("substituteRegex") {
            Some(1.0) => Substitute::Raw,
            Some(2.0) => Substitute::Escaped,
            _ => Substitute::None,
        };
        let (min_depth, max_depth) = (number("minDepth"), number("maxDepth"));
        let (min_index, max_index) = (number("minIndex"), number("maxIndex"));
        let priority = number("priority").unwrap_or(0.0);
        let placement = r
            .list("placement")
            .iter()
            .filter_map(Value::as_f64)
            .filter(|n| n.fract() == 0.0)
            .map(js::to_integer)
            .collect();
        let name = r.text_opt("scriptName").filter(|n| !n.is_empty()).unwrap_or_else(|| r.text("id"));
        let mut script = Self {
            scope,
            name,
            find,
            substitute,
            pieces: Piece::read(&replace),
            replace,
            trim,
            placement,
            disabled: r.flag("disabled", false) || too_long,
            markdown_only: r.flag("markdownOnly", false),
            prompt_only: r.flag("promptOnly", false),
            run_on_edit: r.flag("runOnEdit", false),
            min_depth,
            max_depth,
            min_index,
            max_index,
            priority,
            path,
        };
        warnings.extend(r.into_warnings());
        if too_long {
            script.warn(
                warnings,
                "script-too-long",
                "is switched off: its find text or replacement is too long",
            );
        }
        if many {
            script.warn(warnings, "script-cut", "has too many or too long trim texts; the rest is ignored");
        }
        if scope == Scope::Global {
            script.migrate(object.get("placement").is_some_and(Value::is_array));
        }
        Some(script)
    }

    pub(super) fn warn(&self, warnings: &mut Vec<Warning>, code: &'static str, what: &str) {
        warnings.push(Warning::new(code, self.path.clone(), format!("the script {:?} {what}", self.name)));
    }

    /// Old placements of the user's own scripts: 0 was "display", 4 "send as" (spec 05 §1).
    fn migrate(&mut self, has_list: bool) {
        if !has_list {
            self.placement.clear();
        }
        if self.placement.contains(&0) {
            self.placement = match *self.placement {
                [_] => vec![1, 2, 3, 5, 6],
                _ => self.placement.iter().copied().filter(|p| *p != 0).collect(),
            };
            self.markdown_only = true;
            self.prompt_only = true;
        }
        if self.placement.contains(&4) {
            self.placement = match *self.placement {
                [_] => vec![3],
                _ => self.placement.iter().copied().filter(|p| *p != 4).collect(),
            };
        }
    }

    /// Whether a depth lies outside its window. Bounds below -1 and 0 are no bounds (spec 05 §4 step 6).
    pub(super) fn misses_depth(&self, depth: f64) -> bool {
        self.min_depth.is_some_and(|min| min >= -1.0 && depth < min)
            || self.max_depth.is_some_and(|max| max >= 0.0 && depth > max)
    }

    /// Whether macros may run for it.
    pub(super) fn has_macros(&self) -> bool {
        self.substitute != Substitute::None
            || self.replace.contains("{{")
            || self.trim.iter().any(|t| t.contains("{{"))
    }

    /// Whether it has a window at all.
    pub(super) fn has_window(&self) -> bool {
        self.min_depth.is_some_and(|min| min > -1.0) || self.max_depth.is_some_and(|max| max >= 0.0)
    }

    /// Whether an index from the start lies outside its range.
    pub(super) fn misses_index(&self, index: Option<usize>) -> bool {
        let index = index.and_then(|i| u32::try_from(i).ok()).map(f64::from);
        self.min_index.is_some_and(|min| index.is_none_or(|i| i < min))
            || self.max_index.is_some_and(|max| index.is_none_or(|i| i > max))
    }
}
