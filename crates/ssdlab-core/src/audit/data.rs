//! A shadow of the drive's data, which tells the version that each read must return.
//!
//! Each write has a version. For every sector the shadow records the version that the host wrote
//! last. It also records the versions in each physical page, in the buffer and in transit. A read
//! must return the version that was the last when the read arrived.

use std::collections::BTreeMap;
use std::sync::Arc;

use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::{BlockId, Geometry, Lpn, PageInBlock, PageType, Ppn};

use crate::config::{PartialWrites, Resolved, UnwrittenReads};
use crate::flash::{Owner, Txn, TxnId};
use crate::ftl::Ftl;

/// The version in each sector of a page; pages with equal content share it until one changes.
type Content = Arc<[u64]>;

/// The content of a sector that was never written, or was trimmed.
const NOTHING: u64 = 0;
/// The content of a sector that was written before the audit began.
const BEFORE: u64 = 1;
/// The content of a sector that a partial write did not carry over to the new page.
const LOST: u64 = u64::MAX;

/// The data of an operation in progress.
#[derive(Clone, Debug)]
struct Held {
    /// The versions that it writes or has read.
    data: Content,
    /// The versions that a host read must return.
    expected: Content,
    /// The sectors that a read found in the buffer, a bit each.
    overlay: u64,
    /// The versions that it sensed on the flash.
    sensed: Option<Content>,
}

/// The shadow of a drive's data.
#[derive(Clone, Debug)]
pub(crate) struct Data {
    sectors: usize,
    geometry: Geometry,
    /// Whether a partial write may lose the rest of its page.
    lossy: bool,
    /// The content of an unmapped page that was never trimmed.
    unmapped: u64,
    /// The first logical page of the map's own pages.
    translations: u32,
    /// The version of the last write.
    version: u64,
    newest: BTreeMap<u32, Content>,
    /// The logical page and the content of each physical page with known data.
    flash: BTreeMap<u32, (u32, Content)>,
    /// Pages of each type programmed in each block since its erase.
    begun: BTreeMap<u32, [u16; PageType::MAX_COUNT]>,
    order: PageOrder,
    /// Whether each page type advances by itself, as in the relaxed order.
    relaxed: bool,
    buffer: BTreeMap<u32, Content>,
    held: BTreeMap<u32, Held>,
}

fn bits(mask: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |bit| mask >> bit & 1 == 1)
}

/// Returns a page whose sectors all hold the same content.
fn full_of(sectors: usize, what: u64) -> Content {
    std::iter::repeat_n(what, sectors).collect()
}

/// Sets the content of a sector.
fn set(page: &mut Content, sector: usize, what: u64) {
    Arc::make_mut(page)[sector] = what;
}

impl Data {
    pub(crate) fn new(resolved: &Resolved, ftl: &Ftl) -> Data {
        let (geometry, config) = (resolved.geometry(), &resolved.config);
        let sectors = geometry.sectors_per_page() as usize;
        let [nothing, before] = [NOTHING, BEFORE].map(|what| full_of(sectors, what));
        let mut data = Data {
            sectors,
            geometry: geometry.clone(),
            lossy: config.ftl.partial_writes == PartialWrites::Pad,
            unmapped: if config.start.unwritten_reads == UnwrittenReads::Lazy {
                BEFORE
            } else {
                NOTHING
            },
            translations: resolved.logical_pages,
            version: BEFORE,
            newest: BTreeMap::new(),
            flash: BTreeMap::new(),
            begun: BTreeMap::new(),
            order: PageOrder::conventional(geometry.cell, geometry.pages),
            relaxed: ftl.alloc.free_by_type().is_some(),
            buffer: BTreeMap::new(),
            held: BTreeMap::new(),
        };
        for lpn in (0..ftl.map.logical_pages()).map(Lpn) {
            if let Some(ppn) = ftl.map.get(lpn) {
                data.flash.insert(ppn.0, (lpn.0, before.clone()));
                data.newest.insert(lpn.0, before.clone());
            } else if ftl.map.was_trimmed(lpn) {
                data.newest.insert(lpn.0, nothing.clone());
            }
        }
        for block in (0..geometry.block_count()).map(BlockId) {
            let written = ftl.blocks.written(block);
            let pages = (0..geometry.pages as u16).map(PageInBlock).filter(|_| written > 0);
            for page in
                pages.filter(|&page| ftl.alloc.is_allocated(&data.order, block, page, written))
            {
                let page_type = data.order.page_type(page);
                data.begun.entry(block.0).or_default()[page_type.index()] += 1;
            }
        }
        data
    }

    fn full_of(&self, what: u64) -> Content {
        full_of(self.sectors, what)
    }

    /// Returns the content of a page that is not mapped and was never trimmed. The map's own pages
    /// existed before the start.
    fn unmapped(&self, lpn: Lpn) -> u64 {
        if lpn.0 >= self.translations { BEFORE } else { self.unmapped }
    }

    fn newest(&self, lpn: Lpn) -> Content {
        self.newest.get(&lpn.0).cloned().unwrap_or_else(|| self.full_of(self.unmapped(lpn)))
    }

    fn held(&mut self, id: TxnId) -> &mut Held {
        let blank = Held {
            data: self.full_of(LOST),
            expected: self.full_of(NOTHING),
            overlay: 0,
            sensed: None,
        };
        self.held.entry(id.0).or_insert(blank)
    }

    pub(crate) fn begins(&mut self, id: TxnId, txn: &Txn, write: bool) {
        let mut newest = self.newest(txn.lpn);
        self.held.remove(&id.0);
        if !write {
            self.held(id).expected = newest;
            return;
        }
        self.version += 1;
        let version = self.version;
        let held = self.held(id);
        for sector in bits(txn.mask) {
            set(&mut held.data, sector, version);
            set(&mut newest, sector, version);
        }
        self.newest.insert(txn.lpn.0, newest);
    }

    pub(crate) fn trims(&mut self, lpn: Lpn) {
        let nothing = self.full_of(NOTHING);
        self.newest.insert(lpn.0, nothing);
    }

    pub(crate) fn buffered(&mut self, id: TxnId, txn: &Txn) {
        let data = self.held(id).data.clone();
        let lost = self.full_of(LOST);
        let page = self.buffer.entry(txn.lpn.0).or_insert(lost);
        bits(txn.mask).for_each(|sector| set(page, sector, data[sector]));
    }

    pub(crate) fn hits(&mut self, id: TxnId, txn: &Txn) -> Result<(), String> {
        let lost = self.full_of(LOST);
        let page = self.buffer.get(&txn.lpn.0).cloned().unwrap_or(lost);
        let lossy = self.lossy;
        let held = self.held(id);
        held.data = page;
        Data::compare(held, txn, "the buffer", lossy)
    }

    pub(crate) fn overlaid(&mut self, id: TxnId, txn: &Txn, present: u64) {
        let Some(page) = self.buffer.get(&txn.lpn.0).cloned() else { return };
        let held = self.held(id);
        held.data = page;
        held.overlay = present;
    }

    pub(crate) fn on_dispatch(&mut self, id: TxnId, txn: &Txn) {
        self.held.remove(&id.0);
        let lost = self.full_of(LOST);
        let page = self.buffer.get(&txn.lpn.0).cloned().unwrap_or(lost);
        let held = self.held(id);
        bits(txn.mask).for_each(|sector| set(&mut held.data, sector, page[sector]));
    }

    pub(crate) fn keeps(&mut self, id: TxnId, txn: &Txn, sectors: u64) {
        let data = self.held(id).data.clone();
        let lost = self.full_of(LOST);
        let page = self.buffer.entry(txn.lpn.0).or_insert(lost);
        bits(sectors).for_each(|sector| set(page, sector, data[sector]));
    }

    pub(crate) fn forgets(&mut self, lpn: Lpn) {
        self.buffer.remove(&lpn.0);
    }

    /// Checks that the physical page of a read holds its logical page, and records the content.
    pub(crate) fn senses(&mut self, id: TxnId, txn: &Txn) -> Result<(), String> {
        let sensed = match (self.flash.get(&txn.ppn.0), txn.age) {
            // No table records this page: it was written before the start.
            (_, Some(_)) => self.full_of(BEFORE),
            (Some((lpn, content)), None) if *lpn == txn.lpn.0 => content.clone(),
            (other, None) => {
                let holds = other.map(|(lpn, _)| Lpn(*lpn));
                let (lpn, ppn) = (txn.lpn, txn.ppn);
                return Err(format!("{lpn:?} is read from {ppn:?}, which holds {holds:?}"));
            }
        };
        self.held(id).sensed = Some(sensed);
        Ok(())
    }

    /// Checks that a program gets the next page of its block, in the block's page order.
    pub(crate) fn programs(&mut self, txn: &Txn) -> Result<(), String> {
        let block = self.geometry.block_of(txn.ppn);
        let page = self.geometry.page_in_block(txn.ppn);
        let (at, wordline) = (self.order.page_type(page).index(), self.order.wordline(page).0);
        let begun = self.begun.entry(block.0).or_default();
        let before: u16 = begun.iter().sum();
        let last_neighbor = (wordline + 2).min(self.order.wordlines());
        let lower = at == 0 || begun[at - 1] >= last_neighbor;
        let fits = begun[at] == wordline && lower && (self.relaxed || before == page.0);
        begun[at] += 1;
        if fits {
            return Ok(());
        }
        Err(format!("page {} of {block:?} is programmed after {before} others", page.0))
    }

    /// Records that `id` copies the page that `read` has sensed.
    pub(crate) fn copies_read(&mut self, id: TxnId, read: TxnId) {
        self.held.remove(&id.0);
        let sensed = self.held(read).sensed.clone();
        self.held(id).sensed = sensed;
    }

    pub(crate) fn read_ended(&mut self, id: TxnId, txn: &Txn) -> Result<(), String> {
        let nothing = self.full_of(NOTHING);
        let lossy = self.lossy;
        let held = self.held(id);
        let sensed = held.sensed.take().unwrap_or(nothing);
        for (sector, content) in sensed.iter().enumerate() {
            if held.overlay >> sector & 1 == 0 {
                set(&mut held.data, sector, *content);
            }
        }
        Data::compare(held, txn, "the flash", lossy)
    }

    fn compare(held: &Held, txn: &Txn, whence: &str, lossy: bool) -> Result<(), String> {
        for sector in bits(txn.mask) {
            let (is, must) = (held.data[sector], held.expected[sector]);
            // A drive that records written sectors does not know the sectors written before the
            // start.
            let forgotten = is == LOST && (lossy || must == BEFORE);
            if is != must && !forgotten {
                let lpn = txn.lpn;
                return Err(format!(
                    "sector {sector} of {lpn:?} is version {is} in {whence}, not {must}"
                ));
            }
        }
        Ok(())
    }

    /// Merges the sensed page into a write, except for its `own` sectors.
    pub(crate) fn merges(&mut self, id: TxnId, own: u64) {
        let held = self.held(id);
        let Some(sensed) = held.sensed.take() else { return };
        for (sector, content) in sensed.iter().enumerate() {
            if own >> sector & 1 == 0 {
                set(&mut held.data, sector, *content);
            }
        }
    }

    /// Adds the sectors of a later write to the data of the write that it joins.
    pub(crate) fn joins(&mut self, first: TxnId, later: TxnId, sectors: u64) {
        let data = self.held(later).data.clone();
        let held = self.held(first);
        bits(sectors).for_each(|sector| set(&mut held.data, sector, data[sector]));
    }

    /// Checks that no sector of a program is older than the page that it replaces, or newer than
    /// the page that makes it outdated.
    fn in_order(txn: &Txn, data: &[u64], was: &[u64], outdated: bool) -> Result<(), String> {
        for sector in bits(txn.mask) {
            let (is, was) = (data[sector], was[sector]);
            let known = is != LOST && was != LOST;
            if known && (if outdated { is > was } else { is < was }) {
                let lpn = txn.lpn;
                return Err(format!(
                    "sector {sector} of {lpn:?} is version {is} after {was}, outdated: {outdated}"
                ));
            }
        }
        Ok(())
    }

    pub(crate) fn programmed(
        &mut self,
        id: TxnId,
        txn: &Txn,
        ftl: &Ftl,
        outdated: bool,
    ) -> Result<(), String> {
        let nothing = self.full_of(NOTHING);
        let was = match ftl.map.get(txn.lpn) {
            Some(Ppn(old)) => self.flash.get(&old).map_or(nothing, |(_, content)| content.clone()),
            None if ftl.map.was_trimmed(txn.lpn) => nothing,
            None => self.full_of(self.unmapped(txn.lpn)),
        };
        let (lossy, newest) = (self.lossy, self.newest(txn.lpn));
        let held = self.held(id);
        let copies = matches!(txn.owner, Owner::Job(_) | Owner::Move { .. });
        if copies {
            held.data = held.sensed.take().ok_or("a copy of a page that was not read")?;
        }
        let mut content = held.data.clone();
        if !copies {
            Data::in_order(txn, &content, &was, outdated)?;
        }
        let own = bits(txn.mask).map(|sector| content[sector]).max().unwrap_or(NOTHING);
        let mut lost = None;
        if !copies && !outdated {
            for sector in (0..self.sectors).filter(|sector| txn.mask >> sector & 1 == 0) {
                // A padded page loses what an earlier program still writes, even of a new page.
                let earlier = NOTHING + 1..own;
                let is_new =
                    was[sector] == NOTHING && !(lossy && earlier.contains(&newest[sector]));
                let left = if is_new { NOTHING } else { LOST };
                set(&mut content, sector, left);
                let written = was[sector] != LOST && was[sector] > BEFORE;
                lost = lost.or(written.then_some(sector));
            }
        }
        self.flash.insert(txn.ppn.0, (txn.lpn.0, content));
        match lost {
            Some(sector) if !lossy => {
                Err(format!("sector {sector} of {:?} is overwritten unread", txn.lpn))
            }
            _ => Ok(()),
        }
    }

    pub(crate) fn revived(&mut self, lpn: Lpn, ppn: Ppn) {
        let before = self.full_of(BEFORE);
        self.flash.insert(ppn.0, (lpn.0, before.clone()));
        self.newest.insert(lpn.0, before);
    }

    pub(crate) fn page_prefilled(&mut self, lpn: Lpn, ppn: Ppn) {
        self.revived(lpn, ppn);
        let page_type = self.order.page_type(self.geometry.page_in_block(ppn));
        self.begun.entry(self.geometry.block_of(ppn).0).or_default()[page_type.index()] += 1;
    }

    pub(crate) fn erased(&mut self, block: BlockId) {
        let first = block.0 * self.geometry.pages;
        let pages = first..first + self.geometry.pages;
        for ppn in self.flash.range(pages).map(|(&ppn, _)| ppn).collect::<Vec<_>>() {
            self.flash.remove(&ppn);
        }
        self.begun.remove(&block.0);
    }

    pub(crate) fn gone(&mut self, id: TxnId) {
        self.held.remove(&id.0);
    }

    /// Checks that the buffer or the flash holds the last version of every sector, with nothing in
    /// progress.
    pub(crate) fn at_rest(&self, ftl: &Ftl) -> Result<(), String> {
        for (&page, newest) in &self.newest {
            let lpn = Lpn(page);
            let nothing =
                self.full_of(if ftl.map.was_trimmed(lpn) { NOTHING } else { self.unmapped(lpn) });
            let on_flash = match ftl.map.get(lpn) {
                Some(ppn) => self.flash.get(&ppn.0).map_or(&nothing, |(_, content)| content),
                None => &nothing,
            };
            let buffered = self.buffer.get(&page);
            for (sector, &must) in newest.iter().enumerate() {
                let is = match buffered.map(|content| content[sector]) {
                    Some(content) if content != LOST => content,
                    _ => on_flash[sector],
                };
                if is != must && !(is == LOST && (self.lossy || must == BEFORE)) {
                    return Err(format!(
                        "at rest sector {sector} of {lpn:?} is version {is}, not {must}"
                    ));
                }
            }
        }
        Ok(())
    }
}
