//! Who knows what will be asked tells it, and the memory that this takes is asked for before it is
//! needed.

use ssdlab_nand::Lpn;

use super::Drive;

impl Drive {
    /// Tells that a request for these sectors will come soon: what it will need is asked for, if it
    /// is there.
    #[inline]
    pub fn expect(&self, lba: u64, sectors: u32) {
        let pages = self.machine.geometry.pages_touched(lba, sectors.max(1));
        self.machine.ftl.map.expect(Lpn(pages.start as u32), (pages.end - pages.start) as u32);
    }

    /// Tells that these sectors, which were [expected](Drive::expect) before, are read next: what
    /// is known of where they lie is asked for, of the first pages if they are many.
    #[inline]
    pub fn expect_read(&self, lba: u64, sectors: u32) {
        const PAGES: usize = 16;
        if self.machine.flash.cells.remember() {
            let pages = self.machine.geometry.pages_touched(lba, sectors).take(PAGES);
            let on_drive =
                pages.filter(|&lpn| lpn < u64::from(self.machine.resolved.logical_pages));
            on_drive.for_each(|lpn| self.expect_page(Lpn(lpn as u32)));
        }
    }

    fn expect_page(&self, lpn: Lpn) {
        let unwritten_reads =
            || self.machine.counts_as_written(lpn).then(|| self.machine.page_before_start(lpn).0);
        if let Some(ppn) = self.machine.ftl.map.get(lpn).or_else(unwritten_reads) {
            self.machine.flash.cells.expect(ppn, self.machine.geometry.block_of(ppn));
        }
    }
}
