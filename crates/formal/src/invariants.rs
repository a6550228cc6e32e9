//! Properties of an RTL that strengthen proofs about it.

use crate::answer::NamedQuery;
use crate::assertions::{Assertions, OUTPUTS};
use crate::monitor::Monitor;
use crate::portfolio::{INDUCTION, SHORT_PROOF};
use cosim_aig::{Aig, Interface, Reads};
use cosim_base::error::Error;
use cosim_harness::harness::{BlockInfo, Parameters};
use cosim_rtl::yosys::YosysSession;

/// Prefix of the outputs that are 1 where an assertion of the block fails.
pub const HELP: &str = "cosim_help_";

/// Whether a cheap proof with a certificate shows that an output of the graph is 0 in every cycle,
/// for any inputs.
///
/// # Errors
/// [`Error::Environment`] if ABC is missing, or [`Error::Interrupted`].
pub fn holds(
    session: &YosysSession,
    aig: &Aig,
    interface: &Interface<'_>,
    output: &str,
) -> Result<bool, Error> {
    for reads in [Reads::Anything, Reads::Word] {
        let Some(query) = aig.property(interface, output, reads) else { continue };
        let named_query = NamedQuery { name: output.to_owned(), query };
        for attempt in [INDUCTION, SHORT_PROOF] {
            let certificate = named_query.run_attempt(session, attempt)?.certificate();
            if certificate.is_some_and(|certificate| certificate.is_there()) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// A monitor of the protocol, if possible with the assertions of `NAME_sva.sv`.
#[derive(Debug)]
pub struct Observer {
    pub monitor: Monitor,
    /// What the outputs that observe offers mean.
    pub offers: Vec<String>,
    /// Yosys commands that connect it to the flat or unflattened RTL, before its text is read.
    pub commands: String,
}

impl Observer {
    /// The observer without assertions.
    pub fn from_protocol(info: &'static BlockInfo, offer: &str) -> Self {
        let (monitor, offers) = Monitor::from_protocol(info, offer, None);
        Self { monitor, offers, commands: String::new() }
    }
}

/// The observer of an RTL whose netlist has this text. Its outputs begin with `offer` and `fails`
/// (see [`Monitor::from_protocol`]). `None` if there are no assertions that fit the RTL.
///
/// # Errors
/// [`Error::Interrupted`], or a file cannot be written.
pub fn observer(
    session: &YosysSession,
    info: &'static BlockInfo,
    parameters: &Parameters,
    netlist: &str,
    [offer, fails]: [&str; 2],
) -> Result<Option<Observer>, Error> {
    // Assertions that do not fit the RTL help nothing.
    let assertions = match Assertions::read(session, info, parameters) {
        Err(Error::Interrupted) => return Err(Error::Interrupted),
        Err(_) | Ok(None) => return Ok(None),
        Ok(Some(assertions)) => assertions,
    };
    let (monitor, offers) = Monitor::from_protocol(info, offer, Some((&assertions, fails)));
    if !monitor.missing(netlist).is_empty() {
        return Ok(None);
    }
    session.write(OUTPUTS, &assertions.netlist)?;
    let exposed: String = monitor.inside().map(|name| format!("expose w:{name}\n")).collect();
    let commands = format!("{exposed}read_rtlil {OUTPUTS}\n");
    Ok(Some(Observer { monitor, offers, commands }))
}
