//! A card's talkativeness -> the number that rolls are compared with.

use serde_json::Value;

use crate::js;

/// What counts when nothing usable is there.
const DEFAULT: f64 = 0.5;

/// As the reference reads it (spec 01 §4.1): `Number(value)`, and only what is not a number becomes 0.5. Null and blank text are 0.
pub(super) fn coerced(value: Option<&Value>) -> f64 {
    let n = value.map_or(f64::NAN, js::value_to_number);
    if n.is_nan() { DEFAULT } else { n }
}

/// Put right (F31): null, blank and no number are 0.5; a comma may mark decimals; the range is 0 to 1.
pub(super) fn read(value: Option<&Value>) -> f64 {
    let n = match value {
        Some(Value::Number(n)) => n.as_f64().unwrap_or(f64::NAN),
        Some(Value::String(s)) if !js::trim(s).is_empty() => js::to_number(&s.replace(',', ".")),
        Some(Value::Bool(b)) => f64::from(u8::from(*b)),
        _ => f64::NAN,
    };
    if n.is_nan() { DEFAULT } else { n.clamp(0.0, 1.0) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn both_readings() {
        for (value, reference, right) in [
            (None, 0.5, 0.5),
            (Some(json!("abc")), 0.5, 0.5),
            (Some(json!("0,5")), 0.5, 0.5),
            (Some(json!("0,8")), 0.5, 0.8),
            (Some(json!("0.8")), 0.8, 0.8),
            (Some(json!("0")), 0.0, 0.0),
            (Some(json!(0)), 0.0, 0.0),
            (Some(json!(null)), 0.0, 0.5),
            (Some(json!("")), 0.0, 0.5),
            (Some(json!([])), 0.0, 0.5),
            (Some(json!(false)), 0.0, 0.0),
            (Some(json!(true)), 1.0, 1.0),
            (Some(json!(2)), 2.0, 1.0),
            (Some(json!(-1)), -1.0, 0.0),
            (Some(json!({})), 0.5, 0.5),
        ] {
            assert_eq!(coerced(value.as_ref()), reference, "{value:?}");
            assert_eq!(read(value.as_ref()), right, "{value:?}");
        }
    }
}
