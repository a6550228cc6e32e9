//! Reads a type from a node of a tree.

use super::{Node, Tree};
use serde::de::{
    self, DeserializeSeed, Deserializer, EnumAccess, Error as _, Expected, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use std::fmt::{self, Display};
use std::iter;

/// A value of a tree.
#[derive(Clone, Copy)]
pub struct At<'de> {
    pub tree: &'de Tree,
    pub node: usize,
}

/// What is wrong, and the innermost node at which it was found.
#[derive(Debug)]
pub struct Wrong {
    pub message: String,
    pub node: Option<usize>,
}

impl Wrong {
    fn at_node(mut self, node: usize) -> Self {
        self.node.get_or_insert(node);
        self
    }
}

impl Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Wrong {}

impl de::Error for Wrong {
    #[cold]
    fn custom<T: Display>(message: T) -> Self {
        Self { message: message.to_string(), node: None }
    }

    #[cold]
    fn invalid_type(unexpected: Unexpected<'_>, expected: &dyn Expected) -> Self {
        // As JSON has it.
        let unexpected = match unexpected {
            Unexpected::Unit => Unexpected::Other("null"),
            unexpected => unexpected,
        };
        Self::custom(format_args!("invalid type: {unexpected}, expected {expected}"))
    }
}

impl<'de> At<'de> {
    pub(super) fn value(self) -> Node {
        self.tree.nodes[self.node]
    }

    /// The string at this node.
    pub fn text(self) -> Option<&'de str> {
        match self.value() {
            Node::Text(from, end) => Some(&self.tree.text[from..end]),
            _ => None,
        }
    }

    /// Reads a type. An error is at this node, if it is not at one inside.
    fn read<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Wrong> {
        seed.deserialize(self).map_err(|wrong| wrong.at_node(self.node))
    }

    #[cold]
    fn is_not(self, expected: &dyn Expected) -> Wrong {
        let found = match self.value() {
            Node::Null => Unexpected::Unit,
            Node::Bool(value) => Unexpected::Bool(value),
            Node::Unsigned(value) => Unexpected::Unsigned(value),
            Node::Signed(value) => Unexpected::Signed(value),
            Node::Float(value) => Unexpected::Float(value),
            Node::Text(from, end) => Unexpected::Str(&self.tree.text[from..end]),
            Node::List(_) => Unexpected::Seq,
            Node::Object(_) => Unexpected::Map,
        };
        Wrong::invalid_type(found, expected).at_node(self.node)
    }

    /// What is inside of a list or an object that ends before this node.
    pub fn inside(self, end: usize) -> Inside<'de> {
        Inside { tree: self.tree, next: self.node + 1, end, key: None }
    }

    /// The keys and values of an object that ends before this node.
    pub fn fields(self, end: usize) -> impl Iterator<Item = (Self, Self)> {
        let mut inside = self.inside(end);
        iter::from_fn(move || Some((inside.next()?, inside.next()?)))
    }

    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value() {
            Node::Unsigned(value) => visitor.visit_u64(value),
            Node::Signed(value) => visitor.visit_i64(value),
            Node::Float(value) => visitor.visit_f64(value),
            _ => Err(self.is_not(&visitor)),
        }
    }

    fn string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.text() {
            Some(text) => visitor.visit_borrowed_str(text),
            None => Err(self.is_not(&visitor)),
        }
    }

    fn list<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Node::List(end) = self.value() else { return Err(self.is_not(&visitor)) };
        let mut inside = self.inside(end);
        let value = visitor.visit_seq(&mut inside)?;
        match inside.next() {
            Some(_) => Err(Wrong::custom("a list with fewer elements was expected")),
            None => Ok(value),
        }
    }

    fn object<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let Node::Object(end) = self.value() else { return Err(self.is_not(&visitor)) };
        let mut inside = self.inside(end);
        let value = visitor.visit_map(&mut inside);
        value.map_err(|wrong| wrong.at_node(inside.key.unwrap_or(self.node)))
    }

    fn variant<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let name = match self.value() {
            Node::Text(..) => self,
            // A key and its value.
            Node::Object(end) if end > self.node + 1 && self.tree.end(self.node + 2) == end => {
                Self { node: self.node + 1, ..self }
            }
            _ => return Err(self.is_not(&visitor)),
        };
        visitor.visit_enum(Variant { name, has_value: name.node != self.node })
    }

    fn newtype<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }
}

/// Reads each of these kinds with one function. Arguments of the types in brackets have no effect.
macro_rules! forward {
    ($($to:ident: $($name:ident $(($($extra:ty),+))?)*;)*) => { $($(
        fn $name<V: Visitor<'de>>(self, $($(_: $extra,)+)? visitor: V) -> Result<V::Value, Wrong> {
            self.$to(visitor)
        }
    )*)* };
}

/// Only `deserialize_any` calls visitors with whatever is there: less is compiled for each type.
impl<'de> Deserializer<'de> for At<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value() {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(value),
            Node::Text(..) => self.string(visitor),
            Node::List(_) => self.list(visitor),
            Node::Object(_) => self.object(visitor),
            _ => self.number(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value() {
            Node::Bool(value) => visitor.visit_bool(value),
            _ => Err(self.is_not(&visitor)),
        }
    }

    forward! {
        number: deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_u8
            deserialize_u16 deserialize_u32 deserialize_u64 deserialize_f32 deserialize_f64;
        string: deserialize_char deserialize_str deserialize_string deserialize_identifier;
        list: deserialize_seq deserialize_tuple(usize)
            deserialize_tuple_struct(&'static str, usize);
        object: deserialize_map
            deserialize_struct(&'static str, &'static [&'static str]);
        variant: deserialize_enum(&'static str, &'static [&'static str]);
        newtype: deserialize_newtype_struct(&'static str);
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.value() {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { bytes byte_buf unit unit_struct }
}

/// The key of a field. A number is written as a string.
struct Key<'de>(At<'de>);

impl<'de> Key<'de> {
    fn number<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let text = self.0.text().unwrap_or_default();
        match text.parse::<u64>() {
            Ok(number) if number.to_string() == text => visitor.visit_u64(number),
            _ => Err(self.0.is_not(&visitor)),
        }
    }

    fn variant<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.0.variant(visitor)
    }

    fn newtype<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_newtype_struct(self)
    }
}

impl<'de> Deserializer<'de> for Key<'de> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.0.string(visitor)
    }

    forward! {
        number: deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64;
        variant: deserialize_enum(&'static str, &'static [&'static str]);
        newtype: deserialize_newtype_struct(&'static str);
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map struct identifier ignored_any
    }
}

/// What is left of a list or an object.
pub struct Inside<'de> {
    tree: &'de Tree,
    next: usize,
    end: usize,
    /// The key of a field whose value is not read yet.
    key: Option<usize>,
}

impl<'de> Iterator for Inside<'de> {
    type Item = At<'de>;

    fn next(&mut self) -> Option<At<'de>> {
        let at = At { tree: self.tree, node: self.next };
        (self.next < self.end).then(|| {
            self.next = self.tree.end(self.next);
            at
        })
    }
}

impl<'de> SeqAccess<'de> for &mut Inside<'de> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        self.next().map(|at| at.read(seed)).transpose()
    }
}

impl<'de> MapAccess<'de> for &mut Inside<'de> {
    type Error = Wrong;

    fn next_key_seed<S: DeserializeSeed<'de>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Wrong> {
        let key = self.next();
        self.key = key.map(|at| at.node);
        key.map(|at| seed.deserialize(Key(at)).map_err(|wrong| wrong.at_node(at.node))).transpose()
    }

    fn next_value_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<S::Value, Wrong> {
        self.key = None;
        self.next().ok_or_else(|| Wrong::custom("a field has no value"))?.read(seed)
    }
}

struct Variant<'de> {
    name: At<'de>,
    /// Whether its value follows.
    has_value: bool,
}

impl<'de> Variant<'de> {
    fn value(self) -> Result<At<'de>, Wrong> {
        match self.has_value {
            true => Ok(At { node: self.name.node + 1, ..self.name }),
            false => Err(self.name.is_not(&"a variant with a value")),
        }
    }
}

impl<'de> EnumAccess<'de> for Variant<'de> {
    type Error = Wrong;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Wrong> {
        Ok((self.name.read(seed)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'de> {
    type Error = Wrong;

    fn unit_variant(self) -> Result<(), Wrong> {
        match self.has_value {
            true => Err(self.value()?.is_not(&"a variant without a value")),
            false => Ok(()),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Wrong> {
        self.value()?.read(seed)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Wrong> {
        self.value()?.list(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        self.value()?.object(visitor)
    }
}
