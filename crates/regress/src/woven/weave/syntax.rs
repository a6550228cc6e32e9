//! Parses the part of SystemVerilog that weaving needs: modules, their items, and the statements of
//! processes.
//!
//! Expressions stay tokens. The parser rejects unknown constructs, so that no text is woven
//! incorrectly.

use super::WeaveError;
use super::tokens::{Tokens, is_identifier, opening, parted, push, split};

const DECLARING: [&str; 10] =
    ["wire", "reg", "logic", "integer", "int", "bit", "localparam", "parameter", "genvar", "tri"];
const PROCESSES: [&str; 7] =
    ["always", "always_comb", "always_ff", "always_latch", "initial", "final", "assign"];
/// Items with their own end keyword. Of these, only functions and tasks declare a name.
const BRACKETED: [(&str, &str); 4] = [
    ("function", "endfunction"),
    ("task", "endtask"),
    ("generate", "endgenerate"),
    ("specify", "endspecify"),
];
/// First words of items and statements that the parser does not support.
const UNKNOWN: [&str; 13] = [
    "if", "for", "case", "casez", "casex", "typedef", "defparam", "unique", "unique0", "priority",
    "fork", "@", "#",
];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Module {
    /// From `module` to the `;` after the ports.
    pub header: Tokens,
    /// Nets, variables, parameters, functions and tasks.
    pub declarations: Vec<Declaration>,
    pub assigns: Vec<Assign>,
    pub processes: Vec<Process>,
    pub instances: Vec<Instance>,
    /// All other items.
    pub others: Vec<Tokens>,
}

/// A declaration of one name, with its `;`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declaration {
    pub name: String,
    pub text: Tokens,
}

/// A continuous assignment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assign {
    pub target: Tokens,
    pub value: Tokens,
}

/// An `always` or `initial` process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The keyword and the event control.
    pub head: Tokens,
    pub body: Statement,
}

/// An instance of a module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Instance {
    pub name: String,
    /// The module and its parameters.
    pub of: Tokens,
    /// The ports, each with the connected expression.
    pub connections: Vec<(String, Tokens)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statement {
    Block {
        head: Tokens,
        statements: Vec<Statement>,
    },
    If {
        condition: Tokens,
        then: Box<Statement>,
        otherwise: Option<Box<Statement>>,
    },
    Case {
        head: Tokens,
        items: Vec<(Tokens, Statement)>,
    },
    /// Any other statement.
    Plain(Tokens),
}

/// Splits a text into packages and modules with name and tokens. Packages come first, because they
/// must precede their uses.
pub fn modules(tokens: &[String]) -> Result<Vec<(String, Tokens)>, WeaveError> {
    let is_end = |token: &String| token == "endmodule" || token == "endpackage";
    let mut modules = Vec::new();
    for part in tokens.split_inclusive(is_end) {
        match part {
            [first, name, .., last] if is_end(last) && last[3..] == *first => {
                modules.push((name.clone(), part.to_vec()));
            }
            _ => {
                let word = part.first().map_or("nothing", String::as_str);
                return Err(WeaveError(format!("`{word}` outside of a module")));
            }
        }
    }
    modules.sort_by_key(|(_, tokens)| tokens[0] != "package");
    Ok(modules)
}

impl Module {
    /// Parses the tokens of one module.
    pub fn parse(tokens: &[String]) -> Result<Self, WeaveError> {
        let mut parser = Parser { tokens, at: 0 };
        let mut module = Self { header: parser.through(";")?, ..Self::default() };
        loop {
            let word = parser.peek()?;
            if word == "endmodule" {
                return Ok(module);
            } else if DECLARING.contains(&word) {
                parser.declarations(&mut module)?;
            } else if word == "assign" {
                parser.at += 1;
                for part in split(&parser.through(";")?) {
                    let (target, value) = parted(part, "=")?;
                    module.assigns.push(Assign { target: target.to_vec(), value: value.to_vec() });
                }
            } else if PROCESSES.contains(&word) {
                module.processes.push(parser.process()?);
            } else if let Some((_, end)) = BRACKETED.iter().find(|(begin, _)| *begin == word) {
                let is_named = ["function", "task"].contains(&word);
                let text = parser.through(end)?;
                match is_named.then(|| name_of_function(&text)).flatten() {
                    Some(name) => module.declarations.push(Declaration { name, text }),
                    None => module.others.push(text),
                }
            } else if is_identifier(word) && !UNKNOWN.contains(&word) {
                let text = parser.through(";")?;
                match Instance::parse(&text) {
                    Some(instance) => module.instances.push(instance),
                    None => module.others.push(text),
                }
            } else {
                return Err(WeaveError(format!("an item of a module that begins with `{word}`")));
            }
        }
    }

    /// The tokens of the module. Declarations come first; otherwise the order may differ from the
    /// source.
    pub fn tokens(&self) -> Tokens {
        let mut tokens = self.header.clone();
        tokens.extend(self.declarations.iter().flat_map(|declaration| declaration.text.clone()));
        for Assign { target, value } in &self.assigns {
            push(&mut tokens, "assign");
            tokens.extend_from_slice(target);
            push(&mut tokens, "=");
            tokens.extend_from_slice(value);
            push(&mut tokens, ";");
        }
        for Process { head, body } in &self.processes {
            tokens.extend_from_slice(head);
            body.write(&mut tokens);
        }
        self.instances.iter().for_each(|instance| instance.write(&mut tokens));
        tokens.extend(self.others.iter().flatten().cloned());
        push(&mut tokens, "endmodule");
        tokens
    }

    /// The declaration of a name.
    pub fn declaration(&self, name: &str) -> Option<&Declaration> {
        self.declarations.iter().find(|declaration| declaration.name == name)
    }

    /// Whether a name is declared, as a port or in the module.
    pub fn declares(&self, name: &str) -> bool {
        self.declaration(name).is_some() || self.header.iter().any(|token| token == name)
    }

    /// The names of the outputs.
    pub fn outputs(&self) -> Vec<String> {
        let Some(open) = self
            .header
            .iter()
            .rposition(|token| token == ")")
            .and_then(|close| opening(&self.header, close))
        else {
            return Vec::new();
        };
        let mut is_output = false;
        let mut outputs = Vec::new();
        for port in split(&self.header[open + 1..self.header.len() - 1]) {
            match port.first().map(String::as_str) {
                Some("input") => is_output = false,
                Some("output" | "inout") => is_output = true,
                _ => {}
            }
            if is_output {
                outputs.extend(port.iter().rfind(|token| is_identifier(token)).cloned());
            }
        }
        outputs
    }
}

impl Instance {
    /// Parses `Type #(parameters) name (.port(signal), ...);`, or returns `None` for another kind
    /// of item.
    fn parse(text: &[String]) -> Option<Self> {
        let close = text.len().checked_sub(2)?;
        let open = opening(text, close)?;
        let name = text.get(open.checked_sub(1)?)?;
        if !is_identifier(name) || open < 2 {
            return None;
        }
        let connection = |part: &[String]| match part {
            [dot, port, open, signal @ .., close] if dot == "." && open == "(" && close == ")" => {
                Some((port.clone(), signal.to_vec()))
            }
            _ => None,
        };
        Some(Self {
            name: name.clone(),
            of: text[..open - 1].to_vec(),
            connections: split(&text[open + 1..=close]).map(connection).collect::<Option<_>>()?,
        })
    }

    fn write(&self, tokens: &mut Tokens) {
        tokens.extend_from_slice(&self.of);
        push(tokens, &self.name);
        push(tokens, "(");
        for (index, (port, signal)) in self.connections.iter().enumerate() {
            if index > 0 {
                push(tokens, ",");
            }
            [".", port, "("].iter().for_each(|token| push(tokens, token));
            tokens.extend_from_slice(signal);
            push(tokens, ")");
        }
        push(tokens, ")");
        push(tokens, ";");
    }
}

impl Statement {
    /// Appends the tokens of the statement.
    pub fn write(&self, tokens: &mut Tokens) {
        match self {
            Self::Plain(plain) => tokens.extend_from_slice(plain),
            Self::Block { head, statements } => {
                tokens.extend_from_slice(head);
                statements.iter().for_each(|statement| statement.write(tokens));
                push(tokens, "end");
            }
            Self::If { condition, then, otherwise } => {
                push(tokens, "if");
                push(tokens, "(");
                tokens.extend_from_slice(condition);
                push(tokens, ")");
                if matches!(**then, Self::If { .. }) {
                    // Prevents the `else` from binding to an inner `if`.
                    push(tokens, "begin");
                    then.write(tokens);
                    push(tokens, "end");
                } else {
                    then.write(tokens);
                }
                if let Some(otherwise) = otherwise {
                    push(tokens, "else");
                    otherwise.write(tokens);
                }
            }
            Self::Case { head, items } => {
                tokens.extend_from_slice(head);
                for (labels, statement) in items {
                    tokens.extend_from_slice(labels);
                    statement.write(tokens);
                }
                push(tokens, "endcase");
            }
        }
    }

    /// Collects the assigned names.
    pub fn targets(&self, found: &mut Vec<String>) {
        match self {
            Self::Plain(plain) => found.extend(plain.iter().find(|t| is_identifier(t)).cloned()),
            Self::Block { statements, .. } => statements.iter().for_each(|s| s.targets(found)),
            Self::If { then, otherwise, .. } => {
                then.targets(found);
                otherwise.iter().for_each(|statement| statement.targets(found));
            }
            Self::Case { items, .. } => items.iter().for_each(|(_, s)| s.targets(found)),
        }
    }
}

/// A parser over the tokens of a module.
struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Result<&str, WeaveError> {
        let token = self.tokens.get(self.at);
        token.map(String::as_str).ok_or_else(|| WeaveError::new("a module ends in an item"))
    }

    /// Consumes the tokens up to and including the next `end` outside of brackets.
    fn through(&mut self, end: &str) -> Result<Tokens, WeaveError> {
        let mut depth = 0_u32;
        for (index, token) in self.tokens.iter().enumerate().skip(self.at) {
            if depth == 0 && token == end {
                let read = self.tokens[self.at..=index].to_vec();
                self.at = index + 1;
                return Ok(read);
            }
            match token.as_str() {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth = depth.saturating_sub(1),
                _ => {}
            }
        }
        Err(WeaveError(format!("a module ends without `{end}`")))
    }

    /// Parses a declaration of one or more names. The initial value of a net becomes a continuous
    /// assignment.
    fn declarations(&mut self, module: &mut Module) -> Result<(), WeaveError> {
        let text = self.through(";")?;
        let is_net = ["wire", "tri"].contains(&text[0].as_str());
        let mut kind: Option<&[String]> = None;
        for part in split(&text) {
            let (declared, value) = match parted(part, "=") {
                Ok((declared, value)) => (declared, Some(value)),
                Err(_) => (part, None),
            };
            let at =
                name_in(declared).ok_or_else(|| WeaveError::new("a declaration without a name"))?;
            let kind = *kind.get_or_insert(&declared[..at]);
            let name = declared[at].clone();
            let mut text = [kind, &declared[at..]].concat();
            match value {
                Some(value) if is_net => module
                    .assigns
                    .push(Assign { target: vec![name.clone()], value: value.to_vec() }),
                Some(value) => {
                    push(&mut text, "=");
                    text.extend_from_slice(value);
                }
                None => {}
            }
            push(&mut text, ";");
            module.declarations.push(Declaration { name, text });
        }
        Ok(())
    }

    fn process(&mut self) -> Result<Process, WeaveError> {
        let mut head = vec![self.tokens[self.at].clone()];
        self.at += 1;
        if self.peek()? == "@" {
            head.push("@".to_owned());
            self.at += 1;
            match self.peek()? {
                "(" => head.extend(self.through_bracket()?),
                _ => {
                    head.push(self.peek()?.to_owned());
                    self.at += 1;
                }
            }
        }
        Ok(Process { head, body: self.statement()? })
    }

    /// Consumes the tokens of a bracket, including both ends.
    fn through_bracket(&mut self) -> Result<Tokens, WeaveError> {
        let begin = self.at;
        self.at += 1;
        let mut read = vec![self.tokens[begin].clone()];
        read.extend(self.through(")")?);
        Ok(read)
    }

    fn statement(&mut self) -> Result<Statement, WeaveError> {
        let word = self.peek()?.to_owned();
        match word.as_str() {
            "begin" => {
                let mut head = vec![word];
                self.at += 1;
                if self.peek()? == ":" {
                    self.at += 1;
                    head.extend([":".to_owned(), self.peek()?.to_owned()]);
                    self.at += 1;
                }
                let mut statements = Vec::new();
                while self.peek()? != "end" {
                    statements.push(self.statement()?);
                }
                self.at += 1;
                Ok(Statement::Block { head, statements })
            }
            "if" => {
                self.at += 1;
                let bracket = self.through_bracket()?;
                let condition = bracket[1..bracket.len() - 1].to_vec();
                let then = Box::new(self.statement()?);
                let mut otherwise = None;
                if self.peek()? == "else" {
                    self.at += 1;
                    otherwise = Some(Box::new(self.statement()?));
                }
                Ok(Statement::If { condition, then, otherwise })
            }
            "case" | "casez" | "casex" => {
                self.at += 1;
                let mut head = vec![word];
                head.extend(self.through_bracket()?);
                let mut items = Vec::new();
                while self.peek()? != "endcase" {
                    let labels = match self.peek()? {
                        "default" if self.tokens.get(self.at + 1).is_none_or(|t| t != ":") => {
                            self.at += 1;
                            vec!["default".to_owned(), ":".to_owned()]
                        }
                        _ => self.through(":")?,
                    };
                    items.push((labels, self.statement()?));
                }
                self.at += 1;
                Ok(Statement::Case { head, items })
            }
            "for" | "while" | "repeat" => {
                self.at += 1;
                let mut plain = vec![word];
                plain.extend(self.through_bracket()?);
                self.statement()?.write(&mut plain);
                Ok(Statement::Plain(plain))
            }
            _ if UNKNOWN.contains(&word.as_str()) => {
                Err(WeaveError(format!("a statement that begins with `{word}`")))
            }
            _ => Ok(Statement::Plain(self.through(";")?)),
        }
    }
}

/// The index of the declared name: the last one outside of brackets.
fn name_in(declared: &[String]) -> Option<usize> {
    let mut depth = 0_u32;
    let mut found = None;
    for (index, token) in declared.iter().enumerate() {
        match token.as_str() {
            "[" => depth += 1,
            "]" => depth = depth.saturating_sub(1),
            _ if depth == 0 && is_identifier(token) => found = Some(index),
            _ => {}
        }
    }
    found
}

fn name_of_function(text: &[String]) -> Option<String> {
    let end = text.iter().position(|token| token == ";" || token == "(")?;
    text[..end].iter().rfind(|token| is_identifier(token)).cloned()
}
