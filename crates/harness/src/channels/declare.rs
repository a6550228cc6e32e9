//! The declaration of a block whose pins are channels.

mod clocks;
mod draw;
mod pins;

pub use clocks::{DomainReset, check_clocks, steps_per_edge};
pub use draw::{choose, choose_lane, raw_pins};
#[doc(hidden)]
pub use pins::check_outputs;

/// Cycles without activity after which a case ends, unless the declaration says otherwise.
pub const DRAIN: u64 = 32;
/// Cycles without a handshake beyond those that the traffic explains.
pub const SLACK: u64 = 32;

/// Declares a block whose pins are channels and a reset. It generates the block's `Traffic`,
/// `Environment`, `Weights` and `Coverage`, and a struct for the items of each channel.
///
/// ```ignore
/// cosim_core::channels! {
///     pins rtl::Inputs, rtl::Outputs;
///     reset rst high;
///     source push: Push { data: push_data[8] } on push_valid, push_ready;
///     sink pop: Pop { data: pop_data[8] } on pop_valid, pop_ready;
/// }
/// ```
///
/// - `pins` names the structs of the pins. Several blocks with these pins may use the declaration.
/// - `clocks` names the clock inputs of a wrapper around RTL with several clocks. Their timing is
///   part of the traffic, and each channel names its clock with `at CLOCK`.
/// - `reset` names a reset and its active level. Several resets are active together. Leave it out
///   if there is none.
/// - `drain N;` changes the number of idle cycles at the end of a case, [`DRAIN`].
/// - `tie PIN = VALUE;` holds an input at a value.
/// - `vary PIN[WIDTH], ..;` gives inputs that belong to no channel random values. They change eight
///   times or so in a case; the weights `settings` and `longest_setting` say how often. With
///   `per case` before the semicolon they are stable in a case.
/// - `outputs PIN, ..;` names the outputs that are in no channel, or none. With it an output that
///   the declaration lacks does not compile.
/// - `weights { .. }` adds weights of the block to the generated ones, in the form of
///   [`weights!`](crate::weights), and `scenarios "FILE";` names a TOML file with scenarios in the
///   place of the default ones.
/// - `source` is a channel into the block: its name, the type of its items with their fields, pins
///   and widths, and the pins for valid and ready. Without ready, the block takes an item in each
///   cycle with a high valid. `!full` means that the block takes an item while `full` is low, and
///   `!empty` that an item is there while `empty` is low. `drawn by FUNCTION`, before the
///   semicolon, draws items with a `fn(&Weights, &Parameters, &mut CaseRng) -> Item`; otherwise all
///   bits are random.
/// - A field may be a part of a port, `data: bus[15:8]`, as in a packed struct, and so may valid
///   and ready: `on ctl[0], !status[3]`. The type of a field is [`Uint`](crate::value::Uint), and
///   [`WideUint`](crate::value::WideUint) for more than 64 bits.
/// - `source req[4]: ..` has four lanes: bit n of valid and ready, and the n-th part of each
///   payload pin, belong to lane n. `data: [data_0, data_1, data_2, data_3][8]` has a port for each
///   lane. `[4 among WEIGHT]` names a weight with the lanes of a case.
/// - `from TYPE`, after the pins of a source, is the type of its entries in the traffic: a
///   [`Burst`](crate::channels::Burst) of items. `drawn by` then draws bursts.
/// - `sink` is a channel out of the block. Without ready, the environment always takes the item.
///   `unless CLOSURE`, before the semicolon, gives the reason for an unreachable bin of its
///   coverage, as in [`covergroups!`](crate::covergroups).
///
/// Every input must be in the declaration with its width, otherwise it does not compile. Items have
/// the functions `offered`, `is_ready` and `taken`, which read them from the pins of a cycle.
#[macro_export]
macro_rules! channels {
    (
        pins $inputs:ty, $outputs:ty;
        $( clocks $($clk:ident),+; )?
        $( reset $rst:ident $level:ident; )*
        $( drain $drain:literal; )?
        $( tie $tied:ident = $value:literal; )*
        $( vary $( $vp:ident[$vw:literal] ),+ $(per $case:ident)?; )?
        $( outputs $( $other:ident ),* ; )?
        $( weights { $($weights:tt)* } )?
        $( scenarios $file:literal; )?
        $( source $s:ident $([$lanes:literal $(among $among:ident)?])?: $S:ident {
                $(
                    $sf:ident:
                        $($sp:ident)? $([$($sl:ident),+])? [$sw:literal $(: $sb:literal)?]
                ),* $(,)?
            }
            $(on $sv:ident $([$svb:literal])?)? $(on ! $so:ident $([$sob:literal])?)?
            $(, $sr:ident $([$srb:literal])?)? $(, ! $sn:ident $([$snb:literal])?)?
            $(at $sc:ident)? $(from $burst:ident)? $(drawn by $draw:path)?; )*
        $( sink $k:ident: $K:ident {
                $( $kf:ident: $kp:ident[$kw:literal $(: $kb:literal)?] ),* $(,)?
            }
            $(on $kv:ident $([$kvb:literal])?)? $(on ! $ko:ident $([$kob:literal])?)?
            $(, $kr:ident $([$krb:literal])?)? $(, ! $kn:ident $([$knb:literal])?)?
            $(at $kc:ident)? $(unless $unreachable:expr)?; )*
    ) => {
        $(
            /// An item of the source.
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(non_snake_case)]
            pub struct $S {
                $(
                    /// The field of this name.
                    pub $sf: $crate::channel_field!($sw [$($sb)?]),
                )*
            }

            #[allow(dead_code)]
            impl $S {
                /// The number of lanes.
                pub const LANES: u32 = 1 $( * $lanes )?;

                /// The item on offer, of the first lane.
                #[inline]
                pub fn offered(inputs: &$inputs) -> ::core::option::Option<Self> {
                    Self::offered_at(0, inputs)
                }

                /// The item on offer, of a lane.
                #[inline]
                pub fn offered_at(lane: u32, inputs: &$inputs) -> ::core::option::Option<Self> {
                    (Self::valids(inputs) >> lane & 1 == 1).then(|| Self {
                        $(
                            $sf: $crate::channel_pins!(
                                read lane, inputs: [$($sp)?] [$($($sl)+)?] $sw [$($sb)?]
                            ),
                        )*
                    })
                }

                /// Whether an item is on offer: a bit for each lane.
                #[inline]
                pub fn valids(inputs: &$inputs) -> u64 {
                    $crate::value::Uint::<{ $S::LANES }>::MAX
                        $( & $crate::channels::lanes::<{ $S::LANES }>(
                            &inputs.$sv, 0 $(+ $svb)?,
                        ) )?
                        $( & !$crate::channels::lanes::<{ $S::LANES }>(
                            &inputs.$so, 0 $(+ $sob)?,
                        ) )?
                }

                /// Whether the block takes an item, of the first lane.
                #[inline]
                pub fn is_ready(outputs: &$outputs) -> bool {
                    Self::readies(outputs) & 1 == 1
                }

                /// Whether the block takes an item: a bit for each lane.
                #[inline]
                pub fn readies(_outputs: &$outputs) -> u64 {
                    u64::MAX
                        $( & $crate::channels::lanes::<{ $S::LANES }>(
                            &_outputs.$sr, 0 $(+ $srb)?,
                        ) )?
                        $( & !$crate::channels::lanes::<{ $S::LANES }>(
                            &_outputs.$sn, 0 $(+ $snb)?,
                        ) )?
                }

                /// Whether the clock of the channel rises at the end of the step.
                #[inline]
                pub fn is_clocked(_inputs: &$inputs) -> bool {
                    true $( & _inputs.$sc.is_high() )?
                }

                /// The item that is taken.
                #[inline]
                pub fn taken(inputs: &$inputs, outputs: &$outputs) -> ::core::option::Option<Self> {
                    let takes = Self::is_clocked(inputs) && Self::is_ready(outputs);
                    Self::offered(inputs).filter(|_| takes)
                }

                /// An item with random bits.
                pub fn any(_rng: &mut $crate::harness::CaseRng) -> Self {
                    Self { $( $sf: $crate::channels::FieldValue::any(_rng), )* }
                }
            }

            impl $crate::channels::Burst for $S {
                type Item = Self;

                #[inline]
                fn item(&self, _: u64) -> Self {
                    *self
                }
            }
        )*
        $(
            /// An item of the sink.
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
            #[allow(non_snake_case)]
            pub struct $K {
                $(
                    /// The field of this name.
                    pub $kf: $crate::channel_field!($kw [$($kb)?]),
                )*
            }

            #[allow(dead_code)]
            impl $K {
                /// The item on offer.
                #[inline]
                pub fn offered(outputs: &$outputs) -> ::core::option::Option<Self> {
                    Self::is_valid(outputs).then(|| Self {
                        $(
                            $kf: $crate::channel_pins!(read 0, outputs: [$kp] [] $kw [$($kb)?]),
                        )*
                    })
                }

                /// Whether the block offers an item.
                #[inline]
                pub fn is_valid(outputs: &$outputs) -> bool {
                    true
                        $( & ($crate::channels::lanes::<1>(&outputs.$kv, 0 $(+ $kvb)?) == 1) )?
                        $( & ($crate::channels::lanes::<1>(&outputs.$ko, 0 $(+ $kob)?) == 0) )?
                }

                /// Whether the environment takes an item.
                #[inline]
                pub fn is_ready(_inputs: &$inputs) -> bool {
                    true
                        $( & ($crate::channels::lanes::<1>(&_inputs.$kr, 0 $(+ $krb)?) == 1) )?
                        $( & ($crate::channels::lanes::<1>(&_inputs.$kn, 0 $(+ $knb)?) == 0) )?
                }

                /// Whether the clock of the channel rises at the end of the step.
                #[inline]
                pub fn is_clocked(_inputs: &$inputs) -> bool {
                    true $( & _inputs.$kc.is_high() )?
                }

                /// The item that is taken.
                #[inline]
                pub fn taken(inputs: &$inputs, outputs: &$outputs) -> ::core::option::Option<Self> {
                    let takes = Self::is_clocked(inputs) && Self::is_ready(inputs);
                    Self::offered(outputs).filter(|_| takes)
                }

                /// Writes the item to its pins, for a golden model.
                #[inline]
                pub fn put(self, _outputs: &mut $outputs) {
                    $(
                        $crate::channels::PortBits::put(
                            &mut _outputs.$kp, 0 $(+ $kb)?, self.$kf,
                        );
                    )*
                }
            }
        )*

        /// With `outputs`, every output is in the declaration; otherwise it does not compile.
        const _: () = {
            let _known: ::core::option::Option<&[&str]> = ::core::option::Option::None;
            $(
                let others: &[&str] = &[$( stringify!($other) ),*];
                let _known = ::core::option::Option::Some(others);
            )?
            if let ::core::option::Option::Some(others) = _known {
                let channels: &[&str] = &[
                    $( $( stringify!($sr), )? $( stringify!($sn), )? )*
                    $( $( stringify!($ko), )? $( stringify!($kv), )? $( stringify!($kp), )* )*
                ];
                $crate::channels::check_outputs(
                    <$outputs as $crate::verilated::Pins>::PORTS,
                    &[channels, others],
                );
            }
        };

        /// Every bit of every input is in the declaration, and all ports have the widths there;
        /// otherwise it does not compile.
        const _: () = {
            $crate::channels::check_pins(
                <$inputs as $crate::verilated::Pins>::PORTS,
                &[
                    $( $( &[$crate::channels::PinUse::whole(stringify!($clk), 1)], )+ )?
                    $( &[$crate::channels::PinUse::whole(stringify!($rst), 1)], )*
                    $( &[$crate::channels::PinUse::whole(stringify!($tied), 0)], )*
                    $( $( &[$crate::channels::PinUse::whole(stringify!($vp), $vw)], )+ )?
                    $(
                        $( $crate::channel_pins!(uses $S::LANES, $sv $($svb)?), )?
                        $( $crate::channel_pins!(uses $S::LANES, $so $($sob)?), )?
                        $(
                            $crate::channel_pins!(
                                uses $S::LANES, [$($sp)?] [$($($sl)+)?] $sw [$($sb)?]
                            ),
                        )*
                    )*
                    $(
                        $( $crate::channel_pins!(uses 1, $kr $($krb)?), )?
                        $( $crate::channel_pins!(uses 1, $kn $($knb)?), )?
                    )*
                ],
                true,
            );
            $crate::channels::check_pins(
                <$outputs as $crate::verilated::Pins>::PORTS,
                &[
                    $(
                        $( $crate::channel_pins!(uses $S::LANES, $sr $($srb)?), )?
                        $( $crate::channel_pins!(uses $S::LANES, $sn $($snb)?), )?
                    )*
                    $(
                        $( $crate::channel_pins!(uses 1, $kv $($kvb)?), )?
                        $( $crate::channel_pins!(uses 1, $ko $($kob)?), )?
                        $( $crate::channel_pins!(uses 1, [$kp] [] $kw [$($kb)?]), )*
                    )*
                ],
                false,
            );
        };

        /// Whether the block is in reset.
        #[inline]
        pub fn in_reset(_inputs: &$inputs) -> bool {
            false $( || _inputs.$rst.is_high() == (stringify!($level).len() == "high".len()) )*
        }

        /// The properties of the sinks for `cosim prove`: an offer stays until it is taken. Return
        /// it in `Block::properties` if valid and ready have names that `Block::NAMING` knows.
        #[allow(dead_code)]
        pub fn channel_properties() -> $crate::harness::Properties {
            let mut _all = $crate::harness::Properties::default();
            $(
                let valid: &[&'static str] = &[$( stringify!($kv) )?];
                let ready: &[&'static str] = &[$( stringify!($kr) )?];
                let parts: &[u32] = &[$( $($kvb,)? )? $( $($krb,)? )?];
                if let ([valid], [_], []) = (valid, ready, parts) {
                    _all.stable.push($crate::harness::StableChannel::whole(valid));
                }
            )*
            _all
        }

        /// The number of clocks, of a block with several; else 0.
        const CLOCKS: usize = { 0 $( + [$( stringify!($clk) ),+].len() )? };

        $(
            /// Inputs that belong to no channel.
            #[derive(Debug, Clone, Copy, Default, PartialEq, Eq,
                     ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
            #[serde(deny_unknown_fields)]
            #[allow(non_snake_case)]
            pub struct Settings {
                $(
                    /// The input of this name.
                    pub $vp: $crate::channel_field!($vw []),
                )+
            }

            impl $crate::channels::Settings for Settings {
                fn any(rng: &mut $crate::harness::CaseRng) -> Self {
                    Self { $( $vp: $crate::channels::FieldValue::any(rng), )+ }
                }

                fn next(&self, number: usize, rng: &mut $crate::harness::CaseRng) -> Self {
                    let names = [$( stringify!($vp) ),+];
                    let place =
                        |name: &str| names.iter().position(|other| *other == name).unwrap_or(0);
                    Self {
                        $(
                            $vp: $crate::channels::next_value(
                                self.$vp, place(stringify!($vp)), number, rng,
                            ),
                        )+
                    }
                }
            }
        )?

        /// The items of each source, and the stalls of each sink.
        #[derive(Debug, Clone, Default, PartialEq, Eq,
                 ::serde::Serialize, ::serde::Deserialize, ::schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        #[allow(non_snake_case)]
        pub struct Traffic {
            /// Key of the values on idle payload pins; 0 gives zeros.
            #[serde(default)]
            pub noise: $crate::value::Uint<64>,
            /// The timing of each clock, of a block with several.
            #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
            pub clocks: ::std::vec::Vec<$crate::harness::clocks::ClockTiming>,
            $(
                /// The values of inputs that belong to no channel, one after the other; after the
                /// last come the first ones again.
                #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
                pub settings: $crate::channel_type!(
                    [vary $($vp)+] ::std::vec::Vec<$crate::channels::Setting<Settings>>
                ),
            )?
            $(
                /// The items of this source.
                #[serde(default)]
                pub $s: $crate::channel_type!(
                    [$(lanes $lanes)?]
                    ::std::vec::Vec<
                        $crate::channels::Offer<$crate::channel_type!([$(burst $burst)?] $S)>,
                    >
                ),
            )*
            $(
                /// Cycles of stall before each item of this sink; items after the list have none.
                #[serde(default, skip_serializing_if = "::std::vec::Vec::is_empty")]
                pub $k: ::std::vec::Vec<$crate::value::Uint<12>>,
            )*
        }

        impl $crate::harness::Traffic for Traffic {
            fn check(&self) -> ::core::result::Result<(), $crate::harness::TrafficError> {
                $crate::channels::check_clocks(&self.clocks, CLOCKS)?;
                $(
                    let _: &[&str] = &[$( stringify!($vp) ),+];
                    $crate::channels::check_settings(&self.settings)?;
                )?
                $(
                    $crate::channels::Sources::<_, { $S::LANES as usize }>::check(
                        stringify!($s),
                        &self.$s,
                    )?;
                )*
                ::core::result::Result::Ok(())
            }
        }

        /// The sources and sinks of an environment.
        #[derive(Debug, Clone)]
        #[allow(non_snake_case)]
        struct EnvironmentChannels<'a> {
            $(
                $s: $crate::channels::Sources<
                    'a,
                    $crate::channel_type!([$(burst $burst)?] $S),
                    { $S::LANES as usize },
                >,
            )*
            $( $k: $crate::channels::Sink<'a>, )*
            lifetime: ::std::marker::PhantomData<&'a ()>,
        }

        /// The environment: sources that hold their offers, sinks that stall, and resets.
        #[derive(Debug, Clone)]
        pub struct Environment<'a> {
            noise: $crate::harness::Noise,
            channels: EnvironmentChannels<'a>,
            $(
                settings: $crate::channel_type!(
                    [vary $($vp)+] $crate::channels::SettingsOf<'a, Settings>
                ),
            )?
            reset: $crate::channels::DomainReset,
            clocks: $crate::harness::clocks::Clocks,
            /// Idle steps at the end of the case.
            drain: u64,
            idle: u64,
            handshakes: u64,
            packets: u64,
            progress_timeout: u64,
        }

        impl Environment<'_> {
            /// Idle cycles at the end of a case.
            const DRAIN: u64 = {
                let _drain = $crate::channels::DRAIN;
                $( let _drain = $drain; )?
                _drain
            };

            /// What each source is doing, in words.
            #[allow(dead_code)]
            pub fn in_flight(&self) -> ::std::vec::Vec<::std::string::String> {
                let mut _all = ::std::vec::Vec::new();
                $( _all.extend(self.channels.$s.in_flight(stringify!($s))); )*
                _all
            }
        }

        impl<'a, CosimBlock> $crate::harness::Environment<'a, CosimBlock> for Environment<'a>
        where
            CosimBlock: $crate::harness::Block<
                Inputs = $inputs,
                Outputs = $outputs,
                Traffic = Traffic,
            >,
        {
            const TIED: &'static [(&'static str, &'static str)] =
                &[$((stringify!($tied), stringify!($value))),*];

            fn new(traffic: &'a Traffic, _: &$crate::harness::Parameters) -> Self {
                let clocks = &traffic.clocks;
                let scale = $crate::channels::steps_per_edge(clocks);
                let _settings = 0;
                $(
                    let _: &[&str] = &[$( stringify!($vp) ),+];
                    let _settings = $crate::channels::cycles(&traffic.settings);
                )?
                // Each setting comes in the time that a block has for its items.
                let drain = Self::DRAIN * scale + _settings;
                let delays = [
                    $(
                        $crate::channels::Sources::<_, { $S::LANES as usize }>::longest_delay(
                            &traffic.$s,
                        ),
                    )*
                    $( $crate::channels::Sink::longest_delay(&traffic.$k), )*
                ];
                Self {
                    noise: $crate::harness::Noise::new(traffic.noise.get()),
                    channels: EnvironmentChannels {
                        $( $s: $crate::channels::Sources::new(&traffic.$s), )*
                        $( $k: $crate::channels::Sink::new(&traffic.$k), )*
                        lifetime: ::std::marker::PhantomData,
                    },
                    $( settings: {
                        let _: &[&str] = &[$( stringify!($vp) ),+];
                        $crate::channels::SettingsOf::new(&traffic.settings)
                    }, )?
                    reset: $crate::channels::DomainReset::new(CLOCKS),
                    clocks: $crate::harness::clocks::Clocks::new(clocks, traffic.noise.get()),
                    drain,
                    idle: 0,
                    handshakes: 0,
                    packets: 0,
                    progress_timeout: drain
                        + scale * ($crate::channels::SLACK + delays.iter().sum::<u64>()),
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
                    inputs.$rst = $crate::verilated::Bits::from(self.reset.asserted() == is_high);
                )*
                $( inputs.$tied = $crate::channels::DrivenPort::of($value); )*
                $(
                    let settings = self.settings.inputs();
                    $( $crate::channels::PortBits::put(&mut inputs.$vp, 0, settings.$vp); )+
                )?
                $( {
                    let offers = self.channels.$s.offers();
                    let mut valid = 0;
                    for (lane, offer) in offers.iter().enumerate() {
                        valid |= u64::from(offer.is_some()) << lane;
                    }
                    $(
                        $crate::channels::put_lanes::<{ $S::LANES }>(
                            &mut inputs.$sv, 0 $(+ $svb)?, valid,
                        );
                    )?
                    $(
                        $crate::channels::put_lanes::<{ $S::LANES }>(
                            &mut inputs.$so, 0 $(+ $sob)?, !valid,
                        );
                    )?
                    $(
                        $crate::channel_pins!(
                            drive offers.$sf, &mut self.noise, inputs:
                            [$($sp)?] [$($($sl)+)?] $sw [$($sb)?]
                        );
                    )*
                } )*
                $(
                    let _ready = u64::from(self.channels.$k.ready());
                    $( $crate::channels::put_lanes::<1>(&mut inputs.$kr, 0 $(+ $krb)?, _ready); )?
                    $( $crate::channels::put_lanes::<1>(&mut inputs.$kn, 0 $(+ $knb)?, !_ready); )?
                )*
            }

            #[inline]
            fn clock(
                &mut self,
                inputs: &$inputs,
                outputs: &$outputs,
            ) {
                let _rising: &[bool] = &[$( $( inputs.$clk.is_high() ),+ )?];
                $(
                    let _: &[&str] = &[$( stringify!($vp) ),+];
                    self.settings.clock();
                )?
                if in_reset(inputs) {
                    $( self.channels.$s.reset(); )*
                    self.reset.clock(_rising);
                    return;
                }
                let mut is_idle = true;
                $(
                    is_idle &= self.channels.$s.is_done();
                    if $S::is_clocked(inputs) {
                        let reset = |reset| self.reset.start(reset);
                        let [taken, finished] = self.channels.$s.clock($S::readies(outputs), reset);
                        self.handshakes += taken;
                        self.packets += finished;
                    }
                )*
                $(
                    let valid = $K::is_valid(outputs);
                    is_idle &= !valid;
                    let clocked = $K::is_clocked(inputs);
                    self.handshakes += u64::from(clocked && self.channels.$k.clock(valid));
                )*
                self.idle = if is_idle { self.idle + 1 } else { 0 };
                self.reset.clock(_rising);
            }

            #[inline]
            fn finished(&self) -> bool {
                self.idle >= self.drain && self.reset.is_over()
            }

            #[inline]
            fn handshakes(&self) -> u64 {
                self.handshakes
            }

            #[inline]
            fn progress_timeout(&self) -> u64 {
                self.progress_timeout
            }

            #[inline]
            fn packets(&self) -> u64 {
                self.packets
            }

            fn in_flight(&self) -> ::std::vec::Vec<::std::string::String> {
                Self::in_flight(self)
            }

            fn transfers(
                _inputs: &$inputs,
                _outputs: &$outputs,
            ) -> ::std::vec::Vec<$crate::harness::Transfer> {
                let mut all = ::std::vec::Vec::new();
                $(
                    for lane in 0..$S::LANES {
                        let valid: &[&str] = &[$(stringify!($sv),)? $(stringify!($so),)?];
                        let ready: &[&str] = &[$(stringify!($sr),)? $(stringify!($sn),)?];
                        let items: &[&str] =
                            &[$( $(stringify!($sp),)? $($(stringify!($sl),)+)? )*];
                        let is_ready =
                            $S::is_clocked(_inputs) && $S::readies(_outputs) >> lane & 1 == 1;
                        let item = $S::offered_at(lane, _inputs);
                        all.push($crate::harness::Transfer::new(
                            stringify!($s),
                            ($S::LANES > 1).then_some(lane),
                            &[valid, ready, items].concat(),
                            item.map(|item| ::std::format!("{item:x?}")),
                            [!ready.is_empty(), is_ready],
                        ));
                    }
                )*
                $(
                    let valid: &[&str] = &[$(stringify!($kv),)? $(stringify!($ko),)?];
                    let ready: &[&str] = &[$(stringify!($kr),)? $(stringify!($kn),)?];
                    let items: &[&str] = &[$( stringify!($kp) ),*];
                    all.push($crate::harness::Transfer::new(
                        stringify!($k),
                        ::core::option::Option::None,
                        &[valid, ready, items].concat(),
                        $K::offered(_outputs).map(|item| ::std::format!("{item:x?}")),
                        [!ready.is_empty(), $K::is_clocked(_inputs) && $K::is_ready(_inputs)],
                    ));
                )*
                all
            }
        }

        $crate::weights! {
            /// How often the generator draws gaps, stalls and resets.
            #[allow(non_snake_case)]
            pub struct Weights {
                /// Cycles of random values on all pins per item, instead of items; 0: items.
                raw_cycles_per_packet: $crate::value::Uint<8> = 0,
                /// Chance of a reset after an item.
                reset: $crate::harness::Percent = 0,
                $(
                    /// The number of values that inputs in no channel have in a case, one after the
                    /// other; 1: they are stable.
                    settings: $crate::channel_type!([vary $($vp)+] $crate::value::Uint<6>) = {
                        let _count = $crate::channels::SETTINGS;
                        $(
                            let _: &str = stringify!($case);
                            let _count = 1;
                        )?
                        _count
                    },
                    /// Largest number of cycles between two of these values.
                    longest_setting: $crate::value::Uint<12> = $crate::channels::LONGEST_SETTING,
                )?
                $(
                    /// The weights of this source.
                    $s: $crate::channels::SourceWeights =
                        $crate::channels::SourceWeights::default(),
                )*
                $(
                    /// The weights of this sink.
                    $k: $crate::channels::SinkWeights = $crate::channels::SinkWeights::default(),
                )*
                $( $($weights)* )?
            }
        }

        impl<CosimBlock> $crate::harness::Weights<CosimBlock> for Weights
        where
            CosimBlock: $crate::harness::Block<
                Inputs = $inputs,
                Outputs = $outputs,
                Traffic = Traffic,
                Weights = Self,
            >,
        {
            fn scenarios() -> ::std::vec::Vec<$crate::harness::Scenario<Self>> {
                let own: ::core::option::Option<&str> = ::core::option::Option::None;
                $( let own = own.or(::core::option::Option::Some(include_str!($file))); )?
                if let ::core::option::Option::Some(own) = own {
                    return $crate::harness::scenarios_from(own);
                }
                let outputs = <$outputs as $crate::verilated::Pins>::PORTS;
                let has_raw = CosimBlock::TRANSACTION_OUTPUTS.len() < outputs.len();
                let all = $crate::channels::default_scenarios(CosimBlock::RESET.is_some(), has_raw);
                let scenario = |scenario: $crate::channels::ChannelScenario| {
                    let mut weights = Self::default();
                    weights.raw_cycles_per_packet = $crate::value::Uint::new(scenario.raw);
                    weights.reset = $crate::harness::Percent::new(scenario.reset);
                    $( weights.$s = scenario.source.clone(); )*
                    $( weights.$k = scenario.sink.clone(); )*
                    $crate::harness::Scenario::new(scenario.name, scenario.about, weights)
                };
                all.into_iter().map(scenario).collect()
            }

            fn traffic(
                &self,
                _parameters: &$crate::harness::Parameters,
                packets: u32,
                rng: &mut $crate::harness::CaseRng,
            ) -> Traffic {
                let names: &[&str] = &[$( stringify!($s) ),*];
                let sources = names.len();
                let mut traffic =
                    Traffic { noise: $crate::harness::Draw::bits(rng), ..Traffic::default() };
                if CLOCKS > 0 {
                    let timing = $crate::harness::clocks::ClockTiming::draw::<CLOCKS>(rng);
                    traffic.clocks = timing.to_vec();
                }
                $(
                    let _: &[&str] = &[$( stringify!($vp) ),+];
                    traffic.settings = $crate::channels::draw_settings(
                        self.settings, self.longest_setting, rng,
                    );
                )?
                for _ in 0..packets {
                    let chosen = $crate::channels::choose(sources, rng);
                    let mut _place = 0;
                    $(
                        if chosen == _place {
                            let _among = u64::MAX;
                            $( $( let _among = self.$among.get(); )? )?
                            let lane =
                                $crate::channels::choose_lane($S::LANES as usize, _among, rng);
                            let item = $crate::channel_item!(
                                [self _parameters rng] $S $(drawn by $draw)?
                            );
                            let entry = self.$s.offer(item, self.reset, rng);
                            if let ::core::option::Option::Some(lane) = lane {
                                $crate::channels::Lanes::list_mut(&mut traffic.$s, lane)
                                    .push(entry);
                            }
                        }
                        _place += 1;
                    )*
                }
                $( traffic.$k = self.$k.stalls(packets, rng); )*
                traffic
            }

            fn raw_pins(
                &self,
                _: &$crate::harness::Parameters,
                packets: u32,
                rng: &mut $crate::harness::CaseRng,
            ) -> ::core::option::Option<::std::vec::Vec<$inputs>> {
                let cycles = $crate::harness::raw_pins::count::<$inputs>(
                    self.raw_cycles_per_packet,
                    packets,
                );
                (cycles > 0).then(|| $crate::channels::raw_pins::<CosimBlock>(cycles, rng))
            }
        }

        /// Coverage of the channels: gap before an item, crossed with its stall.
        #[derive(Debug, Default)]
        #[allow(non_snake_case)]
        pub struct Coverage {
            $( $s: [$crate::channels::ChannelSampler; { $S::LANES as usize }], )*
            $( $k: $crate::channels::ChannelSampler, )*
        }

        impl Coverage {
            const CHANNELS: &'static [$crate::harness::Covergroup] = &[
                $(
                    $crate::harness::Covergroup::new(
                        stringify!($s),
                        "items into the block: gap before the item, and its stall",
                        &[$crate::channels::GAP, $crate::channels::STALL],
                    )
                    .unless(|at, _| {
                        $crate::channels::without_ready(stringify!($($sr)? $($sn)?), at)
                    }),
                )*
                $(
                    $crate::harness::Covergroup::new(
                        stringify!($k),
                        "items out of the block: gap before the item, and its stall",
                        &[$crate::channels::GAP, $crate::channels::STALL],
                    )
                    .unless(|at, _| {
                        $crate::channels::without_ready(stringify!($($kr)? $($kn)?), at)
                    })
                    $( .unless($unreachable) )?,
                )*
            ];
        }

        impl<CosimBlock> $crate::harness::Coverage<CosimBlock> for Coverage
        where
            CosimBlock: $crate::harness::Block<
                Inputs = $inputs,
                Outputs = $outputs,
            >,
        {
            const GROUPS: &'static [$crate::harness::Covergroup] = Self::CHANNELS;

            fn new(_: &$crate::harness::Parameters) -> Self {
                Self::default()
            }

            #[inline]
            fn after(
                &mut self,
                edge: &$crate::harness::Edge<'_, CosimBlock>,
                bins: &mut $crate::harness::Bins<'_>,
            ) {
                let (inputs, outputs) = (edge.inputs, edge.outputs);
                let in_reset = in_reset(inputs);
                $(
                    let place =
                        const { $crate::harness::Place::<2>::of(Self::CHANNELS, stringify!($s)) };
                    if in_reset || $S::is_clocked(inputs) {
                        let (valid, ready) = ($S::valids(inputs), $S::readies(outputs));
                        for (lane, sampler) in self.$s.iter_mut().enumerate() {
                            let [valid, ready] = [valid, ready].map(|all| all >> lane & 1 == 1);
                            let hit = sampler.clock(in_reset, valid, ready);
                            if let ::core::option::Option::Some(hit) = hit {
                                bins.hit(place.bin(hit));
                            }
                        }
                    }
                )*
                $(
                    let place =
                        const { $crate::harness::Place::<2>::of(Self::CHANNELS, stringify!($k)) };
                    let (valid, ready) = ($K::is_valid(outputs), $K::is_ready(inputs));
                    if in_reset || $K::is_clocked(inputs) {
                        let hit = self.$k.clock(in_reset, valid, ready);
                        if let ::core::option::Option::Some(hit) = hit {
                            bins.hit(place.bin(hit));
                        }
                    }
                )*
            }
        }
    };
}
