//! Resolves a declared config to numbers, and refuses invalid values.

use ssdlab_base::quantity::Share;
use ssdlab_base::units::SECTOR_BYTES;
use ssdlab_base::{Bytes, Nanos};
use ssdlab_nand::chip::Chip;
use ssdlab_nand::page_order::PageOrder;
use ssdlab_nand::refusal::Refusal;
use ssdlab_nand::{Geometry, ProgramMode};

use super::effects::{check_effects, is_used, reads_may_pass};
use super::space::{
    BLOCKS_UNUSABLE, entries, logical_pages, max_foreign_pages, max_reserved_blocks, spare_blocks,
    usable_blocks,
};
use super::{ArrayUnit, DriveConfig, MAP_SHARE, RetriesChoice, ShorterOn, TransferUnit};
use super::{drawn_start, history};
use crate::flash::{FlashSetup, HOST_RANKS, Moved, PipelinedRetry};
use crate::ftl::{BlockClass, ClassLayout, FreeBlockPolicy, MapShape, PageSequence};
use crate::metadata::MetadataConfig;
use crate::policy::placement::Typed;
use crate::policy::program_mode::ProgramModeView;
use crate::policy::{MapFacts, PlacementHint, PolicyContext};
use ssdlab_schemes::{
    AnyBackground, AnyEviction, AnyPlacement, AnyProgramMode, AnyReadStart, AnyScheduler,
    AnySuspend, PlacementChoice,
};

/// A drive's config, resolved to numbers.
#[derive(Clone, Debug)]
pub struct Resolved {
    /// The config as declared.
    pub config: DriveConfig,
    /// The chips.
    pub chip: Chip,
    /// The order of pages in a block.
    pub page_order: PageOrder,
    /// How the drive sorts its blocks.
    pub classes: ClassLayout,
    /// The back end.
    pub flash: FlashSetup,
    /// Pages that the host can address.
    pub logical_pages: u32,
    /// How much of the page map the controller holds, if not all of it.
    pub map_cache: Option<MapShape>,
    /// Most blocks of a plane that can be reserved while all data still fits.
    pub max_reserved_blocks: u32,
    /// Most pages of other planes that a plane can take under static allocation while its own data
    /// still fits.
    pub max_foreign_pages: u32,
    /// Pages that the buffer holds.
    pub buffer_pages: u32,
    /// Time to move a page into or out of the buffer.
    pub buffer_latency: Nanos,
    /// Whether the buffer keeps pages that were read.
    pub buffer_reads: bool,
    /// Pages of the buffer that are kept free.
    pub buffer_keep_free: u32,
    /// The seed of the drive's random draws.
    pub seed: u64,
}

impl Resolved {
    /// Checks a config and resolves it.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn new(config: &DriveConfig, seed: u64) -> Result<Resolved, Refusal> {
        Resolved::typed(config, seed, &|_| true)
    }

    /// Resolves as [`Resolved::new`] does, but refuses a key without effect only if `typed` holds
    /// for it.
    ///
    /// # Errors
    /// The first invalid value.
    pub fn typed(
        config: &DriveConfig,
        seed: u64,
        typed: &dyn Fn(&str) -> bool,
    ) -> Result<Resolved, Refusal> {
        let geometry = &config.geometry;
        geometry.check().map_err(|(key, expected)| {
            let got = match key {
                "" => {
                    let pages = format!("{} physical pages", geometry.pages_declared());
                    return Refusal::new("geometry", pages, expected);
                }
                "page_size" => geometry.page_size.to_string(),
                "channels" => geometry.channels.to_string(),
                "chips" => geometry.chips.to_string(),
                "dies" => geometry.dies.to_string(),
                "planes" => geometry.planes.to_string(),
                "blocks" => geometry.blocks.to_string(),
                _ => geometry.pages.to_string(),
            };
            Refusal::new(format!("geometry.{key}"), got, expected)
        })?;
        let chip = Chip::resolve(geometry, &config.timing, &config.physics, seed)?;
        check_effects(config, &chip, typed)?;
        check_ranges(config, &chip)?;
        let logical_pages = logical_pages(config, seed)?;
        let map_cache = map_cache(config, logical_pages)?;
        let mapped = logical_pages + map_cache.map_or(0, |shape| shape.pages());
        let buffer_pages = (config.buffer.size.get() / geometry.page_size.get()) as u32;
        if buffer_pages == 0 && config.buffer.size.get() > 0 {
            let expected = format!("0B or at least a page of {}", geometry.page_size);
            return Err(Refusal::new("buffer.size", config.buffer.size, expected));
        }
        let resolved = Resolved {
            classes: config.metadata.block_class.layout(geometry),
            flash: flash_setup(config, &chip),
            page_order: PageOrder::conventional(geometry.cell, geometry.pages),
            chip,
            logical_pages,
            map_cache,
            max_reserved_blocks: max_reserved_blocks(config, mapped, seed),
            max_foreign_pages: max_foreign_pages(config, mapped, seed),
            buffer_pages,
            buffer_latency: config.buffer.latency.unwrap_or(Nanos::from_us(1)),
            buffer_reads: config.buffer.reads.unwrap_or(true),
            buffer_keep_free: keep_free(config, buffer_pages),
            seed,
            config: config.clone(),
        };
        resolved.check_policies()?;
        history::check(&resolved)?;
        Ok(resolved)
    }

    /// Refuses policies that cannot work on this drive.
    fn check_policies(&self) -> Result<(), Refusal> {
        let (config, setup) = (&self.config, self.policy_context());
        AnyScheduler::check(&config.scheduler, &setup)?;
        config.placement.iter().try_for_each(|link| AnyPlacement::check(link, &setup))?;
        check_links(&config.placement)?;
        check_streams(config)?;
        drawn_start::check(config, &setup)?;
        config.program_mode.iter().try_for_each(|link| AnyProgramMode::check(link, &setup))?;
        check_free_block_policy(config.ftl.free_block_policy, &setup)?;
        AnyReadStart::check(&config.read_start, &setup)?;
        AnySuspend::check(&config.suspend, &setup)?;
        AnyEviction::check(&config.eviction, &setup)?;
        AnyBackground::check(&config.background, &setup)?;
        self.check_start()
    }

    /// Refuses a share of outdated or used data that the background policies cannot leave on a
    /// plane.
    fn check_start(&self) -> Result<(), Refusal> {
        let (config, geometry) = (&self.config, self.geometry());
        let collectors = AnyBackground::collectors(&config.background);
        if config.start.steady_state && config.start.fill.get() > 0.0 && collectors.is_empty() {
            let expected = "false without a background policy that collects garbage, such as gc";
            return Err(Refusal::new("start.steady_state", true, expected));
        }
        let usable = usable_blocks(config);
        let free_blocks = self.free_blocks_of_plane().ceil() as u32;
        let unavailable = if free_blocks > 0 { free_blocks } else { BLOCKS_UNUSABLE };
        let data = config.start.fill.get() * f64::from(self.logical_pages);
        let data = data / f64::from(geometry.plane_count());
        let room = f64::from(usable.saturating_sub(unavailable)) * f64::from(geometry.pages);
        let most = ((1.0 - data / room.max(1.0)) * 1e4).floor().max(0.0) / 1e4;
        let used = config.start.used;
        if used.get() > 0.0 && config.start.fill.get() > 0.0 {
            return Err(Refusal::new("start.used", used, "0 beside start.fill"));
        }
        let free = usable.saturating_sub(used.of(u64::from(geometry.blocks)) as u32);
        if used.get() > 0.0 && free <= BLOCKS_UNUSABLE {
            let expected =
                format!("a share that leaves more than {BLOCKS_UNUSABLE} blocks of a plane");
            return Err(Refusal::new("start.used", used, expected));
        }
        if config.start.invalid.get() <= most {
            return Ok(());
        }
        let expected = format!(
            "at most {most} with start.fill = {}: garbage collection starts with fewer than \
             {unavailable} free blocks on a plane",
            config.start.fill.get()
        );
        Err(Refusal::new("start.invalid", config.start.invalid.get(), expected))
    }

    /// Returns the facts about the drive that its policies may use during setup.
    pub fn policy_context(&self) -> PolicyContext {
        PolicyContext {
            geometry: self.config.geometry.clone(),
            buffer_pages: self.buffer_pages,
            spare_blocks: spare_blocks(&self.config, self.logical_pages),
            seed: self.seed,
            time_scale: self.config.flash.time_scale,
            logical_pages: self.mapped_pages(),
            levels: self.chip.levels(),
            typed_pages: self.config.ftl.page_order == PageSequence::Relaxed,
            classes: self.config.metadata.block_class.facts(),
            map: MapFacts {
                in_part: self.map_cache.is_some(),
                held_entries: self.map_cache.map_or(self.logical_pages, |shape| {
                    let entries = u64::from(shape.slots) * u64::from(shape.entries);
                    entries.min(self.logical_pages.into()) as u32
                }),
            },
            free_block_policy: self.config.ftl.free_block_policy,
            components: self.components(),
            program_modes: self.chip.program_mode_names().map(str::to_owned).collect(),
        }
    }

    /// Returns the names of the metadata components that the drive keeps.
    pub fn components(&self) -> Vec<&'static str> {
        self.config.metadata.present(|component| is_used(&self.config, component))
    }

    /// Returns the program mode of host writes to blocks of a class, if nothing but the class is
    /// known.
    pub fn program_mode_of(&self, class: BlockClass) -> ProgramMode {
        let (context, mut hint) = (self.policy_context(), PlacementHint::default());
        for link in &self.config.program_mode {
            let view = ProgramModeView::of_a_class(class);
            AnyProgramMode::build(link, &context).fill(&view, &mut hint);
        }
        hint.program_mode.unwrap_or_default()
    }

    /// Returns the shape of the flash.
    pub fn geometry(&self) -> &Geometry {
        &self.config.geometry
    }
}

/// Refuses links of the placement chain that have no effect in their position. Such a link follows
/// others that leave it no page to type, or is the second that chooses streams. A link for the
/// whole request also has none behind a link that decides page by page.
fn check_links(links: &[PlacementChoice]) -> Result<(), Refusal> {
    let needs: Vec<_> = links.iter().map(AnyPlacement::needs).collect();
    let types: Vec<Typed> = needs.iter().map(|needs| needs.types).collect();
    let mut choosing = links.iter().filter(|link| AnyPlacement::streams(link).count > 1);
    if let (Some(first), Some(second)) = (choosing.next(), choosing.next()) {
        let expected = format!("no second link that chooses streams: `{}` does", first.name());
        return Err(Refusal::new("placement", second.name(), expected));
    }
    for behind in 1..links.len() {
        if needs[behind - 1].pages && !needs[behind].pages {
            let [name, first] = [behind, behind - 1].map(|at| links[at].name());
            let expected = format!(
                "`{name}` before `{first}`: `{name}` decides for whole requests, `{first}` page by page"
            );
            return Err(Refusal::new("placement", name, expected));
        }
        let before = (0..behind).find(|&at| types[at].leaves_nothing_to(types[behind]));
        if let Some(before) = before {
            let [name, first] = [behind, before].map(|at| links[at].name());
            let expected = format!(
                "no link after `{first}` that sets page types: `{first}` already sets them"
            );
            return Err(Refusal::new("placement", name, expected));
        }
    }
    Ok(())
}

/// Refuses several streams in the relaxed order, in which all writes share the blocks of a plane.
fn check_streams(config: &DriveConfig) -> Result<(), Refusal> {
    let mut links = config.placement.iter();
    match links.find(|link| AnyPlacement::streams(link).count > 1) {
        Some(link) if config.ftl.page_order == PageSequence::Relaxed => {
            let expected = "ftl.page_order = \"strict\": in the relaxed order all that is written \
                            shares the blocks of a plane";
            Err(Refusal::new("placement", link.name(), expected))
        }
        _ => Ok(()),
    }
}

/// Resolves how much of the page map the controller holds.
fn map_cache(config: &DriveConfig, logical: u32) -> Result<Option<MapShape>, Refusal> {
    let Some(cache) = config.ftl.map_cache.get() else { return Ok(None) };
    let page = config.geometry.page_size.get();
    let entries = entries(config, cache)?;
    let pages = logical.div_ceil(entries);
    let slots = match (cache.size, cache.share) {
        (Some(_), Some(share)) => {
            let expected = "no share beside ftl.map_cache.size";
            return Err(Refusal::new("ftl.map_cache.share", share, expected));
        }
        (Some(size), None) if size.get() < page => {
            let expected = format!("at least a page of {}", config.geometry.page_size);
            return Err(Refusal::new("ftl.map_cache.size", size, expected));
        }
        (Some(size), None) => (size.get() / page).min(u64::from(pages)) as u32,
        (None, Some(share)) if share.get() == 0.0 => {
            return Err(Refusal::new("ftl.map_cache.share", share, "a share above 0"));
        }
        (None, share) => {
            let share = share.map_or(MAP_SHARE, Share::get);
            ((f64::from(pages) * share).floor() as u32).max(1)
        }
    };
    Ok(Some(MapShape { entries, slots, logical }))
}

/// Resolves the number of buffer pages to keep free; at least one page stays usable.
fn keep_free(config: &DriveConfig, buffer_pages: u32) -> u32 {
    let share = config.buffer.keep_free.map_or(0.0, Share::get);
    ((f64::from(buffer_pages) * share) as u32).min(buffer_pages.saturating_sub(1))
}

fn flash_setup(config: &DriveConfig, chip: &Chip) -> FlashSetup {
    let geometry = &config.geometry;
    let bytes = |sectors: u64| match config.flash.transfer {
        TransferUnit::Page => geometry.page_size,
        TransferUnit::Sectors => Bytes::new(sectors * SECTOR_BYTES),
    };
    const SUSPEND: Nanos = Nanos::from_us(5);
    const LOOPS: u8 = 5;
    let needs = AnySuspend::needs(&config.suspend);
    let [program, erase] = [config.flash.program_loops, config.flash.erase_loops];
    FlashSetup {
        planes_per_unit: match config.flash.array {
            ArrayUnit::Plane => 1,
            ArrayUnit::Die => geometry.planes,
            ArrayUnit::Chip => geometry.planes * geometry.dies,
        },
        multi_plane: config.flash.multi_plane.unwrap_or(true),
        cache_read: config.flash.cache_read,
        hold_until_decoded: !chip.is_flat() && config.flash.hold_until_decoded.unwrap_or(true),
        pipelined_retry: match &config.flash.retries {
            RetriesChoice::Serial(_) => None,
            RetriesChoice::Pipelined(pipelined) => Some(PipelinedRetry {
                shorter: pipelined.shorter,
                shorter_every: pipelined.shorter_on == ShorterOn::Every,
                reset: pipelined.reset_time,
                first: pipelined.first,
            }),
        },
        may_suspend: needs.suspends,
        loops: needs.loops.then(|| [program.unwrap_or(LOOPS), erase.unwrap_or(LOOPS)]),
        reads_pass: reads_may_pass(config, chip) && needs.max_suspended_reads > 0,
        max_passes: AnyScheduler::needs(&config.scheduler).max_passes,
        suspend_time: config.flash.suspend_time.unwrap_or(SUSPEND),
        resume_time: config.flash.resume_time.unwrap_or(SUSPEND),
        command_time: config.flash.command_time,
        data_out_first: config.flash.bus_order == super::BusOrder::DataOutFirst,
        cycles_per_erase: config.flash.cycles_per_erase,
        moves: (0..=geometry.sectors_per_page() as u64)
            .map(bytes)
            .map(|bytes| Moved { bytes: bytes.get(), time: config.flash.bus_rate.time_for(bytes) })
            .collect(),
    }
}

fn check_ranges(config: &DriveConfig, chip: &Chip) -> Result<(), Refusal> {
    let host = &config.host;
    if host.queues == 0 {
        return Err(Refusal::new("host.queues", host.queues, "at least 1"));
    }
    let loops = [
        ("flash.program_loops", config.flash.program_loops),
        ("flash.erase_loops", config.flash.erase_loops),
    ];
    if let Some((key, _)) = loops.into_iter().find(|(_, loops)| *loops == Some(0)) {
        return Err(Refusal::new(key, 0, "at least 1"));
    }
    if host.queue_depth == 0 {
        return Err(Refusal::new("host.queue_depth", host.queue_depth, "at least 1"));
    }
    if AnyScheduler::needs(&config.scheduler).by_priority
        && !(2..=HOST_RANKS).contains(&host.queues)
    {
        let expected = format!("2 to {HOST_RANKS} with scheduler = {:?}", config.scheduler.name());
        return Err(Refusal::new("host.queues", host.queues, expected));
    }
    for (key, links) in
        [("placement", config.placement.len()), ("program_mode", config.program_mode.len())]
    {
        if links == 0 {
            return Err(Refusal::new(key, "none", "at least one link"));
        }
    }
    // A second copy of a link never answers: it leaves open the same fields as the first copy.
    let doubled = |links: &[&'static str]| {
        let again = (1..links.len()).find(|&at| links[..at].contains(&links[at]));
        again.map(|at| links[at])
    };
    let place: Vec<_> = config.placement.iter().map(|link| link.name()).collect();
    let program: Vec<_> = config.program_mode.iter().map(|link| link.name()).collect();
    for (key, links) in [("placement", place), ("program_mode", program)] {
        if let Some(name) = doubled(&links) {
            return Err(Refusal::new(key, format!("{name} twice"), "each link once"));
        }
    }
    config.metadata.check(chip.levels())?;
    check_times(config)?;
    if config.buffer.size.get() > config.geometry.raw_bytes() {
        let expected = format!("at most the size of the flash, {}B", config.geometry.raw_bytes());
        return Err(Refusal::new("buffer.size", config.buffer.size, expected));
    }
    if config.start.age_min > config.start.age_max {
        let expected = format!("at most start.age_max, {}", config.start.age_max);
        return Err(Refusal::new("start.age_min", config.start.age_min, expected));
    }
    if config.start.pe_spread > config.start.pe_cycles {
        let expected = format!("at most start.pe_cycles, {}", config.start.pe_cycles);
        return Err(Refusal::new("start.pe_spread", config.start.pe_spread, expected));
    }
    let letters = &config.ftl.allocation_order;
    let mut sorted: Vec<char> = letters.chars().collect();
    sorted.sort_unstable();
    if sorted != ['C', 'D', 'P', 'W'] {
        let expected = "each of the letters C, W, D and P once, such as \"CWDP\"";
        return Err(Refusal::new("ftl.allocation_order", format!("{letters:?}"), expected));
    }
    Ok(())
}

/// Refuses a free-block policy if the drive does not keep the metadata component that ranks blocks
/// for it.
fn check_free_block_policy(
    free_block_policy: FreeBlockPolicy,
    setup: &PolicyContext,
) -> Result<(), Refusal> {
    match MetadataConfig::ranking_for(free_block_policy) {
        Some((component, expected)) if !setup.has(component) => {
            Err(Refusal::new("ftl.free_block_policy", free_block_policy.name(), expected))
        }
        _ => Ok(()),
    }
}

/// Refuses times so long that sums over a run could overflow.
fn check_times(config: &DriveConfig) -> Result<(), Refusal> {
    const MAX_STEP_TIME: Nanos = Nanos::from_ms(100_000);
    const MAX_AGE: Nanos = Nanos::from_ms(100 * 365 * 86_400_000);
    let (flash, start) = (&config.flash, &config.start);
    let reset = match &flash.retries {
        RetriesChoice::Serial(_) => None,
        RetriesChoice::Pipelined(pipelined) => Some(pipelined.reset_time),
    };
    let times = [
        ("flash.command_time", Some(flash.command_time), MAX_STEP_TIME),
        ("flash.suspend_time", flash.suspend_time, MAX_STEP_TIME),
        ("flash.resume_time", flash.resume_time, MAX_STEP_TIME),
        ("flash.retries.pipelined.reset_time", reset, MAX_STEP_TIME),
        ("buffer.latency", config.buffer.latency, MAX_STEP_TIME),
        ("start.dwell", Some(start.dwell), MAX_AGE),
        ("start.age_max", Some(start.age_max), MAX_AGE),
    ];
    for (key, time, most) in times {
        if let Some(time) = time.filter(|&time| time > most) {
            return Err(Refusal::new(key, time, format!("at most {most}")));
        }
    }
    let page = flash.bus_rate.time_for(config.geometry.page_size);
    if page > MAX_STEP_TIME {
        let expected = format!("a rate that moves a page within {MAX_STEP_TIME}");
        return Err(Refusal::new("flash.bus_rate", flash.bus_rate, expected));
    }
    Ok(())
}
