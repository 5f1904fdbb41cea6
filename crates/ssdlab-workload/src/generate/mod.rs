//! Closed-form workloads. A new one is a file in this folder and one line in the list below.
//!
//! A kind chooses the addresses of requests, and their bursts if it has any. Sizes, operations and
//! times between requests work alike for all kinds. Each of them draws from its own random stream.
//! A change of the read share, for example, leaves every address unchanged.

use rand::Rng;
use ssdlab_base::rng::{Stream, unit};
use ssdlab_base::{Fault, Nanos};

mod arrivals;
pub(crate) mod config;
pub(crate) mod hints;
mod scatter;
pub(crate) mod sizes;

use crate::draw::Draw;
use crate::record::{Described, Op, Record, Source};
use arrivals::Clock;
use config::WorkloadConfig;
use hints::Hints;
pub(crate) use scatter::Scatter;
use sizes::Sizes;
pub(crate) use zipf::Ranks;

/// The inputs of a kind when it starts.
pub(crate) struct Room<'a> {
    /// Sectors that requests may touch.
    pub(crate) sectors: u64,
    pub(crate) sizes: &'a Sizes,
    /// The seed of the layout, which all draws share.
    pub(crate) seed: u64,
    /// The seed of the addresses of this draw.
    pub(crate) places: u64,
}

impl Room<'_> {
    /// Returns the size of a granule in sectors, and the number of granules. Every request size
    /// divides a granule.
    pub(crate) fn granules(&self) -> Result<(u64, u64), Fault> {
        let granule = self.sizes.common_multiple();
        match granule.map(|granule| (granule, self.sectors / granule)) {
            Some((granule, count)) if count > 0 => Ok((granule, count)),
            _ => Err(Fault::new("", "workload.sizes")
                .got("sizes whose least common multiple is larger than the footprint")
                .expected("sizes that divide one another")),
        }
    }
}

/// Chooses the addresses of requests.
pub(crate) trait Addresses {
    /// Returns the first sector of the next request, which is `sectors` long.
    fn next(&mut self, sectors: u32) -> u64;
}

macro_rules! kinds {
    ($($(#[doc = $doc:literal])* $variant:ident = $module:ident($Config:ident);)*) => {
        $(mod $module; pub use $module::$Config;)*

        ssdlab_base::choice! {
            /// Which addresses requests go to, and whether they come in bursts.
            pub enum Kind {
                $($(#[doc = $doc])* $module => $variant($Config),)*
            } default random
        }

        /// The addresses of each kind.
        enum Places {
            $($variant($module::Places),)*
        }

        impl Places {
            fn new(kind: &Kind, room: &Room<'_>) -> Result<Places, Fault> {
                Ok(match kind {
                    $(Kind::$variant(config) => Places::$variant(config.places(room)?),)*
                })
            }
        }

        impl Generator {
            /// Appends `count` records. Selects the kind once, not for every request.
            fn generate(&mut self, batch: &mut Vec<Record>, count: usize) {
                match &mut self.places {
                    $(Places::$variant(places) => self.rest.generate(places, batch, count),)*
                }
            }
        }

        /// Returns the bursts of a kind, if it has any.
        fn bursts(kind: &Kind) -> Option<arrivals::Bursts> {
            match kind {
                $(Kind::$variant(config) => config.bursts(),)*
            }
        }
    };
}

kinds! {
    /// Every address equally likely.
    Random = random(RandomConfig);
    /// Each request begins where the one before it ended.
    Sequential = sequential(SequentialConfig);
    /// A few addresses very often, most hardly ever: Zipf's law.
    Zipf = zipf(ZipfConfig);
    /// A hot part of the footprint and a cold one.
    Hotcold = hotcold(HotcoldConfig);
    /// Every address equally likely, in bursts with pauses between.
    Bursty = bursty(BurstyConfig);
}

/// A closed-form workload, generated as a stream.
pub struct Generator {
    name: &'static str,
    places: Places,
    rest: Rest,
}

/// Everything in a generator except its addresses.
struct Rest {
    requests: u64,
    done: u64,
    clock: Clock,
    sizes: Sizes,
    ops: Stream,
    /// A draw from `ops` below this share is a read.
    read_share: f64,
    queue: u8,
    hints: Hints,
}

impl Generator {
    /// Returns the workload that `config` describes. Equal configs and draws give equal records on
    /// every machine. A seed alone is its draw 0.
    ///
    /// # Errors
    /// Fails if a value of the config is out of range, or if two values contradict each other.
    pub fn new(config: &WorkloadConfig, draw: impl Into<Draw>) -> Result<Generator, Fault> {
        config.check()?;
        let draw = draw.into();
        let name = |what: &str| format!("workload/{}/{what}", config.kind.name());
        let named = |what: &str| draw.stream(&name(what));
        let sizes = Sizes::new(&config.sizes, config.footprint, named("sizes"))?;
        let room = Room {
            sectors: config.sectors(),
            sizes: &sizes,
            seed: draw.layout(&name("addresses")).next_u64(),
            places: named("addresses").next_u64(),
        };
        let places = Places::new(&config.kind, &room)?;
        let clock = Clock::new(config, bursts(&config.kind), named("arrivals"))?;
        let rest = Rest {
            requests: config.requests,
            done: 0,
            clock,
            sizes,
            ops: named("operations"),
            read_share: config.read_share.get(),
            queue: config.queue,
            hints: Hints::new(&config.hints, &format!("workload/{}", config.kind.name()), draw)?,
        };
        Ok(Generator { name: config.kind.name(), places, rest })
    }
}

impl Rest {
    fn generate<A: Addresses>(&mut self, places: &mut A, batch: &mut Vec<Record>, count: usize) {
        let Rest { clock, sizes, ops, read_share, queue, hints, .. } = self;
        let mut record = |(at, read): (Nanos, bool)| {
            let sectors = sizes.draw();
            let lba = places.next(sectors);
            let op = if read { Op::Read } else { Op::Write };
            Record { at, lba, sectors, op, queue: *queue, hint: hints.draw() }
        };
        // Selects the clock once, not for every request.
        match clock {
            Clock::Gaps(gaps) => batch.extend((0..count).map(|_| {
                let at = gaps.next();
                record((at, unit(ops.next_u64()) < *read_share))
            })),
            Clock::SelfSimilar(cascade) => batch.extend((0..count).map(|_| {
                let (at, read) = cascade.next();
                record((Nanos::from_ns(at), read))
            })),
        }
        self.done += count as u64;
    }
}

impl Described for Generator {
    fn name(&self) -> &str {
        self.name
    }
}

impl Source for Generator {
    fn fill(&mut self, batch: &mut Vec<Record>, most: usize) -> Result<usize, Fault> {
        let left = self.rest.requests - self.rest.done;
        let count = usize::try_from(left).map_or(most, |left| left.min(most));
        self.generate(batch, count);
        Ok(count)
    }

    fn expected(&self) -> Option<u64> {
        Some(self.rest.requests)
    }

    fn progress(&self) -> Option<f64> {
        Some(self.rest.done as f64 / self.rest.requests as f64)
    }

    fn line(&self, _: usize) -> Option<u64> {
        None
    }
}
