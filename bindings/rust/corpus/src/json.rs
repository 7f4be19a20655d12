// SPDX-License-Identifier: Apache-2.0
//! Reads the subset of JSON that the corpus uses. Numbers are integers, and the only escapes are \"
//! and \\.

/// A JSON value.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    Null,
    Bool(bool),
    Int(i64),
    Text(String),
    List(Vec<Json>),
    Map(Vec<(String, Json)>),
}

/// The error string describes the invalid syntax and contains its byte offset.
pub type Result<T> = std::result::Result<T, String>;

struct Reader<'a> {
    text: &'a [u8],
    at: usize,
}

impl Json {
    /// Parses a whole text.
    pub fn parse(text: &str) -> Result<Json> {
        let mut reader = Reader { text: text.as_bytes(), at: 0 };
        let value = reader.value()?;
        match reader.peek() {
            None => Ok(value),
            Some(_) => reader.fail("text after the end"),
        }
    }

    /// Returns the value of a key.
    pub fn get(&self, key: &str) -> Option<&Json> {
        let Json::Map(pairs) = self else { return None };
        pairs.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns the value of a required key.
    pub fn need(&self, key: &str) -> Result<&Json> {
        self.get(key).ok_or_else(|| format!("no \"{key}\""))
    }

    /// Returns an integer. Integers that need more than 53 bits are strings in the file.
    pub fn int(&self) -> Result<i64> {
        match self {
            Json::Int(value) => Ok(*value),
            Json::Text(digits) => digits.parse().map_err(|_| format!("{digits} is not an integer")),
            other => Err(format!("{other:?} is not an integer")),
        }
    }

    /// Returns a size or an index.
    pub fn size(&self) -> Result<usize> {
        usize::try_from(self.int()?).map_err(|error| error.to_string())
    }

    /// Returns a text.
    pub fn text(&self) -> Result<&str> {
        match self {
            Json::Text(text) => Ok(text),
            other => Err(format!("{other:?} is not a text")),
        }
    }

    /// Returns a list.
    pub fn list(&self) -> Result<&[Json]> {
        match self {
            Json::List(items) => Ok(items),
            other => Err(format!("{other:?} is not a list")),
        }
    }

    /// Returns a list of integers.
    pub fn ints(&self) -> Result<Vec<i64>> {
        self.list()?.iter().map(Json::int).collect()
    }

    /// Whether a key exists and is true.
    pub fn is(&self, key: &str) -> bool {
        self.get(key) == Some(&Json::Bool(true))
    }
}

impl Reader<'_> {
    fn fail<T>(&self, why: &str) -> Result<T> {
        Err(format!("{why} at byte {}", self.at))
    }

    /// Returns the next byte that is not white space.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> Result<()> {
        if self.peek() != Some(byte) {
            return self.fail(&format!("no '{}'", char::from(byte)));
        }
        self.at += 1;
        Ok(())
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json> {
        if !self.text[self.at..].starts_with(word.as_bytes()) {
            return self.fail("an unknown word");
        }
        self.at += word.len();
        Ok(value)
    }

    fn value(&mut self) -> Result<Json> {
        match self.peek() {
            Some(b'{') => self.map(),
            Some(b'[') => self.items(),
            Some(b'"') => Ok(Json::Text(self.string()?)),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => self.number(),
        }
    }

    fn number(&mut self) -> Result<Json> {
        let digits = self.text[self.at..].iter();
        let length = digits.take_while(|byte| byte.is_ascii_digit() || **byte == b'-').count();
        let digits = String::from_utf8_lossy(&self.text[self.at..self.at + length]);
        let Ok(value) = digits.parse() else { return self.fail("no integer") };
        self.at += length;
        match self.text.get(self.at) {
            Some(b'.' | b'e' | b'E') => self.fail("no integer"),
            _ => Ok(Json::Int(value)),
        }
    }

    fn string(&mut self) -> Result<String> {
        self.take(b'"')?;
        let mut bytes = Vec::new();
        loop {
            let byte = self.text.get(self.at).copied();
            self.at += 1;
            match byte {
                Some(b'"') => break,
                Some(b'\\') => {
                    let escaped = self.text.get(self.at).copied();
                    self.at += 1;
                    match escaped {
                        Some(byte @ (b'"' | b'\\' | b'/')) => bytes.push(byte),
                        Some(b'n') => bytes.push(b'\n'),
                        _ => return self.fail("an unknown escape"),
                    }
                }
                Some(byte) => bytes.push(byte),
                None => return self.fail("an open string"),
            }
        }
        String::from_utf8(bytes).map_err(|error| error.to_string())
    }

    fn items(&mut self) -> Result<Json> {
        self.take(b'[')?;
        let mut items = Vec::new();
        while self.peek() != Some(b']') {
            if !items.is_empty() {
                self.take(b',')?;
            }
            items.push(self.value()?);
        }
        self.take(b']')?;
        Ok(Json::List(items))
    }

    fn map(&mut self) -> Result<Json> {
        self.take(b'{')?;
        let mut pairs = Vec::new();
        while self.peek() != Some(b'}') {
            if !pairs.is_empty() {
                self.take(b',')?;
            }
            self.peek();
            let key = self.string()?;
            self.take(b':')?;
            pairs.push((key, self.value()?));
        }
        self.take(b'}')?;
        Ok(Json::Map(pairs))
    }
}

#[cfg(test)]
mod tests {
    use super::Json;

    #[test]
    fn values() {
        let text = r#"{"a": [1, -2, "x\"y"], "b": {"c": true, "d": null}}"#;
        let json = Json::parse(text).unwrap();
        assert_eq!(json.get("a").unwrap().list().unwrap()[2].text().unwrap(), "x\"y");
        assert!(json.get("b").unwrap().is("c"));
        for wrong in ["[1.5]", "[1", "{\"a\" 1}", "[1] 2", "[tru]", "\"\\u0041\""] {
            assert!(Json::parse(wrong).is_err(), "{wrong}");
        }
    }
}
