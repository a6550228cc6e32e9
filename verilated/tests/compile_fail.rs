//! What safe code must not be able to write.

#[test]
fn what_would_be_undefined_does_not_compile() {
    trybuild::TestCases::new().compile_fail("tests/compile_fail/*.rs");
}
