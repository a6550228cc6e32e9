//! The declaration of a block from its parts.

/// Declares a block whose pins [`channels!`](crate::channels) declares in the same module, and its
/// [`Explain`](crate::harness::Explain).
///
/// ```ignore
/// cosim_core::channel_block! {
///     /// The block.
///     pub Fifo = "fifo": "FIFO of one clock";
///     parameter DEPTH = 4 in 1..=64, "items";
///     profile "four" { DEPTH = 4 }
///     profile "one" { DEPTH = 1 }
///     golden golden::Golden;
///     scoreboard scoreboard::Scoreboard;
///     coverage Coverage;
/// }
/// ```
///
/// The module `rtl` has the pins. Each parameter is a constant with its index. `states "REGISTER":
/// NAMES;`, at the end, names the state register of the RTL and its codes. A block whose golden
/// model has don't-cares, clocks of its own or transaction outputs implements
/// [`Block`](crate::harness::Block) itself.
#[macro_export]
macro_rules! channel_block {
    (
        $(#[$meta:meta])* pub $block:ident = $name:literal: $title:literal;
        $( parameter $parameter:ident = $default:literal in $legal:expr, $about:literal; )*
        $( profile $profile:literal { $( $set:ident = $value:literal ),* } )+
        golden $golden:ty;
        scoreboard $scoreboard:ty;
        coverage $coverage:ty;
        $( states $register:literal: $states:expr; )?
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy)]
        pub struct $block;

        /// The places of the parameters.
        #[allow(non_camel_case_types, dead_code)]
        enum Place { $( $parameter, )* }

        $(
            #[doc = $about]
            pub const $parameter: usize = Place::$parameter as usize;
        )*

        impl $crate::harness::Block for $block {
            const NAME: &'static str = $name;
            const TITLE: &'static str = $title;
            const RTL: $crate::harness::LinkedRtl<rtl::Inputs, rtl::Outputs> = rtl::RTL;
            const PARAMETERS: &'static [$crate::harness::Parameter] = &[$(
                $crate::harness::Parameter::new(stringify!($parameter), $default, $legal, $about)
            ),*];
            const PROFILES: &'static [$crate::harness::Profile] = &[$(
                $crate::harness::Profile::new(
                    $profile,
                    $crate::harness::Parameters::of::<Self>(0) $( .with($set, $value) )*,
                )
            ),+];
            $( const STATE_REGISTER: ::core::option::Option<&'static str> = ::core::option::Option::Some($register); )?

            type Inputs = rtl::Inputs;
            type Outputs = rtl::Outputs;
            type Golden = $golden;
            type Traffic = Traffic;
            type Environment<'a> = Environment<'a>;
            type Scoreboard<'a> = $scoreboard;
            type Weights = Weights;
            type Coverage = $coverage;

            fn properties(_: &$crate::harness::Parameters) -> $crate::harness::Properties {
                channel_properties()
            }
        }

        impl $crate::harness::Explain for $block {
            fn state_name(_code: u64) -> ::core::option::Option<&'static str> {
                let names: &[&'static str] = &[];
                $( let names = [names, &$states].concat(); )?
                names.get(_code as usize).copied()
            }

            fn words(
                channel: &str,
                inputs: &rtl::Inputs,
                outputs: &rtl::Outputs,
            ) -> ::core::option::Option<::std::string::String> {
                channel_words(channel, inputs, outputs)
            }

            fn in_flight(environment: &Environment<'_>) -> ::std::vec::Vec<::std::string::String> {
                environment.in_flight()
            }
        }
    };
}
