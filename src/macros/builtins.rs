//! What each built-in macro inserts.
//!
//! Spec: 04 §9–§11. Differs under `macros.values` (faults F9, F10, F17, F20). Must not know: scopes, the tree.

use std::borrow::Cow;

use serde_json::Value;

use super::env::Env;
use super::eval::{Place, Run, Stays};
use super::random::{self, Formula};
use super::table::{Def, Field, Id, VarOp};
use super::{chat, examples, post, time};
use crate::host::Site;
use crate::js;

impl Run<'_, '_> {
    /// The value of a built-in whose number of arguments is right.
    pub(super) fn builtin(
        &mut self,
        def: &Def,
        args: &[String],
        scoped: bool,
        place: Place,
    ) -> Result<String, Stays> {
        let env = self.env;
        let arg = |i: usize| args.get(i).map_or("", String::as_str);
        let whole = if def.integer && !args.is_empty() { Some(integer(arg(0)).ok_or(Stays)?) } else { None };
        Ok(match def.id {
            Id::Newline => self.repeated("\n", whole)?,
            Id::Space => self.repeated(" ", whole)?,
            Id::Noop if self.fixes.escapes => post::NOOP_MARK.to_owned(),
            Id::Noop | Id::Comment => String::new(),
            Id::Trim if scoped => arg(0).to_owned(),
            Id::Trim => if self.fixes.escapes { post::TRIM_MARK } else { post::TRIM_TEXT }.to_owned(),
            Id::Reverse => arg(0).chars().rev().collect(),
            Id::If => return Err(Stays),
            Id::Else => post::ELSE_MARK.to_owned(),
            Id::Input => env.input.to_owned(),
            Id::Outlet => env.outlets.get(arg(0)).cloned().unwrap_or_default(),
            Id::Banned => {
                let word = arg(0);
                let word = word.strip_prefix('"').unwrap_or(word);
                let word = word.strip_suffix('"').unwrap_or(word);
                if !self.denied() {
                    self.effects.banned.push(word.to_owned());
                }
                String::new()
            }
            Id::User => env.user.to_owned(),
            Id::Char => env.char.to_owned(),
            Id::Group => env.group.to_owned(),
            Id::GroupNotMuted => env.group_not_muted.to_owned(),
            Id::NotChar => match env.source.filter(|base| base.char != env.char) {
                Some(base) if env.not_char == base.not_char => base.not_char_of(env.char),
                _ => env.not_char.to_owned(),
            },
            Id::Card(field) => self.card_field(field),
            Id::FirstMessage => match whole {
                None | Some(0) => self.card_field(Field::FirstMessage),
                Some(n) => usize::try_from(n)
                    .ok()
                    .and_then(|n| n.checked_sub(1))
                    .map_or_else(String::new, |n| self.greeting(n)),
            },
            Id::Version => self.version(),
            // Inside a card's fields there is no card, and so no examples.
            Id::MesExamples
                if env.values.contains_key("mesexamples") && (env.card.is_some() || env.source.is_some()) =>
            {
                env.values.get("mesexamples").cloned().unwrap_or_default()
            }
            Id::MesExamples => {
                let raw = self.card_field(Field::MesExamplesRaw);
                let separator = self.sub(env.instruct.example_separator.as_str());
                examples::blocks(&raw, &heading(&env, &separator))
            }
            Id::Original => match env.original {
                None => return Err(Stays),
                Some(_) if self.original_used => String::new(),
                Some(text) => {
                    self.original_used = true;
                    text.to_owned()
                }
            },
            Id::LastMessage => {
                chat::last(env.chat, self.fixes.values).map_or_else(String::new, |(_, m)| m.mes.clone())
            }
            Id::LastIndex => {
                chat::last(env.chat, self.fixes.values).map_or_else(String::new, |(i, _)| i.to_string())
            }
            Id::LastUserMessage => chat::last_by(env.chat, true).map_or_else(String::new, |m| m.mes.clone()),
            Id::LastCharMessage => chat::last_by(env.chat, false).map_or_else(String::new, |m| m.mes.clone()),
            Id::AllChatRange => env.chat.len().checked_sub(1).map_or_else(String::new, |n| format!("0-{n}")),
            Id::SwipeCount => chat::last_swipe_id(env.chat),
            Id::CurrentSwipe => chat::current_swipe_id(env.chat).unwrap_or_default(),
            Id::FirstIncluded => {
                self.metadata("lastInContextMessageId").map_or_else(String::new, |v| match v.as_ref() {
                    Value::Null => String::new(),
                    v => js::value_to_text(v),
                })
            }
            Id::LastGenerationType => env.last_generation_type.to_owned(),
            Id::Model => env.model.to_owned(),
            Id::MaxContext => env.max_context.to_string(),
            Id::MaxResponse => env.max_response.to_string(),
            Id::MaxPrompt => (env.max_context - env.max_response).to_string(),
            Id::HasExtension => {
                let list = env.values.get("extensions").map_or("", String::as_str);
                list.split('\n').any(|name| !name.is_empty() && name == arg(0)).to_string()
            }
            Id::Random => self.random(args)?,
            Id::Pick => self.pick(args, place)?,
            Id::Roll => {
                let formula = Formula::read(js::trim(arg(0)));
                match formula.map(|f| f.roll(&mut self.host.dice, &self.host.limits)) {
                    None => String::new(),
                    Some(Some(sum)) => js::number_text(sum),
                    Some(None) => {
                        self.note("macro.roll", "too many dice; the macro stays as it is");
                        return Err(Stays);
                    }
                }
            }
            Id::Time => time::format(self.zone(arg(0)), "LT"),
            Id::Date => time::format(self.now(), "LL"),
            Id::Weekday => time::format(self.now(), "dddd"),
            Id::IsoTime => time::format(self.now(), "HH:mm"),
            Id::IsoDate => time::format(self.now(), "YYYY-MM-DD"),
            Id::DateTimeFormat => time::format(self.now(), arg(0)),
            Id::IdleDuration => chat::idle(env.chat, self.now()),
            Id::TimeDiff => {
                let read = |text: &str| {
                    let of_day = if self.fixes.values { time::time_of_day(text) } else { None };
                    of_day
                        .map(|ms| time::midnight(self.now()) + ms)
                        .or_else(|| time::date(text, self.host.clock.offset_minutes))
                };
                match (read(arg(0)), read(arg(1))) {
                    (Some(a), Some(b)) => time::humanize_suffix(a - b),
                    _ => "Invalid date".to_owned(),
                }
            }
            Id::Var(op, global) => self.variable(op, global, args)?,
            Id::Sequence(key, other) => sequence(&env, key, other),
            Id::DefaultSystemPrompt => env.instruct.system_prompt.clone().unwrap_or_default(),
            Id::SystemPrompt => match &env.instruct.system_prompt {
                None => String::new(),
                Some(text) => {
                    let own = self.card_field(Field::CharPrompt);
                    if own.is_empty() { text.clone() } else { own }
                }
            },
            Id::ExampleSeparator => env.instruct.example_separator.clone(),
            Id::ChatStart => env.instruct.chat_start.clone(),
            Id::Reasoning(i) => env.reasoning.get(i).copied().unwrap_or("").to_owned(),
            Id::Value(key) => env.values.get(key).cloned().unwrap_or_default(),
        })
    }

    fn now(&self) -> time::Moment {
        time::Moment::now(&self.host.clock)
    }

    /// Now, in the zone that `{{time}}` names; local when it names none.
    fn zone(&self, text: &str) -> time::Moment {
        let now = self.now();
        let fixed = self.fixes.values;
        let named = || {
            let key = format!("zone/{}", js::lower(js::trim(text)));
            self.env.values.get(&key).filter(|_| fixed && !text.is_empty())?.parse().ok()
        };
        match time::utc_offset(text, !fixed).or_else(named) {
            Some(offset) => now.at(offset),
            None => now,
        }
    }

    /// Metadata of the chat, with this request's own writes.
    fn metadata(&self, key: &str) -> Option<Cow<'_, Value>> {
        match self.effects.metadata.get(key) {
            Some(written) => written.as_ref().map(Cow::Borrowed),
            None => self.env.metadata.get(key).map(Cow::Borrowed),
        }
    }

    fn repeated(&mut self, what: &str, count: Option<i64>) -> Result<String, Stays> {
        let n = usize::try_from(count.unwrap_or(1)).map_err(|_| Stays)?;
        if n > self.host.limits.macro_list {
            self.note("macro.list", "too many line feeds or spaces; the macro stays as it is");
            return Err(Stays);
        }
        Ok(what.repeat(n))
    }

    fn listed(&mut self, args: &[String]) -> Result<Vec<String>, Stays> {
        let items = random::items(args);
        if items.len() > self.host.limits.macro_list {
            self.note("macro.list", "too many items; the macro stays as it is");
            return Err(Stays);
        }
        Ok(items)
    }

    fn random(&mut self, args: &[String]) -> Result<String, Stays> {
        if args.is_empty() {
            return Ok(String::new());
        }
        let mut items = self.listed(args)?;
        let at = self.host.dice.index(Site::MacroRandom, items.len());
        Ok(if at < items.len() { items.swap_remove(at) } else { String::new() })
    }

    fn pick(&mut self, args: &[String], place: Place) -> Result<String, Stays> {
        if args.is_empty() {
            return Ok(String::new());
        }
        let mut items = self.listed(args)?;
        let chat = self.chat_hash(true);
        let seed =
            self.metadata("pick_reroll_seed").filter(|v| js::to_boolean(v)).map(|v| js::value_to_text(&v));
        let mut key = format!("{chat}-{}-{}", self.content_hash(), place.offset);
        if let Some(seed) = seed {
            key.push('-');
            key.push_str(&seed);
        }
        let text = random::hash53(&key).to_string();
        let units: Vec<u16> = text.encode_utf16().collect();
        let at = random::choose(random::arc4_first(&units), items.len());
        Ok(if at < items.len() { items.swap_remove(at) } else { String::new() })
    }

    /// The chat's hash in decimal; made and stored when there is none. The legacy engine does not take 0 for one.
    pub(super) fn chat_hash(&mut self, zero_counts: bool) -> String {
        if let Some(Value::Number(n)) = self.metadata("chat_id_hash").as_deref()
            && (zero_counts || n.as_f64() != Some(0.0))
        {
            return js::number_text(n.as_f64().unwrap_or(0.0));
        }
        let id = match self.metadata("main_chat").as_deref() {
            None | Some(Value::Null) => self.env.chat_id.to_owned(),
            Some(v) => js::value_to_text(v),
        };
        let hash = random::hash53(&id);
        self.effects.metadata.insert("chat_id_hash".to_owned(), Some(Value::from(hash)));
        hash.to_string()
    }

    pub(super) fn variable(&mut self, op: VarOp, global: bool, args: &[String]) -> Result<String, Stays> {
        let arg = |i: usize| args.get(i).map_or("", String::as_str);
        let writes = !matches!(op, VarOp::Get | VarOp::GetKey | VarOp::Has);
        if writes && global && self.denied() {
            return Ok(String::new());
        }
        let name = arg(0);
        let mut vars = self.vars(global);
        let result = match op {
            VarOp::Get => Ok(vars.get(name).text()),
            VarOp::Has => Ok(vars.has(name).to_string()),
            VarOp::GetKey => Ok(vars.get_key(name, arg(1)).text()),
            VarOp::Set => vars.set(name, Value::String(arg(1).to_owned())).map(|()| String::new()),
            VarOp::Add => vars.add(name, &Value::String(arg(1).to_owned())).map(|_| String::new()),
            VarOp::Inc => vars.add(name, &Value::from(1)).map(|r| r.text()),
            VarOp::Dec => vars.add(name, &Value::from(-1)).map(|r| r.text()),
            VarOp::Delete => {
                vars.delete(name);
                Ok(String::new())
            }
            VarOp::SetKey => vars.set_key(name, arg(1), arg(2)).map(|()| String::new()),
        };
        result.map_err(|why| self.refused(why))
    }
}

/// An optional minus and ASCII digits, around which white space may stand.
fn integer(text: &str) -> Option<i64> {
    let text = js::trim(text);
    let digits = text.strip_prefix('-').unwrap_or(text);
    let fine = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    fine.then(|| js::to_integer(js::to_number(text)))
}

/// An instruct sequence, or the one that stands in for an empty one; empty while instruct mode is off.
pub(super) fn sequence(env: &Env<'_>, key: &str, other: &str) -> String {
    if !env.instruct.enabled {
        return String::new();
    }
    let read = |key: &str| env.instruct.sequences.get(key).filter(|s| !s.is_empty());
    read(key).or_else(|| read(other)).cloned().unwrap_or_default()
}

/// What stands above each example block.
pub(super) fn heading(env: &Env<'_>, separator: &str) -> String {
    if env.chat_completion || env.instruct.enabled {
        "<START>\n".to_owned()
    } else if separator.is_empty() {
        String::new()
    } else {
        format!("{separator}\n")
    }
}
