//! UCIS XML, the exchange format for coverage (Unified Coverage Interoperability Standard 1.0).
//!
//! Each profile is an instance, each group a covergroup with one coverpoint. A cross is a
//! coverpoint, too, with a bin for each combination: all readers support that. Unreachable bins
//! have the type `ignore`, so that no reader counts them.

use super::{Database, Group, ProfileBins};
use cosim_base::error::{Error, codes};
use cosim_base::program;
use cosim_base::text;
use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, Event};

/// A constant, so that the same database always gives the same text.
const NO_TIME: &str = "1970-01-01T00:00:00";

/// The XML of a database.
///
/// # Errors
/// Never: it is written into memory.
pub fn text(database: &Database) -> Result<String, Error> {
    let mut xml = Xml(Writer::new_with_indent(Vec::new(), b' ', 1));
    let written = xml.database(database);
    written.map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
    Ok(format!("{}\n", String::from_utf8_lossy(&xml.0.into_inner())))
}

type Written = std::io::Result<()>;

struct Xml(Writer<Vec<u8>>);

/// An opening tag. XML cannot escape most control characters.
fn start<'a>(name: &'a str, attributes: &[(&str, &str)]) -> BytesStart<'a> {
    let mut start = BytesStart::new(name);
    for (name, value) in attributes {
        start.push_attribute((*name, &*text::lines(value)));
    }
    start
}

impl Xml {
    /// An empty element.
    fn leaf(&mut self, name: &str, attributes: &[(&str, &str)]) -> Written {
        self.0.write_event(Event::Empty(start(name, attributes)))
    }

    /// An element with content.
    fn around(
        &mut self,
        name: &str,
        attributes: &[(&str, &str)],
        inside: impl FnOnce(&mut Self) -> Written,
    ) -> Written {
        self.0.write_event(Event::Start(start(name, attributes)))?;
        inside(self)?;
        self.0.write_event(Event::End(BytesEnd::new(name)))
    }

    /// A dummy source location: UCIS requires one, but groups have none.
    fn place(&mut self, name: &str) -> Written {
        self.leaf(name, &[("file", "1"), ("line", "1"), ("inlineCount", "1")])
    }

    fn database(&mut self, database: &Database) -> Written {
        self.0.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let tool = program::version();
        let root = [("ucisVersion", "1.0"), ("writtenBy", "cosim"), ("writtenTime", NO_TIME)];
        self.around("UCIS", &root, |xml| {
            xml.leaf("sourceFiles", &[("fileName", &database.block), ("id", "1")])?;
            xml.leaf(
                "historyNodes",
                &[
                    ("historyNodeId", "0"),
                    ("logicalName", &database.block),
                    ("testStatus", "true"),
                    ("date", NO_TIME),
                    ("toolCategory", "UCIS:simulator"),
                    ("ucisVersion", "1.0"),
                    ("vendorId", "cosim"),
                    ("vendorTool", "cosim"),
                    ("vendorToolVersion", tool),
                ],
            )?;
            for (number, (name, profile)) in database.profiles.iter().enumerate() {
                let instance = format!("{}.{name}", database.block);
                let number = number.to_string();
                let module = database.block.as_str();
                let attributes = [
                    ("name", instance.as_str()),
                    ("key", &number),
                    ("instanceId", &number),
                    ("moduleName", module),
                ];
                xml.around("instanceCoverages", &attributes, |xml| {
                    xml.profile(database, name, profile)
                })?;
            }
            Ok(())
        })
    }

    fn profile(&mut self, database: &Database, name: &str, profile: &ProfileBins) -> Written {
        self.place("id")?;
        let hits = database.covered(name).hits;
        let mut first = 0;
        for group in &database.groups {
            let end = first + group.bins();
            let of_group = &hits[first..end];
            let is_ignored = |bin: usize| profile.unreachable.contains_key(&((first + bin) as u32));
            self.around("covergroupCoverage", &[], |xml| {
                let instance = [("name", group.name.as_str()), ("key", "0")];
                xml.around("cgInstance", &instance, |xml| {
                    xml.leaf("options", &[])?;
                    let id = [("cgName", group.name.as_str()), ("moduleName", &database.block)];
                    xml.around("cgId", &id, |xml| {
                        xml.place("cginstSourceId")?;
                        xml.place("cgSourceId")
                    })?;
                    xml.group(group, of_group, is_ignored)
                })
            })?;
            first = end;
        }
        Ok(())
    }

    fn group(
        &mut self,
        group: &Group,
        hits: &[u64],
        is_ignored: impl Fn(usize) -> bool,
    ) -> Written {
        let axes: Vec<&str> = group.axes.iter().map(|axis| axis.name.as_str()).collect();
        let point = axes.join(" x ");
        self.around("coverpoint", &[("name", &point), ("key", "0")], |xml| {
            xml.leaf("options", &[])?;
            for (bin, hits) in hits.iter().enumerate() {
                let (name, number) = (group.bin_name(bin), bin.to_string());
                let kind = if is_ignored(bin) { "ignore" } else { "bins" };
                let attributes = [("name", name.as_str()), ("key", &number), ("type", kind)];
                xml.around("coverpointBin", &attributes, |xml| {
                    xml.around("range", &[("from", &number), ("to", &number)], |xml| {
                        xml.leaf("contents", &[("coverageCount", &hits.to_string())])
                    })
                })?;
            }
            Ok(())
        })
    }
}
