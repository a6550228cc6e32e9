// The C++ side of a model points to its context, so no context may leave its model.
fn swap<I: verilated::Pins, O: verilated::Pins>(
    a: &mut verilated::Model<I, O>,
    b: &mut verilated::Model<I, O>,
) {
    std::mem::swap(&mut a.context, &mut b.context);
}

fn main() {}
