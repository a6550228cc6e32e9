//! The fields of items on pins, for the declaration: their types, and how they are read and driven.

use verilated::Port;

/// Does not compile in a constant if an output is not among `known`; the error has its name.
///
/// # Panics
/// If there is such an output.
#[doc(hidden)]
pub const fn check_outputs(ports: &[Port], known: &[&[&str]]) {
    let mut port = 0;
    while port < ports.len() {
        let (mut list, mut is_known) = (0, false);
        while list < known.len() {
            is_known |= crate::harness::has_name(known[list], ports[port].name);
            list += 1;
        }
        if !is_known {
            panic!("{}", ports[port].name);
        }
        port += 1;
    }
}

/// One of two types, by whether something is in the brackets.
#[doc(hidden)]
#[macro_export]
macro_rules! channel_type {
    ([] $otherwise:ty) => {
        $otherwise
    };
    ([lanes $lanes:literal] $list:ty) => {
        [$list; $lanes]
    };
    ([burst $burst:ident] $item:ty) => {
        $burst
    };
    ([vary $($pin:ident)+] $type:ty) => {
        $type
    };
}

/// The type of a field by its bits: a width, or a most and a least significant bit.
#[doc(hidden)]
#[macro_export]
macro_rules! channel_field {
    ($msb:literal [$($lsb:literal)?]) => {
        <$crate::channels::Width<
            { $msb $(- $lsb + 1)? },
            { $crate::channels::words($msb $(- $lsb + 1)?) },
            { $msb $(- $lsb + 1)? > 64 },
        > as $crate::channels::FieldOf>::Value
    };
}

/// Reads, drives or lists the pins of a field: those of a port, or a port for each lane.
#[doc(hidden)]
#[macro_export]
macro_rules! channel_pins {
    (read $lane:expr, $pins:ident: [$pin:ident] [] $msb:literal [$($lsb:literal)?]) => {
        $crate::channels::PortBits::read(
            &$pins.$pin, ($msb $(- $lsb + 1)?) * $lane $(+ $lsb)?,
        )
    };
    (read $lane:expr, $pins:ident: [] [$($pin:ident)+] $width:literal []) => {
        [$( $crate::channels::PortBits::read(&$pins.$pin, 0) ),+][$lane as usize]
    };
    (drive $offers:ident.$field:ident, $noise:expr, $pins:ident:
        [$pin:ident] [] $width:literal []) => {
        let mut port = $pins.$pin;
        $crate::channels::DrivenPort::fill(&mut port, $noise);
        for (lane, offer) in $offers.iter().enumerate() {
            if let ::core::option::Option::Some(item) = offer {
                $crate::channels::PortBits::put(&mut port, $width * lane as u32, item.$field);
            }
        }
        $pins.$pin = port;
    };
    (drive $offers:ident.$field:ident, $noise:expr, $pins:ident:
        [$pin:ident] [] $msb:literal [$lsb:literal]) => {
        let mut port = $pins.$pin;
        $crate::channels::DrivenPort::fill(&mut port, $noise);
        for (lane, offer) in $offers.iter().enumerate() {
            let lsb = $lsb + ($msb - $lsb + 1) * lane as u32;
            let idle = $crate::channels::PortBits::read(&port, lsb);
            let value = offer.as_ref().map_or(idle, |item| item.$field);
            $crate::channels::PortBits::put(&mut $pins.$pin, lsb, value);
        }
    };
    (drive $offers:ident.$field:ident, $noise:expr, $pins:ident:
        [] [$($pin:ident)+] $width:literal []) => {
        let mut offers = $offers.iter();
        $(
            $crate::channels::DrivenPort::fill(&mut $pins.$pin, $noise);
            if let ::core::option::Option::Some(::core::option::Option::Some(item)) = offers.next()
            {
                $crate::channels::PortBits::put(&mut $pins.$pin, 0, item.$field);
            }
        )+
    };
    (uses $lanes:expr, [$pin:ident] [] $width:literal []) => {
        &[$crate::channels::PinUse::whole(stringify!($pin), $width * $lanes)]
    };
    (uses $lanes:expr, [$pin:ident] [] $msb:literal [$lsb:literal]) => {
        &[$crate::channels::PinUse::part(
            stringify!($pin),
            $lsb,
            ($msb - $lsb + 1) * $lanes,
        )]
    };
    (uses $lanes:expr, [] [$($pin:ident)+] $width:literal []) => {{
        let pins: &[$crate::channels::PinUse] =
            &[$( $crate::channels::PinUse::whole(stringify!($pin), $width) ),+];
        assert!(pins.len() == $lanes as usize, "a field has one port for each lane");
        pins
    }};
    // A pin of a handshake: the whole port, or the bits from one on.
    (uses $lanes:expr, $pin:ident) => {
        &[$crate::channels::PinUse::whole(stringify!($pin), $lanes)]
    };
    (uses $lanes:expr, $pin:ident $bit:literal) => {
        &[$crate::channels::PinUse::part(stringify!($pin), $bit, $lanes)]
    };
}

/// Draws an item, or a burst.
#[doc(hidden)]
#[macro_export]
macro_rules! channel_item {
    ([$weights:ident $parameters:ident $rng:ident] $item:ident) => {
        $item::any($rng)
    };
    ([$weights:ident $parameters:ident $rng:ident] $item:ident drawn by $draw:path) => {
        $draw($weights, $parameters, $rng)
    };
}
