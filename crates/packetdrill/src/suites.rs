//! Suites of scripts on disk.
//!
//! An index is a text file with a line a script: suite, path within the suite
//! and category, with tabs between; lines that start with `#` do not count.
//! The scripts lie in the folder that is called like the index without its
//! extension, each suite in a folder of its own there; one that is called like the
//! index may lie right in it. In a folder without an index every `.pkt` file counts, under
//! the name of the folder right below the given one (its suite) and of the
//! folder that holds it (its category).

use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A script of a suite, as the index lists it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Listed {
    /// Name of the suite: `google`.
    pub suite: String,
    /// Category of the tests: `tcp-blocking`.
    pub category: String,
    /// Path of the script within the suite.
    pub path: String,
    /// The file of the script on disk.
    pub file: PathBuf,
}

/// The scripts of the index or folder at `place`, in order of suite,
/// category and path.
///
/// # Errors
/// When something cannot be read, or a line of the index has no three
/// columns.
pub fn list(place: &Path) -> io::Result<Vec<Listed>> {
    let mut listed = match fs::metadata(place)?.is_dir() {
        true => {
            let mut listed = Vec::new();
            walk(place, place, &mut listed)?;
            listed
        }
        false => read_index(place)?,
    };
    listed.sort();
    Ok(listed)
}

/// Those of several places with `:` between them, as in `PATH` (`;` on Windows).
///
/// # Errors
/// As [`list`].
pub fn list_all(places: &OsStr) -> io::Result<Vec<Listed>> {
    let listed = std::env::split_paths(places).map(|place| list(&place));
    Ok(listed.collect::<io::Result<Vec<_>>>()?.concat())
}

/// Octets of the largest script or index.
const LARGEST: u64 = 16 << 20;

/// The text of a script or an index.
///
/// # Errors
/// It cannot be read, or is larger than 16 MiB, as what has no end is.
pub fn read(file: &Path) -> io::Result<String> {
    let mut octets = Vec::new();
    fs::File::open(file)?.take(LARGEST + 1).read_to_end(&mut octets)?;
    match octets.len() as u64 > LARGEST {
        true => Err(io::Error::new(io::ErrorKind::FileTooLarge, "larger than 16 MiB")),
        false => Ok(String::from_utf8_lossy(&octets).into_owned()),
    }
}

fn read_index(index: &Path) -> io::Result<Vec<Listed>> {
    let folder = index.with_extension("");
    let lines = read(index)?;
    let lines = lines.lines().enumerate().filter(|(_, line)| !line.starts_with('#'));
    lines
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(number, line)| match line.split('\t').collect::<Vec<_>>()[..] {
            [suite, path, category] => Ok(Listed {
                suite: suite.into(),
                category: category.trim().into(),
                path: path.into(),
                file: folder_of(&folder, suite).join(path),
            }),
            _ => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!(
                    "{}:{}: expected suite, path and category with tabs between",
                    index.display(),
                    number + 1
                ),
            )),
        })
        .collect()
}

/// The folder of a suite of an index whose scripts lie in `folder`.
fn folder_of(folder: &Path, suite: &str) -> PathBuf {
    let below = folder.join(suite);
    let is_it = folder.file_name().is_some_and(|name| name == suite);
    if is_it && !below.is_dir() { folder.into() } else { below }
}

fn walk(root: &Path, folder: &Path, listed: &mut Vec<Listed>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let file = entry.path();
        // A link to a folder may lead back here.
        if entry.file_type()?.is_dir() {
            walk(root, &file, listed)?;
        } else if !file.is_dir() && file.extension().is_some_and(|extension| extension == "pkt") {
            let name = |name: Option<&std::ffi::OsStr>| {
                name.map_or(String::new(), |name| name.to_string_lossy().into_owned())
            };
            let below = file.strip_prefix(root).unwrap_or(&file);
            let mut parts = below.components();
            let suite = match below.components().count() {
                1 => name(root.file_name()),
                _ => name(parts.next().map(|part| part.as_os_str())),
            };
            let category = name(file.parent().and_then(Path::file_name));
            let path = parts.as_path().to_string_lossy().into_owned();
            listed.push(Listed { suite, category, path, file });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `one.txt` lists the suite `one`, which lies in `one`, and `two`, which lies in `one/two`.
    #[test]
    fn a_suite_that_is_called_like_its_index_may_lie_right_in_its_folder() {
        let root = std::env::temp_dir().join(format!("suites-{}", std::process::id()));
        fs::create_dir_all(root.join("one/two")).unwrap();
        fs::write(root.join("one.txt"), "# comment\none\ta.pkt\tx\ntwo\tb.pkt\ty\n").unwrap();
        let index = root.join("one.txt");
        let files = |listed: Vec<Listed>| -> Vec<PathBuf> {
            listed.into_iter().map(|script| script.file).collect()
        };
        let expected = [root.join("one/a.pkt"), root.join("one/two/b.pkt")];
        assert_eq!(files(list(&index).unwrap()), expected);
        let twice = std::env::join_paths([&index, &index]).unwrap();
        assert_eq!(files(list_all(&twice).unwrap()), [&expected[..], &expected[..]].concat());
        fs::remove_dir_all(&root).unwrap();
    }
}
