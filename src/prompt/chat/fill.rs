//! Filling the chat: heading, nudges, records from the newest backwards, and what is pushed behind (spec 02 §14).

use serde_json::{Value, json};

use super::item::{End, Item, Slot};
use super::{Assembly, Failure};
use crate::error::{Code, Error};
use crate::history::{Names, Record, Records, wire_name};
use crate::js;
use crate::macros::Expander;
use crate::models::{MediaKind, Source, inlines, media_tokens};
use crate::parts::{Kind, Omitted, Op, Origin, OriginKind, Role};
use crate::profile::{PROMPT_CONTINUE, PROMPT_NUDGES};
use crate::scene::Object;

/// Messages of the history whose room is held while the chat is filled.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    new_chat: Option<Item>,
    nudge: Option<Item>,
    continued: Vec<Item>,
    /// Reserved for tools.
    pub(super) tools: i64,
    /// Heading of the speaker's own part.
    pub(super) heading: Option<Item>,
    /// The record to be continued, taken out whole (`prompt.continue`).
    taken: Option<Record>,
}

/// A record made ready: one message, or a tool call with its results.
struct Ready {
    items: Vec<Item>,
    tokens: i64,
}

impl Assembly<'_, '_> {
    fn has_history(&self) -> bool {
        self.collection.get("chatHistory").is_some()
    }

    fn utility(&self, id: &str, text: String, name: &str) -> Item {
        let origin = Origin::new(OriginKind::Utility, name);
        self.input.counter.text(id, "system", text.clone(), vec![(origin, text)])
    }

    /// Slot, heading, nudges, and the stand-in for an empty message (§14.1).
    pub(super) fn open_history(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        if !self.has_history() {
            return Ok(());
        }
        let slot = Slot { id: "chatHistory".to_owned(), items: Vec::new() };
        self.slots.add(slot, self.collection.index("chatHistory")).map_err(Failure::Overflow)?;
        let (key, name) = if self.input.in_group {
            ("new_group_chat_prompt", "new_group_chat")
        } else {
            ("new_chat_prompt", "new_chat")
        };
        let text = scope.expand(self.input.preset.utility(key));
        let new_chat = self.utility("newMainChat", text, name);
        self.hold("newMainChat", &new_chat);
        self.held.new_chat = Some(new_chat);
        if self.wants_group_nudge()
            && let Some(prompt) = self.collection.get("groupNudge")
        {
            let nudge = self.utility("groupNudge", prompt.content.clone(), "group_nudge");
            self.hold("groupNudge", &nudge);
            self.held.nudge = Some(nudge);
        }
        self.prepare_continue(scope);
        self.stand_in(scope)
    }

    fn hold(&mut self, what: &str, item: &Item) {
        self.slots.budget.reserve(what, item.tokens);
        self.must(item);
    }

    fn wants_group_nudge(&mut self) -> bool {
        let (input, kind) = (self.input, self.input.kind);
        let fixed = |switch| input.profile.on(switch);
        self.input.in_group
            && kind != Kind::Impersonate
            && !(fixed(&PROMPT_NUDGES) && (kind == Kind::Quiet || !self.input.supplied.quiet.is_empty()))
            && !(fixed(&PROMPT_CONTINUE) && self.continues_user())
    }

    /// The message to be continued is the user's own (spec 02 F-22).
    fn continues_user(&mut self) -> bool {
        if self.input.kind != Kind::Continue {
            return false;
        }
        if let Some(record) = &self.held.taken {
            return record.role == Role::User;
        }
        let newest = self.records.position(|r| r.depth.is_none());
        newest.and_then(|at| self.records.get(at)).is_some_and(|r| r.role == Role::User)
    }

    /// With `prompt.continue` on: the message to be continued leaves the records before depths are counted.
    pub(super) fn take_continued_whole(&mut self) {
        if self.input.profile.on(&PROMPT_CONTINUE)
            && self.nudges_on()
            && self.records.get(0).is_some_and(|r| r.invocations.is_none())
        {
            self.held.taken = self.records.remove(0);
        }
    }

    fn nudges_on(&self) -> bool {
        self.input.kind == Kind::Continue
            && !self.input.preset.flag("continue_prefill", false)
            && !self.input.continued.is_empty()
            && self.has_history()
    }

    /// Continue with a nudge: the message and the instruction go behind everything (§14.3).
    fn prepare_continue(&mut self, scope: &mut Expander<'_>) {
        if !self.nudges_on() {
            return;
        }
        if let Some(record) = self.held.taken.take() {
            let ready = self.ready(&record, "continued", scope);
            self.held.taken = Some(record);
            self.held.continued.extend(ready.items);
        } else if !self.input.profile.on(&PROMPT_CONTINUE)
            && let Some(at) = self.records.position(|r| r.index.is_some())
            && let Some(record) = self.records.remove(at)
        {
            let text = scope.expand_message(&record.text, record.trust);
            let mut item = self.input.counter.text("", record.role.as_str(), text, record.pieces.clone());
            item.id = None;
            self.held.continued.push(item);
        }
        let last = [("lastChatMessage".to_owned(), js::trim(self.input.continued).to_owned())];
        let text = scope.expand_with(self.input.preset.utility("continue_nudge_prompt"), &last);
        let nudge = self.utility("continueNudge", text, "continue_nudge");
        self.held.continued.push(nudge);
        let tokens = self.held.continued.iter().map(|i| i.tokens).sum();
        self.slots.budget.reserve("continueNudge", tokens);
        for item in self.held.continued.clone() {
            self.must(&item);
        }
    }

    /// `send_if_empty` behind a character's message (§14.1 step 5).
    fn stand_in(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        let text = self.input.preset.text("send_if_empty", "");
        let newest = self.records.get(0);
        if text.is_empty() || newest.is_none_or(|r| r.role != Role::Assistant) {
            return Ok(());
        }
        let text = if self.input.profile.on(&PROMPT_NUDGES) {
            let asked = self.input.kind == Kind::Normal && self.input.interactive;
            if !asked || newest.is_none_or(|r| r.index.is_none()) {
                return Ok(());
            }
            scope.expand(js::trim(text))
        } else {
            text.to_owned()
        };
        let origin = Origin::new(OriginKind::Utility, "send_if_empty");
        let item = self.input.counter.text(
            "emptyUserMessageReplacement",
            "user",
            text.clone(),
            vec![(origin, text)],
        );
        if self.slots.budget.affords(item.tokens) {
            self.slots.insert(Op::Fill, item, "chatHistory", End::End).map_err(Failure::Overflow)?;
        }
        Ok(())
    }

    /// Records from newest to oldest until one does not fit (§14.2).
    pub(super) fn fill_history(&mut self, scope: &mut Expander<'_>) -> Result<(), Failure> {
        let mut records = self.records.take();
        if !self.has_history() {
            for record in &records.all() {
                self.leave_record(record, None, "not_in_order");
            }
            return Ok(());
        }
        let count = records.len();
        let mut kept: Vec<Item> = Vec::new();
        let mut outcome = Ok(());
        let mut cut = false;
        for i in 0..count {
            let Some(record) = records.get(i) else { break };
            if cut {
                self.leave_record(record, None, "after_cut");
                continue;
            }
            if record.hole {
                outcome = Err(Failure::Ghost);
                break;
            }
            let mut ready = self.ready(record, &format!("chatHistory-{}", count - i), scope);
            self.add_tool_reasoning(&mut ready, &mut records, i);
            let Some(record) = records.get(i) else { break };
            if !self.slots.budget.affords(ready.tokens) {
                let reason = if ready.items.len() > 1 { "budget.tool_group" } else { "budget.history_cut" };
                self.leave_record(record, Some(ready.tokens), reason);
                cut = true;
                continue;
            }
            self.book(&ready, record);
            let sent = ready.items.into_iter().filter(Item::is_sent);
            kept.extend(sent.rev());
        }
        kept.reverse();
        self.slots.prepend("chatHistory", kept);
        outcome
    }

    /// The `promptside` way: the newest chat message first, then injected texts from the shallowest, then pinned examples,
    /// then the rest of the chat; injected texts stay within what was kept (spec 02 F-02, F-04, F-05).
    pub(super) fn fill_reserved(
        &mut self,
        injected: &[(i64, Vec<Record>)],
        scope: &mut Expander<'_>,
    ) -> Result<(), Error> {
        if !self.has_history() {
            let records = self.records.take().all();
            for record in records.iter().chain(injected.iter().flat_map(|(_, group)| group)) {
                self.leave_record(record, None, "not_in_order");
            }
            self.add_examples(scope).ok();
            return Ok(());
        }
        let mut records = self.records.take();
        let begins = self.input.tail.and_then(|t| t.start);
        let room = self.slots.budget.left();
        let count = records.len() + injected.iter().map(|(_, g)| g.len()).sum::<usize>();
        let mut chat: Vec<Vec<Item>> = Vec::new();
        // What is continued is reserved already, and may stand alone.
        let wanted = self.input.shares.newest.unwrap_or(1);
        let must = if self.input.kind == Kind::Continue { wanted.saturating_sub(1) } else { wanted };
        let must = must.min(records.len());
        for i in 0..must {
            let Some(newest) = records.get(i) else { break };
            let mut ready = self.ready(newest, &format!("chatHistory-{}", count - i), scope);
            let newest = newest.clone();
            self.add_tool_reasoning(&mut ready, &mut records, i);
            if !self.slots.budget.affords(ready.tokens) {
                let short = ready.tokens - self.slots.budget.left();
                let at = newest.index.map(|i| format!("chat[{i}]")).unwrap_or_default();
                let message = format!(
                    "the newest message needs {} tokens and {} are left, {short} too few; shorten it or the fixed prompts, or raise the context size",
                    ready.tokens,
                    self.slots.budget.left()
                );
                let detail =
                    json!({"short_by": short, "tokens": ready.tokens, "left": self.slots.budget.left()});
                return Err(Error::new(Code::BudgetNewest, at, message).with_detail(detail));
            }
            self.book(&ready, &newest);
            chat.push(ready.items);
        }
        let taken = room - self.slots.budget.left();
        let (notes, mut cut) = self.take_notes(injected, scope);
        if self.input.pin_examples {
            self.add_examples(scope).ok();
        }
        let mut costs: Vec<(Option<usize>, i64)> = Vec::new();
        let room = self.slots.budget.left() + taken;
        for i in must..records.len() {
            if cut {
                for index in records.indices_from(i) {
                    Omitted::message(&mut self.omitted, index, "after_cut");
                }
                break;
            }
            let Some(record) = records.get(i) else { break };
            if record.index.zip(begins).is_some_and(|(index, begins)| index < begins) {
                for index in records.indices_from(i) {
                    Omitted::message(&mut self.omitted, index, "history_start");
                }
                break;
            }
            let mut ready = self.ready(record, &format!("chatHistory-{}", count - i), scope);
            self.add_tool_reasoning(&mut ready, &mut records, i);
            let Some(record) = records.get(i) else { break };
            if self.slots.budget.affords(ready.tokens) {
                let cost = ready.items.iter().filter(|i| i.is_sent()).map(|i| i.tokens).sum();
                costs.push((record.index, cost));
                self.book(&ready, record);
                chat.push(ready.items);
            } else {
                let tools = ready.items.len() > 1;
                let reason = if tools { "budget.tool_group" } else { "budget.history_cut" };
                self.leave_record(record, Some(ready.tokens), reason);
                cut = true;
            }
        }
        if cut {
            self.begin_anew(&mut chat, costs, room, taken);
        }
        if !self.input.pin_examples {
            self.add_examples(scope).ok();
        }
        self.slots.prepend("chatHistory", woven(chat, notes));
        Ok(())
    }

    /// The history no longer fits: it begins so much later that the next messages find room, and its beginning stays for a while
    /// (spec 09 §24.2). `costs` are those of the messages that may go, newest first; `taken` is what the others cost.
    fn begin_anew(
        &mut self,
        chat: &mut Vec<Vec<Item>>,
        mut costs: Vec<(Option<usize>, i64)>,
        room: i64,
        taken: i64,
    ) {
        let Some(tail) = self.input.tail else { return };
        #[expect(clippy::cast_precision_loss, reason = "a share of a context size")]
        let most = js::to_integer(room as f64 * tail.low_water.clamp(0.0, 1.0));
        let mut spent = taken + costs.iter().map(|(_, tokens)| tokens).sum::<i64>();
        while spent > most {
            let Some((index, tokens)) = costs.pop() else { break };
            chat.pop();
            spent -= tokens;
            self.slots.budget.free("chatHistory", tokens);
            if let Some(index) = index {
                Omitted::message(&mut self.omitted, index, "history_start");
            }
        }
    }

    /// Injected texts, shallowest first, until one does not fit. Then the rest of the chat stays out too: room for texts at a
    /// depth is never traded for older messages, so a larger context never loses a message.
    fn take_notes(
        &mut self,
        injected: &[(i64, Vec<Record>)],
        scope: &mut Expander<'_>,
    ) -> (Vec<(usize, Vec<Item>)>, bool) {
        let mut notes: Vec<(usize, Vec<Item>)> = Vec::new();
        let mut cut = false;
        for (depth, group) in injected {
            let mut here = Vec::new();
            for record in group {
                if cut {
                    self.leave_record(record, None, "after_cut");
                    continue;
                }
                let ready = self.ready(record, "injected", scope);
                if self.slots.budget.affords(ready.tokens) {
                    self.book(&ready, record);
                    here.extend(ready.items);
                } else {
                    self.leave_record(record, Some(ready.tokens), "budget.optional");
                    cut = true;
                }
            }
            notes.push((usize::try_from(*depth).unwrap_or(usize::MAX), here));
        }
        (notes, cut)
    }

    /// Pays for what appears; an empty message, which may cost by its name, is not charged.
    fn book(&mut self, ready: &Ready, record: &Record) {
        if !ready.items.iter().any(Item::is_sent) {
            self.leave_record(record, None, "empty");
        }
        for item in ready.items.iter().filter(|i| i.is_sent()) {
            let what = item.id.clone().unwrap_or_default();
            self.slots.budget.book(Op::Fill, &what, -item.tokens);
        }
    }

    pub(super) fn leave_record(&mut self, record: &Record, tokens: Option<i64>, reason: &str) {
        if let (Some(index), None) = (record.index, tokens) {
            return Omitted::message(&mut self.omitted, index, reason);
        }
        let left = self.slots.budget.left();
        let detail = tokens.map(|t| json!({"left": left, "short_by": t - left}));
        let origins: Vec<Origin> = match record.index {
            Some(index) => vec![Origin::chat(index)],
            None => record.pieces.iter().map(|(origin, _)| origin.clone()).collect(),
        };
        self.omitted.extend(origins.into_iter().map(|origin| Omitted {
            tokens,
            detail: detail.clone(),
            ..Omitted::new(origin, reason)
        }));
    }

    /// Heading, group nudge and continued message come in; their room was held (end of §14.2).
    pub(super) fn close_history(&mut self) -> Result<(), Failure> {
        if let Some(item) = self.held.new_chat.take() {
            self.slots.budget.free("newMainChat", item.tokens);
            self.slots.insert(Op::Insert, item, "chatHistory", End::Start).map_err(Failure::Overflow)?;
        }
        if let Some(item) = self.held.nudge.take() {
            self.slots.budget.free("groupNudge", item.tokens);
            self.slots.insert(Op::Insert, item, "chatHistory", End::End).map_err(Failure::Overflow)?;
        }
        let items = std::mem::take(&mut self.held.continued);
        if !items.is_empty() {
            let tokens: i64 = items.iter().map(|i| i.tokens).sum();
            self.slots.budget.free("continueNudge", tokens);
            let slot = Slot { id: "continueNudge".to_owned(), items };
            self.slots.add(slot, None).map_err(Failure::Overflow)?;
        }
        Ok(())
    }

    /// A record as messages with their costs.
    fn ready(&mut self, record: &Record, id: &str, scope: &mut Expander<'_>) -> Ready {
        let text = if record.expanded {
            record.text.clone()
        } else {
            scope.expand_message(&record.text, record.trust)
        };
        if self.input.keeps_tools
            && let Some(invocations) = &record.invocations
        {
            return self.tool_group(record, invocations, id);
        }
        let mut item = self.input.counter.text(id, record.role.as_str(), text, record.pieces.clone());
        item.depth = record.depth;
        if self.input.names == Names::Completion && !record.name.is_empty() {
            let wire = wire_name(&record.name);
            // Where the field would lose letters the text already carries the name.
            let fixed = self.input.profile.on(&crate::profile::PROMPT_NAMES);
            if !fixed || wire == record.name {
                item = self.input.counter.named(item, wire);
            }
        }
        self.add_media(&mut item, record);
        if self.replays_signatures() {
            item.signature.clone_from(&record.signature);
        }
        Ready { tokens: item.tokens, items: vec![item] }
    }

    fn replays_signatures(&self) -> bool {
        let model = self.input.model;
        model.source.is_google()
            || model.source == Source::OpenRouter && js::lower(&model.name).starts_with("google/gemini")
    }

    fn add_media(&mut self, item: &mut Item, record: &Record) {
        if record.media.is_empty() {
            return;
        }
        let detail = self.input.preset.text("inline_image_quality", "auto");
        let wanted = self.input.preset.flag("media_inlining", true);
        for (n, media) in record.media.iter().enumerate() {
            let kind = MediaKind::of(media);
            let url = media.get("url").and_then(Value::as_str).unwrap_or("");
            if !wanted || url.is_empty() || !inlines(self.input.model, kind) {
                let mut origin = record.index.map_or_else(|| Origin::new(OriginKind::Ext, ""), Origin::chat);
                origin.id = format!("{}:media:{n}", origin.id);
                let reason = if url.is_empty() { "media_missing" } else { "unsupported_media" };
                self.omitted.push(Omitted::new(origin, reason));
                continue;
            }
            item.media.push(match kind {
                MediaKind::Image => json!({"type": "image_url", "image_url": {"url": url, "detail": detail}}),
                MediaKind::Video => json!({"type": "video_url", "video_url": {"url": url, "detail": detail}}),
                MediaKind::Audio => json!({"type": "audio_url", "audio_url": {"url": url}}),
            });
            item.tokens += media_tokens(media, detail);
            item.charged = item.tokens;
        }
    }

    /// A tool record as one message that calls, and one a result (§14.2 step 4).
    fn tool_group(&self, record: &Record, invocations: &[Value], id: &str) -> Ready {
        let field = |v: &Value, key: &str| v.get(key).cloned().unwrap_or(Value::Null);
        let origin = record.index.map_or_else(|| Origin::new(OriginKind::Ext, ""), Origin::chat);
        let part =
            |what: &str, n: usize| Origin { id: format!("{}:{what}:{n}", origin.id), ..origin.clone() };
        let calls: Vec<Value> = invocations
            .iter()
            .map(|v| {
                let function = json!({"arguments": field(v, "parameters"), "name": field(v, "name")});
                let mut call = Object::new();
                call.insert("id".into(), field(v, "id"));
                call.insert("type".into(), json!("function"));
                call.insert("function".into(), function);
                if let Some(signature) = v.get("signature").filter(|s| js::to_boolean(s)) {
                    call.insert("signature".into(), signature.clone());
                }
                Value::Object(call)
            })
            .collect();
        let pieces = (0..calls.len()).map(|n| (String::new(), (part("tool_call", n), String::new())));
        let mut call = Item {
            id: Some(format!("toolCall-{id}")),
            role: record.role.as_str().to_owned(),
            tool_calls: Some(calls),
            pieces: pieces.collect(),
            ..Item::default()
        };
        self.input.counter.recount(&mut call);
        let mut items = vec![call];
        for (n, invocation) in invocations.iter().enumerate() {
            let result = invocation.get("result").map(js::value_to_text).filter(|r| !r.is_empty());
            let text = result.unwrap_or_else(|| "[No content]".to_owned());
            let call_id = js::value_to_text(&field(invocation, "id"));
            let piece = (part("tool_result", n), text.clone());
            let mut item = self.input.counter.text(&call_id, "tool", text, vec![piece]);
            item.tool_call_id = Some(call_id);
            items.push(item);
        }
        Ready { tokens: items.iter().map(|i| i.tokens).sum(), items }
    }

    /// Reasoning goes along with tool calls since the last message of the user (end of §14.2). `records` newest first.
    fn add_tool_reasoning(&self, ready: &mut Ready, records: &mut Records<'_>, at: usize) {
        let mode = self.input.preset.text("tool_reasoning_mode", "disabled");
        let asked = matches!(self.input.model.source, Source::OpenRouter | Source::Custom)
            && self.input.preset.flag("show_thoughts", true)
            && mode != "disabled";
        let Some(call) = ready.items.first_mut().filter(|i| asked && i.tool_calls.is_some()) else { return };
        let last_said = records.position(|r| r.role == Role::User && r.index.is_some());
        if last_said.is_some_and(|said| said < at) {
            return;
        }
        let text = |v: Option<&Value>| v.and_then(Value::as_str).filter(|s| !s.is_empty()).map(str::to_owned);
        let own = records
            .get(at)
            .and_then(|r| r.invocations.as_ref())
            .and_then(|list| list.iter().find_map(|i| text(i.get("reasoning"))));
        let mut earlier = || {
            for at in at + 1.. {
                let record = records.get(at).filter(|r| r.role != Role::User)?;
                let said = record.role == Role::Assistant && record.invocations.is_none();
                if said && (mode == "active_chain" || record.reasoning.is_some()) {
                    return record.reasoning.clone();
                }
            }
            None
        };
        if let Some(reasoning) = own.or_else(&mut earlier) {
            let before = call.tokens;
            call.reasoning = Some(reasoning);
            self.input.counter.recount(call);
            ready.tokens += call.tokens - before;
        }
    }
}

/// Chat messages (newest first) and notes by depth become one list, oldest first: a note deeper than what was kept stands
/// before the oldest kept message.
fn woven(chat: Vec<Vec<Item>>, notes: Vec<(usize, Vec<Item>)>) -> Vec<Item> {
    let mut newest_first: Vec<Vec<Item>> = Vec::with_capacity(chat.len() + notes.len());
    let mut chat = chat.into_iter();
    let mut placed = 0;
    for (depth, group) in notes {
        while placed < depth {
            let Some(message) = chat.next() else { break };
            newest_first.push(message);
            placed += 1;
        }
        newest_first.extend(group.into_iter().map(|item| vec![item]));
    }
    newest_first.extend(chat);
    newest_first.into_iter().rev().flatten().filter(Item::is_sent).collect()
}
