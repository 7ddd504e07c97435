//! A file system in memory that fails on request: it fills up, writes short, and stops at any
//! operation, like a process that is killed or a machine that loses power.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use stickpin_store::{Files, Handle};

#[derive(Debug, Clone, Default)]
struct Inode {
    data: Vec<u8>,
    /// The content on disk.
    synced: Vec<u8>,
}

#[derive(Debug, Default)]
struct State {
    inodes: Vec<Inode>,
    names: BTreeMap<PathBuf, usize>,
    /// The names that are on disk.
    synced_names: BTreeMap<PathBuf, usize>,
    folders: BTreeSet<PathBuf>,
    operations: u64,
    /// The operation at which everything stops, and the bytes that are still written.
    stop: Option<(u64, usize)>,
    stopped: bool,
    stopped_in_write: bool,
    capacity: Option<u64>,
    most_at_once: Option<usize>,
    broken_truncate: bool,
}

/// The file system; clones share its state.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles(Arc<Mutex<State>>);

#[derive(Debug)]
struct MemoryHandle {
    files: MemoryFiles,
    inode: usize,
}

impl State {
    fn used(&self) -> u64 {
        let linked: BTreeSet<usize> = self.names.values().copied().collect();
        linked.iter().map(|inode| self.inodes[*inode].data.len() as u64).sum()
    }

    /// Counts an operation. If it is the operation that stops, returns the number of bytes that a
    /// write may still write.
    fn step(&mut self) -> io::Result<Option<usize>> {
        if self.stopped {
            return Err(io::Error::other("stopped"));
        }
        self.operations += 1;
        match self.stop {
            Some((at, partial)) if self.operations > at => {
                self.stopped = true;
                Ok(Some(partial))
            }
            _ => Ok(None),
        }
    }

    /// Counts an operation that happens completely or not at all.
    fn whole(&mut self) -> io::Result<()> {
        match self.step()? {
            None => Ok(()),
            Some(_) => Err(io::Error::other("stopped")),
        }
    }

    fn find(&self, path: &Path) -> io::Result<usize> {
        self.names.get(path).copied().ok_or_else(|| ErrorKind::NotFound.into())
    }
}

impl MemoryFiles {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test panics with it")
    }

    /// Returns the number of operations so far.
    pub fn operations(&self) -> u64 {
        self.state().operations
    }

    /// Stops everything after this many further operations. A write that is stopped still writes
    /// `partial` bytes.
    pub fn stop_after(&self, operations: u64, partial: usize) {
        let mut state = self.state();
        state.stop = Some((state.operations + operations, partial));
    }

    /// Returns whether the file system has stopped.
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Returns whether the file system stopped in a write, so that the bytes still written matter.
    pub fn is_stopped_in_write(&self) -> bool {
        self.state().stopped_in_write
    }

    /// Limits the total bytes of all files.
    pub fn set_capacity(&self, bytes: Option<u64>) {
        self.state().capacity = bytes;
    }

    /// Returns the total bytes of all files.
    pub fn used(&self) -> u64 {
        self.state().used()
    }

    /// Accepts at most this many bytes per write.
    pub fn write_at_most(&self, bytes: Option<usize>) {
        self.state().most_at_once = bytes;
    }

    /// Makes truncation fail.
    pub fn break_truncate(&self, broken: bool) {
        self.state().broken_truncate = broken;
    }

    /// Simulates a process that was killed: everything written exists.
    pub fn restart(&self) {
        let mut state = self.state();
        (state.stop, state.stopped) = (None, false);
    }

    /// Simulates a power cut: what was not synced may exist, completely, partly or not at all.
    /// `choose` returns a number below its argument.
    pub fn lose_power(&self, mut choose: impl FnMut(usize) -> usize) {
        let mut state = self.state();
        (state.stop, state.stopped) = (None, false);
        for inode in &mut state.inodes {
            if inode.data.starts_with(&inode.synced) {
                let more = choose(inode.data.len() - inode.synced.len() + 1);
                inode.data.truncate(inode.synced.len() + more);
            } else if choose(2) == 0 {
                inode.data.clone_from(&inode.synced);
            }
            inode.synced.clone_from(&inode.data);
        }
        let folders: BTreeSet<_> =
            state.names.keys().chain(state.synced_names.keys()).filter_map(|path| path.parent()).collect();
        let lost: Vec<PathBuf> =
            folders.into_iter().filter(|_| choose(2) == 0).map(Path::to_path_buf).collect();
        for folder in lost {
            let synced = state.synced_names.clone();
            state.names.retain(|path, _| path.parent() != Some(&*folder));
            state.names.extend(synced.into_iter().filter(|(path, _)| path.parent() == Some(&*folder)));
        }
        state.synced_names = state.names.clone();
    }

    /// Returns the content of a file.
    pub fn content(&self, path: &Path) -> Vec<u8> {
        let state = self.state();
        let inode = state.find(path).unwrap_or_else(|_| panic!("no {}", path.display()));
        state.inodes[inode].data.clone()
    }

    /// Changes a file, also on disk.
    pub fn change(&self, path: &Path, change: impl FnOnce(&mut Vec<u8>)) {
        let mut state = self.state();
        let inode = state.find(path).expect("the file is there");
        change(&mut state.inodes[inode].data);
        state.inodes[inode].synced = state.inodes[inode].data.clone();
    }

    /// Returns all paths.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.state().names.keys().cloned().collect()
    }
}

impl Handle for MemoryHandle {
    fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let mut state = self.files.state();
        let cut = state.step()?;
        state.stopped_in_write |= cut.is_some();
        let room = state.capacity.map_or(u64::MAX, |most| most.saturating_sub(state.used()));
        if room == 0 && cut.is_none() {
            return Err(ErrorKind::StorageFull.into());
        }
        let most = state.most_at_once.unwrap_or(usize::MAX).min(usize::try_from(room).unwrap_or(usize::MAX));
        let taken = bytes.len().min(most).min(cut.unwrap_or(usize::MAX));
        state.inodes[self.inode].data.extend_from_slice(&bytes[..taken]);
        match cut {
            Some(_) => Err(io::Error::other("stopped")),
            None => Ok(taken),
        }
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        let mut state = self.files.state();
        state.whole()?;
        if state.broken_truncate {
            return Err(io::Error::other("the file cannot be cut"));
        }
        state.inodes[self.inode].data.truncate(usize::try_from(len).expect("it fits"));
        Ok(())
    }

    fn sync(&self) -> io::Result<()> {
        let mut state = self.files.state();
        state.whole()?;
        let inode = &mut state.inodes[self.inode];
        inode.synced.clone_from(&inode.data);
        Ok(())
    }
}

impl Files for MemoryFiles {
    fn open(&self, path: &Path) -> io::Result<Arc<dyn Handle>> {
        let mut state = self.state();
        state.whole()?;
        let inode = match state.names.get(path) {
            Some(inode) => *inode,
            None => {
                state.inodes.push(Inode::default());
                let inode = state.inodes.len() - 1;
                state.names.insert(path.to_path_buf(), inode);
                inode
            }
        };
        Ok(Arc::new(MemoryHandle { files: self.clone(), inode }))
    }

    fn read(&self, path: &Path, from: u64) -> io::Result<Vec<u8>> {
        let state = self.state();
        let data = &state.inodes[state.find(path)?].data;
        Ok(data.get(usize::try_from(from).expect("it fits")..).unwrap_or_default().to_vec())
    }

    fn head(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut data = self.read(path, 0)?;
        data.truncate(usize::try_from(most).expect("it fits"));
        Ok(data)
    }

    fn len(&self, path: &Path) -> io::Result<u64> {
        let state = self.state();
        Ok(state.inodes[state.find(path)?].data.len() as u64)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let state = self.state();
        let below = |path: &Path| path.strip_prefix(dir).ok()?.iter().next()?.to_str().map(str::to_owned);
        let names: BTreeSet<String> =
            state.names.keys().chain(&state.folders).filter_map(|path| below(path)).collect();
        if names.is_empty() && !state.folders.contains(dir) {
            return Err(ErrorKind::NotFound.into());
        }
        Ok(names.into_iter().collect())
    }

    fn make_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        state.folders.extend(dir.ancestors().map(Path::to_path_buf));
        Ok(())
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        let inode = state.find(from)?;
        state.names.remove(from);
        state.names.insert(to.to_path_buf(), inode);
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        let inode = state.find(from)?;
        if state.names.contains_key(to) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        state.names.insert(to.to_path_buf(), inode);
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        state.names.remove(path).map(drop).ok_or_else(|| ErrorKind::NotFound.into())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.state();
        state.whole()?;
        let names = state.names.clone();
        state.synced_names.retain(|path, _| path.parent() != Some(dir));
        state.synced_names.extend(names.into_iter().filter(|(path, _)| path.parent() == Some(dir)));
        Ok(())
    }

    fn free(&self, _dir: &Path) -> io::Result<u64> {
        let state = self.state();
        Ok(state.capacity.map_or(u64::MAX, |most| most.saturating_sub(state.used())))
    }
}
