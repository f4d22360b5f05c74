//! What one character remembers (spec 10 §27): requests that extract and consolidate, answers read leniently, and the texts that
//! go into that character's own requests. Nothing here is ever shown to another member.

use serde_json::Value;

use super::recall::Memo;
use super::settings::PrivateSettings;
use crate::js;

/// Code points of a memory.
const TEXT: usize = 160;
/// Code points of a key point.
const POINT: usize = 80;
/// Code points of a character's core in a request.
pub(super) const CORE: usize = 1600;

/// Whether a memory is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Waits for a confirmation.
    Pending,
    /// In use.
    #[default]
    Confirmed,
    /// A newer memory says otherwise.
    Superseded,
}

impl Status {
    /// The stable text.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Confirmed => "confirmed",
            Self::Superseded => "superseded",
        }
    }

    /// From its text; anything else is confirmed.
    pub fn named(text: &str) -> Self {
        match text {
            "pending" => Self::Pending,
            "superseded" => Self::Superseded,
            _ => Self::Confirmed,
        }
    }
}

/// A memory of an event, a state or a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Episode {
    /// Its id.
    pub id: String,
    /// Whose it is: avatar.
    pub owner: String,
    /// What is remembered.
    pub text: String,
    /// How it felt.
    pub emotion: String,
    /// 1 to 10.
    pub importance: u8,
    /// Details.
    pub key_points: Vec<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// `fact`, `state` or `plan`.
    pub kind: String,
    /// What it is about; a newer memory with the same key supersedes it. Empty for none.
    pub fact_key: String,
    /// Whether it is used.
    pub status: Status,
    /// Messages that it comes from, with the hashes of their texts.
    pub sources: Vec<(String, String)>,
    /// When, epoch milliseconds.
    pub created: i64,
}

impl Episode {
    /// Everything that it can be found by.
    pub fn searched(&self) -> String {
        let mut all = vec![self.text.as_str()];
        all.extend(self.key_points.iter().map(String::as_str));
        all.extend(self.tags.iter().map(String::as_str));
        all.join("\n")
    }

    /// As it stands in a request.
    pub fn line(&self) -> String {
        if self.key_points.is_empty() {
            return format!("- {}", self.text);
        }
        format!("- {} ({})", self.text, self.key_points.join("; "))
    }
}

/// What a character has become sure of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Core {
    /// Whose it is: avatar.
    pub owner: String,
    /// Facts, at most 16.
    pub facts: Vec<String>,
    /// Preferences, at most 12.
    pub preferences: Vec<String>,
    /// Traits, at most 12.
    pub traits: Vec<String>,
    /// Notes, at most 12.
    pub notes: Vec<String>,
    /// How many confirmed memories it has taken in.
    pub taken: usize,
}

/// The lists of a core: name and most entries, in the order of injection.
pub(super) const LISTS: [(&str, usize); 4] =
    [("facts", 16), ("preferences", 12), ("traits", 12), ("notes", 12)];

impl Core {
    pub(super) fn list(&self, name: &str) -> &[String] {
        match name {
            "facts" => &self.facts,
            "preferences" => &self.preferences,
            "traits" => &self.traits,
            _ => &self.notes,
        }
    }

    pub(super) fn list_mut(&mut self, name: &str) -> &mut Vec<String> {
        match name {
            "facts" => &mut self.facts,
            "preferences" => &mut self.preferences,
            "traits" => &mut self.traits,
            _ => &mut self.notes,
        }
    }

    /// As it stands in a request: a line each, as many as fit into [`CORE`] code points.
    pub fn text(&self) -> String {
        let mut out = String::new();
        let mut room = CORE;
        for (name, _) in LISTS {
            for line in self.list(name) {
                let cost = line.chars().count() + 3;
                if cost > room {
                    continue;
                }
                room -= cost;
                if !out.is_empty() {
                    out.push('\n');
                }
                out.push_str(&format!("- {line}"));
            }
        }
        out
    }
}

/// The request that extracts memories: system and user text.
pub(super) fn extract_request(name: &str, heard: &[&Memo], known: &[&Episode]) -> (String, String) {
    let system = format!(
        "You keep the private memory of {name} in a role play. Read the conversation and write down what {name} will need to \
         remember: events, promises, feelings, facts about others. Answer with JSON only: {{\"memories\": [{{\"text\": \"at most \
         {TEXT} characters\", \"emotion\": \"one word\", \"importance\": 1-10, \"key_points\": [\"at most 5\"], \"tags\": \
         [\"words to find it by\"], \"type\": \"fact|state|plan\", \"fact_key\": \"what it is about, if a later memory may \
         replace it\"}}]}}. Write in the language of the conversation. Nothing worth remembering: {{\"memories\": []}}."
    );
    let mut blocks: Vec<String> = Vec::new();
    if !known.is_empty() {
        let lines: Vec<String> = known.iter().map(|e| e.line()).collect();
        blocks.push(format!("Already remembered:\n{}", lines.join("\n")));
    }
    blocks.extend(heard.iter().map(|m| format!("{}:\n{}", m.name, m.text)));
    (system, blocks.join("\n\n"))
}

/// The request that consolidates a core.
pub(super) fn core_request(name: &str, core: &Core, confirmed: &[&Episode]) -> (String, String) {
    let system = format!(
        "You keep the private memory of {name} in a role play. Merge the memories into what {name} is sure of. Later memories \
         win over earlier ones. Answer with JSON only: {{\"facts\": [at most 16], \"preferences\": [at most 12], \"traits\": [at \
         most 12], \"notes\": [at most 12]}}, every entry a text of at most {TEXT} characters, in the language of the memories."
    );
    let lines: Vec<String> = confirmed.iter().map(|e| e.line()).collect();
    let known = core.text();
    let mut blocks = Vec::new();
    if !known.is_empty() {
        blocks.push(format!("Sure until now:\n{known}"));
    }
    blocks.push(format!("Memories, oldest first:\n{}", lines.join("\n")));
    (system, blocks.join("\n\n"))
}

/// The JSON of an answer, whatever stands around it.
fn json_in(answer: &str) -> Option<Value> {
    let (open, close) = match (answer.find('{'), answer.find('[')) {
        (Some(object), Some(list)) if list < object => (list, ']'),
        (None, Some(list)) => (list, ']'),
        (Some(object), _) => (object, '}'),
        (None, None) => return None,
    };
    let end = answer.rfind(close)?;
    js::parse(answer.get(open..=end)?).ok().map(|(value, _)| value)
}

/// Code points at most.
fn short(value: &Value, most: usize) -> String {
    let text = match value {
        Value::Null | Value::Object(_) | Value::Array(_) => String::new(),
        other => js::value_to_text(other),
    };
    js::trim(&text).chars().take(most).collect()
}

fn shorts(value: Option<&Value>, count: usize, most: usize) -> Vec<String> {
    let list = value.and_then(Value::as_array).into_iter().flatten();
    list.map(|v| short(v, most)).filter(|t| !t.is_empty()).take(count).collect()
}

/// The memories of an answer; those of too little importance are left out. `None`: no JSON in it.
pub(super) fn read_episodes(answer: &str, owner: &str, settings: &PrivateSettings) -> Option<Vec<Episode>> {
    let value = json_in(answer)?;
    let found = ["memories", "items", "events"].iter().find_map(|key| value.get(*key)?.as_array());
    let list = found.or(value.as_array()).map_or(std::slice::from_ref(&value), Vec::as_slice);
    let text = |v: &Value, keys: &[&str], most| {
        keys.iter().find_map(|k| v.get(*k)).map(|v| short(v, most)).unwrap_or_default()
    };
    let episode = |v: &Value| {
        let importance = v.get("importance").map_or(f64::NAN, js::value_to_number);
        let importance =
            if importance.is_nan() { 3 } else { js::to_integer(js::round(importance)).clamp(1, 10) };
        Episode {
            owner: owner.to_owned(),
            text: text(v, &["text", "summary"], TEXT),
            emotion: text(v, &["emotion"], POINT),
            importance: u8::try_from(importance).unwrap_or(3),
            key_points: shorts(v.get("key_points").or(v.get("keyPoints")), 5, POINT),
            tags: shorts(v.get("tags"), 8, POINT),
            kind: match text(v, &["type", "event_type"], POINT).as_str() {
                kind @ ("state" | "plan") => kind.to_owned(),
                _ => "fact".to_owned(),
            },
            fact_key: text(v, &["fact_key", "factKey"], POINT),
            status: if settings.review { Status::Pending } else { Status::Confirmed },
            ..Episode::default()
        }
    };
    let wanted = |e: &Episode| !e.text.is_empty() && e.importance >= settings.min_importance;
    Some(list.iter().take(20).map(episode).filter(wanted).collect())
}

/// Reads a consolidated core into one; of lists that are too long the newest entries stay. `false`: no such JSON in the answer.
pub(super) fn read_core(answer: &str, core: &mut Core) -> bool {
    let Some(value) = json_in(answer).filter(Value::is_object) else { return false };
    if !LISTS.iter().any(|(name, _)| value.get(*name).is_some_and(Value::is_array)) {
        return false;
    }
    for (name, most) in LISTS {
        let mut list = shorts(value.get(name), usize::MAX, TEXT);
        let surplus = list.len().saturating_sub(most);
        list.drain(..surplus);
        *core.list_mut(name) = list;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::settings::MemorySettings;

    #[test]
    fn answers_are_read_leniently() {
        let settings = MemorySettings::default().private;
        let answer = "好的：```json\n{\"memories\":[{\"text\":\"她的生日是三月十五日\",\"importance\":\"8\",\"tags\":[\"生日\"],\"type\":\"fact\",\"fact_key\":\"生日\"},\
                      {\"text\":\"小事\",\"importance\":1},{\"text\":\"no number\",\"importance\":\"много\"},{\"importance\":9}]}\n```";
        let got = read_episodes(answer, "lorne.png", &settings).unwrap();
        assert_eq!(got.len(), 1);
        assert_eq!(
            (got[0].text.as_str(), got[0].importance, got[0].fact_key.as_str()),
            ("她的生日是三月十五日", 8, "生日")
        );
        assert_eq!(read_episodes("no json", "x", &settings), None);
        assert_eq!(read_episodes("[]", "x", &settings), Some(vec![]));
        let one =
            read_episodes("{\"summary\":\"Он обещал вернуться\",\"importance\":7}", "x", &settings).unwrap();
        assert_eq!(one[0].text, "Он обещал вернуться");
    }

    #[test]
    fn a_core_keeps_the_newest() {
        let mut core = Core::default();
        let facts: Vec<String> = (0..20).map(|i| format!("\"факт {i}\"")).collect();
        assert!(read_core(&format!("{{\"facts\":[{}],\"traits\":[\"勇敢\"]}}", facts.join(",")), &mut core));
        assert_eq!((core.facts.len(), core.facts[15].as_str()), (16, "факт 19"));
        assert!(core.text().ends_with("- 勇敢"));
        assert!(core.text().chars().count() <= CORE);
        assert!(!read_core("{}", &mut core));
    }
}
