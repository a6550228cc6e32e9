//! Where the values of parameters are written. Verilator's description has numbers in their place,
//! so a wrong value is found where it is used, and the text there names the parameter.

use super::design::Place;
use std::collections::BTreeSet;

/// The texts of the RTL, by the names that Verilator has for the files.
#[derive(Debug, Default)]
pub struct Texts(pub Vec<(String, String)>);

/// The words of a line, each with its place in bytes.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let code = line.split("//").next().unwrap_or_default();
    let is_part = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$');
    let parts = code.split(move |letter| !is_part(letter)).filter(|word| !word.is_empty());
    parts.map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}

impl Texts {
    /// The places where parameters that a line names get their values: declarations, and
    /// connections of instances. `parameters` are the names of all.
    pub fn values(&self, line: &Place, parameters: &BTreeSet<&str>) -> Vec<Place> {
        let of_file = self.0.iter().find(|(file, _)| *file == line.file);
        let text = of_file.and_then(|(_, text)| text.lines().nth(line.line as usize - 1));
        let named: BTreeSet<&str> =
            text.into_iter().flat_map(words).map(|(_, word)| word).collect();
        let mut found = Vec::new();
        for name in named.into_iter().filter(|name| parameters.contains(name)) {
            for (file, text) in &self.0 {
                for (place, text) in text.lines().enumerate() {
                    let sets = |(at, word): (usize, &str)| {
                        let rest = text[at + word.len()..].trim_start();
                        let is_set = rest.starts_with('=') && !rest.starts_with("==");
                        let is_connected = text[..at].ends_with('.') && rest.starts_with('(');
                        word == name && (is_set || is_connected)
                    };
                    if words(text).any(sets) {
                        let (file, line) = (file.clone(), place as u32 + 1);
                        found.push(Place { file, line, column: 1 });
                    }
                }
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Are the lines found that give a parameter its value, and no others?
    #[test]
    fn a_parameter_has_its_value_from_declarations_and_connections() {
        let top = "module top;\nfifo #(\n  .DEPTH (4), .WIDTH(2)) f();\nendmodule\n";
        let fifo = "module fifo #(parameter int WIDTH = 8,\n  DEPTH = 2)();\nlocalparam LAST = DEPTH - 1;\n\
                    wire full = level == LAST; // DEPTH = 1\nwire x = DEPTH == 2;\nendmodule\n";
        let texts = [("top.sv", top), ("fifo.sv", fifo)];
        let texts = Texts(texts.map(|(file, text)| (file.to_owned(), text.to_owned())).to_vec());
        let parameters = BTreeSet::from(["WIDTH", "DEPTH", "LAST"]);
        let lines = |line: u32| -> Vec<(String, u32)> {
            let place = Place { file: "fifo.sv".to_owned(), line, column: 1 };
            let found = texts.values(&place, &parameters).into_iter();
            found.map(|place| (place.file, place.line)).collect()
        };
        assert_eq!(lines(4), [("fifo.sv".to_owned(), 3)]);
        assert_eq!(lines(5), [("top.sv".to_owned(), 3), ("fifo.sv".to_owned(), 2)]);
        assert_eq!(lines(6), []);
        assert_eq!(lines(60), []);
    }
}
