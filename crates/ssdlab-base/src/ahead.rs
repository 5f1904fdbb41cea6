//! Memory that will be needed soon, asked for before it is.

/// Asks the processor for the line of memory in which an entry of a table lies, without waiting for it:
/// who looks it up a little later finds it near. Nothing is read, so nothing can come to depend on
/// it; of an entry beyond the table, and on a processor that cannot be asked, nothing happens.
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
