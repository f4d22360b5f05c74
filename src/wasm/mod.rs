//! The JavaScript boundary: text in, text out, one handle. Nothing else in the crate names wasm-bindgen or its kin.
//!
//! Errors cross as JSON text `{code, path, message}`, which the package's wrapper turns into `PromptsideError`.

#![expect(unreachable_pub, reason = "wasm-bindgen exports what is pub")]

mod tokens;

use std::cell::RefCell;

use js_sys::{Array, Function, JsString, Reflect, RegExp};
use serde_json::json;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use crate::api::{self, Session, Vocabularies};
use crate::error::Error;
use crate::js;
use crate::js::regexp::Match;

thread_local! {
    // Vocabularies belong to the module, not to a room: they are megabytes, and all rooms of a page count alike.
    static VOCABULARIES: RefCell<Vocabularies> = RefCell::new(Vocabularies::default());
}

fn thrown(error: &Error) -> JsValue {
    let value = json!({"code": error.code().as_str(), "path": error.path(), "message": error.message()});
    JsValue::from_str(&js::stringify(&value))
}

/// Runs once when the module is loaded: a panic, should one happen, says where.
#[wasm_bindgen(start)]
pub fn start() {
    console_error_panic_hook::set_once();
    VOCABULARIES.with_borrow_mut(|v| {
        v.platform_regexp = Some(platform_regexp);
        v.normalize = Some(platform_normalize);
    });
}

/// `String.prototype.normalize`.
fn platform_normalize(text: &str, form: &'static str) -> String {
    JsString::from(text).normalize(form).into()
}

/// `RegExp` of the platform: the matches with the positions of their groups.
fn platform_regexp(pattern: &str, flags: &str, text: &[u16]) -> Option<Vec<Match>> {
    let constructor = Reflect::get(&js_sys::global(), &"RegExp".into()).ok()?.dyn_into::<Function>().ok()?;
    let flags = if flags.contains('d') { flags.to_owned() } else { format!("{flags}d") };
    let source = Array::of2(&pattern.into(), &flags.as_str().into());
    let regexp: RegExp = Reflect::construct(&constructor, &source).ok()?.unchecked_into();
    // Lone halves become U+FFFD, one unit for one.
    let text = JsString::from(String::from_utf16_lossy(text));
    let found: Array = if flags.contains('g') {
        Array::from(&text.match_all(&regexp))
    } else {
        text.match_(&regexp).map_or_else(Array::new, |found| Array::of1(&found))
    };
    found.iter().map(|found| groups(&found)).collect()
}

fn groups(found: &JsValue) -> Option<Match> {
    let indices = Array::from(&Reflect::get(found, &"indices".into()).ok()?);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positions in a text")]
    let at = |range: &Array, i: u32| range.get(i).as_f64().map(|n| n as usize);
    let range = |range: JsValue| {
        let range: Array = range.dyn_into().ok()?;
        Some((at(&range, 0)?, at(&range, 1)?))
    };
    Some(Match { groups: indices.iter().map(range).collect() })
}

/// A room.
#[wasm_bindgen]
pub struct Handle {
    session: Session,
}

#[wasm_bindgen]
impl Handle {
    /// From JSON texts.
    #[wasm_bindgen(constructor)]
    pub fn new(scene: &str, options: &str) -> Result<Handle, JsValue> {
        let vocabularies = VOCABULARIES.with_borrow(Vocabularies::clone);
        Session::new(scene, options, vocabularies).map(|session| Handle { session }).map_err(|e| thrown(&e))
    }

    /// A method by its name, with JSON parameters.
    pub fn call(&mut self, method: &str, params: &str) -> Result<String, JsValue> {
        self.session.call(method, params).map_err(|e| thrown(&e))
    }

    /// A call of the memory with vectors.
    pub fn call_floats(&mut self, method: &str, params: &str, floats: &[f32]) -> Result<String, JsValue> {
        self.session.call_floats(method, params, floats).map_err(|e| thrown(&e))
    }

    /// The memory's vectors.
    pub fn memory_bytes(&self) -> Vec<u8> {
        self.session.memory_bytes()
    }

    /// The memory's state and vectors.
    pub fn load_memory(&mut self, state: &str, bytes: &[u8]) -> Result<(), JsValue> {
        self.session.load_memory(state, bytes).map_err(|e| thrown(&e))
    }
}

/// An index of vectors.
#[wasm_bindgen]
pub struct Vectors {
    vectors: api::Vectors,
}

#[wasm_bindgen]
impl Vectors {
    /// An empty index.
    #[wasm_bindgen(constructor)]
    pub fn new(model: &str, precision: &str) -> Result<Vectors, JsValue> {
        api::Vectors::new(model, precision).map(|vectors| Vectors { vectors }).map_err(|e| thrown(&e))
    }

    /// From what `items` and `to_bytes` gave.
    pub fn from_bytes(model: &str, items: &str, bytes: &[u8]) -> Result<Vectors, JsValue> {
        api::Vectors::from_bytes(model, items, bytes)
            .map(|vectors| Vectors { vectors })
            .map_err(|e| thrown(&e))
    }

    /// Adds items with their vectors.
    pub fn add(&mut self, items: &str, floats: &[f32]) -> Result<(), JsValue> {
        self.vectors.add(items, floats).map_err(|e| thrown(&e))
    }

    /// Deletes items by their ids.
    pub fn remove(&mut self, ids: &str) -> Result<(), JsValue> {
        self.vectors.remove(ids).map_err(|e| thrown(&e))
    }

    /// The best items, as JSON.
    pub fn search(&self, query: &[f32], k: usize) -> Result<String, JsValue> {
        self.vectors.search(query, k).map_err(|e| thrown(&e))
    }

    /// The items, as JSON.
    pub fn items(&self) -> Result<String, JsValue> {
        self.vectors.items().map_err(|e| thrown(&e))
    }

    /// The numbers.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.vectors.to_bytes()
    }

    /// How many items there are.
    pub fn length(&self) -> usize {
        self.vectors.len()
    }

    /// Bytes of numbers.
    pub fn size(&self) -> usize {
        self.vectors.size()
    }
}

/// A free function by its name, with JSON parameters.
#[wasm_bindgen]
pub fn call(method: &str, params: &str) -> Result<String, JsValue> {
    VOCABULARIES.with_borrow(|v| api::call(method, params, v)).map_err(|e| thrown(&e))
}

/// A free function that takes a file.
#[wasm_bindgen]
pub fn call_bytes(method: &str, bytes: &[u8], params: &str) -> Result<String, JsValue> {
    api::call_bytes(method, bytes, params).map_err(|e| thrown(&e))
}

/// A free function that takes a file and gives one, if there is one to give.
#[wasm_bindgen]
pub fn write_bytes(method: &str, bytes: &[u8], params: &str) -> Result<Option<Vec<u8>>, JsValue> {
    api::write_bytes(method, bytes, params).map_err(|e| thrown(&e))
}

/// Adds a vocabulary (inflated bytes); gives the name of its encoding.
#[wasm_bindgen]
pub fn load_vocabulary(bytes: Vec<u8>) -> Result<String, JsValue> {
    VOCABULARIES.with_borrow_mut(|v| v.load(bytes)).map_err(|e| thrown(&e))
}

/// Adds a `tokenizer.json` under a name.
#[wasm_bindgen]
pub fn load_tokenizer_file(name: &str, bytes: &[u8]) -> Result<(), JsValue> {
    VOCABULARIES.with_borrow_mut(|v| v.load_file(name, bytes)).map_err(|e| thrown(&e))
}

/// 32 bytes from the platform's generator, as hexadecimal text.
#[wasm_bindgen]
pub fn entropy() -> Result<String, JsValue> {
    let mut bytes = [0_u8; 32];
    getrandom::fill(&mut bytes).map_err(|e| JsValue::from_str(&e.to_string()))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}
