//! Hints about memory that the program uses soon.

/// Prefetches the cache line that holds entry `at` of `table`, and does not wait for it.
/// A later lookup then finds the entry in the cache. The hint reads no value, so no result can
/// depend on it. It does nothing for an index beyond the table, or on a processor other than
/// x86-64.
#[inline(always)]
pub fn fetch<T>(table: &[T], at: usize) {
    #[cfg(target_arch = "x86_64")]
    if let Some(entry) = table.get(at) {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: every x86-64 processor has the instruction, which may be given any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(entry).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, at);
}

/// Tells the system that the program will touch all of `table`, so that it may use huge pages.
/// Random lookups in a table of gigabytes also miss in the page tables if pages have 4 KiB. The
/// contents stay the same. The function does nothing on systems other than Linux.
pub fn advise_huge_pages<T>(table: &mut [T]) {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 12;
        let bytes = std::ptr::from_mut(table).cast::<u8>();
        let inside = bytes.align_offset(PAGE);
        let Some(left) = size_of_val(table).checked_sub(inside) else { return };
        // SAFETY: these are whole pages of a table that is borrowed exclusively. The advice does
        // not change their contents.
        unsafe { libc::madvise(bytes.add(inside).cast(), left & !(PAGE - 1), libc::MADV_HUGEPAGE) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = table;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_which_all_is_expected_is_as_it_was() {
        for len in [0, 1, 1023, 5_000_000] {
            let mut table: Vec<u32> = (0..len).collect();
            advise_huge_pages(&mut table);
            advise_huge_pages(&mut table[..len as usize / 3]);
            assert!(table.into_iter().eq(0..len));
        }
    }
}
