//! Prefetches: a caller that knows the next requests announces them, and the drive prefetches the
//! memory that they need.

use ssdlab_nand::Lpn;

use super::Drive;

impl Drive {
    /// Announces a request for these sectors. Prefetches the map entries that it will need.
    pub fn prefetch(&self, lba: u64, sectors: u32) {
        let pages = self.machine.geometry.pages_touched(lba, sectors.max(1));
        self.machine.ftl.map.prefetch(Lpn(pages.start as u32), (pages.end - pages.start) as u32);
    }

    /// Announces a read of these sectors, which were [announced](Drive::prefetch) before.
    /// Prefetches the cell data of the first pages, at most `PAGES` of them.
    pub fn prefetch_read(&self, lba: u64, sectors: u32) {
        const PAGES: usize = 16;
        if self.machine.flash.cells.remember() {
            let pages = self.machine.geometry.pages_touched(lba, sectors).take(PAGES);
            let on_drive =
                pages.filter(|&lpn| lpn < u64::from(self.machine.resolved.logical_pages));
            on_drive.for_each(|lpn| self.prefetch_page(Lpn(lpn as u32)));
        }
    }

    fn prefetch_page(&self, lpn: Lpn) {
        let unwritten_reads =
            || self.machine.counts_as_written(lpn).then(|| self.machine.page_before_start(lpn).0);
        if let Some(ppn) = self.machine.ftl.map.get(lpn).or_else(unwritten_reads) {
            self.machine.flash.cells.prefetch(ppn, self.machine.geometry.block_of(ppn));
        }
    }
}
