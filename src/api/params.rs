//! JSON value -> parameters of a call; what does not fit names its field.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::{Code, Error};

/// Fields looked at when the one at fault is searched: no call has more.
const FIELDS: usize = 64;

/// Parameters of a call.
pub(super) fn params<T: DeserializeOwned>(value: &Value) -> Result<T, Error> {
    T::deserialize(value).map_err(|e| {
        let said = e.to_string();
        let path = at_fault::<T>(value, &said);
        Error::new(Code::OptionUnknown, path, said)
    })
}

/// The field behind an error, up to two levels deep: the one without which the error is gone or another.
fn at_fault<T: DeserializeOwned>(root: &Value, said: &str) -> String {
    let missing = said.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    let mut path: Vec<&str> = Vec::new();
    let mut level = root;
    while path.len() < 2 {
        let Some(fields) = level.as_object() else { break };
        // A tag decides how its neighbours are read, so it is asked last.
        let tag = fields.keys().filter(|k| *k == "type");
        let mut keys = fields.keys().filter(|k| *k != "type").take(FIELDS).chain(tag);
        let found = keys.find(|key| {
            let mut without = root.clone();
            let parent = path.iter().try_fold(&mut without, |at, part| at.get_mut(*part));
            if let Some(parent) = parent.and_then(Value::as_object_mut) {
                parent.shift_remove(*key);
            }
            T::deserialize(&without).err().is_none_or(|e| e.to_string() != said)
        });
        let Some(key) = found.filter(|key| missing.is_none() || *key != "type") else { break };
        path.push(key);
        level = level.get(key).unwrap_or(&Value::Null);
    }
    path.extend(missing);
    path.join(".")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::{CleanOptions, RoomOptions, SpeakerOptions, StepParams};

    fn path<T: DeserializeOwned>(value: &Value) -> String {
        let error = params::<T>(value).err().expect("does not fit");
        assert_eq!(error.code(), Code::OptionUnknown);
        error.path().to_owned()
    }

    #[test]
    fn what_does_not_fit_is_named() {
        assert_eq!(
            path::<RoomOptions>(&json!({"profile": "promptside", "random": {"seed": -1}})),
            "random.seed"
        );
        assert_eq!(path::<RoomOptions>(&json!({"now": 0, "банан": 1})), "банан");
        assert_eq!(path::<SpeakerOptions>(&json!({"kind": "quiet", "speaker": 5})), "speaker");
        assert_eq!(path::<CleanOptions>(&json!({"text": 5})), "text");
        assert_eq!(path::<CleanOptions>(&json!({"speaker": "Анна"})), "text");
        assert_eq!(path::<StepParams>(&json!({"now": 1})), "input");
        assert_eq!(path::<StepParams>(&json!({"input": {"type": "banana"}})), "input.type");
        assert_eq!(path::<StepParams>(&json!({"input": {"type": "reply", "request": 5}})), "input.request");
        assert_eq!(path::<StepParams>(&json!({"input": {"type": "reply"}, "now": 1})), "input.request");
        assert_eq!(path::<SpeakerOptions>(&json!("text")), "");
    }
}
