//! Flow style: `[a, b]` and `{k: v}`, over as many lines as they like. JSON is a part of it.

use serde_json::{Map, Value};

use super::{MAX_DEPTH, Parser, key_text, scalar};
use crate::error::Error;

impl Parser<'_> {
    /// A scalar, an alias or a flow collection at the cursor, in a block indented by `parent` columns.
    pub(super) fn scalar_or_flow(&mut self, parent: isize, tag: Option<&str>) -> Result<Value, Error> {
        match self.peek() {
            Some(b'[' | b'{') => self.flow(),
            Some(b'*') => self.alias(),
            Some(quote @ (b'"' | b'\'')) => Ok(scalar::quoted_value(self.quoted(quote)?, tag)),
            Some(b'@' | b'`' | b'%' | b',' | b']' | b'}') => {
                Err(self.error("a text must not start with this character; quote it"))
            }
            _ => {
                let text = self.plain(parent)?;
                Ok(scalar::untyped(&text, tag))
            }
        }
    }

    /// Skips blanks, comments and line ends between the parts of a collection.
    fn gap(&mut self) {
        loop {
            self.tail();
            if self.peek() != Some(b'\n') {
                return;
            }
            self.at += 1;
        }
    }

    fn flow(&mut self) -> Result<Value, Error> {
        if self.depth == MAX_DEPTH {
            return Err(self.error("nested more than 127 levels deep"));
        }
        self.depth += 1;
        let map = self.peek() == Some(b'{');
        self.at += 1;
        let value = if map { self.flow_map() } else { self.flow_list() }?;
        self.depth -= 1;
        Ok(value)
    }

    fn flow_list(&mut self) -> Result<Value, Error> {
        let mut items = Vec::new();
        loop {
            self.gap();
            if self.peek() == Some(b']') {
                self.at += 1;
                return Ok(Value::Array(items));
            }
            let quoted = matches!(self.peek(), Some(b'"' | b'\'' | b'[' | b'{'));
            let item = self.flow_item()?;
            self.gap();
            // `[a: 1]` is a list of one pair.
            let item = if self.colon(quoted) {
                self.at += 1;
                let value = self.flow_value()?;
                Value::Object(Map::from_iter([(key_text(&item), value)]))
            } else {
                item
            };
            items.push(item);
            self.separator(b']')?;
        }
    }

    fn flow_map(&mut self) -> Result<Value, Error> {
        let mut map = Map::new();
        loop {
            self.gap();
            if self.peek() == Some(b'}') {
                self.at += 1;
                return Ok(Value::Object(map));
            }
            let start = self.at;
            let quoted = matches!(self.peek(), Some(b'"' | b'\''));
            let key = key_text(&self.flow_item()?);
            self.gap();
            let value = if self.colon(quoted) {
                self.at += 1;
                self.flow_value()?
            } else {
                Value::Null
            };
            if map.contains_key(&key) {
                self.at = start;
                return Err(self.error(&format!("the key `{key}` occurs twice")));
            }
            map.insert(key, value);
            self.separator(b'}')?;
        }
    }

    /// Whether a colon ends a key here. After a quoted key it needs no blank behind it.
    fn colon(&self, quoted: bool) -> bool {
        self.peek() == Some(b':')
            && (quoted || self.is_gap(1) || matches!(self.byte(1), Some(b',' | b'[' | b']' | b'{' | b'}')))
    }

    fn flow_value(&mut self) -> Result<Value, Error> {
        self.gap();
        if matches!(self.peek(), Some(b',' | b']' | b'}')) {
            return Ok(Value::Null);
        }
        let value = self.flow_item()?;
        self.gap();
        Ok(value)
    }

    /// The comma behind an item, unless the collection closes.
    fn separator(&mut self, close: u8) -> Result<(), Error> {
        self.gap();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(())
            }
            Some(byte) if byte == close => Ok(()),
            None => Err(self.error("the collection is not closed")),
            Some(_) => Err(self.error("expected `,` or the end of the collection")),
        }
    }

    fn flow_item(&mut self) -> Result<Value, Error> {
        let properties = self.properties()?;
        self.gap();
        let value = match self.peek() {
            None => return Err(self.error("the collection is not closed")),
            Some(b'[' | b'{') => self.flow()?,
            Some(b'*') => self.alias()?,
            Some(quote @ (b'"' | b'\'')) => {
                scalar::quoted_value(self.quoted(quote)?, properties.tag.as_deref())
            }
            // `[&a , 1]` and `{: 1}`: nothing is null.
            Some(b',' | b']' | b'}') if properties.anchor.is_some() || properties.tag.is_some() => {
                scalar::untyped("", properties.tag.as_deref())
            }
            Some(b':') if self.colon(false) => Value::Null,
            Some(b',' | b']' | b'}' | b'@' | b'`' | b'%' | b'|' | b'>') => {
                return Err(self.error("a text must not start with this character; quote it"));
            }
            Some(b'-' | b'?')
                if self.is_gap(1) || matches!(self.byte(1), Some(b',' | b'[' | b']' | b'{' | b'}')) =>
            {
                return Err(self.error("block lists and `? ` have no place in a flow collection"));
            }
            Some(_) => {
                let text = self.flow_plain();
                if text.is_empty() {
                    return Err(self.error("expected a value"));
                }
                scalar::untyped(&text, properties.tag.as_deref())
            }
        };
        self.finish(value, properties)
    }
}
