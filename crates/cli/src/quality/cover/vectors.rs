//! `cosim cover rank --out`: writes the selected cases as vectors.

use crate::terminal::options::find_block;
use cosim_base::error::{Error, codes};
use cosim_base::files::{Sync, write_whole};
use cosim_base::program;
use cosim_block::rtl::Rtl;
use cosim_block::shard::Shard;
use cosim_block::vector::Origin;
use cosim_formats::coverage::{ContributingCase, weights_hashes};
use cosim_formats::run::Plan;
use cosim_harness::harness::{Profile, parse_index};
use cosim_regress::setup::{Session, Setup};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

/// Writes a vector for each case into a new or empty folder. Returns the number of vectors.
///
/// # Errors
/// If the folder is not empty, or if a case cannot be generated again. Nothing is written then.
pub fn write(folder: &Path, ranked: &[(&ContributingCase, u32)]) -> Result<usize, Error> {
    is_free(folder)?;
    let drawn: Vec<(PathBuf, String)> = ranked
        .iter()
        .map(|(find, adds)| Ok((folder.join(file_name(find)), vector(find, *adds)?)))
        .collect::<Result<_, Error>>()?;
    fs::create_dir_all(folder).map_err(Error::write(folder))?;
    for (path, text) in &drawn {
        write_whole(path, text.as_bytes(), Sync::OnDisk)?;
    }
    Ok(drawn.len())
}

fn is_free(folder: &Path) -> Result<(), Error> {
    let refuse = |message: &str| {
        Err(Error::File {
            code: codes::OUTPUT_EXISTS,
            path: folder.to_owned(),
            message: message.to_owned(),
        })
    };
    match fs::read_dir(folder) {
        Ok(mut entries) => match entries.next() {
            None => Ok(()),
            Some(_) => refuse("is not empty; name a new folder, or remove its contents"),
        },
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotADirectory => refuse(
            "is not a folder; name a \
             new or an empty folder",
        ),
        Err(error) => Err(Error::unreadable(folder, &error)),
    }
}

/// `PROFILE-SCENARIO-INDEX-seed-SEED.json`.
fn file_name(find: &ContributingCase) -> String {
    let case = find.name.split_once('/').map_or(find.name.as_str(), |(_, case)| case);
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || "-_.+=".contains(sign);
    let plain: String = case.chars().map(|sign| if is_plain(sign) { sign } else { '-' }).collect();
    format!("{plain}-seed-{}.json", find.run.seed)
}

fn vector(find: &ContributingCase, adds: u32) -> Result<String, Error> {
    let refuse =
        |message: String| Error::Usage(codes::OTHER_BUILD, format!("{}: {message}", find.name));
    if find.run.build != program::build() {
        return Err(refuse(format!(
            "the run was made by build {}, and this is build {}, which may draw other cases; \
             repeat the run with this program, or use the program of the run",
            find.run.build,
            program::build()
        )));
    }
    let parts: Vec<&str> = find.name.split('/').collect();
    let case = match parts[..] {
        [block, profile, scenario, index] => {
            parse_index(index).map(|index| (block, profile, scenario, index))
        }
        _ => None,
    };
    let Some((block, profile, scenario, index)) = case else {
        return Err(refuse(
            "the database names a case that is not BLOCK/PROFILE/SCENARIO/INDEX".to_owned(),
        ));
    };
    let block = find_block(block)?;
    let profiles = Profile::parse(profile, block.info().profiles)
        .map_err(|error| refuse(error.to_string()))?;
    let setup = Setup {
        profiles,
        scenarios: vec![scenario.to_owned()],
        packets: find.run.packets,
        rtl: Rtl::default(),
        coverage: false,
    };
    let session = Session::new(block, &setup)?;
    if weights_hashes(&session.opening(0)?.scenarios).first() != Some(&find.weights) {
        return Err(refuse(format!(
            "its scenario `{scenario}` came from a file; only cases of built-in scenarios can be \
             drawn again"
        )));
    }
    let plan = Plan {
        block: block.info().name,
        seed: find.run.seed,
        profiles: setup.profiles,
        scenarios: session.scenarios(),
        indices: index..index + 1,
        shard: Shard::WHOLE,
    };
    let Some(case) = plan.iter().next() else {
        return Err(refuse("its index is larger than that of the last case".to_owned()));
    };
    let origin = Origin {
        about: format!("hits {adds} bins that no earlier vector hits"),
        case: Some(find.name.clone()),
        seed: Some(find.run.seed),
        build: Some(find.run.build.clone()),
        ..Origin::default()
    };
    session.vector(&case, origin, None)
}
