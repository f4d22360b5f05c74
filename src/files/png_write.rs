//! A card into a picture: every other chunk stays byte for byte, pixels are never touched (spec 08 §12.8).

use super::png::{self, Chunk, SIGNATURE};
use super::{base64, crc};
use crate::error::{Code, Error};

/// The picture with its card chunks replaced by these, in this order, directly before IEND; what followed IEND is gone.
pub(super) fn replace(picture: &[u8], chunks: &[(&str, &str)]) -> Result<Vec<u8>, Error> {
    if !picture.starts_with(SIGNATURE) {
        return Err(Error::new(Code::FileUnsupported, "", "the picture is no PNG; convert it first"));
    }
    let (kept, Some(_)) = png::chunks(picture) else {
        return Err(Error::new(
            Code::FilePngTruncated,
            "",
            "the picture ends before its end mark; download it again",
        ));
    };
    let mut out = SIGNATURE.to_vec();
    for chunk in kept.iter().filter(|chunk| !holds_card(chunk)) {
        out.extend_from_slice(chunk.raw);
    }
    for (keyword, json) in chunks {
        let text = [keyword.as_bytes(), b"\0", &base64::encode(json.as_bytes())].concat();
        append(&mut out, *b"tEXt", &text)?;
    }
    append(&mut out, *b"IEND", b"")?;
    Ok(out)
}

/// Whether a chunk holds a card in any of the three forms.
fn holds_card(chunk: &Chunk<'_>) -> bool {
    png::keyword(chunk).is_some_and(|(word, _)| matches!(word.as_slice(), b"chara" | b"ccv3"))
}

fn append(out: &mut Vec<u8>, kind: [u8; 4], data: &[u8]) -> Result<(), Error> {
    let length = u32::try_from(data.len()).ok().filter(|n| *n < 1 << 31).ok_or_else(|| {
        Error::new(
            Code::FileTooLarge,
            "",
            "the card does not fit into one PNG chunk (2 GiB); make it smaller",
        )
    })?;
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(&kind);
    out.extend_from_slice(data);
    out.extend_from_slice(&crc::crc32(&[&kind, data]).to_be_bytes());
    Ok(())
}
