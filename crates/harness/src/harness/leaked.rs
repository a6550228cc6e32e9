//! Reads lists that live as long as the process, as the constants of a block do.
//!
//! A tool reads the description of each block once, so what it leaks is small.

use serde::{Deserialize, Deserializer};

/// Reads a list.
///
/// # Errors
/// Errors of the deserializer.
pub fn list<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [T], D::Error> {
    Ok(Vec::leak(Vec::deserialize(from)?))
}

/// Reads lists of lists.
///
/// # Errors
/// Errors of the deserializer.
pub fn lists<'de, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<&'static [&'static [T]], D::Error> {
    let lists: Vec<Vec<T>> = Vec::deserialize(from)?;
    Ok(Vec::leak(lists.into_iter().map(|list| &*Vec::leak(list)).collect()))
}

/// Reads pairs of a text and a list.
///
/// # Errors
/// Errors of the deserializer.
pub fn named<'de: 'static, T: Deserialize<'de>, D: Deserializer<'de>>(
    from: D,
) -> Result<Vec<(&'static str, &'static [T])>, D::Error> {
    let pairs: Vec<(&'static str, Vec<T>)> = Vec::deserialize(from)?;
    Ok(pairs.into_iter().map(|(name, list)| (name, &*Vec::leak(list))).collect())
}

/// Lists of ports, as name, width and offset.
pub mod ports {
    use serde::{Deserialize, Deserializer, Serializer};
    use verilated::Port;

    /// Writes ports.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(ports: &[Port], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(ports.iter().map(|port| (port.name, port.width, port.offset)))
    }

    /// Reads ports.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de: 'static, D: Deserializer<'de>>(
        from: D,
    ) -> Result<&'static [Port], D::Error> {
        let plain: Vec<(&'static str, u32, usize)> = Vec::deserialize(from)?;
        let port = |(name, width, offset)| Port { name, width, offset };
        Ok(Vec::leak(plain.into_iter().map(port).collect()))
    }
}

/// Named fields of ports, as name, lowest bit and width.
pub mod fields {
    use serde::{Deserialize, Deserializer, Serializer};
    use std::collections::BTreeMap;
    use verilated::Field;

    type Fields = BTreeMap<&'static str, &'static [(&'static str, Field)]>;
    type Plain = (&'static str, u32, u32);

    /// Writes fields.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<S: Serializer>(fields: &Fields, to: S) -> Result<S::Ok, S::Error> {
        let plain = |(name, field): &(&'static str, Field)| (*name, field.lsb, field.width);
        let plain = |fields: &[_]| fields.iter().map(plain).collect::<Vec<Plain>>();
        to.collect_map(fields.iter().map(|(port, fields)| (port, plain(fields))))
    }

    /// Reads fields.
    ///
    /// # Errors
    /// Errors of the deserializer.
    pub fn deserialize<'de: 'static, D: Deserializer<'de>>(from: D) -> Result<Fields, D::Error> {
        let all: BTreeMap<&'static str, Vec<Plain>> = BTreeMap::deserialize(from)?;
        let field = |(name, lsb, width)| (name, Field { lsb, width });
        let leaked = |fields: Vec<Plain>| &*Vec::leak(fields.into_iter().map(field).collect());
        Ok(all.into_iter().map(|(port, fields)| (port, leaked(fields))).collect())
    }
}
