//! The grammar of a declaration.
//!
//! A wrong statement is one error, at the token, and the rest of the declaration is read as if it
//! were not there.

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use std::collections::BTreeMap;
use syn::parse::{Parse, ParseStream, Parser as _};
use syn::punctuated::Punctuated;
use syn::token::{Brace, Bracket};
use syn::{Attribute, Error, Ident, LitInt, LitStr, Path, Token, Type, braced, bracketed};

pub enum Pins {
    /// Those of a block of the build script.
    Block(LitStr),
    /// Structs, and a file with their ports.
    Given { inputs: Box<Type>, outputs: Box<Type>, file: LitStr },
}

/// A pin, or a bit of one, that may be inverted.
#[derive(Clone)]
pub struct Bit {
    pub pin: Ident,
    pub bit: Option<u32>,
    pub is_inverted: bool,
}

pub struct Field {
    pub name: Ident,
    /// The port, or one for each lane.
    pub pins: Vec<Ident>,
    pub has_list: bool,
    pub lsb: Option<u32>,
    pub width: u32,
    /// Where the bits are written.
    pub bits: Span,
}

pub struct Channel {
    pub is_source: bool,
    pub name: Ident,
    pub item: Ident,
    pub fields: Vec<Field>,
    pub valid: Bit,
    pub ready: Option<Bit>,
    pub lanes: u32,
    /// The weight with the lanes of a case.
    pub among: Option<Ident>,
    /// The type of its entries in the traffic.
    pub burst: Option<Ident>,
}

/// Where an agent is.
pub enum Place {
    /// What is around the names of the protocol.
    Pattern(LitStr),
    Port(Ident),
    /// A value of the agent's own type.
    Value(TokenStream),
}

pub struct Agent {
    pub name: Ident,
    pub path: Path,
    pub arguments: Vec<Type>,
    pub place: Place,
    pub weights: Option<TokenStream>,
}

pub enum Kind {
    Channel(Channel),
    Agent(Agent),
}

/// A channel or an agent.
pub struct Member {
    pub kind: Kind,
    pub options: Options,
}

/// What stands behind a channel or an agent.
#[derive(Default)]
pub struct Options {
    pub clock: Option<Ident>,
    pub draw: Option<Path>,
    /// Reasons for unreachable bins, each with the name of its group.
    pub reasons: Vec<(Option<LitStr>, TokenStream)>,
}

impl Member {
    pub fn name(&self) -> &Ident {
        match &self.kind {
            Kind::Channel(channel) => &channel.name,
            Kind::Agent(agent) => &agent.name,
        }
    }
}

pub struct Parameter {
    pub name: Ident,
    pub default: LitInt,
    pub legal: TokenStream,
    pub about: LitStr,
}

pub struct Profile {
    pub name: LitStr,
    pub values: Vec<(Ident, LitInt)>,
}

/// A block, with clauses of its own.
pub struct Block {
    pub attributes: Vec<Attribute>,
    pub name: Ident,
    pub word: LitStr,
    pub title: LitStr,
    pub clauses: BTreeMap<&'static str, TokenStream>,
}

#[derive(Default)]
pub struct Declaration {
    pub pins: Option<Pins>,
    pub clocks: Vec<Ident>,
    pub resets: Vec<(Ident, bool)>,
    pub drain: Option<LitInt>,
    pub pace: Option<LitInt>,
    pub ties: Vec<(Ident, LitInt)>,
    pub varied: Vec<(Ident, u32, Span)>,
    pub per_case: bool,
    pub outputs: Option<Vec<Ident>>,
    pub weights: Option<TokenStream>,
    pub scenarios: Option<LitStr>,
    pub members: Vec<Member>,
    pub parameters: Vec<Parameter>,
    pub profiles: Vec<Profile>,
    pub blocks: Vec<Block>,
    pub clauses: BTreeMap<&'static str, TokenStream>,
    /// The names of the outputs of the RTL.
    pub all_outputs: Vec<String>,
    pub errors: Vec<Error>,
}

/// The statements, and what follows the word.
const STATEMENTS: &[(&str, &str)] = &[
    ("rtl", "`rtl \"BLOCK\";`"),
    ("pins", "`pins INPUTS, OUTPUTS from \"FILE\";`"),
    ("clocks", "`clocks CLOCK, ..;`"),
    ("reset", "`reset PIN high;` or `reset PIN low;`"),
    ("drain", "`drain CYCLES;`"),
    ("pace", "`pace FACTOR;`"),
    ("tie", "`tie PIN = VALUE;`"),
    ("vary", "`vary PIN[WIDTH], ..;`"),
    ("outputs", "`outputs PIN, ..;`"),
    ("weights", "`weights { .. }`"),
    ("scenarios", "`scenarios \"FILE\";`"),
    ("source", "`source NAME: ITEM { FIELD: PIN[WIDTH], .. } on VALID, READY;`"),
    ("sink", "`sink NAME: ITEM { FIELD: PIN[WIDTH], .. } on VALID, READY;`"),
    ("agent", "`agent NAME: AGENT on PINS;`"),
    ("parameter", "`parameter NAME = DEFAULT in FIRST..=LAST, \"ABOUT\";`"),
    ("profile", "`profile \"NAME\" { PARAMETER = VALUE, .. }`"),
    ("block", "`block NAME = \"NAME\": \"TITLE\";`"),
];

/// The clauses of a block, which stand in its braces, or outside of them for all blocks.
pub const CLAUSES: &[(&str, &str)] = &[
    ("golden", "`golden TYPE;`"),
    ("scoreboard", "`scoreboard TYPE;`"),
    ("coverage", "`coverage TYPE;`"),
    ("cases", "`cases NUMBER;`"),
    ("transactions", "`transactions OUTPUT, ..;`, or `transactions;` for all"),
    ("states", "`states \"REGISTER\": NAMES;`"),
    ("fields", "`fields PORT = FIELDS, ..;`"),
    ("naming", "`naming NAMING;`"),
    ("explain", "`explain own;`"),
];

/// What is known by words, for messages: the nearest one, or all.
pub fn known_words<'a>(word: &str, all: impl Iterator<Item = &'a str> + Clone) -> String {
    let distance = |known: &&str| strsim::damerau_levenshtein(word, known);
    match all.clone().min_by_key(distance) {
        Some(near) if distance(&near) <= 1 + word.len() / 4 => format!("did you mean `{near}`?"),
        Some(_) => format!("known are {}", all.collect::<Vec<_>>().join(", ")),
        None => "there are none".to_owned(),
    }
}

fn words() -> impl Iterator<Item = &'static str> + Clone {
    STATEMENTS.iter().chain(CLAUSES).map(|(word, _)| *word)
}

impl Parse for Declaration {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let mut all = Self::default();
        while !input.is_empty() {
            let tokens = next_statement(input)?;
            let parsed = (|input: ParseStream<'_>| all.statement(input)).parse2(tokens);
            all.errors.extend(parsed.err());
        }
        Ok(all)
    }
}

/// The tokens of a statement: up to `;`, or to its braces if they are its end.
fn next_statement(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let first = input.fork().parse::<Ident>().map(|word| word.to_string()).unwrap_or_default();
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let ends = match &token {
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let next = input.fork().parse::<Ident>().map(|word| word.to_string());
                let is_statement = next.is_ok_and(|next| words().any(|word| word == next));
                is_statement || ["weights", "profile", "block"].contains(&first.as_str())
            }
            _ => false,
        };
        tokens.extend([token]);
        if ends {
            break;
        }
    }
    Ok(tokens)
}

/// An error about what follows a word.
fn expected(error: &Error, word: &str) -> Error {
    let all = STATEMENTS.iter().chain(CLAUSES);
    let form = all.clone().find(|(known, _)| *known == word).map_or("", |(_, form)| form);
    Error::new(error.span(), format!("{error}; the statement is {form}"))
}

impl Declaration {
    fn statement(&mut self, input: ParseStream<'_>) -> syn::Result<()> {
        let attributes = input.call(Attribute::parse_outer)?;
        let word: Ident = input.parse()?;
        let text = word.to_string();
        if let Some((clause, _)) = CLAUSES.iter().find(|(clause, _)| *clause == text) {
            let tokens = clause_of(&text, input)?;
            if self.clauses.insert(clause, tokens).is_some() {
                return Err(Error::new(word.span(), format!("`{text}` stands here twice")));
            }
            return Ok(());
        }
        if !STATEMENTS.iter().any(|(known, _)| *known == text) {
            let hint = known_words(&text, words());
            return Err(Error::new(word.span(), format!("no statement is `{text}`; {hint}")));
        }
        if text != "block"
            && let Some(first) = attributes.first()
        {
            let message = "attributes stand before `block`, a weight or a parameter only";
            return Err(Error::new_spanned(first, message));
        }
        self.parse_known(&word, attributes, input).map_err(|error| match error.to_string() {
            message if message.starts_with("expected") => expected(&error, &text),
            _ => error,
        })
    }

    fn parse_known(
        &mut self,
        word: &Ident,
        attributes: Vec<Attribute>,
        input: ParseStream<'_>,
    ) -> syn::Result<()> {
        let twice = || Error::new(word.span(), format!("`{word}` stands here twice"));
        match word.to_string().as_str() {
            "rtl" | "pins" if self.pins.is_some() => return Err(twice()),
            "rtl" => self.pins = Some(Pins::Block(input.parse()?)),
            "pins" => {
                let inputs = input.parse()?;
                input.parse::<Token![,]>()?;
                let outputs = input.parse()?;
                keyword(input, "from")?;
                self.pins = Some(Pins::Given { inputs, outputs, file: input.parse()? });
            }
            "clocks" => self.clocks.extend(names(input)?),
            "reset" => {
                let pin = input.parse()?;
                let level: Ident = input.parse()?;
                if level != "high" && level != "low" {
                    let message = "expected the level of the reset, `high` or `low`";
                    return Err(Error::new(level.span(), message));
                }
                self.resets.push((pin, level == "high"));
            }
            "drain" => once(&mut self.drain, input.parse()?, twice)?,
            "pace" => once(&mut self.pace, input.parse()?, twice)?,
            "tie" => {
                let pin = input.parse()?;
                input.parse::<Token![=]>()?;
                self.ties.push((pin, input.parse()?));
            }
            "vary" => {
                loop {
                    let pin = input.parse()?;
                    let bits;
                    let bracket = bracketed!(bits in input);
                    self.varied.push((pin, number(&bits)?, bracket.span.join()));
                    if input.parse::<Option<Token![,]>>()?.is_none() {
                        break;
                    }
                }
                if input.peek(Ident) {
                    keyword(input, "per")?;
                    keyword(input, "case")?;
                    self.per_case = true;
                }
            }
            "outputs" => once(&mut self.outputs, names(input)?, twice)?,
            "weights" => {
                let fields;
                braced!(fields in input);
                return once(&mut self.weights, fields.parse()?, twice);
            }
            "scenarios" => once(&mut self.scenarios, input.parse()?, twice)?,
            "source" | "sink" => self.members.push(channel(word == "source", input)?),
            "agent" => self.members.push(agent(input)?),
            "parameter" => self.parameters.push(parameter(input)?),
            "profile" => {
                let name = input.parse()?;
                let braces;
                braced!(braces in input);
                let mut values = Vec::new();
                while !braces.is_empty() {
                    let parameter = braces.parse()?;
                    braces.parse::<Token![=]>()?;
                    values.push((parameter, braces.parse()?));
                    comma(&braces)?;
                }
                self.profiles.push(Profile { name, values });
                return Ok(());
            }
            _ => return self.block(attributes, input),
        }
        end(input)
    }

    fn block(&mut self, attributes: Vec<Attribute>, input: ParseStream<'_>) -> syn::Result<()> {
        let name = input.parse()?;
        input.parse::<Token![=]>()?;
        let word = input.parse()?;
        input.parse::<Token![:]>()?;
        let title = input.parse()?;
        let mut block = Block { attributes, name, word, title, clauses: BTreeMap::new() };
        if !input.peek(Brace) {
            self.blocks.push(block);
            return end(input);
        }
        let braces;
        braced!(braces in input);
        while !braces.is_empty() {
            let word: Ident = braces.parse()?;
            let text = word.to_string();
            let Some((clause, _)) = CLAUSES.iter().find(|(clause, _)| *clause == text) else {
                let hint = known_words(&text, CLAUSES.iter().map(|(word, _)| *word));
                return Err(Error::new(word.span(), format!("no clause is `{text}`; {hint}")));
            };
            let tokens = clause_of(&text, &braces)?;
            block.clauses.insert(clause, tokens);
        }
        self.blocks.push(block);
        Ok(())
    }
}

/// Sets what stands in a declaration once.
fn once<T>(place: &mut Option<T>, value: T, twice: impl Fn() -> Error) -> syn::Result<()> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(twice()),
    }
}

fn end(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![;]) {
        return input.parse::<Token![;]>().map(|_| ());
    }
    Err(match input.parse::<TokenTree>() {
        Ok(token) => Error::new(token.span(), format!("expected `;` in place of `{token}`")),
        Err(_) => input.error("expected `;`"),
    })
}

fn rest_of_statement(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.peek(Token![;]) {
        if input.is_empty() {
            return Err(input.error("expected `;`"));
        }
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    end(input)?;
    Ok(tokens)
}

/// The tokens of a clause of a block. Those that are no Rust have their form.
fn clause_of(word: &str, input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let tokens = rest_of_statement(input).map_err(|error| expected(&error, word))?;
    let form = match word {
        "transactions" => names.parse2(tokens.clone()).map(drop),
        "states" => states.parse2(tokens.clone()).map(drop),
        "explain" => (|input: ParseStream<'_>| keyword(input, "own")).parse2(tokens.clone()),
        _ if tokens.is_empty() => Err(Error::new(input.span(), "expected a value")),
        _ => Ok(()),
    };
    form.map(|()| tokens).map_err(|error| expected(&error, word))
}

/// The register and the names of `states`.
pub fn states(input: ParseStream<'_>) -> syn::Result<(LitStr, TokenStream)> {
    let register = input.parse()?;
    input.parse::<Token![:]>()?;
    Ok((register, input.parse()?))
}

fn comma(input: ParseStream<'_>) -> syn::Result<()> {
    if input.is_empty() { Ok(()) } else { input.parse::<Token![,]>().map(|_| ()) }
}

/// Names with commas between them.
pub fn names(input: ParseStream<'_>) -> syn::Result<Vec<Ident>> {
    if input.is_empty() || input.peek(Token![;]) {
        return Ok(Vec::new());
    }
    Ok(Punctuated::<Ident, Token![,]>::parse_separated_nonempty(input)?.into_iter().collect())
}

fn number(input: ParseStream<'_>) -> syn::Result<u32> {
    input.parse::<LitInt>()?.base10_parse()
}

/// A word that has no other meaning at this place.
fn keyword(input: ParseStream<'_>, word: &str) -> syn::Result<()> {
    let ahead = input.fork();
    match ahead.parse::<Ident>() {
        Ok(found) if found == word => input.parse::<Ident>().map(|_| ()),
        _ => Err(input.error(format!("expected `{word}`"))),
    }
}

fn bit(input: ParseStream<'_>) -> syn::Result<Bit> {
    let is_inverted = input.parse::<Option<Token![!]>>()?.is_some();
    let pin = input.parse()?;
    let bit = match input.peek(Bracket) {
        true => {
            let brackets;
            bracketed!(brackets in input);
            Some(number(&brackets)?)
        }
        false => None,
    };
    Ok(Bit { pin, bit, is_inverted })
}

fn field(input: ParseStream<'_>) -> syn::Result<Field> {
    let name = input.parse()?;
    input.parse::<Token![:]>()?;
    let has_list = input.peek(Bracket);
    let pins = match has_list {
        true => {
            let brackets;
            bracketed!(brackets in input);
            names(&brackets)?
        }
        false => vec![input.parse()?],
    };
    if !input.peek(Bracket) {
        return Err(input.error("expected the width, as in `[8]`, or the bits, as in `[15:8]`"));
    }
    let brackets;
    let bracket = bracketed!(brackets in input);
    let bits = bracket.span.join();
    let first = number(&brackets)?;
    if brackets.parse::<Option<Token![:]>>()?.is_none() {
        if first == 0 {
            return Err(Error::new(bits, "a field has at least one bit"));
        }
        return Ok(Field { name, pins, has_list, lsb: None, width: first, bits });
    }
    let last = number(&brackets)?;
    if last > first {
        return Err(Error::new(bits, "the most significant bit stands first, as in `[15:8]`"));
    }
    if has_list {
        return Err(Error::new(bits, "ports of lanes are whole; give their width, as in `[8]`"));
    }
    Ok(Field { name, pins, has_list, lsb: Some(last), width: first - last + 1, bits })
}

fn channel(is_source: bool, input: ParseStream<'_>) -> syn::Result<Member> {
    let name: Ident = input.parse()?;
    let (mut lanes, mut among) = (1, None);
    if input.peek(Bracket) {
        let brackets;
        let bracket = bracketed!(brackets in input);
        let span = bracket.span.join();
        lanes = number(&brackets)?;
        if !is_source {
            return Err(Error::new(span, "only a source has lanes"));
        }
        if !(1..=64).contains(&lanes) {
            return Err(Error::new(span, "a source has 1 to 64 lanes"));
        }
        if !brackets.is_empty() {
            keyword(&brackets, "among")?;
            among = Some(brackets.parse()?);
        }
    }
    input.parse::<Token![:]>()?;
    let item = input.parse()?;
    let braces;
    braced!(braces in input);
    let fields = Punctuated::<Field, Token![,]>::parse_terminated_with(&braces, field)?;
    keyword(input, "on")?;
    let valid = bit(input)?;
    let ready = match input.parse::<Option<Token![,]>>()? {
        Some(_) => Some(bit(input)?),
        None => None,
    };
    let mut channel = Channel {
        is_source,
        name,
        item,
        fields: fields.into_iter().collect(),
        valid,
        ready,
        lanes,
        among,
        burst: None,
    };
    let options = options(input, |word, input| {
        let is_burst = word == "from" && is_source;
        if is_burst {
            channel.burst = Some(input.parse()?);
        }
        Ok(is_burst)
    })?;
    if let (false, Some(draw)) = (is_source, &options.draw) {
        return Err(Error::new_spanned(draw, "only a source draws items"));
    }
    Ok(Member { kind: Kind::Channel(channel), options })
}

fn agent(input: ParseStream<'_>) -> syn::Result<Member> {
    let name = input.parse()?;
    input.parse::<Token![:]>()?;
    let path = input.call(Path::parse_mod_style)?;
    let arguments = match input.peek(Bracket) {
        true => {
            let brackets;
            bracketed!(brackets in input);
            Punctuated::<Type, Token![,]>::parse_terminated(&brackets)?.into_iter().collect()
        }
        false => Vec::new(),
    };
    keyword(input, "on")?;
    let place = place(input)?;
    let mut weights = None;
    let options = options(input, |word, input| {
        if word == "with" {
            weights = Some(expression(input, &OPTIONS)?);
        }
        Ok(word == "with")
    })?;
    let agent = Agent { name, path, arguments, place, weights };
    Ok(Member { kind: Kind::Agent(agent), options })
}

fn place(input: ParseStream<'_>) -> syn::Result<Place> {
    let ahead = input.fork();
    if ahead.parse::<LitStr>().is_ok() && is_end(&ahead, &OPTIONS) {
        return input.parse().map(Place::Pattern);
    }
    let is_port = |port: &Ident| !port.to_string().starts_with(char::is_uppercase);
    let ahead = input.fork();
    if ahead.parse::<Ident>().is_ok_and(|port| is_port(&port)) && is_end(&ahead, &OPTIONS) {
        return input.parse().map(Place::Port);
    }
    expression(input, &OPTIONS).map(Place::Value)
}

/// The words behind a channel or an agent.
const OPTIONS: [&str; 6] = ["at", "from", "drawn", "with", "unless", "on"];

/// Whether an expression ends here, at one of some words.
fn is_end(input: ParseStream<'_>, words: &[&str]) -> bool {
    let word = input.fork().parse::<Ident>();
    input.is_empty()
        || input.peek(Token![;])
        || word.is_ok_and(|word| words.iter().any(|other| word == other))
}

/// An expression up to one of some words.
fn expression(input: ParseStream<'_>, words: &[&str]) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !is_end(input, words) {
        tokens.extend([input.parse::<TokenTree>()?]);
    }
    if tokens.is_empty() { Err(input.error("expected a value")) } else { Ok(tokens) }
}

/// What stands behind a channel or an agent; `own` reads what only one of them has.
fn options(
    input: ParseStream<'_>,
    mut own: impl FnMut(&Ident, ParseStream<'_>) -> syn::Result<bool>,
) -> syn::Result<Options> {
    let (mut clock, mut draw, mut reasons) = (None, None, Vec::new());
    while input.peek(Ident) {
        let word: Ident = input.parse()?;
        let twice = || Error::new(word.span(), format!("`{word}` stands here twice"));
        match word.to_string().as_str() {
            "at" => once(&mut clock, input.parse()?, twice)?,
            "drawn" => {
                keyword(input, "by")?;
                once(&mut draw, input.call(Path::parse_mod_style)?, twice)?;
            }
            "unless" => {
                let group = if input.peek(LitStr) { Some(input.parse()?) } else { None };
                // Its closure may have a parameter `at`.
                reasons.push((group, expression(input, &["unless"])?));
            }
            text if !own(&word, input)? => {
                let words = OPTIONS[..5].iter().copied();
                let message = format!("`{text}` cannot stand here; {}", known_words(text, words));
                return Err(Error::new(word.span(), message));
            }
            _ => {}
        }
    }
    Ok(Options { clock, draw, reasons })
}

fn parameter(input: ParseStream<'_>) -> syn::Result<Parameter> {
    let name = input.parse()?;
    input.parse::<Token![=]>()?;
    let default = input.parse()?;
    input.parse::<Token![in]>()?;
    let mut legal = TokenStream::new();
    while !input.peek(Token![,]) && !input.peek(Token![;]) && !input.is_empty() {
        legal.extend([input.parse::<TokenTree>()?]);
    }
    input.parse::<Token![,]>()?;
    Ok(Parameter { name, default, legal, about: input.parse()? })
}
