//! Reads lists that live as long as the process, as the constants of a block do.
//!
//! A tool reads the description of each block once, so what it leaks is small.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Writes a list.
///
/// # Errors
/// Errors of the serializer.
pub fn serialize<T: Serialize, S: Serializer>(list: &[T], to: S) -> Result<S::Ok, S::Error> {
    list.serialize(to)
}

/// Reads a list.
///
/// # Errors
/// Errors of the deserializer.
pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::leak(Vec::deserialize(from)?))
}

/// Lists of lists.
pub mod lists {
    use super::*;

    /// Writes lists.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(
        lists: &[&[T]],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        lists.serialize(to)
    }

    /// Reads lists.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static [&'static [T]], D::Error> {
        let lists: Vec<Vec<T>> = Vec::deserialize(from)?;
        Ok(Vec::leak(lists.into_iter().map(|list| &*Vec::leak(list)).collect()))
    }
}

/// Pairs of a text and a list.
pub mod named {
    use super::*;

    /// Writes pairs.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<T: Serialize, S: Serializer>(
        pairs: &[(&'static str, &'static [T])],
        to: S,
    ) -> Result<S::Ok, S::Error> {
        pairs.serialize(to)
    }

    /// Reads pairs.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de: 'static, T: Deserialize<'de>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<(&'static str, &'static [T])>, D::Error> {
        let pairs: Vec<(&'static str, Vec<T>)> = Vec::deserialize(from)?;
        Ok(pairs.into_iter().map(|(name, list)| (name, &*Vec::leak(list))).collect())
    }
}

/// A list of items of another crate, each through a type that has the traits.
pub mod through {
    use super::*;

    /// Writes a list.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<T, P, S>(list: &[T], to: S, plain: impl Fn(&T) -> P) -> Result<S::Ok, S::Error>
    where
        P: Serialize,
        S: Serializer,
    {
        to.collect_seq(list.iter().map(plain))
    }

    /// Reads a list.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de, T, P, D>(
        from: D,
        made: impl Fn(P) -> T,
    ) -> Result<&'static [T], D::Error>
    where
        P: Deserialize<'de>,
        D: Deserializer<'de>,
    {
        let plain: Vec<P> = Vec::deserialize(from)?;
        Ok(Vec::leak(plain.into_iter().map(made).collect()))
    }
}

/// Lists of ports.
pub mod ports {
    use super::*;
    use verilated::Port;

    /// Writes ports.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(ports: &[Port], to: S) -> Result<S::Ok, S::Error> {
        through::serialize(ports, to, |port| (port.name, port.width, port.offset))
    }

    /// Reads ports.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de: 'static, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static [Port], D::Error> {
        let port = |(name, width, offset): (&'static str, u32, usize)| Port { name, width, offset };
        through::deserialize(from, port)
    }
}

/// Named fields of ports.
pub mod fields {
    use super::*;
    use std::collections::BTreeMap;
    use verilated::Field;

    /// Name, lowest bit and width.
    type Plain = (&'static str, u32, u32);
    type Fields = BTreeMap<&'static str, &'static [(&'static str, Field)]>;

    /// Writes fields.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(fields: &Fields, to: S) -> Result<S::Ok, S::Error> {
        let plain = |(name, field): &(&'static str, Field)| (*name, field.lsb, field.width);
        let of_port = |(port, fields): (&&'static str, &&'static [(&'static str, Field)])| {
            (*port, fields.iter().map(plain).collect::<Vec<_>>())
        };
        fields.iter().map(of_port).collect::<Vec<_>>().serialize(to)
    }

    /// Reads fields.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Fields, D::Error> {
        let all: Vec<(&'static str, Vec<Plain>)> = Vec::deserialize(from)?;
        let field = |(name, lsb, width): Plain| (name, Field { lsb, width });
        let of_port = |(port, fields): (&'static str, Vec<Plain>)| {
            (port, &*Vec::leak(fields.into_iter().map(field).collect()))
        };
        Ok(all.into_iter().map(of_port).collect())
    }
}
