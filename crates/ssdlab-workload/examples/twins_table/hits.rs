//! Published hit ratios of LRU caches beside those of twins, as tables.

use ssdlab_workload::twins::Twin;
use ssdlab_workload::twins::hits::HitRatio;

/// A hit ratio is far off from here on.
const FAR: f64 = 0.08;
/// Caches that drop the pages of a write, in percent of the pages that the trace reads.
const SIZES: [u64; 15] = [1, 4, 5, 6, 7, 8, 9, 10, 15, 20, 25, 30, 40, 60, 80];
const CURVE: &str = "reads, writes drop";

/// Returns the tables and a sentence on hit ratios that are far off.
pub(crate) fn text(found: &[(&Twin, Vec<HitRatio>)]) -> String {
    let mut table = String::from(
        "| twin | pages | reads | writes | reads of places at 100, 512 and 1024 MB |\n\
         |---|---|---|---|---|\n",
    );
    let sizes = SIZES.map(|size| format!("{size} %")).join(" | ");
    let mut curves = format!("| twin | | {sizes} |\n|---|---{}|\n", "|---".repeat(SIZES.len()));
    for (twin, hits) in found.iter().filter(|(_, hits)| !hits.is_empty()) {
        table.push_str(&row(twin, hits));
        curves.push_str(&curve(twin, hits));
    }
    format!(
        "{table}\nCaches from which a write drops its pages, in percent of the pages that the \
         trace reads. Cells\nhold hit ratios of reads:\n\n{curves}\n{}\n",
        far(found)
    )
}

/// Returns the row of a twin: trace / twin.
fn row(twin: &Twin, hits: &[HitRatio]) -> String {
    let of = |what: &str| hits.iter().filter(|hit| hit.what == what).collect::<Vec<&HitRatio>>();
    let pair = |hit: &HitRatio| format!("{:.3} / {:.3}", hit.published, hit.achieved);
    let pairs = |what: &str| of(what).into_iter().map(pair).collect::<Vec<String>>().join(", ");
    let pages = of("reads").first().map_or(String::new(), |hit| hit.size.to_string());
    let [reads, writes, places] = ["reads", "writes", "reads of places"].map(pairs);
    format!("| {} | {pages} | {reads} | {writes} | {places} |\n", twin.name)
}

/// Returns two rows of a twin whose trace has a curve: the trace's, and its own.
fn curve(twin: &Twin, hits: &[HitRatio]) -> String {
    let curve: Vec<&HitRatio> = hits.iter().filter(|hit| hit.what == CURVE).collect();
    if curve.is_empty() {
        return String::new();
    }
    let pages = twin.figures().read_set.expect("pages that are read") / 4096.0;
    let sizes = curve.iter().map(|hit| (hit.size as f64 / pages * 100.0).round() as u64);
    assert!(sizes.eq(SIZES), "{}: other sizes", twin.name);
    let cells = |ratios: Vec<f64>| {
        ratios.iter().map(|ratio| format!("{ratio:.3}")).collect::<Vec<String>>().join(" | ")
    };
    let trace = cells(curve.iter().map(|hit| hit.published).collect());
    let of_twin = cells(curve.iter().map(|hit| hit.achieved).collect());
    format!("| {} | trace | {trace} |\n| | twin | {of_twin} |\n", twin.name)
}

/// Returns the sentence on hit ratios that are far off, with the largest deviation of each twin.
fn far(found: &[(&Twin, Vec<HitRatio>)]) -> String {
    let off = |hit: &HitRatio| (hit.achieved - hit.published).abs();
    let all: Vec<&HitRatio> = found.iter().flat_map(|(_, hits)| hits).collect();
    let count = all.iter().filter(|hit| off(hit) > FAR).count();
    let largest = |(twin, hits): &(&Twin, Vec<HitRatio>)| {
        let largest = hits.iter().map(off).fold(0.0, f64::max);
        (largest > FAR).then(|| format!("{} {largest:.3}", twin.name))
    };
    let names: Vec<String> = found.iter().filter_map(largest).collect();
    let list = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    format!("{count} of {} hit ratios are off by more than {FAR}{list}.", all.len())
}
