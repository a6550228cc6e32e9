//! The code of a declaration.

use crate::parse::{
    Agent, Bit, Block, Channel, Declaration, Field, Kind, Member, Pins, Place, names, states,
};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt as _;
use syn::parse::Parser as _;
use syn::{LitStr, Token};

/// A name as a text, without `r#`.
fn word(name: &Ident) -> String {
    name.unraw().to_string()
}

/// A number without a type.
fn number(value: impl Into<u64>) -> Literal {
    Literal::u64_unsuffixed(value.into())
}

/// The code of a declaration; without the bodies of its functions if there are errors.
pub fn code(declaration: &Declaration) -> TokenStream {
    let Some(pins) = &declaration.pins else { return TokenStream::new() };
    let (inputs, outputs) = match pins {
        Pins::Block(_) => (quote!(rtl::Inputs), quote!(rtl::Outputs)),
        Pins::Given { inputs, outputs, .. } => (quote!(#inputs), quote!(#outputs)),
    };
    let code = Code { declaration, inputs, outputs };
    let parts = [
        module(pins),
        code.items(),
        code.settings(),
        code.traffic(),
        code.interfaces(),
        code.weights(),
        code.parameters(),
        declaration.blocks.iter().map(|block| code.block(block)).collect(),
    ];
    parts.into_iter().collect()
}

/// The file of ports, whose change compiles the declaration again, and the pins of a block.
fn module(pins: &Pins) -> TokenStream {
    let Pins::Block(block) = pins else {
        let file = pins.file().display().to_string();
        return quote!(
            const _: &[u8] = ::core::include_bytes!(#file);
        );
    };
    let path = format!("/cosim/{}/ports", block.value());
    quote! {
        const _: &[u8] = ::core::include_bytes!(::core::concat!(::core::env!("OUT_DIR"), #path));

        #[allow(missing_docs, non_snake_case, unsafe_code, clippy::all)]
        pub mod rtl {
            //! Pins and models, generated from the RTL by the build script.
            ::cosim_core::rtl!(#block);
        }
    }
}

struct Code<'a> {
    declaration: &'a Declaration,
    inputs: TokenStream,
    outputs: TokenStream,
}

impl Code<'_> {
    /// The body of a function that uses pins.
    fn body(&self, body: TokenStream) -> TokenStream {
        match self.declaration.errors.is_empty() {
            true => body,
            false => quote!(::core::unreachable!("the declaration has errors")),
        }
    }

    fn channels(&self) -> impl Iterator<Item = (&Member, &Channel)> {
        self.declaration.members.iter().filter_map(|member| match &member.kind {
            Kind::Channel(channel) => Some((member, channel)),
            Kind::Agent(_) => None,
        })
    }

    fn agents(&self) -> impl Iterator<Item = (&Member, &Agent)> {
        self.declaration.members.iter().filter_map(|member| match &member.kind {
            Kind::Channel(_) => None,
            Kind::Agent(agent) => Some((member, agent)),
        })
    }

    /// The bit of the clock of a member.
    fn clock(&self, member: &Member) -> Literal {
        let clock = member.options.clock.as_ref();
        let place =
            clock.and_then(|clock| self.declaration.clocks.iter().position(|other| other == clock));
        number(place.map_or(0, |place| 1_u64 << place))
    }

    fn items(&self) -> TokenStream {
        self.channels().map(|(member, channel)| self.item(member, channel)).collect()
    }

    /// The type of the items of a channel.
    fn item(&self, member: &Member, channel: &Channel) -> TokenStream {
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        let item = &channel.item;
        let about = format!("An item of `{}`.", word(&channel.name));
        let fields = channel.fields.iter().map(|field| {
            let (name, kind) = (&field.name, field_type(field.width));
            let about = format!("The field `{}`.", word(name));
            quote!(#[doc = #about] pub #name: #kind,)
        });
        let entry = channel.is_source.then(|| {
            let derived = quote! {
                #[derive(::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
                #[serde(deny_unknown_fields)]
            };
            let burst = quote! {
                impl ::cosim_core::channels::Burst for #item {
                    type Item = Self;

                    #[inline]
                    fn item(&self, _: u64) -> Self { *self }
                }
            };
            (derived, burst)
        });
        let (derived, burst) = entry.unzip();
        let name = word(&channel.name);
        let pins = [Some(&channel.valid), channel.ready.as_ref()].into_iter().flatten();
        let pins = pins.map(|bit| &bit.pin);
        let ports = pins.chain(channel.fields.iter().flat_map(|field| &field.pins)).map(word);
        let has_ready = channel.ready.is_some();
        let is_clocked = member.options.clock.as_ref().map(|clock| {
            let body = self.body(quote!(inputs.#clock.is_high()));
            quote!(#[inline] fn is_clocked(inputs: &Self::Inputs) -> bool { #body })
        });
        let own = if channel.is_source { self.source(channel) } else { self.sink(channel) };
        let side = if channel.is_source { quote!(SourceItem) } else { quote!(SinkItem) };
        quote! {
            #[doc = #about]
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
            #derived
            #[allow(non_snake_case)]
            pub struct #item { #(#fields)* }

            impl ::cosim_core::channels::ChannelItem for #item {
                type Inputs = #inputs;
                type Outputs = #outputs;
                const CHANNEL: &'static str = #name;
                const PORTS: &'static [&'static str] = &[#(#ports),*];
                const HAS_READY: bool = #has_ready;
            }

            #[allow(unused_variables)]
            impl ::cosim_core::channels::#side for #item {
                #own
                #is_clocked
            }

            #burst
        }
    }

    /// The implementation of a source, and its items as entries of the traffic.
    fn source(&self, channel: &Channel) -> TokenStream {
        let lanes = channel.lanes;
        let all = number(u64::MAX >> (64 - lanes));
        let valids = bits(&channel.valid, &quote!(inputs), lanes);
        let valids = self.body(quote!(#valids & #all));
        let readies = channel.ready.as_ref();
        let readies = readies.map_or(quote!(u64::MAX), |bit| bits(bit, &quote!(outputs), lanes));
        let readies = self.body(readies);
        let read = channel.fields.iter().map(|field| {
            let (name, width, lsb) = (&field.name, field.width, field.lsb.unwrap_or(0));
            let pins = &field.pins;
            match field.has_list {
                true => quote! {
                    #name: [#(::cosim_core::channels::PortBits::read(&inputs.#pins, 0)),*]
                        [lane as usize],
                },
                false => quote! {
                    #(#name: ::cosim_core::channels::PortBits::read(
                        &inputs.#pins, #width * lane + #lsb,
                    ),)*
                },
            }
        });
        let payload = self.body(quote!(Self { #(#read)* }));
        let put_valid = put_bits(&channel.valid, &quote!(valids), lanes);
        let put = channel.fields.iter().map(put_field);
        let put = self.body(quote! { #put_valid #(#put)* });
        quote! {
            #[inline]
            fn valids(inputs: &Self::Inputs) -> u64 { #valids }

            #[inline]
            fn readies(outputs: &Self::Outputs) -> u64 { #readies }

            #[inline]
            fn payload(lane: u32, inputs: &Self::Inputs) -> Self { #payload }

            #[inline]
            fn drive_pins(
                valids: u64,
                offers: &[::core::option::Option<Self>],
                noise: &mut ::cosim_core::harness::Noise,
                inputs: &mut Self::Inputs,
            ) { #put }
        }
    }

    fn sink(&self, channel: &Channel) -> TokenStream {
        let valid = bits(&channel.valid, &quote!(outputs), 1);
        let valid = self.body(quote!(#valid & 1 == 1));
        let ready = channel.ready.as_ref();
        let is_ready = ready.map_or(quote!(true), |bit| {
            let bit = bits(bit, &quote!(inputs), 1);
            quote!(#bit & 1 == 1)
        });
        let is_ready = self.body(is_ready);
        let put_ready = ready.map(|bit| put_bits(bit, &quote!(u64::from(is_ready)), 1));
        let put_ready = self.body(quote!(#put_ready));
        let fields = || {
            channel.fields.iter().flat_map(|field| {
                field.pins.iter().map(move |pin| (&field.name, pin, field.lsb.unwrap_or(0)))
            })
        };
        let read = fields().map(|(name, pin, lsb)| {
            quote!(#name: ::cosim_core::channels::PortBits::read(&outputs.#pin, #lsb),)
        });
        let payload = self.body(quote!(Self { #(#read)* }));
        let write = fields().map(|(name, pin, lsb)| {
            quote!(::cosim_core::channels::PortBits::write_field(&mut outputs.#pin, #lsb, self.#name);)
        });
        let put = self.body(quote!(#(#write)*));
        quote! {
            #[inline]
            fn is_valid(outputs: &Self::Outputs) -> bool { #valid }

            #[inline]
            fn is_ready(inputs: &Self::Inputs) -> bool { #is_ready }

            #[inline]
            fn payload(outputs: &Self::Outputs) -> Self { #payload }

            #[inline]
            fn write_outputs(self, outputs: &mut Self::Outputs) { #put }

            #[inline]
            fn put_ready(is_ready: bool, inputs: &mut Self::Inputs) { #put_ready }
        }
    }

    /// Inputs without a protocol.
    fn settings(&self) -> TokenStream {
        let varied = &self.declaration.varied;
        if varied.is_empty() {
            return TokenStream::new();
        }
        let inputs = &self.inputs;
        let names: Vec<&Ident> = varied.iter().map(|(name, ..)| name).collect();
        let types = varied.iter().map(|(_, width, _)| field_type(*width));
        let places = (0..names.len()).map(|place| number(place as u64));
        let put = quote!(#(::cosim_core::channels::PortBits::write_field(&mut inputs.#names, 0, self.#names);)*);
        let put = self.body(put);
        quote! {
            /// Inputs without a protocol.
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(non_snake_case)]
            pub struct Settings {
                #(
                    /// The input of this name.
                    pub #names: #types,
                )*
            }

            #[allow(unused_variables)]
            impl ::cosim_core::channels::Settings for Settings {
                type Inputs = #inputs;

                #[inline]
                fn drive_inputs(&self, inputs: &mut Self::Inputs) { #put }

                fn any(rng: &mut ::cosim_core::harness::CaseRng) -> Self {
                    Self { #(#names: ::cosim_core::channels::FieldValue::any(rng),)* }
                }

                fn next(&self, number: usize, rng: &mut ::cosim_core::harness::CaseRng) -> Self {
                    Self {
                        #(#names: ::cosim_core::channels::next_value(self.#names, #places, number, rng),)*
                    }
                }
            }
        }
    }

    fn has_settings(&self) -> bool {
        !self.declaration.varied.is_empty()
    }

    fn agent_type(&self, member: &Member, lifetime: &TokenStream) -> TokenStream {
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        match &member.kind {
            Kind::Channel(channel @ Channel { item, .. }) if channel.is_source => {
                let (entry, lanes) = (entry(channel), number(channel.lanes));
                let list = list(channel);
                quote!(::cosim_core::channels::SourceAgent<#lifetime, #item, #list, #entry, #lanes>)
            }
            Kind::Channel(Channel { item, .. }) => {
                quote!(::cosim_core::channels::SinkAgent<#lifetime, #item>)
            }
            Kind::Agent(Agent { path, arguments, .. }) => {
                quote!(#path<#lifetime, #inputs, #outputs #(, #arguments)*>)
            }
        }
    }

    /// Something that an agent has as an `Agent`.
    fn of_agent(&self, member: &Member, lifetime: &TokenStream, what: &str) -> TokenStream {
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        let (agent, what) = (self.agent_type(member, lifetime), format_ident!("{what}"));
        quote!(<#agent as ::cosim_core::agent::Agent<#lifetime, #inputs, #outputs>>::#what)
    }

    /// The traffic of a member.
    fn traffic_type(&self, member: &Member) -> TokenStream {
        match &member.kind {
            Kind::Channel(channel) if channel.is_source => list(channel),
            Kind::Channel(_) => quote!(::std::vec::Vec<::cosim_core::value::Uint<12>>),
            Kind::Agent(_) => self.of_agent(member, &quote!('static), "Traffic"),
        }
    }

    fn pins(&self, member: &Member) -> TokenStream {
        match &member.kind {
            Kind::Channel(_) => quote!(()),
            Kind::Agent(Agent { place: Place::Value(value), .. }) => quote!(#value),
            Kind::Agent(agent) => {
                let name = constant(&agent.name);
                quote!(#name)
            }
        }
    }

    fn traffic(&self) -> TokenStream {
        let settings = self.has_settings();
        let settings_field = settings.then(|| {
            quote! {
                /// The values of inputs without a protocol, one after the other; after the last
                /// come the first ones again.
                #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
                pub settings: ::std::vec::Vec<::cosim_core::channels::Setting<Settings>>,
            }
        });
        let fields = self.declaration.members.iter().map(|member| {
            let (name, kind) = (member.name(), self.traffic_type(member));
            let (about, skip) = match &member.kind {
                Kind::Channel(channel) if channel.is_source => ("The items of this source.", quote!()),
                Kind::Channel(_) => (
                    "Cycles of stall before each item of this sink; items after the list have none.",
                    quote!(, skip_serializing_if = "::std::vec::Vec::is_empty"),
                ),
                Kind::Agent(_) => ("The traffic of this agent.", quote!()),
            };
            quote! {
                #[doc = #about]
                #[serde(default #skip)]
                pub #name: #kind,
            }
        });
        let parts = settings.then(|| format_ident!("settings")).into_iter();
        let parts =
            parts.chain(self.declaration.members.iter().map(|member| member.name().clone()));
        let (parts, texts): (Vec<Ident>, Vec<String>) =
            parts.map(|name| (name.clone(), word(&name))).unzip();
        let clocks = number(self.declaration.clocks.len() as u64);
        quote! {
            /// The items of each source, the stalls of each sink, and the traffic of each agent.
            #[derive(Debug, Clone, Default, PartialEq, Eq,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(non_snake_case)]
            pub struct Traffic {
                /// Key of the values on idle payload pins; 0 gives zeros.
                #[serde(default)]
                pub noise: ::cosim_core::value::Uint<64>,
                /// The timing of each clock, of a block with several.
                #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
                pub clocks: ::std::vec::Vec<::cosim_core::harness::clocks::ClockTiming>,
                #settings_field
                #(#fields)*
            }

            impl ::cosim_core::harness::Traffic for Traffic {
                fn check(&self) -> ::core::result::Result<(), ::cosim_core::harness::TrafficError> {
                    ::cosim_core::declared::check_clocks(&self.clocks, #clocks)?;
                    #(::cosim_core::harness::check_part(#texts, &self.#parts)?;)*
                    ::core::result::Result::Ok(())
                }
            }
        }
    }

    /// The implementation of `Declaration`.
    fn interfaces(&self) -> TokenStream {
        let Self { declaration, inputs, outputs } = self;
        let has_settings = self.has_settings();
        let life = quote!('a);
        let mut agents = quote!(());
        let mut samplers = (quote!(()), quote!(()));
        let mut made = quote!(());
        let mut groups = Vec::new();
        let mut sizes = Vec::new();
        for member in declaration.members.iter().rev() {
            let (name, text, clock) = (member.name(), word(member.name()), self.clock(member));
            let (kind, pins) = (self.agent_type(member, &life), self.pins(member));
            agents = quote!((::cosim_core::declared::Member<'a, #kind>, #agents));
            let new = self.of_agent(member, &quote!('_), "new");
            made = quote! {
                (::cosim_core::declared::Member::new(#text, #clock, #new(#pins, &traffic.#name)), #made)
            };
            let place = self.of_agent(member, &quote!('static), "Pins");
            let coverage = self.of_agent(member, &quote!('static), "Coverage");
            let (types, values) = samplers;
            samplers = (
                quote!((::cosim_core::declared::Sampled<#place, #coverage>, #types)),
                quote! {
                    (::cosim_core::declared::Sampled::new::<#inputs, #outputs>(#clock, #pins), #values)
                },
            );
            let own = quote! {
                <#coverage as ::cosim_core::agent::AgentCoverage<#place, #inputs, #outputs>>::GROUPS
            };
            let reasons = member.options.reasons.iter().map(|(group, reason)| {
                let group = group.as_ref().map(LitStr::value).unwrap_or_default();
                quote!((#group, #reason))
            });
            sizes.push(quote!(#own.len()));
            groups.push(quote! {
                &::cosim_core::declared::groups_of::<{ #own.len() }>(#text, #own, &[#(#reasons),*])
            });
        }
        groups.reverse();
        let (sampler_types, sampler_values) = samplers;
        if has_settings {
            let kind = quote!(::cosim_core::channels::SettingsAgent<'a, Settings>);
            agents = quote!((::cosim_core::declared::Member<'a, #kind>, #agents));
            made = quote! {
                (
                    ::cosim_core::declared::Member::new(
                        "settings",
                        0,
                        <::cosim_core::channels::SettingsAgent<'_, Settings> as
                            ::cosim_core::agent::Agent<'_, #inputs, #outputs>>::new((), &traffic.settings),
                    ),
                    #made
                )
            };
        }
        let clocks = number(declaration.clocks.len() as u64);
        let drain = declaration.drain.as_ref();
        let drain = drain.map_or(quote!(::cosim_core::declared::DRAIN), |drain| quote!(#drain));
        let tied = declaration.ties.iter().map(|(pin, value)| {
            let (pin, value) = (word(pin), value.to_string());
            quote!((#pin, #value))
        });
        let settings = match has_settings {
            true => quote!(::cosim_core::channels::cycles(&traffic.settings)),
            false => quote!(0),
        };
        let names = declaration.members.iter().map(|member| member.name());
        let transfers = declaration.members.iter().map(|member| {
            let (function, pins) =
                (self.of_agent(member, &quote!('static), "transfers"), self.pins(member));
            quote!(all.extend(#function(#pins, inputs, outputs));)
        });
        let (drive, in_reset, rising) = self.pin_functions();
        let constants: TokenStream =
            self.agents().map(|(member, agent)| self.constant(member, agent)).collect();
        quote! {
            #constants

            /// The interfaces of the block.
            #[derive(Debug, Clone, Copy)]
            pub struct Interfaces;

            #[allow(unused_variables, unused_mut)]
            impl ::cosim_core::declared::Declaration for Interfaces {
                type Inputs = #inputs;
                type Outputs = #outputs;
                type Traffic = Traffic;
                type Agents<'a> = #agents;
                type Samplers = #sampler_types;

                const CLOCKS: usize = #clocks;
                const DRAIN: u64 = #drain;
                const TIED: &'static [(&'static str, &'static str)] = &[#(#tied),*];
                const GROUPS: &'static [::cosim_core::harness::Covergroup] =
                    &::cosim_core::declared::all_groups::<{ 0 #(+ #sizes)* }>(&[#(#groups),*]);

                fn timing(traffic: &Traffic) -> ::cosim_core::declared::Timing<'_> {
                    ::cosim_core::declared::Timing {
                        noise: traffic.noise.get(),
                        clocks: &traffic.clocks,
                        settings: #settings,
                        delays: 0
                            #(+ ::cosim_core::agent::AgentTraffic::longest_delay(&traffic.#names))*,
                    }
                }

                fn agents(traffic: &Traffic) -> Self::Agents<'_> { #made }

                fn samplers() -> Self::Samplers { #sampler_values }

                #[inline]
                fn drive(
                    rising: ::cosim_core::harness::clocks::RisingClocks,
                    in_reset: bool,
                    inputs: &mut Self::Inputs,
                ) { #drive }

                #[inline]
                fn in_reset(inputs: &Self::Inputs) -> bool { #in_reset }

                #[inline]
                fn rising(inputs: &Self::Inputs) -> u64 { #rising }

                fn transfers(
                    inputs: &Self::Inputs,
                    outputs: &Self::Outputs,
                ) -> ::std::vec::Vec<::cosim_core::harness::Transfer> {
                    let mut all = ::std::vec::Vec::new();
                    #(#transfers)*
                    all
                }
            }

            /// The environment: agents, clocks and resets.
            pub type Environment<'a> = ::cosim_core::declared::Environment<'a, Interfaces>;

            /// The coverage of the interfaces.
            pub type Coverage = ::cosim_core::declared::Coverage<Interfaces>;

            /// Whether the block is in reset.
            #[inline]
            pub fn in_reset(inputs: &#inputs) -> bool {
                <Interfaces as ::cosim_core::declared::Declaration>::in_reset(inputs)
            }
        }
    }

    fn constant(&self, member: &Member, agent: &Agent) -> TokenStream {
        let kind = self.of_agent(member, &quote!('static), "Pins");
        let (span, arguments) = match &agent.place {
            Place::Pattern(pattern) => (pattern.span(), quote!(#pattern)),
            Place::Port(port) => {
                let name = word(port);
                (port.span(), quote!("", #name))
            }
            Place::Value(_) => return TokenStream::new(),
        };
        let about = format!("The ports of `{}`.", word(&agent.name));
        let name = constant(&agent.name);
        let value = quote_spanned!(span=> <#kind>::named(#arguments));
        quote!(#[doc = #about] pub const #name: #kind = #value;)
    }

    /// The bodies that drive clocks, resets and tied inputs, and that read resets and clocks.
    fn pin_functions(&self) -> (TokenStream, TokenStream, TokenStream) {
        let Declaration { clocks, resets, ties, .. } = self.declaration;
        let places = || (0..clocks.len()).map(|place| number(place as u64));
        let clock_places = places();
        let [pins, levels] = [
            resets.iter().map(|(pin, _)| quote!(#pin)).collect::<Vec<_>>(),
            resets.iter().map(|(_, is_high)| quote!(#is_high)).collect(),
        ];
        let tied = ties.iter().map(
            |(pin, value)| quote!(inputs.#pin = ::cosim_core::channels::DrivenPort::from_u64(#value);),
        );
        let drive = self.body(quote! {
            #(inputs.#clocks = ::cosim_core::verilated::Bits::from(rising.contains(#clock_places));)*
            #(inputs.#pins = ::cosim_core::verilated::Bits::from(in_reset == #levels);)*
            #(#tied)*
        });
        let in_reset = self.body(quote!(false #(|| inputs.#pins.is_high() == #levels)*));
        let clock_places = places();
        let rising =
            self.body(quote!(0 #(| u64::from(inputs.#clocks.is_high()) << #clock_places)*));
        (drive, in_reset, rising)
    }

    fn weights(&self) -> TokenStream {
        let Self { declaration, inputs, outputs } = self;
        let has_settings = self.has_settings();
        let settings = has_settings.then(|| {
            let count = if declaration.per_case { quote!(1) } else { quote!(::cosim_core::channels::SETTINGS) };
            quote! {
                /// The number of values that inputs without a protocol have in a case, one after
                /// the other; 1: they are stable.
                settings: ::cosim_core::value::Uint<6> = #count,
                /// Largest number of cycles between two of these values.
                longest_setting: ::cosim_core::value::Uint<12> = ::cosim_core::channels::LONGEST_SETTING,
            }
        });
        let kinds: Vec<TokenStream> =
            declaration.members.iter().map(|member| self.weights_type(member)).collect();
        let fields = declaration.members.iter().zip(&kinds).map(|(member, kind)| {
            let (name, about) =
                (member.name(), format!("The weights of `{}`.", word(member.name())));
            let default = match &member.kind {
                Kind::Agent(Agent { weights: Some(weights), .. }) => quote!(#weights),
                _ => quote!(<#kind as ::core::default::Default>::default()),
            };
            quote!(#[doc = #about] #name: #kind = #default,)
        });
        let own = &declaration.weights;
        let names: Vec<&Ident> = declaration.members.iter().map(|member| member.name()).collect();
        let file = match &declaration.scenarios {
            Some(file) => quote!(::core::option::Option::Some(::core::include_str!(#file))),
            None => quote!(::core::option::Option::None),
        };
        let has_agents = self.agents().next().is_some();
        let slowness = declaration.pace.as_ref().map_or(quote!(1), |pace| quote!(#pace));
        let draw = self.draw();
        quote! {
            ::cosim_core::weights! {
                /// How often the generator draws operations, gaps, stalls and resets.
                #[allow(non_snake_case)]
                pub struct Weights {
                    /// Cycles of random values on all pins per item, instead of items; 0: items.
                    raw_cycles_per_packet: ::cosim_core::value::Uint<8> = 0,
                    /// Chance of a reset after an item.
                    reset: ::cosim_core::harness::Percent = 0,
                    #settings
                    #(#fields)*
                    #own
                }
            }

            impl<CosimBlock> ::cosim_core::harness::Weights<CosimBlock> for Weights
            where
                CosimBlock: ::cosim_core::harness::Block<
                    Inputs = #inputs,
                    Outputs = #outputs,
                    Traffic = Traffic,
                    Weights = Self,
                >,
            {
                fn scenarios() -> ::std::vec::Vec<::cosim_core::harness::Scenario<Self>> {
                    let plan = ::cosim_core::declared::ScenarioPlan {
                        own: #file,
                        has_agents: #has_agents,
                        slowness: #slowness,
                    };
                    ::cosim_core::declared::scenarios::<CosimBlock, Self>(plan, |pace, reset, raw| {
                        let mut weights = Self::default();
                        weights.raw_cycles_per_packet = ::cosim_core::value::Uint::new(raw);
                        weights.reset = ::cosim_core::harness::Percent::new(reset);
                        #(weights.#names = ::cosim_core::agent::AgentWeights::paced(weights.#names, pace);)*
                        weights
                    })
                }

                #[allow(unused_variables, unused_mut)]
                fn traffic(
                    &self,
                    parameters: &::cosim_core::harness::Parameters,
                    packets: u32,
                    rng: &mut ::cosim_core::harness::CaseRng,
                ) -> Traffic {
                    #draw
                }

                fn raw_cycles_per_packet(&self) -> ::cosim_core::value::Uint<8> {
                    self.raw_cycles_per_packet
                }
            }
        }
    }

    fn weights_type(&self, member: &Member) -> TokenStream {
        match &member.kind {
            Kind::Channel(channel) if channel.is_source => {
                quote!(::cosim_core::channels::SourceWeights)
            }
            Kind::Channel(_) => quote!(::cosim_core::channels::SinkWeights),
            Kind::Agent(_) => {
                let pins = self.of_agent(member, &quote!('static), "Pins");
                let traffic = self.of_agent(member, &quote!('static), "Traffic");
                quote!(<#traffic as ::cosim_core::agent::DrawnTraffic<#pins>>::Weights)
            }
        }
    }

    /// Draws a traffic.
    fn draw(&self) -> TokenStream {
        let clocks = &self.declaration.clocks;
        let timing = (!clocks.is_empty()).then(|| {
            let count = number(clocks.len() as u64);
            quote! {
                traffic.clocks =
                    ::cosim_core::harness::clocks::ClockTiming::draw::<#count>(rng).to_vec();
            }
        });
        let settings = self.has_settings().then(|| {
            quote! {
                traffic.settings = ::cosim_core::channels::draw_settings(
                    self.settings, self.longest_setting, rng,
                );
            }
        });
        let sources: Vec<_> = self.channels().filter(|(_, channel)| channel.is_source).collect();
        let arms = sources.iter().enumerate().map(|(place, (member, channel))| {
            let (place, name) = (number(place as u64), &channel.name);
            let among = match &channel.among {
                Some(among) => quote!(self.#among.get()),
                None => quote!(u64::MAX),
            };
            let item = match &member.options.draw {
                Some(draw) => quote!(#draw(self, parameters, rng)),
                None => any(channel),
            };
            quote! {
                #place => self.#name.push(
                    &mut traffic.#name,
                    ::cosim_core::channels::Next { among: #among, reset: self.reset },
                    rng,
                    |rng| #item,
                ),
            }
        });
        let places = (0..sources.len()).map(|place| number(place as u64));
        let items = (!sources.is_empty()).then(|| {
            quote! {
                for _ in 0..packets {
                    match ::cosim_core::harness::Draw::one_of(rng, &[#(#places),*]) {
                        #(#arms)*
                        _ => {}
                    }
                }
            }
        });
        let sinks = self.channels().filter(|(_, channel)| !channel.is_source);
        let sinks = sinks.map(
            |(_, Channel { name, .. })| quote!(traffic.#name = self.#name.stalls(packets, rng);),
        );
        let agents = self.agents().map(|(member, agent)| {
            let (name, pins) = (&agent.name, self.pins(member));
            match &member.options.draw {
                Some(draw) => quote!(traffic.#name = #draw(self, parameters, packets, rng);),
                None => quote! {
                    traffic.#name = ::cosim_core::agent::DrawnTraffic::draw(
                        &self.#name,
                        &#pins,
                        ::cosim_core::agent::CasePlan { operations: packets, reset: self.reset, rng },
                    );
                },
            }
        });
        quote! {
            let mut traffic =
                Traffic { noise: ::cosim_core::harness::Draw::bits(rng), ..Traffic::default() };
            #timing
            #settings
            #items
            #(#sinks)*
            #(#agents)*
            traffic
        }
    }

    /// The places of the parameters.
    fn parameters(&self) -> TokenStream {
        let parameters = self.declaration.parameters.iter().enumerate();
        let constants = parameters.map(|(place, parameter)| {
            let (name, about, place) = (&parameter.name, &parameter.about, number(place as u64));
            quote!(#[doc = #about] #[allow(non_upper_case_globals)] pub const #name: usize = #place;)
        });
        constants.collect()
    }

    fn block(&self, block: &Block) -> TokenStream {
        let Declaration { parameters, profiles, clocks, resets, .. } = self.declaration;
        let Block { attributes, name, word: command, title, .. } = block;
        let clause = |clause: &str| {
            block.clauses.get(clause).or_else(|| self.declaration.clauses.get(clause))
        };
        let harness = quote!(::cosim_core::harness);
        let (inputs, outputs) = (&self.inputs, &self.outputs);
        let parameters = parameters.iter().map(|parameter| {
            let (text, about) = (word(&parameter.name), &parameter.about);
            let (default, legal) = (&parameter.default, &parameter.legal);
            quote!(#harness::Parameter::new(#text, #default, #legal, #about))
        });
        let of_profile = |name: TokenStream, values: TokenStream| quote!(#harness::Profile::new(#name, #harness::Parameters::with_fixes::<Self>(0) #values));
        let listed = profiles.iter().map(|profile| {
            let name = &profile.name;
            let values = profile.values.iter().map(|(name, value)| quote!(.with(#name, #value)));
            of_profile(quote!(#name), quote!(#(#values)*))
        });
        let mut listed: Vec<TokenStream> = listed.collect();
        if listed.is_empty() {
            listed.push(of_profile(quote!("spec"), quote!()));
        }
        let cases = clause("cases").map(|cases| quote!(const CASES: u64 = #cases;));
        let pins = resets.iter().map(|(pin, is_high)| {
            let (name, level) = (word(pin), if *is_high { "high" } else { "low" });
            let level = format_ident!("{level}");
            quote!(#harness::ResetPin::#level(#name))
        });
        let mut pins: Vec<TokenStream> = pins.collect();
        let first = match pins.is_empty() {
            true => quote!(::core::option::Option::None),
            false => {
                let first = pins.remove(0);
                quote!(::core::option::Option::Some(#first))
            }
        };
        let clocks = clocks.iter().map(word);
        let transactions = clause("transactions").map(|listed| {
            let names = match listed.is_empty() {
                true => self.declaration.all_outputs.clone(),
                false => {
                    names.parse2(listed.clone()).unwrap_or_default().iter().map(word).collect()
                }
            };
            quote!(const TRANSACTION_OUTPUTS: &'static [&'static str] = &[#(#names),*];)
        });
        let naming =
            clause("naming").map(|naming| quote!(const NAMING: #harness::Naming = #naming;));
        let states = clause("states").and_then(|tokens| states.parse2(tokens.clone()).ok());
        let register = states.as_ref().map(|(register, _)| {
            quote! {
                const STATE_REGISTER: ::core::option::Option<&'static str> =
                    ::core::option::Option::Some(#register);
            }
        });
        let or = |name: &str, otherwise: TokenStream| clause(name).cloned().unwrap_or(otherwise);
        let golden = or("golden", quote!(#harness::Untimed));
        let (scoreboard, coverage) =
            (or("scoreboard", quote!(())), or("coverage", quote!(Coverage)));
        let fields = clause("fields").map(fields);
        let properties = self.properties();
        let explain = clause("explain").is_none().then(|| {
            let state_name = states.map(|(_, names)| {
                quote! {
                    fn state_name(code: u64) -> ::core::option::Option<&'static str> {
                        let names: &[&'static str] = &#names;
                        names.get(code as usize).copied()
                    }
                }
            });
            quote!(impl #harness::Explain for #name { #state_name })
        });
        quote! {
            #(#attributes)*
            #[doc = #title]
            #[derive(Debug, Clone, Copy)]
            pub struct #name;

            impl #harness::Block for #name {
                const NAME: &'static str = #command;
                const TITLE: &'static str = #title;
                const RTL: #harness::LinkedRtl<#inputs, #outputs> = rtl::RTL;
                const PARAMETERS: &'static [#harness::Parameter] = &[#(#parameters),*];
                const PROFILES: &'static [#harness::Profile] = &[#(#listed),*];
                const RESET: ::core::option::Option<#harness::ResetPin> = #first;
                const OTHER_RESETS: &'static [#harness::ResetPin] = &[#(#pins),*];
                const CLOCKS: &'static [&'static str] = &[#(#clocks),*];
                #cases
                #transactions
                #naming
                #register

                type Inputs = #inputs;
                type Outputs = #outputs;
                type Golden = #golden;
                type Traffic = Traffic;
                type Environment<'a> = Environment<'a>;
                type Scoreboard<'a> = #scoreboard;
                type Weights = Weights;
                type Coverage = #coverage;

                #properties
                #fields
            }

            #explain
        }
    }

    /// The properties of the sinks for `cosim prove`: an offer stays until it is taken.
    fn properties(&self) -> TokenStream {
        let valids = self.channels().filter_map(|(_, channel)| {
            let ready = channel.ready.as_ref()?;
            let is_plain = |bit: &Bit| bit.bit.is_none() && !bit.is_inverted;
            (!channel.is_source && is_plain(&channel.valid) && is_plain(ready))
                .then(|| word(&channel.valid.pin))
        });
        quote! {
            #[allow(unused_mut)]
            fn properties(
                _: &::cosim_core::harness::Parameters,
            ) -> ::cosim_core::harness::Properties {
                let mut all = ::cosim_core::harness::Properties::default();
                #(all.stable.push(::cosim_core::harness::StableChannel::whole(#valids));)*
                all
            }
        }
    }
}

/// The fields of ports: `PORT = FIELDS, ..`.
fn fields(tokens: &TokenStream) -> TokenStream {
    let parse = |input: syn::parse::ParseStream<'_>| {
        let mut all = TokenStream::new();
        while !input.is_empty() {
            let port = word(&input.parse()?);
            input.parse::<Token![=]>()?;
            let mut value = TokenStream::new();
            while !input.is_empty() && !input.peek(Token![,]) {
                value.extend([input.parse::<proc_macro2::TokenTree>()?]);
            }
            input.parse::<Option<Token![,]>>()?;
            all.extend(quote!(#port => #value,));
        }
        Ok(all)
    };
    let arms = match parse.parse2(tokens.clone()) {
        Ok(arms) => arms,
        Err(error) => return error.to_compile_error(),
    };
    quote! {
        fn fields(port: &str) -> &'static [(&'static str, ::cosim_core::verilated::Field)] {
            match port { #arms _ => &[] }
        }
    }
}

fn constant(name: &Ident) -> Ident {
    Ident::new(&word(name).to_uppercase(), Span::call_site())
}

fn field_type(width: u32) -> TokenStream {
    let width_text = number(width);
    if width <= 64 {
        return quote!(::cosim_core::value::Uint<#width_text>);
    }
    let words = number(width.div_ceil(32));
    quote!(::cosim_core::value::WideUint<#width_text, #words>)
}

/// The type of the entries of a source in the traffic.
fn entry(channel: &Channel) -> TokenStream {
    let Channel { item, burst, .. } = channel;
    burst.as_ref().map_or(quote!(#item), |burst| quote!(#burst))
}

/// The type of the lists of a source.
fn list(channel: &Channel) -> TokenStream {
    let (entry, lanes) = (entry(channel), number(channel.lanes));
    let list = quote!(::std::vec::Vec<::cosim_core::channels::Offer<#entry>>);
    if channel.lanes == 1 { list } else { quote!([#list; #lanes]) }
}

/// An item with random bits.
fn any(channel: &Channel) -> TokenStream {
    let (item, names) = (&channel.item, channel.fields.iter().map(|field| &field.name));
    quote!(#item { #(#names: ::cosim_core::channels::FieldValue::any(rng),)* })
}

/// Reads a handshake: a bit for each lane.
fn bits(bit: &Bit, pins: &TokenStream, lanes: u32) -> TokenStream {
    let (pin, lsb, lanes) = (&bit.pin, bit.bit.unwrap_or(0), number(lanes));
    let read = quote!(::cosim_core::channels::lanes::<#lanes>(&#pins.#pin, #lsb));
    if bit.is_inverted { quote!(!#read) } else { read }
}

fn put_bits(bit: &Bit, value: &TokenStream, lanes: u32) -> TokenStream {
    let (pin, lsb, lanes) = (&bit.pin, bit.bit.unwrap_or(0), number(lanes));
    let value = if bit.is_inverted { quote!(!#value) } else { quote!(#value) };
    quote!(::cosim_core::channels::put_lanes::<#lanes>(&mut inputs.#pin, #lsb, #value);)
}

/// Drives the payload ports of a field of a source.
fn put_field(field: &Field) -> TokenStream {
    let Field { name, pins, width, .. } = field;
    let values = quote!(offers.iter().map(|offer| offer.map(|item| item.#name)));
    if field.has_list {
        let places = (0..pins.len()).map(|place| number(place as u64));
        return quote! {
            #(::cosim_core::channels::put_port(
                &mut inputs.#pins, noise, #width, #values.skip(#places).take(1),
            );)*
        };
    }
    match field.lsb {
        None => quote! {
            #(::cosim_core::channels::put_port(&mut inputs.#pins, noise, #width, #values);)*
        },
        Some(lsb) => quote! {
            #(::cosim_core::channels::put_part(&mut inputs.#pins, noise, [#lsb, #width], #values);)*
        },
    }
}
