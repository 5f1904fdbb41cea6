//! `read_start = sl_table`: tables give the level at which a read starts, by the class of its block
//! and the age of its data. They learn from reads that failed (RRS's tables). Source: DLV, section
//! III-C and Fig. 8.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use ssdlab_base::Nanos;
use ssdlab_nand::Level;
use ssdlab_nand::refusal::Refusal;

use ssdlab_policy::allocation::BlockClass;
use ssdlab_policy::columns::{Column, Per};
use ssdlab_policy::event::{Event, EventContext, EventMask, ReadOutcome};
use ssdlab_policy::read_start::{ReadStartNeeds, ReadStartPolicy, ReadStartView};
use ssdlab_policy::{Policy, PolicyContext};

/// Settings of `sl_table`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SlTableConfig {
    /// Reads of a table that decode at the first try, after which each of its start ages rises by a
    /// day; 0 for never. So an outlier does not stay. Default: 100. Source: DLV, section III-C (the
    /// direction ruled).
    pub relax_after: u32,
    /// P/E cycles at which another set of tables begins; ascending. Default: none, one table for
    /// each class of blocks. Source: DLV, section III-C (item 5) and III-D (up to ten tables).
    pub pe_bins: Vec<u32>,
}

impl Default for SlTableConfig {
    fn default() -> SlTableConfig {
        SlTableConfig { relax_after: 100, pe_bins: Vec::new() }
    }
}

/// The largest number of tables. Source: DLV, section III-D.
const MAX_TABLES: usize = 10;
/// The highest age that nine bits hold, in days. Source: DLV, section III-D.
const MAX_AGE: u16 = 511;
/// Bits of an entry: nine for the age, three for the level. Source: DLV, section III-D.
const ENTRY_BITS: u64 = 12;
/// Bits of a block's time stamp. Source: DLV, section III-D.
const STAMP_BITS: u64 = 20;

/// A table: for each level above the first, the age in days from which on reads start at that
/// level. Ages do not fall from level to level.
#[derive(Clone, Debug)]
struct Table {
    starts: Box<[u16]>,
    /// Reads that decoded at the first try since the table was last relaxed.
    good: u32,
}

impl Table {
    fn start(&self, age: u16) -> Level {
        Level(self.starts.partition_point(|&start| start <= age) as u8)
    }

    /// Lowers start ages after data of this age decoded only at `level`: no level up to it starts
    /// later.
    fn lower(&mut self, age: u16, level: Level) {
        for start in &mut self.starts[..level.index()] {
            *start = (*start).min(age);
        }
    }

    /// Raises each start age by a day, but not above that of the next level.
    fn relax(&mut self) {
        let mut most = MAX_AGE;
        for start in self.starts.iter_mut().rev() {
            *start = (*start + 1).min(most);
            most = *start;
        }
    }
}

/// Starts at the level that the tables give, and learns from the outcome.
#[derive(Clone, Debug)]
pub struct SlTable {
    /// The tables, by class of blocks, then by P/E cycles.
    tables: Box<[Table]>,
    pe_bins: Box<[u32]>,
    relax_after: u32,
    blocks: u64,
}

impl Policy for SlTable {
    type Config = SlTableConfig;

    fn check(config: &SlTableConfig, context: &PolicyContext) -> Result<(), Refusal> {
        const KEY: &str = "read_start.sl_table.pe_bins";
        if !config.pe_bins.is_sorted_by(|a, b| a < b) {
            return Err(Refusal::new(KEY, format!("{:?}", config.pe_bins), "ascending numbers"));
        }
        let tables = (config.pe_bins.len() + 1) * usize::from(context.classes.count);
        if tables > MAX_TABLES {
            let expected = format!("at most {MAX_TABLES} tables, one a class and bin");
            return Err(Refusal::new(KEY, format!("{tables} tables"), expected));
        }
        match context.levels {
            1 => Err(Refusal::new(
                "read_start",
                "sl_table",
                "several sensing levels (physics.levels)",
            )),
            _ => Ok(()),
        }
    }

    fn build(config: &SlTableConfig, context: &PolicyContext) -> SlTable {
        let starts = vec![MAX_AGE; usize::from(context.levels) - 1].into_boxed_slice();
        let count = (config.pe_bins.len() + 1) * usize::from(context.classes.count);
        SlTable {
            tables: vec![Table { starts, good: 0 }; count].into_boxed_slice(),
            pe_bins: config.pe_bins.clone().into_boxed_slice(),
            relax_after: config.relax_after,
            blocks: u64::from(context.geometry.block_count()),
        }
    }

    fn events(&self) -> EventMask {
        EventMask::PAGE_READ.and(EventMask::READ_AGES)
    }

    fn on_event(&mut self, event: &Event, _: &mut EventContext) {
        if let Event::PageRead(read) = event {
            self.learn(read);
        }
    }

    fn columns(&mut self) -> Vec<Column<'_>> {
        let relax_after = self.relax_after.into();
        let stamps = Column::counted("block_time_stamps", self.blocks * STAMP_BITS);
        let tables = self.tables.iter_mut().flat_map(|Table { starts, good }| {
            let starts = Column::new("sensing_level_tables", Per::Drive, starts).bits(ENTRY_BITS);
            [starts, Column::new("sensing_level_reads", Per::Drive, good).up_to(relax_after)]
        });
        tables.chain([stamps]).collect()
    }
}

impl SlTable {
    #[inline]
    fn at(&self, class: BlockClass, pe_cycles: u32) -> usize {
        let bin = self.pe_bins.partition_point(|&from| from <= pe_cycles);
        class.index() * (self.pe_bins.len() + 1) + bin
    }
}

/// Returns an age in days, as nine bits hold it. It stays below the start of a level that no read
/// has needed.
fn days(age: Nanos) -> u16 {
    age.as_whole_days().min(u64::from(MAX_AGE - 1)) as u16
}

impl SlTable {
    /// Learns from a read that has decoded.
    fn learn(&mut self, read: &ReadOutcome) {
        let at = self.at(read.class, read.pe_cycles);
        let table = &mut self.tables[at];
        if read.failed > 0 {
            return table.lower(days(read.age), read.level);
        }
        table.good += 1;
        if table.good == self.relax_after {
            table.good = 0;
            table.relax();
        }
    }
}

impl ReadStartPolicy for SlTable {
    #[inline]
    fn start(&mut self, view: &ReadStartView) -> Level {
        self.tables[self.at(view.class, view.pe_cycles)].start(days(view.age))
    }

    fn needs(&self) -> ReadStartNeeds {
        ReadStartNeeds { age: true, ..ReadStartNeeds::default() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use ssdlab_base::Nanos;

    use super::*;
    use ssdlab_policy::allocation::BlockClass;
    use ssdlab_policy::testing::{bits, read_at};

    fn tables(relax_after: u32, pe_bins: &[u32]) -> SlTable {
        let table = Table { starts: vec![MAX_AGE; 6].into(), good: 0 };
        SlTable {
            tables: vec![table; 2 * (pe_bins.len() + 1)].into(),
            pe_bins: pe_bins.into(),
            relax_after,
            blocks: 128 * 1024,
        }
    }

    fn view(class: u8, days: u64) -> ReadStartView<'static> {
        let age = Nanos::from_ns(days * 86_400_000_000_000 + 5);
        ReadStartView { class: BlockClass(class), age, ..ReadStartView::of_a_block(7) }
    }

    #[test]
    fn a_read_that_climbed_lowers_the_start_for_its_class_and_older_data() {
        let mut policy = tables(0, &[]);
        assert_eq!(policy.start(&view(0, 300)).0, 0, "nothing is known");
        // The paper's example: 30 days for three levels, and then a page of 29 days needs them.
        read_at(&mut policy, &view(0, 30), Level(2), 2);
        read_at(&mut policy, &view(0, 15), Level(1), 1);
        let starts = |policy: &mut SlTable, class| {
            [14, 15, 28, 29, 30, 400].map(|days| policy.start(&view(class, days)).0)
        };
        assert_eq!(starts(&mut policy, 0), [0, 1, 1, 1, 2, 2]);
        read_at(&mut policy, &view(0, 29), Level(2), 2);
        assert_eq!(starts(&mut policy, 0), [0, 1, 1, 2, 2, 2]);
        assert_eq!(starts(&mut policy, 1), [0; 6], "another class has a table of its own");
    }

    #[test]
    fn data_of_any_age_start_at_one_level_while_nothing_is_known() {
        let mut policy = tables(100, &[]);
        assert_eq!([510, 511, 4000].map(|days| policy.start(&view(0, days)).0), [0; 3]);
        read_at(&mut policy, &view(0, 4000), Level(6), 6);
        assert_eq!([509, 510, 511].map(|days| policy.start(&view(0, days)).0), [0, 6, 6]);
        (0..100).for_each(|_| read_at(&mut policy, &view(0, 4000), Level(6), 0));
        assert_eq!(policy.start(&view(0, 4000)).0, 0, "what is needed no more is forgotten");
    }

    #[test]
    fn an_outlier_is_undone_by_reads_that_decode_at_the_first_try() {
        let mut policy = tables(100, &[]);
        read_at(&mut policy, &view(0, 27), Level(5), 5);
        assert_eq!(policy.start(&view(0, 27)).0, 5);
        (0..99).for_each(|_| read_at(&mut policy, &view(0, 90), Level(5), 0));
        assert_eq!(policy.start(&view(0, 27)).0, 5);
        read_at(&mut policy, &view(0, 90), Level(5), 0);
        assert_eq!([27, 28].map(|days| policy.start(&view(0, days)).0), [0, 5]);
    }

    #[test]
    fn blocks_of_other_wear_have_tables_of_their_own() {
        let mut policy = tables(0, &[1000]);
        let worn = ReadStartView { pe_cycles: 1000, ..view(1, 50) };
        read_at(&mut policy, &worn, Level(3), 3);
        assert_eq!(policy.start(&worn).0, 3);
        assert_eq!(policy.start(&ReadStartView { pe_cycles: 999, ..worn }).0, 0);
        assert_eq!(policy.start(&ReadStartView { class: BlockClass::BEST, ..worn }).0, 0);
        let mut policy = tables(0, &[1000, 2000]);
        read_at(&mut policy, &worn, Level(3), 3);
        assert_eq!(
            [999, 1999, 2000].map(|pe_cycles| policy.start(&ReadStartView { pe_cycles, ..worn }).0),
            [0, 3, 0]
        );
    }

    #[test]
    fn the_metadata_are_as_many_bits_as_the_paper_counts() {
        let bits = bits(&mut tables(0, &[]));
        // m · 6 · 12 bits with m = 2, and 20 bits for each of 128 Ki blocks.
        assert_eq!(bits, [("sensing_level_tables", 144), ("block_time_stamps", 2_621_440)]);
    }

    proptest! {
        #[test]
        fn levels_never_fall_with_age(
            reads in prop::collection::vec((0u64..600, 0u8..7, any::<bool>()), 0..300),
            relax_after in 0u32..4,
        ) {
            let mut policy = tables(relax_after, &[]);
            for (age, level, first) in reads {
                read_at(&mut policy, &view(0, age), Level(level), u8::from(!first));
                let levels: Vec<u8> = (0..520).map(|age| policy.start(&view(0, age)).0).collect();
                prop_assert!(levels.is_sorted());
                if !first {
                    prop_assert!(policy.start(&view(0, age)).0 >= level);
                }
            }
        }
    }
}
