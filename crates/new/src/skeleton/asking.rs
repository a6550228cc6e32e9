//! Asks Verilator about the top: with the parameters and the interfaces that it lacks.

use super::{Skeleton, placeholders};
use cosim_base::error::{Error, codes};
use cosim_rtl::models::{Copies, Examined, Header, HeaderParameter, InterfacePort};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tempfile::TempDir;
use verilated_build::Design;
use verilated_build::module::{self, ModuleDescription};
use verilated_runtime::Verilator;

/// The module that was asked for, and how.
pub struct ExaminedModule {
    pub examined: Examined,
    query: AskingModule,
    /// Whether it has parameters without values.
    pub lacks_parameters: bool,
}

/// What a module around the top declares to elaborate it.
#[derive(Debug, Clone, Default)]
struct AskingModule {
    top: String,
    parameters: Vec<(String, String)>,
    interfaces: Vec<InterfacePort>,
    /// The header of the top, if it has interfaces.
    header: Header,
}

impl AskingModule {
    fn text(&self) -> String {
        let values = |of: &str| -> String {
            let own = |(name, value): &(String, String)| match (name.split_once('.'), of) {
                (None, "") => Some(format!(".{name}({value})")),
                (Some((port, name)), of) if port == of => Some(format!(".{name}({value})")),
                _ => None,
            };
            let all: Vec<String> = self.parameters.iter().filter_map(own).collect();
            if all.is_empty() { String::new() } else { format!(" #({})", all.join(", ")) }
        };
        let mut text = String::new();
        // The ranges of arrays may depend on the parameters of the top.
        let is_letter = |letter: char| letter.is_alphabetic() || letter == '_' || letter == '`';
        if self.interfaces.iter().any(|port| port.range.contains(is_letter)) {
            text.push_str(&self.header.imports);
            for HeaderParameter { declaration, name, value } in &self.header.parameters {
                let given = self.parameters.iter().find(|(own, _)| own == name);
                if let Some(value) = given.map(|(_, value)| value).or(value.as_ref()) {
                    let _ = write!(text, "localparam {declaration} = {value}; ");
                }
            }
        }
        let mut pins = Vec::new();
        for InterfacePort { interface, port, range, .. } in &self.interfaces {
            let _ = write!(text, "{interface}{} {port} {range}(); ", values(port));
            pins.push(format!(".{port} ({port} )"));
        }
        let _ = write!(text, "{}{} dut({});", self.top, values(""), pins.join(", "));
        text
    }

    /// Adds the interface ports that Verilator's messages are about: those that the header of the
    /// top declares with an interface or a port that a message names.
    fn add_interfaces(&mut self, output: &str) -> Result<(), Error> {
        let is_quoted = |name: &str| output.contains(&format!("'{name}'"));
        for port in &self.header.interfaces {
            let InterfacePort { interface, port: name, is_generic, has_modport, .. } = port;
            let is_known = self.interfaces.iter().any(|known| known.port == *name);
            let is_meant = *is_generic && output.contains("generic interfaces");
            if is_known || !(*has_modport || is_meant || is_quoted(interface) || is_quoted(name)) {
                continue;
            }
            if *is_generic {
                return Err(Error::Usage(
                    codes::BAD_PORT,
                    format!(
                        "port `{name}` of {}: generic interfaces are not supported; wrap the \
                         module in one that names the interface",
                        self.top
                    ),
                ));
            }
            self.interfaces.push(port.clone());
        }
        Ok(())
    }
}

fn missing_parameter(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        let (_, name) = line.split_once("Missing type parameter: '").or_else(|| {
            line.split_once("is never given value").and_then(|(_, rest)| rest.split_once('\''))
        })?;
        name.split('\'').next()
    })
}

fn unknown_parameter(output: &str) -> Option<&str> {
    let line = output.lines().find(|line| {
        line.contains("Parameter not found: '") || line.contains("Parameter pin not found: '")
    })?;
    line.split_once("not found: '")?.1.split('\'').next()
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenParameter {
    /// Its name; that of an interface has its port and a point before it.
    pub name: String,
    pub values: Vec<String>,
}

impl GivenParameter {
    pub(super) fn numbers(&self) -> Option<Vec<u64>> {
        self.values.iter().map(|value| module::number(value)).collect()
    }
}

impl std::str::FromStr for GivenParameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "expected NAME=VALUE, or NAME=VALUE,VALUE for several profiles".to_owned();
        let (name, values) = text.split_once('=').ok_or_else(wrong)?;
        let is_name = |name: &str| {
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        if ["struct", "union", "enum"].iter().any(|word| values.trim_start().starts_with(word)) {
            return Err(format!("declare the type in a package, and give {name}=PACKAGE::TYPE"));
        }
        let values: Vec<String> = values.split(',').map(|value| value.trim().to_owned()).collect();
        if !name.split('.').all(is_name) || values.iter().any(String::is_empty) {
            return Err(wrong());
        }
        let given = Self { name: name.to_owned(), values };
        if given.values.len() > 1 && given.numbers().is_none() {
            return Err("several values must be numbers, as in N=4,8".to_owned());
        }
        Ok(given)
    }
}

const MOST_PROFILES: usize = 64;

impl Skeleton {
    pub(super) fn first_values(&self) -> Vec<(String, String)> {
        self.combinations().into_iter().next().unwrap_or_default()
    }

    /// The parameter sets that were given: every combination of values.
    fn combinations(&self) -> Vec<Vec<(String, String)>> {
        let mut all = vec![Vec::new()];
        for GivenParameter { name, values } in &self.parameters {
            let extend = |set: &Vec<(String, String)>| -> Vec<Vec<(String, String)>> {
                let with = |value: &String| {
                    let mut set = set.clone();
                    set.push((name.clone(), value.clone()));
                    set
                };
                values.iter().map(with).collect()
            };
            all = all.iter().flat_map(extend).collect();
        }
        all
    }

    /// Refuses more parameter sets than a crate can have profiles: each is a model.
    pub(super) fn check_combinations(&self) -> Result<(), Error> {
        let number = |all: usize, given: &GivenParameter| all.saturating_mul(given.values.len());
        match self.parameters.iter().fold(1, number) {
            0..=MOST_PROFILES => Ok(()),
            number => Err(Error::Usage(
                codes::COMMAND_LINE,
                format!("--parameter: {number} profiles, and a crate has at most {MOST_PROFILES}"),
            )),
        }
    }

    /// Whether a parameter was given that the build script cannot set, as a type.
    pub(super) fn passes_other_values(&self, description: &ModuleDescription) -> bool {
        let is_number =
            |name: &str| description.parameters.iter().any(|own| own.name == name && own.is_number);
        self.parameters.iter().any(|given| !is_number(&given.name) || given.numbers().is_none())
    }

    pub(super) fn header(&self) -> Result<Header, Error> {
        Header::find_module(&self.top, &self.rtl, &self.options)
    }

    /// The same with quotes around the values of strings: a shell removes those that were typed.
    pub(super) fn with_quoted_strings(&self) -> Result<Self, Error> {
        let is_word = |value: &String| !value.starts_with('"') && module::number(value).is_none();
        let mut quoted = self.clone();
        if self.parameters.iter().flat_map(|given| &given.values).any(is_word) {
            let header = self.header()?;
            for GivenParameter { name, values } in &mut quoted.parameters {
                if header.is_string(name) {
                    for value in values.iter_mut().filter(|value| !value.starts_with('"')) {
                        *value =
                            format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\""));
                    }
                }
            }
        }
        Ok(quoted)
    }

    /// Asks Verilator about the top: as it is, then with the parameters and the interfaces that it
    /// lacks.
    pub(super) fn examined_module(&self) -> Result<ExaminedModule, Error> {
        const MOST_ATTEMPTS: usize = 12;
        let mut query = AskingModule { top: self.top.clone(), ..AskingModule::default() };
        let mut is_header_read = !self.parameters.is_empty();
        if is_header_read {
            query.header = self.header()?;
            if placeholders::are_given(&query.header, &self.parameters) {
                query.parameters = self.first_values();
            }
        }
        let mut lacks_parameters = false;
        for _ in 0..MOST_ATTEMPTS {
            let error = match Examined::of_top(&self.top, &query.text(), &self.rtl, &self.options) {
                Ok(examined) if query.parameters.is_empty() && !self.parameters.is_empty() => {
                    query.parameters = self.first_values();
                    drop(examined);
                    continue;
                }
                Ok(examined) => return Ok(ExaminedModule { examined, query, lacks_parameters }),
                Err(error) => error,
            };
            if error.code() != codes::VERILATOR_REJECTED {
                return Err(error);
            }
            let output = &error.to_string();
            if let Some(name) = unknown_parameter(output) {
                return Err(Error::Usage(
                    codes::NO_SUCH_PARAMETER,
                    format!(
                        "--parameter: module {} has no parameter {name}{}",
                        self.top,
                        self.header()?.parameter_names(name)
                    ),
                ));
            }
            let interfaces = query.interfaces.len();
            match missing_parameter(output) {
                Some(_) if query.parameters.is_empty() && !self.parameters.is_empty() => {
                    lacks_parameters = true;
                    query.parameters = self.first_values();
                }
                Some(name) => {
                    return Err(Error::Usage(
                        codes::PARAMETER_MISSING,
                        format!(
                            "parameter {name} of module {} has no default; give it a value with \
                             --parameter {name}=VALUE",
                            self.top
                        ),
                    ));
                }
                None => {
                    if !is_header_read {
                        query.header = self.header()?;
                        is_header_read = true;
                    }
                    query.add_interfaces(output)?;
                    if query.interfaces.len() == interfaces {
                        if !query.parameters.is_empty() || self.parameters.is_empty() {
                            return Err(error);
                        }
                        // The defaults may be values that the module rejects.
                        query.parameters = self.first_values();
                    }
                }
            }
        }
        let message = format!("module {}: cannot find out what its interface ports are", self.top);
        Err(Error::Usage(codes::BAD_PORT, message))
    }

    /// The module as Verilator elaborates it in the new crate. Other parameter values must leave
    /// its ports as they are.
    pub(super) fn description(
        &self,
        made: &Path,
        copies: &Copies,
        examined_module: &ExaminedModule,
    ) -> Result<ModuleDescription, Error> {
        let answer = TempDir::with_prefix("cosim-").map_err(Error::write("a temporary folder"))?;
        let mut first: Option<ModuleDescription> = None;
        for values in self.combinations() {
            let query = AskingModule { parameters: values, ..examined_module.query.clone() };
            let ask = answer.path().join("cosim_ask.sv");
            let text = format!("module cosim_ask; {} endmodule\n", query.text());
            fs::write(&ask, text).map_err(Error::write(&ask))?;
            let searched = copies.searched("rtl");
            let sources = copies.sources.iter().map(|name| searched.join(name));
            let design = Design {
                top: "cosim_ask".to_owned(),
                sources: sources.chain([ask]).collect(),
                include: vec![searched.clone()],
                defines: examined_module.examined.design.defines.clone(),
                options: self.options.clone(),
                folder: Some(made.to_owned()),
                ..Design::default()
            };
            let verilator = Verilator::find()?;
            let found = design
                .describe_instance(&verilator, &answer.path().join("described"), "dut")
                .map_err(|error| copies.plain(error, &self.top, &verilator))?;
            if let Some(first) = &first
                && let Some((one, _)) =
                    first.ports.iter().zip(&found.ports).find(|(one, other)| one != other)
            {
                return Err(Error::Usage(
                    codes::PORTS_DIFFER,
                    format!(
                        "port `{}` of {} depends on the parameters; write a separate block for \
                         each set of ports",
                        one.name, self.top
                    ),
                ));
            }
            first.get_or_insert(found);
        }
        Ok(first.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_one_value_or_several_numbers() {
        let given = |text: &str| text.parse::<GivenParameter>();
        assert_eq!(given("N=4,0x10").unwrap_err(), "several values must be numbers, as in N=4,8");
        assert_eq!(given("N=4,8'h10").unwrap().numbers(), Some(vec![4, 16]));
        assert_eq!(given("b.T=logic [7:0]").unwrap().values, ["logic [7:0]"]);
        for bad in ["N", "=4", "N=", "N=4,", "a-b=1", "T=struct packed {logic a;}"] {
            assert!(given(bad).is_err(), "{bad}");
        }
    }
}
