mod more_pairs;
mod pairs;

use super::*;
use crate::elaborate::Description;
use more_pairs::{EXPRESSIONS, NETS, SCOPE};
use pairs::{FUNCTIONS, PROCESSES, Pair, START};
use std::fs;
use tempfile::TempDir;

/// The ports of the module of a test.
const PORTS: &str = "input wire clk, input wire rst, input wire go, input wire [7:0] a, \
                     input wire [7:0] b, output logic [7:0] y";

/// The reasons why a module with this text, and these modules before it, may not be proved.
fn reasons(before: &str, text: &str) -> Vec<Unprovable> {
    examined(before, text).unwrap()
}

/// Whether such a module is refused, by Verilator itself if not before.
fn is_refused(before: &str, text: &str) -> bool {
    match examined(before, text) {
        Ok(found) => !found.is_empty() && found.iter().all(|one| one.place.is_some()),
        Err(error) => matches!(error, Error::Verilate { .. }),
    }
}

fn examined(before: &str, text: &str) -> Result<Vec<Unprovable>, Error> {
    let folder = TempDir::new().unwrap();
    fs::write(
        folder.path().join("t.sv"),
        format!("{before}\nmodule t({PORTS});\n{text}\nendmodule\n"),
    )
    .unwrap();
    let design = Design {
        top: "t".to_owned(),
        sources: vec!["t.sv".into()],
        folder: Some(folder.path().to_owned()),
        ..Design::default()
    };
    let verilator = Verilator::find().unwrap();
    design.unprovable(&verilator, &folder.path().join("out"))
}

/// Checks each pair.
fn check(pairs: &[Pair]) {
    for Pair { line, before, refused, accepted } in pairs {
        let found = reasons(before, accepted);
        assert!(found.is_empty(), "{line}: {accepted}\n{found:#?}");
        assert!(is_refused(before, refused), "{line}: {refused}");
    }
}

#[test]
fn processes_are_those_of_edges_or_of_all_that_is_read() {
    check(PROCESSES);
}

#[test]
fn functions_keep_nothing_and_set_nothing_outside() {
    check(FUNCTIONS);
}

#[test]
fn nets_have_one_driver_for_each_bit() {
    check(NETS);
}

#[test]
fn expressions_have_two_states_and_indices_in_range() {
    check(EXPRESSIONS);
}

#[test]
fn references_stay_in_their_module() {
    check(SCOPE);
}

#[test]
fn initial_values_are_constant() {
    check(START);
}

#[test]
fn reasons_have_their_place_once_and_in_order() {
    let text = "wire w;\nassign y[3:0] = {w, go, w, 1'bz};\n\
                always @* for (int i = 4; i < 8; i++) y[i] = a[b];\n";
    let found = reasons("", text);
    let at = |line, column| Some((PathBuf::from("t.sv"), line, column));
    let places: Vec<_> = found.iter().map(|one| one.place.clone()).collect();
    // Both reads of the undriven net, Z, and the index once.
    assert_eq!(places, [at(4, 18), at(4, 25), at(4, 28), at(5, 47)], "{found:#?}");
    assert_eq!(reasons("", text), found);
    let many = (0..40).map(|number| format!("wire w{number} = 1'bz;\n")).collect::<String>();
    assert_eq!(reasons("", &format!("{many}assign y = a;")).len(), MOST);
}

/// The shape of newer Verilators, which may have nodes that are not on the list.
#[test]
fn nodes_of_other_versions_are_refused_with_their_place() {
    let examined = |statement: &str| {
        let var = |id: &str, name: &str, direction: &str| {
            format!(
                r#"{{"type":"VAR","name":"{name}","addr":"({id})","loc":"e,1:1,1:2",
                "dtypep":"(T)","direction":"{direction}"}}"#
            )
        };
        let (a, y) = (var("A", "a", "INPUT"), var("Y", "y", "OUTPUT"));
        let tree = format!(
            r#"{{"modulesp":[{{"type":"MODULE","name":"t","addr":"(M)","loc":"e,1:1,1:2","level":1,
            "stmtsp":[{a},{y},{{"type":"ALWAYS","loc":"e,2:1,2:7","keyword":"always_comb",
            "stmtsp":[{statement}]}}]}}],"miscsp":[{{"type":"CONSTPOOL"}},{{"type":"TYPETABLE",
            "typesp":[{{"type":"BASICDTYPE","addr":"(T)","name":"logic"}}]}}]}}"#
        );
        let meta = r#"{"files":{"a":{"filename":"<built-in>"},"e":{"filename":"t.sv"}}}"#;
        let description = Description::Json { tree, meta: meta.to_owned() };
        with_tree(&description, |tree| in_tree(tree, &Texts::default())).unwrap()
    };
    let reference = |id: &str, name: &str| {
        format!(
            r#"{{"type":"VARREF","name":"{name}","loc":"e,3:9,3:10","dtypep":"(T)",
            "varp":"({id})"}}"#
        )
    };
    let assign = |value: &str| {
        let y = reference("Y", "y");
        format!(r#"{{"type":"ASSIGN","loc":"e,3:5,3:6","rhsp":[{value}],"lhsp":[{y}]}}"#)
    };
    let operator = |kind: &str| {
        let a = reference("A", "a");
        format!(r#"{{"type":"{kind}","loc":"e,3:7,3:8","dtypep":"(T)","lhsp":[{a}]}}"#)
    };
    assert_eq!(examined(&assign(&operator("NOT"))), []);
    let place = Some((PathBuf::from("t.sv"), 3, 7));
    for kind in ["NEVERSEEN", "CEXPRUSER", "ITORD"] {
        let found = examined(&assign(&operator(kind)));
        assert!(matches!(&found[..], [one] if one.place == place), "{found:?}");
    }
    // The name is in the scope, but another variable is meant.
    let found = examined(&assign(&reference("Z", "a")));
    assert_eq!(found.len(), 1, "{found:?}");
    for statement in [r#"{"type":"NEVERSEEN","loc":"e,3:7,3:8"}"#, &operator("CSTMTUSER")] {
        let found = examined(&format!("{},{statement}", assign(&operator("NOT"))));
        assert!(matches!(&found[..], [one] if one.place == place), "{found:?}");
    }
}
