// Who says what a struct's bytes mean answers for it.
#[derive(Clone, Copy, Default, zerocopy::IntoBytes, zerocopy::Immutable, zerocopy::KnownLayout)]
#[repr(C)]
struct Mine([u8; 8]);

impl verilated::Pins for Mine {
    const PORTS: &'static [verilated::Port] = &[];
}

fn main() {}
