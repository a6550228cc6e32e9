//! JSON as a flat list of nodes, from which the types of a block are read.
//!
//! Code that reads a type is compiled for each type and each source, and code that writes one for
//! each destination. So there is one of each: JSON or TOML becomes a [`Tree`] first, in code that
//! is compiled once, and [`to_text`] writes compact JSON.

mod node;

use node::At;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor,
};
use serde::{Serialize, Serializer};
use serde_json::Value;
use std::fmt;

/// A value of JSON.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tree {
    /// In the order of the text. The key of a field stands before its value.
    nodes: Vec<Node>,
    /// All strings.
    text: String,
}

/// A value, or the key of a field.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Node {
    Null,
    Bool(bool),
    Unsigned(u64),
    Signed(i64),
    Float(f64),
    /// A range of the strings.
    Text(usize, usize),
    /// A list that ends before this node.
    List(usize),
    /// An object that ends before this node.
    Object(usize),
}

/// Why a type cannot be read from a [`Tree`].
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Misread {
    /// What is wrong.
    pub message: String,
    /// The field, as in `packets[3].gap`, or `.` for the whole.
    pub place: String,
    /// The node at which it is wrong.
    node: usize,
}

/// Why a type cannot be read from text.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct MisreadText {
    /// As [`Misread::place`].
    pub place: String,
    /// What is wrong, with line and column.
    pub error: serde_json::Error,
}

/// Reads a type from JSON.
///
/// # Errors
/// With line, column and field.
pub fn from_text<T: DeserializeOwned>(text: &str) -> Result<T, MisreadText> {
    let tree = Tree::from_text(text)?;
    tree.read().map_err(|misread| misread.in_text(text))
}

/// Reads a type from a value.
///
/// # Errors
/// With the field.
pub fn from_value<T: DeserializeOwned>(value: &Value) -> Result<T, Misread> {
    Tree::from_value(value).read()
}

/// Writes a type as compact JSON.
///
/// # Errors
/// If JSON has no such value.
pub fn to_text<T: Serialize + ?Sized>(value: &T) -> serde_json::Result<String> {
    serde_json::to_string(value)
}

impl Tree {
    /// The tree of a text.
    ///
    /// # Errors
    /// If it is no JSON.
    pub fn from_text(text: &str) -> Result<Self, MisreadText> {
        Self::build_from_text(text, None)
            .map_err(|error| MisreadText { place: ".".to_owned(), error })
    }

    fn build_from_text(text: &str, wrong: Option<&Misread>) -> serde_json::Result<Self> {
        let mut from = serde_json::Deserializer::from_str(text);
        let tree = build(&mut from, wrong)?;
        from.end()?;
        Ok(tree)
    }

    /// The tree of a TOML text.
    ///
    /// # Errors
    /// If it is no TOML.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        Self::build_from_toml(text, None)
    }

    fn build_from_toml(text: &str, wrong: Option<&Misread>) -> Result<Self, toml::de::Error> {
        build(toml::Deserializer::parse(text)?, wrong)
    }

    /// The tree of a value.
    pub fn from_value(value: &Value) -> Self {
        // A value has no syntax that could be wrong.
        build(value, None).unwrap_or_default()
    }

    /// Reads a type.
    ///
    /// # Errors
    /// With the field.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Misread> {
        T::deserialize(At { tree: self, node: 0 }).map_err(|error| {
            let node = error.node.unwrap_or(0);
            Misread { place: self.place(node), node, message: error.message }
        })
    }

    /// The node after a value.
    fn end(&self, node: usize) -> usize {
        match self.nodes[node] {
            Node::List(end) | Node::Object(end) => end,
            _ => node + 1,
        }
    }

    /// The field at a node. A key is at its object.
    fn place(&self, wanted: usize) -> String {
        let (mut place, mut around) = (String::new(), At { tree: self, node: 0 });
        let is_around = |at: At<'_>| (at.node..self.end(at.node)).contains(&wanted);
        while around.node != wanted {
            let inside = match around.value() {
                Node::List(end) => {
                    let found = (0..).zip(around.inside(end)).find(|(_, at)| is_around(*at));
                    found.map(|(index, at)| (format!("[{index}]"), at))
                }
                Node::Object(end) => {
                    let found = around.fields(end).find(|(_, at)| is_around(*at));
                    found.map(|(key, at)| (format!(".{}", key.text().unwrap_or_default()), at))
                }
                _ => None,
            };
            let Some((step, at)) = inside else { break };
            place.push_str(&step);
            around = at;
        }
        match place.strip_prefix('.') {
            Some(place) => place.to_owned(),
            None if place.is_empty() => ".".to_owned(),
            None => place,
        }
    }
}

impl Misread {
    /// With line and column in the text of the tree.
    pub fn in_text(self, text: &str) -> MisreadText {
        let error = Tree::build_from_text(text, Some(&self)).err();
        let error = error.unwrap_or_else(|| serde_json::Error::custom(&self.message));
        MisreadText { place: self.place, error }
    }

    /// With its place in the TOML text of the tree.
    pub fn in_toml(self, text: &str) -> toml::de::Error {
        let error = Tree::build_from_toml(text, Some(&self)).err();
        error.unwrap_or_else(|| toml::de::Error::custom(self.message))
    }
}

/// Reads a tree. With `wrong`, the reader of the text gets that error at that node, and adds line
/// and column.
fn build<'de, D: Deserializer<'de>>(from: D, wrong: Option<&Misread>) -> Result<Tree, D::Error> {
    let mut builder = Builder { tree: Tree::default(), wrong };
    from.deserialize_any(&mut builder)?;
    Ok(builder.tree)
}

struct Builder<'a> {
    tree: Tree,
    wrong: Option<&'a Misread>,
}

impl Builder<'_> {
    fn push(&mut self, node: Node) -> usize {
        self.tree.nodes.push(node);
        self.tree.nodes.len() - 1
    }

    /// The error, if it is at this node.
    fn check<E: Error>(&self, node: usize) -> Result<(), E> {
        match self.wrong {
            Some(wrong) if wrong.node == node => Err(E::custom(&wrong.message)),
            _ => Ok(()),
        }
    }

    fn leaf<E: Error>(&mut self, node: Node) -> Result<(), E> {
        let place = self.push(node);
        self.check(place)
    }
}

impl<'de> DeserializeSeed<'de> for &mut Builder<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for &mut Builder<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.leaf(Node::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<(), E> {
        self.leaf(Node::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<(), E> {
        self.leaf(Node::Unsigned(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<(), E> {
        self.leaf(u64::try_from(value).map_or(Node::Signed(value), Node::Unsigned))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<(), E> {
        self.leaf(Node::Float(value))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<(), E> {
        let from = self.tree.text.len();
        self.tree.text.push_str(value);
        self.leaf(Node::Text(from, self.tree.text.len()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let place = self.push(Node::List(0));
        while list.next_element_seed(&mut *self)?.is_some() {}
        self.tree.nodes[place] = Node::List(self.tree.nodes.len());
        self.check(place)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<(), A::Error> {
        let place = self.push(Node::Object(0));
        while fields.next_key_seed(&mut *self)?.is_some() {
            fields.next_value_seed(&mut *self)?;
        }
        self.tree.nodes[place] = Node::Object(self.tree.nodes.len());
        self.check(place)
    }
}

impl Serialize for Tree {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        At { tree: self, node: 0 }.serialize(to)
    }
}

impl Serialize for At<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Node::Null => to.serialize_unit(),
            Node::Bool(value) => to.serialize_bool(value),
            Node::Unsigned(value) => to.serialize_u64(value),
            Node::Signed(value) => to.serialize_i64(value),
            Node::Float(value) => to.serialize_f64(value),
            Node::Text(from, end) => to.serialize_str(&self.tree.text[from..end]),
            Node::List(end) => to.collect_seq(self.inside(end)),
            Node::Object(end) => to.collect_map(self.fields(end)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Uint;
    use serde::Deserialize;
    use serde_json::json;
    use std::collections::BTreeMap;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Packet {
        bytes: Uint<4>,
        #[serde(default)]
        kind: Option<Kind>,
        #[serde(default)]
        pair: (bool, f32),
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    enum Kind {
        Plain,
        Tagged(Uint<40>),
        Both { low: i8, high: i8 },
    }

    #[test]
    fn values_are_read_as_from_their_text() {
        let text = r#"[{"bytes":3,"kind":{"tagged":"0x10"},"pair":[true,0.5]},{"bytes":15,
            "kind":"plain"},{"bytes":0,"kind":{"both":{"low":-3,"high":4}}},{"bytes":1,"kind":null}]"#;
        let direct: Vec<Packet> = serde_json::from_str(text).unwrap();
        assert_eq!(from_text::<Vec<Packet>>(text).unwrap(), direct);
        assert_eq!(from_value::<Vec<Packet>>(&json!(direct)).unwrap(), direct);
        // The order of fields stays.
        let written = to_text(&Tree::from_text(text).unwrap()).unwrap();
        assert_eq!(written, text.replace("\n            ", ""));
    }

    #[test]
    fn a_key_may_be_a_number() {
        for key in ["8", "4294967295", "4294967296", "08", "+8", "-8", " 8", "8.0", ""] {
            let text = format!(r#"{{"{key}":"plain"}}"#);
            let direct = serde_json::from_str::<BTreeMap<u32, Kind>>(&text);
            let read = from_text::<BTreeMap<u32, Kind>>(&text);
            assert_eq!(read.ok(), direct.ok(), "{text}");
        }
    }

    /// Errors have the text, line and column that serde_json gives, and the field.
    #[test]
    fn errors_have_a_place() {
        for (text, place) in [
            (r#"[{"bytes":16}]"#, "[0].bytes"),
            (r#"[{"bytes":1},{"bytes":2,"pair":[1,0]}]"#, "[1].pair[0]"),
            (r#"[{"bytes":1,"byte":2}]"#, "[0]"),
            (r#"[{"bytes":1,"bytes":2}]"#, "[0]"),
            (r#"[{"pair":[true,1.5]}]"#, "[0]"),
            (r#"[{"bytes":-1}]"#, "[0].bytes"),
            (r#"[{"bytes":1,"kind":"other"}]"#, "[0].kind"),
            (r#"[{"bytes":null}]"#, "[0].bytes"),
            ("[{]", "."),
            ("[] 1", "."),
        ] {
            let direct = serde_json::from_str::<Vec<Packet>>(text).unwrap_err().to_string();
            let misread = from_text::<Vec<Packet>>(text).unwrap_err();
            assert_eq!((misread.to_string(), &*misread.place), (direct, place), "{text}");
        }
    }
}
