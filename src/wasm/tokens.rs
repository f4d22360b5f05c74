//! Tokenizers and growing texts, as handles.

use std::rc::Rc;

use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

use super::{VOCABULARIES, thrown};
use crate::error::{Code, Error};
use crate::tokens::{Appender, Bpe, Count};

/// A loaded tokenizer.
#[wasm_bindgen]
pub struct Tokens {
    tokenizer: Rc<dyn Count>,
    /// The same, where it can be read backwards.
    vocabulary: Option<Rc<Bpe>>,
}

#[wasm_bindgen]
impl Tokens {
    /// By its name.
    #[wasm_bindgen(constructor)]
    pub fn new(name: &str) -> Result<Tokens, JsValue> {
        if let Some(tokenizer) = VOCABULARIES.with_borrow(|v| v.file(name)) {
            return Ok(Tokens { tokenizer, vocabulary: None });
        }
        let vocabulary = VOCABULARIES.with_borrow(|v| v.tokenizer(name)).map_err(|e| thrown(&e))?;
        Ok(Tokens { tokenizer: vocabulary.clone(), vocabulary: Some(vocabulary) })
    }

    /// Tokens of a text.
    pub fn count(&self, text: &str) -> u32 {
        self.tokenizer.count(text)
    }

    /// Tokens of a text if they are at most `limit`, else some number above it.
    pub fn count_up_to(&self, text: &str, limit: u32) -> u32 {
        self.tokenizer.count_up_to(text, limit)
    }

    /// Tokens of several texts, which are given behind each other in UTF-8, with the bytes of each.
    pub fn count_each(&self, bytes: &[u8], lengths: &[u32]) -> Vec<u32> {
        let mut rest = bytes;
        let mut one = |length: &u32| {
            let (text, behind) = rest.split_at(rest.len().min(*length as usize));
            rest = behind;
            self.tokenizer.count(&String::from_utf8_lossy(text))
        };
        lengths.iter().map(&mut one).collect()
    }

    /// The ids of a text.
    pub fn encode(&self, text: &str) -> Vec<u32> {
        match &self.vocabulary {
            Some(vocabulary) => vocabulary.encode(text),
            None => self.tokenizer.ids(text).unwrap_or_default(),
        }
    }

    /// The bytes that ids stand for.
    pub fn decode(&self, ids: &[u32]) -> Result<Vec<u8>, JsValue> {
        let Some(vocabulary) = &self.vocabulary else {
            let what =
                "a tokenizer.json is not read backwards; ids can be decoded with a vocabulary of the package";
            return Err(thrown(&Error::new(Code::TokensUnsupported, "", what)));
        };
        vocabulary.decode(ids).map_err(|e| thrown(&e))
    }

    /// An empty text that will grow.
    pub fn stream(&self) -> TokenStream {
        TokenStream { tokenizer: Rc::clone(&self.tokenizer), so_far: Appender::new() }
    }
}

/// A text that grows.
#[wasm_bindgen]
pub struct TokenStream {
    tokenizer: Rc<dyn Count>,
    so_far: Appender,
}

#[wasm_bindgen]
impl TokenStream {
    /// Adds to the text; the tokens of all of it.
    pub fn add(&mut self, text: &str) -> u32 {
        self.tokenizer.append(&mut self.so_far, text)
    }
}
