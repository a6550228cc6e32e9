//! The declaration of a block whose pins are interfaces with agents.

/// Declares a block whose pins belong to agents. It generates the block's `Traffic`,
/// `Environment`, `Weights` and `Coverage`, and a function `in_reset`.
///
/// ```ignore
/// use cosim_core::agents::axi_lite::{AxiLiteManager, AxiLitePins};
///
/// const AXI: AxiLitePins<rtl::Inputs, rtl::Outputs> = AxiLitePins::of("s_axi_");
///
/// cosim_core::agents::agents! {
///     pins rtl::Inputs, rtl::Outputs;
///     reset rst high;
///     agent axi: AxiLiteManager on AXI;
/// }
/// ```
///
/// - `pins` names the structs of the pins. Several blocks with these pins may use the declaration.
/// - `clocks` names the clock inputs of a wrapper around RTL with several clocks. Their timing is
///   part of the traffic, and each agent names its clock: `on AXI, at axi_clk`. Its monitor and the
///   scoreboard observe the steps in which this clock rises.
/// - `reset` names a reset and its active level. Several resets are active together. Leave it out
///   if there is none.
/// - `drain N;` changes the number of idle cycles at the end of a case, 32.
/// - `tie PIN = VALUE;` holds an input at a value.
/// - `pace N;` makes the gaps and stalls of the default scenarios N times as long: the cycles of an
///   item on the slowest interface, such as a byte on a serial line. Without it, N is 1.
/// - `weights { .. }` adds weights of the block to the generated ones, in the form of
///   [`weights!`](cosim_harness::weights), and `scenarios "FILE";` names a TOML file with scenarios
///   in the place of the [default ones](crate::default_scenarios).
/// - `agent` has the name in traffic and weights, the type of the agent, and its ports. A target of
///   your own follows a subordinate in brackets, as in `ApbSubordinate[Registers]`: a type with
///   [`Target`](crate::Target) and `Default`. `with EXPRESSION` gives other weights than the
///   defaults; the default scenarios replace their gaps and stalls. `drawn by FUNCTION` draws the
///   traffic with a `fn(&Weights, &Parameters, u32, &mut CaseRng) -> TRAFFIC`, which gets the
///   number of operations.
/// - `unreachable "GROUP": CLOSURE;` gives the reason for each unreachable bin of a covergroup, as
///   in [`covergroups!`](cosim_harness::covergroups). The name of a group is the name of the
///   agent and that of the group, as in `"axi writes"`.
///
/// - `block NAME = "NAME": "TITLE", SCOREBOARD;`, at the end, declares the block as well:
///   `rtl::RTL` with the profile "spec", whose outputs the scoreboard compares as transactions. A
///   block with parameters or a golden model implements [`Block`](cosim_harness::harness::Block)
///   itself.
///
/// A case ends when every agent is idle. A DUT that starts transfers without end needs an
/// environment of its own, which calls the agents as this one does.
#[macro_export]
macro_rules! agents {
    (
        pins $inputs:ty, $outputs:ty;
        $( clocks $($clk:ident),+; )?
        $( reset $rst:ident $level:ident; )*
        $( drain $drain:literal; )?
        $( pace $pace:literal; )?
        $( tie $tied:ident = $value:literal; )*
        $( weights { $($own:tt)* } )?
        $( scenarios $file:literal; )?
        $( agent $name:ident: $agent:ident $([ $($arg:ty),* ])? on $pins:expr
            $(, at $at:ident)? $(, with $weights:expr)? $(, drawn by $draw:path)?; )+
        $( unreachable $group:literal: $reason:expr; )*
        $( block $block:ident = $block_name:literal: $title:literal, $scoreboard:ty; )?
    ) => {
        $( $crate::agent_block! {
            $block $block_name $title [$scoreboard] [$outputs] [$inputs]
        } )?

        /// The resets.
        #[allow(dead_code)]
        const COSIM_RESETS: &[$crate::cosim_harness::harness::ResetPin] =
            &[$( $crate::cosim_harness::harness::ResetPin::$level(stringify!($rst)) ),*];

        /// The clocks of a block with several.
        #[allow(dead_code)]
        const COSIM_CLOCKS: &[&str] = &[$( $( stringify!($clk) ),+ )?];

        $(
            const _: () = assert!(
                COSIM_CLOCKS.is_empty() == stringify!($($at)?).is_empty(),
                "each agent of a block with `clocks` has its clock: `on PINS, at CLOCK`"
            );
        )+

        #[allow(non_camel_case_types)]
        mod agent_types {
            use super::*;
            $(
                /// The agent of this name.
                pub type $name<'a> = $agent<'a, $inputs, $outputs $($(, $arg)*)?>;
            )+
        }

        #[allow(non_camel_case_types)]
        mod agent_traffic {
            use super::*;
            $(
                /// The traffic of the agent of this name.
                pub type $name = <agent_types::$name<'static> as
                    $crate::Agent<'static, $inputs, $outputs>>::Traffic;
            )+
        }

        #[allow(non_camel_case_types)]
        mod agent_pins {
            use super::*;
            $(
                /// The ports of the agent of this name.
                pub type $name = <agent_types::$name<'static> as
                    $crate::Agent<'static, $inputs, $outputs>>::Pins;
            )+
        }

        #[allow(non_camel_case_types)]
        mod agent_weights {
            use super::*;
            $(
                /// The weights of the agent of this name.
                pub type $name = <agent_traffic::$name as $crate::AgentTraffic<
                    <agent_types::$name<'static> as
                        $crate::Agent<'static, $inputs, $outputs>>::Pins,
                >>::Weights;
            )+
        }

        /// Whether the block is in reset.
        #[inline]
        pub fn in_reset(_inputs: &$inputs) -> bool {
            false $( || _inputs.$rst.is_high() == (stringify!($level).len() == "high".len()) )*
        }

        /// The traffic of each agent.
        #[derive(Debug, Clone, Default, PartialEq, Eq,
                 ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct Traffic {
            /// Key of the values on idle payload pins; 0 gives zeros.
            #[serde(default)]
            pub noise: $crate::cosim_harness::value::Uint<64>,
            /// The timing of each clock, of a block with several.
            #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
            pub clocks: ::std::vec::Vec<$crate::cosim_harness::harness::clocks::ClockTiming>,
            $(
                /// The traffic of the agent of this name.
                #[serde(default)]
                pub $name: agent_traffic::$name,
            )+
        }

        impl $crate::cosim_harness::harness::Traffic for Traffic {
            fn check(&self) -> ::core::result::Result<(), $crate::cosim_harness::harness::TrafficError> {
                use $crate::cosim_harness::harness::TrafficError;
                let clocks = COSIM_CLOCKS.len();
                $crate::cosim_harness::channels::check_clocks(&self.clocks, clocks)?;
                $(
                    self.$name.check().map_err(|error| TrafficError {
                        path: ::std::format!("{}.{}", stringify!($name), error.path),
                        ..error
                    })?;
                )+
                ::core::result::Result::Ok(())
            }
        }

        /// The environment: the agents, and resets.
        #[derive(Debug, Clone)]
        pub struct Environment<'a> {
            noise: $crate::cosim_harness::harness::Noise,
            $( $name: agent_types::$name<'a>, )+
            reset: $crate::cosim_harness::channels::DomainReset,
            #[allow(dead_code)]
            clocks: $crate::cosim_harness::harness::clocks::Clocks,
            /// The progress of each agent at the last edge of its clock.
            progress: [$crate::Progress; { [$( stringify!($name) ),+].len() }],
            /// Idle steps at the end of the case.
            drain: u64,
            idle: u64,
            progress_timeout: u64,
        }

        impl Environment<'_> {
            /// Idle cycles at the end of a case.
            const DRAIN: u64 = {
                let _drain = $crate::cosim_harness::channels::DRAIN;
                $( let _drain = $drain; )?
                _drain
            };

            /// What each agent is doing, in words.
            #[allow(dead_code)]
            pub fn in_flight(&self) -> ::std::vec::Vec<::std::string::String> {
                let mut all = ::std::vec::Vec::new();
                $(
                    let words = $crate::Agent::<$inputs, $outputs>::in_flight(&self.$name);
                    all.extend(words.map(|words| ::std::format!("{}: {words}", stringify!($name))));
                )+
                all
            }
        }

        impl<'a, CosimBlock> $crate::cosim_harness::harness::Environment<'a, CosimBlock> for Environment<'a>
        where
            CosimBlock: $crate::cosim_harness::harness::Block<
                Inputs = $inputs,
                Outputs = $outputs,
                Traffic = Traffic,
            >,
        {
            const TIED: &'static [(&'static str, &'static str)] =
                &[$((stringify!($tied), stringify!($value))),*];

            fn new(traffic: &'a Traffic, _: &$crate::cosim_harness::harness::Parameters) -> Self {
                use $crate::Agent;
                type I = $inputs;
                type O = $outputs;
                let delays = [$(
                    $crate::longest_delay::<agent_pins::$name, _>(&$pins, &traffic.$name)
                ),+];
                let scale = $crate::cosim_harness::channels::steps_per_edge(&traffic.clocks);
                let (noise, drain) = (traffic.noise.get(), Self::DRAIN * scale);
                Self {
                    noise: $crate::cosim_harness::harness::Noise::new(noise),
                    $( $name: Agent::<'_, I, O>::new($pins, &traffic.$name), )+
                    reset: $crate::cosim_harness::channels::DomainReset::new(COSIM_CLOCKS.len()),
                    clocks: $crate::cosim_harness::harness::clocks::Clocks::new(
                        &traffic.clocks, noise,
                    ),
                    progress: ::core::default::Default::default(),
                    drain,
                    idle: 0,
                    progress_timeout: drain
                        + scale
                            * ($crate::cosim_harness::channels::SLACK
                                + delays.iter().sum::<u64>()),
                }
            }

            #[inline]
            fn drive(&mut self, inputs: &mut $inputs) {
                $(
                    let rising = self.clocks.step();
                    let mut _clock = 0;
                    $(
                        inputs.$clk = $crate::verilated::Bits::from(rising.has(_clock));
                        _clock += 1;
                    )+
                )?
                $(
                    let is_high = stringify!($level).len() == "high".len();
                    inputs.$rst =
                        $crate::verilated::Bits::from(self.reset.asserted() == is_high);
                )*
                $( inputs.$tied = $crate::cosim_harness::channels::DrivenPort::of($value); )*
                let in_reset = self.reset.asserted();
                $(
                    $crate::Agent::<$inputs, $outputs>::drive(
                        &mut self.$name, in_reset, &mut self.noise, inputs,
                    );
                )+
            }

            #[inline]
            fn clock(&mut self, inputs: &$inputs, outputs: &$outputs) {
                let _rising: &[bool] = &[$( $( inputs.$clk.is_high() ),+ )?];
                let in_reset = in_reset(inputs);
                let mut _place = 0;
                $(
                    if true $( & inputs.$at.is_high() )? {
                        let progress = $crate::Agent::<$inputs, $outputs>::clock(
                            &mut self.$name, in_reset, inputs, outputs,
                        );
                        if let ::core::option::Option::Some(reset) = progress.reset {
                            self.reset.start(reset);
                        }
                        self.progress[_place] = progress;
                    }
                    _place += 1;
                )+
                let is_idle = !in_reset && self.progress.iter().all(|agent| agent.is_idle);
                self.idle = if is_idle { self.idle + 1 } else { 0 };
                self.reset.clock(_rising);
            }

            #[inline]
            fn finished(&self) -> bool {
                self.idle >= self.drain && self.reset.is_over()
            }

            #[inline]
            fn handshakes(&self) -> u64 {
                self.progress.iter().map(|agent| agent.counts.handshakes).sum()
            }

            #[inline]
            fn progress_timeout(&self) -> u64 {
                self.progress_timeout
            }

            #[inline]
            fn packets(&self) -> u64 {
                self.progress.iter().map(|agent| agent.counts.operations).sum()
            }

            fn in_flight(&self) -> ::std::vec::Vec<::std::string::String> {
                Self::in_flight(self)
            }

            fn transfers(
                inputs: &$inputs,
                outputs: &$outputs,
            ) -> ::std::vec::Vec<$crate::cosim_harness::harness::Transfer> {
                let mut all = ::std::vec::Vec::new();
                $(
                    all.extend(<agent_types::$name<'static> as
                        $crate::Agent<'static, $inputs, $outputs>>::transfers(
                            &$pins, inputs, outputs,
                        ));
                )+
                all
            }
        }

        $crate::cosim_harness::weights! {
            /// How often the generator draws operations, gaps, stalls and resets.
            pub struct Weights {
                /// Cycles of random values on all pins per operation, instead of operations; 0:
                /// operations.
                raw_cycles_per_packet: $crate::cosim_harness::value::Uint<8> = 0,
                /// Chance of a reset after an operation.
                reset: $crate::cosim_harness::harness::Percent = 0,
                $(
                    /// The weights of the agent of this name.
                    $name: agent_weights::$name = {
                        let _weights = agent_weights::$name::default();
                        $( let _weights = $weights; )?
                        _weights
                    },
                )+
                $( $($own)* )?
            }
        }

        impl<CosimBlock> $crate::cosim_harness::harness::Weights<CosimBlock> for Weights
        where
            CosimBlock: $crate::cosim_harness::harness::Block<
                Inputs = $inputs,
                Outputs = $outputs,
                Traffic = Traffic,
                Weights = Self,
            >,
        {
            fn scenarios() -> ::std::vec::Vec<$crate::cosim_harness::harness::Scenario<Self>> {
                let _own: ::core::option::Option<&str> = ::core::option::Option::None;
                $( let _own = _own.or(::core::option::Option::Some(::core::include_str!($file))); )?
                if let ::core::option::Option::Some(own) = _own {
                    return $crate::cosim_harness::harness::scenarios_from(own);
                }
                let _pace = 1;
                $( let _pace = $pace; )?
                let outputs = <$outputs as $crate::verilated::Pins>::PORTS;
                let has_raw = CosimBlock::TRANSACTION_OUTPUTS.len() < outputs.len();
                let has_reset = CosimBlock::RESET.is_some();
                $crate::default_scenarios(has_reset, has_raw, _pace, |pace, reset, raw| {
                    let mut weights = Self::default();
                    weights.raw_cycles_per_packet = $crate::cosim_harness::value::Uint::new(raw);
                    weights.reset = $crate::cosim_harness::harness::Percent::new(reset);
                    $( weights.$name = $crate::AgentWeights::paced(weights.$name, pace); )+
                    weights
                })
            }

            fn traffic(
                &self,
                _parameters: &$crate::cosim_harness::harness::Parameters,
                packets: u32,
                rng: &mut $crate::cosim_harness::harness::CaseRng,
            ) -> Traffic {
                let mut _clocks = ::std::vec::Vec::new();
                $(
                    const COUNT: usize = [$( stringify!($clk) ),+].len();
                    type Timing = $crate::cosim_harness::harness::clocks::ClockTiming;
                    _clocks = Timing::draw::<COUNT>(rng).to_vec();
                )?
                Traffic {
                    noise: $crate::cosim_harness::harness::Draw::bits(rng),
                    clocks: _clocks,
                    $(
                        $name: $crate::drawn_traffic!(
                            [self _parameters packets rng] $name, &$pins $(, drawn by $draw)?
                        ),
                    )+
                }
            }

            fn raw_pins(
                &self,
                _: &$crate::cosim_harness::harness::Parameters,
                packets: u32,
                rng: &mut $crate::cosim_harness::harness::CaseRng,
            ) -> ::core::option::Option<::std::vec::Vec<$inputs>> {
                let cycles = $crate::cosim_harness::harness::raw_pins::count::<$inputs>(
                    self.raw_cycles_per_packet,
                    packets,
                );
                (cycles > 0).then(|| $crate::cosim_harness::channels::raw_pins::<CosimBlock>(cycles, rng))
            }
        }

        /// The coverage of each agent's interface.
        #[derive(Debug)]
        pub struct Coverage {
            $(
                $name: ::core::option::Option<$crate::Sampler<$inputs, $outputs>>,
            )+
        }

        impl Coverage {
            const OWN: &'static [(
                &'static str,
                &'static [$crate::cosim_harness::harness::Covergroup],
            )] = &[$((
                stringify!($name),
                <agent_types::$name<'static> as
                    $crate::Agent<'static, $inputs, $outputs>>::GROUPS,
            )),+];
            const NAMES: &'static [$crate::GroupNames; $crate::count_groups(Self::OWN)] =
                &$crate::group_names(Self::OWN);
            const ALL: &'static [$crate::cosim_harness::harness::Covergroup] = &{
                let all = $crate::named_groups(Self::OWN, Self::NAMES);
                $( let all = $crate::with_reasons(all, $group, $reason); )*
                all
            };
        }

        impl<CosimBlock> $crate::cosim_harness::harness::Coverage<CosimBlock> for Coverage
        where
            CosimBlock: $crate::cosim_harness::harness::Block<Inputs = $inputs, Outputs = $outputs>,
        {
            const GROUPS: &'static [$crate::cosim_harness::harness::Covergroup] = Self::ALL;

            fn new(_: &$crate::cosim_harness::harness::Parameters) -> Self {
                let mut _first = 0;
                $(
                    let $name = <agent_types::$name<'static> as
                        $crate::Agent<'static, $inputs, $outputs>>::sampler(
                            $pins, Self::ALL, _first,
                        );
                    _first += <agent_types::$name<'static> as
                        $crate::Agent<'static, $inputs, $outputs>>::GROUPS.len();
                )+
                Self { $( $name, )+ }
            }

            #[inline]
            fn after(
                &mut self,
                edge: &$crate::cosim_harness::harness::Edge<'_, CosimBlock>,
                bins: &mut $crate::cosim_harness::harness::Bins<'_>,
            ) {
                let (inputs, outputs) = (edge.inputs, edge.outputs);
                let in_reset = in_reset(inputs);
                $(
                    let _is_clocked = true $( & inputs.$at.is_high() )?;
                    if let ::core::option::Option::Some(sampler) = &mut self.$name
                        && (in_reset || _is_clocked)
                    {
                        sampler.sample(in_reset, inputs, outputs, bins);
                    }
                )+
            }
        }
    };
}

/// Draws the traffic of an agent by its weights, or by a function.
#[doc(hidden)]
#[macro_export]
macro_rules! drawn_traffic {
    ([$weights:ident $parameters:ident $packets:ident $rng:ident] $name:ident, $pins:expr) => {{
        let pins: &agent_pins::$name = $pins;
        $crate::AgentTraffic::draw(&$weights.$name, pins, $packets, $weights.reset, $rng)
    }};
    ([$weights:ident $parameters:ident $packets:ident $rng:ident] $name:ident, $pins:expr,
        drawn by $draw:path) => {
        $draw($weights, $parameters, $packets, $rng)
    };
}

/// Implements the traits of a block whose outputs are all transactions.
#[doc(hidden)]
#[macro_export]
macro_rules! agent_block {
    ($block:ident $name:literal $title:literal [$scoreboard:ty] [$outputs:ty] [$inputs:ty]) => {
        #[doc = $title]
        #[derive(Debug, Clone, Copy)]
        pub struct $block;

        impl $crate::cosim_harness::harness::Block for $block {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const RTL: $crate::cosim_harness::harness::LinkedRtl<$inputs, $outputs> = rtl::RTL;
            const PROFILES: &'static [$crate::cosim_harness::harness::Profile] =
                &[$crate::cosim_harness::harness::Profile::new(
                    "spec",
                    $crate::cosim_harness::harness::Parameters::of::<Self>(0),
                )];
            const RESET: ::core::option::Option<$crate::cosim_harness::harness::ResetPin> =
                match COSIM_RESETS {
                    [first, ..] => ::core::option::Option::Some(*first),
                    [] => ::core::option::Option::None,
                };
            const OTHER_RESETS: &'static [$crate::cosim_harness::harness::ResetPin] =
                match COSIM_RESETS.split_first() {
                    ::core::option::Option::Some((_, others)) => others,
                    ::core::option::Option::None => &[],
                };
            const CLOCKS: &'static [&'static str] = COSIM_CLOCKS;
            const TRANSACTION_OUTPUTS: &'static [&'static str] = $crate::port_names!($outputs);

            type Inputs = $inputs;
            type Outputs = $outputs;
            type Golden = $crate::cosim_harness::harness::Untimed;
            type Traffic = Traffic;
            type Environment<'a> = Environment<'a>;
            type Scoreboard<'a> = $scoreboard;
            type Weights = Weights;
            type Coverage = Coverage;
        }

        impl $crate::cosim_harness::harness::Explain for $block {
            fn in_flight(environment: &Environment<'_>) -> ::std::vec::Vec<::std::string::String> {
                environment.in_flight()
            }
        }
    };
}
