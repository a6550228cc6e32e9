//! The registers, from SystemRDL 2.0 and the documentation of PeakRDL-regblock.
//!
//! A bit is open while the documentation does not define its value. `README.md` lists when.

use crate::rtl::Outputs;
use crate::types::{HwifIn, HwifOut};
use cosim_core::harness::{Rule, RuleSet};
use cosim_core::value::Uint;

/// Registers without a field that software writes.
const READ_ONLY: [u64; 2] = [0x04, 0x10];
/// The first address behind the registers.
const END: u64 = 0x28;

/// Bits that something writes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bits {
    /// Their values.
    pub value: u32,
    /// Which bits are written.
    pub mask: u32,
}

/// An access of software.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    /// The byte address of the register.
    pub address: u64,
    /// What it writes; none for a read.
    pub write: Option<Bits>,
}

impl Access {
    /// The access of a cycle, on the internal CPU interface.
    pub fn from_outputs(outputs: &Outputs) -> Option<Self> {
        let bits = Bits {
            value: outputs.cpuif_wr_data.get() as u32,
            mask: outputs.cpuif_wr_biten.get() as u32,
        };
        outputs.cpuif_access.is_high().then(|| Self {
            address: outputs.cpuif_addr.get(),
            write: outputs.cpuif_is_write.is_high().then_some(bits),
        })
    }

    /// Whether the access is legal; otherwise it changes nothing and its response is an error.
    pub fn is_legal(&self) -> bool {
        self.address < END && !(self.write.is_some() && READ_ONLY.contains(&self.address))
    }

    fn reads(&self, address: u64) -> bool {
        self.address == address && self.write.is_none()
    }

    /// Whether it writes a bit: open if its strobe is 0.
    fn writes(&self, address: u64, bit: u32) -> Field {
        match self.write.filter(|_| self.address == address) {
            Some(bits) => Field::bit(true, bits.mask >> bit & 1 == 0),
            None => Field::bit(false, false),
        }
    }
}

/// The value of a field.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Field {
    /// The value.
    pub value: u32,
    /// The bits that are open.
    pub open: u32,
}

impl Field {
    fn bit(value: bool, open: bool) -> Self {
        Self { value: value.into(), open: open.into() }
    }

    fn set(&mut self, Bits { value, mask }: Bits) {
        self.value = self.value & !mask | value & mask;
        self.open &= !mask;
    }

    /// The rising edge. Software has precedence by default.
    fn clock(&mut self, software: Option<Bits>, hardware: Bits, hardware_wins: bool) {
        let before = *self;
        let Some(software) = software else { return self.set(hardware) };
        self.set(software);
        if hardware_wins {
            self.set(hardware);
        } else {
            let contested = hardware.mask & !software.mask;
            self.open |= contested & (before.open | before.value ^ hardware.value);
        }
    }
}

/// What a write of software does (SystemRDL, `onwrite`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OnWrite {
    /// It replaces the value.
    Replace,
    /// `woclr`.
    OneClears,
    /// `woset`.
    OneSets,
    /// `wot`.
    OneToggles,
    /// `wzc`.
    ZeroClears,
}

/// A field of `regblock.rdl`.
#[derive(Debug, Clone, Copy)]
struct Spec {
    address: u64,
    lsb: u32,
    width: u32,
    reset: Option<u32>,
    on_write: Option<OnWrite>,
    /// The value that a read sets, if it sets one (`onread`).
    on_read: Option<u32>,
    /// `precedence = hw`.
    hardware_wins: bool,
    /// Whether hardware changes it.
    has_hardware: bool,
}

const fn field(address: u64, msb: u32, lsb: u32) -> Spec {
    let (width, reset, on_write, on_read) = (msb - lsb + 1, Some(0), None, None);
    let (hardware_wins, has_hardware) = (false, false);
    Spec { address, lsb, width, reset, on_write, on_read, hardware_wins, has_hardware }
}

impl Spec {
    const fn reset(self, value: u32) -> Self {
        Self { reset: Some(value), ..self }
    }

    const fn no_reset(self) -> Self {
        Self { reset: None, ..self }
    }

    const fn write(self, on_write: OnWrite) -> Self {
        Self { on_write: Some(on_write), ..self }
    }

    const fn read_sets(self, value: u32) -> Self {
        Self { on_read: Some(value), ..self }
    }

    const fn hardware(self) -> Self {
        Self { has_hardware: true, ..self }
    }

    const fn hardware_wins(self) -> Self {
        Self { hardware_wins: true, has_hardware: true, ..self }
    }

    const fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.width)
    }

    /// What an access does to the field; none if it does not touch it.
    fn software(&self, access: Option<Access>, before: u32) -> Option<Bits> {
        let access = access.filter(|access| access.address == self.address && access.is_legal())?;
        let Some(write) = access.write else {
            return self.on_read.map(|value| Bits { value, mask: self.mask() });
        };
        let mask = write.mask >> self.lsb & self.mask();
        let data = write.value >> self.lsb;
        Some(match self.on_write? {
            OnWrite::Replace => Bits { value: data, mask },
            OnWrite::OneClears => Bits { value: 0, mask: mask & data },
            OnWrite::OneSets => Bits { value: u32::MAX, mask: mask & data },
            OnWrite::OneToggles => Bits { value: !before, mask: mask & data },
            OnWrite::ZeroClears => Bits { value: 0, mask: mask & !data },
        })
    }
}

/// Declares the fields, each with the pin that shows its value, and three rules for each: software
/// changes it, hardware, or both.
macro_rules! fields {
    ($( $name:ident $($pin:ident)? = $spec:expr, )*) => {
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        enum Name { $( $name, )* }

        const NAMES: &[Name] = &[$( Name::$name ),*];
        const SPECS: [Spec; NAMES.len()] = [$( $spec ),*];

        /// The rules: for each field, who changes it in a cycle.
        pub const RULES: &[Rule] = &[$(
            Rule { name: concat!(stringify!($name), "-software"), meaning: "an access alone" },
            Rule { name: concat!(stringify!($name), "-hardware"), meaning: "hardware alone" },
            Rule { name: concat!(stringify!($name), "-both"), meaning: "an access and hardware" },
        )*];

        impl Registers {
            fn values(&self, hw: &HwifIn, part: fn(Field) -> u32) -> HwifOut {
                HwifOut {
                    $($( $pin: Uint::new(part(self.get(hw, Name::$name)).into()), )?)*
                    ..HwifOut::default()
                }
            }
        }
    };
}

fields! {
    Enable control_enable_value = field(0x00, 0, 0).write(OnWrite::Replace),
    Start control_start_value = field(0x00, 1, 1).write(OnWrite::Replace),
    Mode control_mode_value = field(0x00, 7, 4).reset(3).write(OnWrite::Replace).hardware(),
    Limit control_limit_value = field(0x00, 15, 8).reset(0x80).write(OnWrite::Replace).hardware_wins(),
    Locked control_locked_value = field(0x00, 23, 16).write(OnWrite::Replace),
    Load = field(0x04, 7, 0),
    Code status_code_value = field(0x04, 15, 8).no_reset().hardware(),
    Version = field(0x04, 31, 24).reset(0x5a),
    Scratch scratch_value_value = field(0x08, 31, 0).no_reset().write(OnWrite::Replace),
    Done flags_done_value = field(0x0c, 0, 0).write(OnWrite::OneClears).hardware(),
    Armed flags_armed_value = field(0x0c, 1, 1).write(OnWrite::OneSets).hardware(),
    Toggle flags_toggle_value = field(0x0c, 5, 2).reset(9).write(OnWrite::OneToggles),
    Seen flags_seen_value = field(0x0c, 6, 6).write(OnWrite::Replace).read_sets(0).hardware(),
    Idle flags_idle_value = field(0x0c, 7, 7).reset(1).write(OnWrite::Replace).read_sets(1)
        .hardware(),
    Stopped flags_stopped_value = field(0x0c, 8, 8).write(OnWrite::ZeroClears).hardware(),
    Events counters_events_value = field(0x10, 7, 0).read_sets(0).hardware(),
    Credits counters_credits_value = field(0x10, 15, 8).reset(16).hardware(),
    Budget counters_budget_value = field(0x10, 23, 16).reset(20).hardware(),
    Alarm interrupts_alarm_value = field(0x14, 0, 0).write(OnWrite::OneClears).hardware(),
    Rise interrupts_rise_value = field(0x14, 1, 1).write(OnWrite::OneClears).hardware(),
    Change interrupts_change_value = field(0x14, 3, 2).write(OnWrite::OneClears).hardware(),
    Live interrupts_live_value = field(0x14, 4, 4).hardware(),
    Cause interrupts_cause_value = field(0x14, 11, 8).write(OnWrite::OneClears).hardware(),
    EnableAlarm enables_alarm_value = field(0x18, 0, 0).write(OnWrite::Replace),
    EnableRise enables_rise_value = field(0x18, 1, 1).write(OnWrite::Replace),
    EnableChange enables_change_value = field(0x18, 3, 2).write(OnWrite::Replace),
    EnableLive enables_live_value = field(0x18, 4, 4).write(OnWrite::Replace),
    MaskCause masks_cause_value = field(0x1c, 11, 8).write(OnWrite::Replace),
    Threshold0 channel_0_threshold_value = field(0x20, 7, 0).write(OnWrite::Replace),
    Active0 channel_0_active_value = field(0x20, 8, 8).write(OnWrite::Replace).hardware(),
    Sample0 = field(0x20, 23, 16).hardware(),
    Threshold1 channel_1_threshold_value = field(0x24, 7, 0).write(OnWrite::Replace),
    Active1 channel_1_active_value = field(0x24, 8, 8).write(OnWrite::Replace).hardware(),
    Sample1 = field(0x24, 23, 16).hardware(),
}

/// Why nothing hits a rule.
pub fn unreachable(rule: usize) -> Option<String> {
    let spec = &SPECS[rule / 3];
    let has_software = spec.on_write.is_some() || spec.on_read.is_some();
    match rule % 3 {
        0 | 2 if !has_software => Some("software does not change the field".to_owned()),
        1 | 2 if !spec.has_hardware => Some("hardware does not change the field".to_owned()),
        _ => None,
    }
}

/// Outputs that depend on the access of the cycle.
#[derive(Debug, Clone, Copy)]
pub struct Strobes {
    enable_swmod: Field,
    load_swacc: Field,
    seen_swmod: Field,
    /// Whether a read clears the counter of events in this cycle.
    clears_events: Field,
}

impl Strobes {
    /// Those of an access, or of a cycle without one.
    pub fn for_access(access: Option<Access>) -> Self {
        let access = access.filter(Access::is_legal);
        let reads = |address| Field::bit(access.is_some_and(|it| it.reads(address)), false);
        let writes = |address, bit| access.map_or(Field::default(), |it| it.writes(address, bit));
        let (is_read, is_written) = (reads(0x0c), writes(0x0c, 6));
        Self {
            enable_swmod: writes(0x00, 0),
            load_swacc: reads(0x04),
            seen_swmod: if is_read.value == 1 { is_read } else { is_written },
            clears_events: reads(0x10),
        }
    }

    /// Those of a cycle in which an access may take place.
    pub fn open() -> Self {
        let open = Field::bit(false, true);
        Self { enable_swmod: open, load_swacc: open, seen_swmod: open, clears_events: open }
    }
}

/// All registers.
#[derive(Debug, Clone)]
pub struct Registers {
    fields: [Field; SPECS.len()],
    /// 1 if an increment met the read that cleared the counter of events: it may be lost or not.
    uncertain_event: u32,
    /// The inputs of the cycle before, and whether it was in reset.
    before: HwifIn,
    was_reset: bool,
}

fn high(bit: Uint<1>) -> bool {
    bit.get() == 1
}

fn number<const WIDTH: u32>(bits: Uint<WIDTH>) -> u32 {
    bits.get() as u32
}

/// All bits of a field, or none.
fn bits_if(condition: bool, value: u32) -> Bits {
    Bits { value, mask: if condition { u32::MAX } else { 0 } }
}

/// `hwset` wins over `hwclr`.
fn set_or_clear(set: bool, clear: bool) -> Bits {
    bits_if(set || clear, if set { u32::MAX } else { 0 })
}

impl Registers {
    /// Registers after reset.
    pub fn new() -> Self {
        let field = |spec: &Spec| match spec.reset {
            Some(value) => Field { value, open: 0 },
            None => Field { value: 0, open: spec.mask() },
        };
        let (before, was_reset) = (HwifIn::default(), true);
        Self { fields: SPECS.each_ref().map(field), uncertain_event: 0, before, was_reset }
    }

    /// A field in this cycle.
    fn get(&self, hw: &HwifIn, name: Name) -> Field {
        match name {
            // A field without storage: software samples the input.
            Name::Load => Field { value: number(hw.status_load_next), open: 0 },
            // An interrupt that is not sticky follows its input, at once or in the next cycle.
            Name::Live => Field {
                open: number(hw.interrupts_live_next) ^ self.fields[name as usize].value,
                ..self.fields[name as usize]
            },
            Name::Events => {
                let value = self.fields[name as usize].value;
                Field { value, open: (value ^ (value + self.uncertain_event)) & 0xff }
            }
            _ => self.fields[name as usize],
        }
    }

    /// The bits of each field that hardware changes at the end of the cycle.
    fn hardware(&self, hw: &HwifIn) -> [Bits; SPECS.len()] {
        let value = |name: Name| self.fields[name as usize].value;
        let mut bits = [Bits::default(); SPECS.len()];
        let mut set = |name: Name, to: Bits| bits[name as usize] = to;
        // A single pulse ends by itself.
        set(Name::Start, bits_if(true, 0));
        set(Name::Mode, bits_if(high(hw.control_mode_we), number(hw.control_mode_next)));
        set(Name::Limit, bits_if(high(hw.control_limit_we), number(hw.control_limit_next)));
        set(Name::Code, bits_if(high(hw.status_code_we), number(hw.status_code_next)));
        set(Name::Done, set_or_clear(high(hw.flags_done_hwset), false));
        set(Name::Armed, set_or_clear(false, high(hw.flags_armed_hwclr)));
        set(Name::Seen, set_or_clear(high(hw.flags_seen_hwset), high(hw.flags_seen_hwclr)));
        set(Name::Idle, set_or_clear(false, high(hw.flags_idle_hwclr)));
        set(Name::Stopped, set_or_clear(high(hw.flags_stopped_hwset), false));
        set(Name::Events, bits_if(high(hw.counters_events_incr), value(Name::Events) + 1));
        let up = number(hw.counters_credits_incr) * number(hw.counters_credits_incrvalue);
        let down = number(hw.counters_credits_decr) * number(hw.counters_credits_decrvalue);
        let credits = value(Name::Credits).wrapping_add(up).wrapping_sub(down);
        set(Name::Credits, bits_if(up | down != 0, credits));
        let budget = value(Name::Budget).saturating_sub(1);
        set(Name::Budget, bits_if(high(hw.counters_budget_decr), budget));
        let one = u32::MAX;
        let (now, before) = (hw, &self.before);
        set(Name::Alarm, Bits { value: one, mask: number(now.interrupts_alarm_next) });
        let rise = number(now.interrupts_rise_next) & !number(before.interrupts_rise_next);
        set(Name::Rise, Bits { value: one, mask: rise });
        let change = number(now.interrupts_change_next) ^ number(before.interrupts_change_next);
        set(Name::Change, Bits { value: one, mask: change });
        set(Name::Live, bits_if(true, number(now.interrupts_live_next)));
        // A sticky field takes a value if it holds none.
        let cause = number(now.interrupts_cause_next);
        set(Name::Cause, bits_if(value(Name::Cause) == 0 && cause != 0, cause));
        let [(set0, clear0), (set1, clear1)] = [
            (hw.channel_0_active_hwset, hw.channel_0_active_hwclr),
            (hw.channel_1_active_hwset, hw.channel_1_active_hwclr),
        ];
        set(Name::Active0, set_or_clear(high(set0), high(clear0)));
        set(Name::Active1, set_or_clear(high(set1), high(clear1)));
        set(Name::Sample0, bits_if(high(hw.channel_0_sample_we), number(hw.channel_0_sample_next)));
        set(Name::Sample1, bits_if(high(hw.channel_1_sample_we), number(hw.channel_1_sample_next)));
        for (bits, spec) in bits.iter_mut().zip(&SPECS) {
            bits.mask &= spec.mask();
            bits.value &= spec.mask();
        }
        bits
    }

    /// The rising edge. Returns the rules.
    pub fn clock(&mut self, in_reset: bool, hw: &HwifIn, access: Option<Access>) -> RuleSet {
        let mut rules = 0_u128;
        let hardware = self.hardware(hw);
        if in_reset || access.is_some_and(|access| access.reads(0x10)) {
            self.uncertain_event = number(hw.counters_events_incr) & u32::from(!in_reset);
        }
        // Of a sticky value with open bits, it is open whether the input replaces it.
        let cause = &mut self.fields[Name::Cause as usize];
        if cause.value & !cause.open == 0 {
            cause.open |= if cause.open == 0 { 0 } else { number(hw.interrupts_cause_next) };
        }
        for (index, (field, spec)) in self.fields.iter_mut().zip(&SPECS).enumerate() {
            let is_locked = index == Name::Locked as usize && !high(hw.control_locked_swwe);
            let software = spec.software(access.filter(|_| !is_locked), field.value);
            let hardware = hardware[index];
            if !in_reset {
                field.clock(software, hardware, spec.hardware_wins);
                let has_hardware = spec.has_hardware && hardware.mask != 0;
                let who = match (software.is_some(), has_hardware) {
                    (true, false) => 1,
                    (false, true) => 2,
                    (true, true) => 4,
                    (false, false) => 0,
                };
                rules |= who << (3 * index);
            } else if let Some(value) = spec.reset {
                *field = Field { value, open: 0 };
            } else if software.is_some() || hardware.mask != 0 {
                // Nothing says what a field without reset does in reset.
                field.open = spec.mask();
            }
        }
        // Nothing says which value before the end of a reset an edge counts from: that of the input
        // or 0.
        if self.was_reset && !in_reset {
            let before = &self.before;
            let rise = number(before.interrupts_rise_next) & number(hw.interrupts_rise_next);
            self.fields[Name::Rise as usize].open |= rise;
            let change = number(before.interrupts_change_next);
            self.fields[Name::Change as usize].open |= change;
        }
        (self.before, self.was_reset) = (*hw, in_reset);
        RuleSet::from_bits(rules)
    }

    /// The value of a register for software.
    pub fn read(&self, hw: &HwifIn, address: u64) -> Field {
        let mut word = Field::default();
        for (name, spec) in NAMES.iter().zip(&SPECS) {
            if spec.address == address {
                let field = self.get(hw, *name);
                word.value |= field.value << spec.lsb;
                word.open |= field.open << spec.lsb;
            }
        }
        word
    }

    /// The outputs. `part` selects values or open bits.
    pub fn outputs(&self, hw: &HwifIn, strobes: &Strobes, part: fn(Field) -> u32) -> HwifOut {
        macro_rules! pin {
            ($bits:expr) => {
                Uint::new(u64::from(part($bits)))
            };
        }
        let get = |name: Name| self.get(hw, name);
        let known = |value: bool| Field::bit(value, false);
        let [toggle, events] = [Name::Toggle, Name::Events].map(|name| get(name).value);
        let [credits, budget] = [Name::Credits, Name::Budget].map(|name| get(name).value);
        let other = (events + self.uncertain_event) & 0xff;
        let many = Field::bit(events >= 200, (events >= 200) != (other >= 200));
        let is_counting = high(hw.counters_events_incr);
        let may_wrap = is_counting && (events == 0xff || other == 0xff);
        // A read in the same cycle may prevent the wrap.
        let may_clear = strobes.clears_events.value | strobes.clears_events.open == 1;
        let overflow = Field::bit(may_wrap, may_wrap && (may_clear || events != other));
        let (up, down) = (high(hw.counters_credits_incr), high(hw.counters_credits_decr));
        let [up_by, down_by] =
            [hw.counters_credits_incrvalue, hw.counters_credits_decrvalue].map(number);
        // Both at once may wrap or not.
        let credits_over = Field::bit(up && credits + up_by > 0xff, up && down);
        let credits_under = Field::bit(down && credits < down_by, up && down);
        let causes = [
            (get(Name::Alarm), get(Name::EnableAlarm).value),
            (get(Name::Rise), get(Name::EnableRise).value),
            (get(Name::Change), get(Name::EnableChange).value),
            (get(Name::Live), get(Name::EnableLive).value),
            (get(Name::Cause), !get(Name::MaskCause).value),
        ];
        let is_on = causes.iter().any(|(field, enable)| field.value & !field.open & enable != 0);
        let may_be_on = causes.iter().any(|(field, enable)| field.open & enable != 0);
        let intr = Field::bit(is_on, !is_on && may_be_on);
        HwifOut {
            control_enable_swmod: pin!(strobes.enable_swmod),
            status_load_swacc: pin!(strobes.load_swacc),
            flags_toggle_anded: pin!(known(toggle == 0xf)),
            flags_toggle_ored: pin!(known(toggle != 0)),
            flags_toggle_xored: pin!(known(toggle.count_ones() % 2 == 1)),
            flags_seen_swmod: pin!(strobes.seen_swmod),
            counters_events_overflow: pin!(overflow),
            counters_events_incrthreshold: pin!(many),
            counters_credits_overflow: pin!(credits_over),
            counters_credits_underflow: pin!(credits_under),
            counters_budget_decrthreshold: pin!(known(budget <= 4)),
            interrupts_intr: pin!(intr),
            ..self.values(hw, part)
        }
    }
}
