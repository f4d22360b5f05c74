use std::fs;
#[path = "../../../src/error.rs"] mod error;
#[path = "../../../src/tokens/mod.rs"] mod tokens;
use tokens::asset::{self, Pattern};
fn main(){
    let out = std::env::args().nth(1).unwrap();
    for (name, pattern, judge, ranks) in [
        ("o200k_base", Pattern::O200k, tiktoken_rs::o200k_base_singleton(), 199_998u32),
        ("cl100k_base", Pattern::Cl100k, tiktoken_rs::cl100k_base_singleton(), 100_256),
        ("p50k_base", Pattern::Gpt2, tiktoken_rs::p50k_base_singleton(), 50_281),
        ("r50k_base", Pattern::Gpt2, tiktoken_rs::r50k_base_singleton(), 50_256),
    ] {
        let special: Vec<Vec<u8>> = judge.special_tokens().iter().map(|s| s.as_bytes().to_vec()).collect();
        let bytes = |rank| judge.decode_bytes(&[rank]).ok().filter(|b| !special.contains(b)).unwrap_or_default();
        let tokens: Vec<Vec<u8>> = (0..ranks).map(bytes).collect();
        let file = asset::write(name, pattern, &tokens, |_| 0).unwrap();
        fs::write(format!("{out}/{name}.raw"), file).unwrap();
    }
}
