//! Names in Verilog text.

/// The keywords of Verilog and SystemVerilog (IEEE 1800-2017).
const KEYWORDS: &str = "accept_on alias always always_comb always_ff always_latch and assert assign assume automatic \
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle checker class clocking \
    cmos config const constraint context continue cover covergroup coverpoint cross deassign default defparam design \
    disable dist do edge else end endcase endchecker endclass endclocking endconfig endfunction endgenerate endgroup \
    endinterface endmodule endpackage endprimitive endprogram endproperty endspecify endsequence endtable endtask enum \
    event eventually expect export extends extern final first_match for force foreach forever fork forkjoin function \
    generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins implements implies import incdir include \
    initial inout input inside instance int integer interconnect interface intersect join join_any join_none large let \
    liblist library local localparam logic longint macromodule matches medium modport module nand negedge nettype new \
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos posedge primitive \
    priority program property protected pull0 pull1 pulldown pullup pulsestyle_ondetect pulsestyle_onevent pure rand \
    randc randcase randsequence rcmos real realtime ref reg reject_on release repeat restrict return rnmos rpmos rtran \
    rtranif0 rtranif1 s_always s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal \
    showcancelled signed small soft solve specify specparam static string strong strong0 strong1 struct super supply0 \
    supply1 sync_accept_on sync_reject_on table tagged task this throughout time timeprecision timeunit tran tranif0 \
    tranif1 tri tri0 tri1 triand trior trireg type typedef union unique unique0 unsigned until until_with untyped use \
    uwire var vectored virtual void wait wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor";

/// Whether a name is a keyword, and so needs an escape.
pub fn is_keyword(name: &str) -> bool {
    KEYWORDS.split_whitespace().any(|keyword| keyword == name)
}

fn is_plain(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}

/// A name of letters, digits and `_`; other characters become `_`.
pub fn plain(name: &str) -> String {
    name.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect()
}

/// A name of the RTL as an identifier, escaped where it has to be. An escaped identifier contains
/// the printable characters of ASCII only; others cannot be in a name, and become `_`.
pub fn name(name: &str) -> String {
    let begins = name.starts_with(|letter: char| letter.is_ascii_alphabetic() || letter == '_');
    if begins && name.chars().all(is_plain) && !is_keyword(name) {
        return name.to_owned();
    }
    let printable = |letter: char| if letter.is_ascii_graphic() { letter } else { '_' };
    format!("\\{} ", name.chars().map(printable).collect::<String>())
}

/// The text of a type, such as `logic [7:0]` or `package::type [1:0]`.
pub fn type_text(text: &str) -> String {
    let Some((package, rest)) = text.split_once("::") else { return text.to_owned() };
    let end = rest.find(|letter| !is_plain(letter)).unwrap_or(rest.len());
    let (kind, ranges) = rest.split_at(end);
    format!("{}::{}{ranges}", name(package), name(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::tests::names as hostile_names;

    #[test]
    fn names_are_escaped_where_they_have_to_be() {
        for (given, expected) in [
            ("a", "a"),
            ("_a0", "_a0"),
            ("use", "\\use "),
            ("a+b", "\\a+b "),
            ("0", "\\0 "),
            ("a b\n", "\\a_b_ "),
        ] {
            assert_eq!(name(given), expected);
        }
        for (given, expected) in [
            ("logic [7:0]", "logic [7:0]"),
            ("p::t [1:0][2:0]", "p::t [1:0][2:0]"),
            ("p::use [1:0]", "p::\\use  [1:0]"),
        ] {
            assert_eq!(type_text(given), expected);
        }
    }

    /// An escaped identifier ends at white space.
    #[test]
    fn no_name_ends_an_identifier_early() {
        for given in hostile_names() {
            let escaped = name(&given);
            let inner =
                escaped.strip_prefix('\\').map_or(escaped.as_str(), |rest| &rest[..rest.len() - 1]);
            assert!(inner.chars().all(|letter| letter.is_ascii_graphic()), "{given:?}");
            assert!(plain(&given).chars().all(is_plain), "{given:?}");
        }
    }
}
