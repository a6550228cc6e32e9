//! Records that decide a verdict. Each has a format, one version and a checksum.
//!
//! A record of another version is refused: no reader accepts a file without a checksum. The cases
//! of `results.json` are read one by one, so `run::Results` has a reader of its own with the same
//! checks.

use cosim_base::checksum;
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, read_input_text, write_whole};
use cosim_harness::json::{Misread, MisreadText, Tree};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::Path;

#[derive(Debug, Clone, Copy)]
pub struct RecordFormat {
    pub name: &'static str,
    /// The only version that is written and read.
    pub version: u64,
    /// Maximum size in bytes.
    pub most: u64,
}

/// The fields that every record has. The others are skipped here.
#[derive(Deserialize)]
struct Head {
    format: Value,
    version: Value,
}

impl RecordFormat {
    /// Reads a record and returns it with its checksum.
    ///
    /// # Errors
    /// [`Error::File`] or [`Error::Input`] if the file has another format or version, if it does
    /// not match its checksum, or if it is malformed.
    pub fn read<T: DeserializeOwned>(&self, path: &Path) -> Result<(T, String), Error> {
        let text = read_input_text(path, self.most)?;
        let wrong = |wrong: MisreadText| Error::json_at(path, &wrong.place, &wrong.error);
        let tree = Tree::from_text(&text).map_err(wrong)?;
        let misread = |misread: Misread| wrong(misread.in_text(&text));
        let Head { format, version } = tree.read().map_err(misread)?;
        self.check(path, &format, &version)?;
        let checksum = checksum::verify(path, text.as_bytes())?;
        Ok((tree.read().map_err(misread)?, checksum))
    }

    pub fn check(&self, path: &Path, format: &Value, version: &Value) -> Result<(), Error> {
        let wrong = |what, found: &Value, expected: &dyn std::fmt::Display| Error::File {
            code: codes::WRONG_FORMAT,
            path: path.to_owned(),
            message: format!("{what} is {found}, this program reads {expected}"),
        };
        if format != self.name {
            return Err(wrong("format", format, &format_args!("{:?}", self.name)));
        }
        if *version != self.version {
            return Err(wrong("version", version, &self.version));
        }
        Ok(())
    }

    pub fn schema<T: JsonSchema>(&self, title: &str) -> Value {
        let mut schema = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
        schema["title"] = title.into();
        schema["properties"]["format"] = serde_json::json!({ "const": self.name });
        schema["properties"]["version"] = serde_json::json!({ "const": self.version });
        schema
    }

    /// Writes a record with its checksum. `record` is an object with `format` and `version`.
    pub fn write(&self, path: &Path, record: &impl Serialize, sync: Sync) -> Result<(), Error> {
        let text = serde_json::to_string_pretty(record)
            .map_err(|error| Error::Environment(codes::INTERNAL, error.to_string()))?;
        let members = text.strip_suffix("\n}").unwrap_or(&text);
        let (text, _) = checksum::sealed(format!("{members},\n"));
        write_whole(path, text.as_bytes(), sync)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::fs;
    use tempfile::TempDir;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Record {
        format: String,
        version: u64,
        passed: bool,
    }

    const FORMAT: RecordFormat = RecordFormat { name: "cosim-test", version: 1, most: 1000 };

    #[test]
    fn a_record_is_read_if_its_version_and_checksum_are_right() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("record.json");
        let record = Record { format: FORMAT.name.to_owned(), version: 1, passed: false };
        FORMAT.write(&path, &record, Sync::Lazy).unwrap();
        let (read, checksum) = FORMAT.read::<Record>(&path).unwrap();
        assert_eq!((read, checksum.len()), (record, 64));
        let text = fs::read_to_string(&path).unwrap();
        let code = |text: &str| {
            fs::write(&path, text).unwrap();
            FORMAT.read::<Record>(&path).unwrap_err().code()
        };
        assert_eq!(code(&text.replace("false", "true")), codes::DAMAGED);
        let (members, _) = text.rsplit_once(",\n\"checksum\"").unwrap();
        for version in [0, 2, u64::MAX] {
            // Neither with nor without its checksum.
            let version = format!("\"version\": {version}");
            for text in [&text, &format!("{members}\n}}\n")] {
                let other = text.replace("\"version\": 1", &version);
                assert_eq!(code(&other), codes::WRONG_FORMAT, "{other}");
            }
        }
        assert_eq!(code(&format!("{members}\n}}\n")), codes::DAMAGED);
        assert_eq!(code(&text.replace("cosim-test", "cosim-other")), codes::WRONG_FORMAT);
        assert_eq!(code(&text.replace("\"version\": 1,", "")), codes::MISSING_FIELD);
        assert_eq!(code(&"x".repeat(1001)), codes::TOO_LARGE);
    }

    #[test]
    fn a_version_is_a_number() {
        let path = Path::new("record.json");
        for version in [json!("1"), json!(1.5), json!(-1), json!(null)] {
            assert!(FORMAT.check(path, &json!("cosim-test"), &version).is_err(), "{version}");
        }
    }
}
