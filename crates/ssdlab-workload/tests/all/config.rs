//! `[workload]` and trace options in a config, and the values that are refused.

use ssdlab_base::Nanos;
use ssdlab_workload::{
    Arrivals, FixedConfig, Generator, Kind, SizeChoice, TraceOptions, Unsorted, WorkloadConfig,
};

fn config(toml: &str) -> Result<WorkloadConfig, String> {
    toml::from_str(toml).map_err(|error| error.message().to_owned())
}

/// Returns the error for a config that parses but has an impossible value.
fn refused(toml: &str) -> String {
    Generator::new(&config(toml).unwrap(), 1).err().expect("a fault").to_string()
}

#[test]
fn an_empty_table_is_the_default() {
    assert_eq!(config(""), Ok(WorkloadConfig::default()));
}

#[test]
fn every_key_is_read() {
    let got = config(
        "kind = { zipf = { theta = 0.8 } }\nfootprint = '1GiB'\nread_share = '70%'\n\
         sizes = ['4KiB', { size = '64KiB', weight = 3 }]\narrivals = 'fixed'\n\
         interarrival = '50us'\nrequests = 7\nqueue = 3\nhints = [0, 2]\n",
    )
    .unwrap();
    let Kind::Zipf(zipf) = &got.kind else { panic!("{:?}", got.kind) };
    assert_eq!(zipf.theta, 0.8);
    assert_eq!((got.footprint.get(), got.read_share.get()), (1 << 30, 0.7));
    let sizes: Vec<(u64, u32)> = got.sizes.iter().map(|c| (c.size.get(), c.weight)).collect();
    assert_eq!(sizes, [(4096, 1), (65536, 3)]);
    assert_eq!(
        (got.arrivals, got.interarrival),
        (Arrivals::Fixed(FixedConfig {}), Nanos::from_us(50))
    );
    assert_eq!((got.requests, got.queue, got.hints), (7, 3, vec![0, 2]));
}

#[test]
fn every_kind_is_chosen_by_its_bare_name() {
    for name in Kind::NAMES {
        let config = config(&format!("kind = '{name}'")).unwrap();
        assert_eq!(config.kind.name(), *name);
        assert!(Generator::new(&config, 1).is_ok(), "{name}");
    }
    assert_eq!(Kind::NAMES, ["random", "sequential", "zipf", "hotcold", "bursty"]);
}

#[test]
fn what_is_written_reads_back() {
    for kind in Kind::NAMES {
        let mut config = config(&format!("kind = '{kind}'\nread_share = 0.3")).unwrap();
        config.sizes.push(SizeChoice::new(ssdlab_base::Bytes::from_kib(128), 5));
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<WorkloadConfig>(&text).unwrap(), config, "{text}");
    }
    let options = TraceOptions {
        device: Some("hm_0".into()),
        tick: Some(Nanos::from_us(1)),
        unsorted: Some(Unsorted::Sort(7)),
        columns: Some("time:0,op:1,offset:2,size:3".into()),
        max_request: Some(ssdlab_base::Bytes::from_gib(1)),
        ..TraceOptions::default()
    };
    let text = toml::to_string(&options).unwrap();
    assert_eq!(
        text,
        "device = \"hm_0\"\ntick = \"1us\"\ncolumns = \"time:0,op:1,offset:2,size:3\"\nmax_request = \"1GiB\"\n\n[unsorted]\nsort = 7\n"
    );
    assert_eq!(toml::from_str::<TraceOptions>(&text).unwrap(), options);
    assert_eq!(
        toml::from_str::<TraceOptions>("unsorted = 'refuse'").unwrap().unsorted,
        Some(Unsorted::Refuse)
    );
}

#[test]
fn a_key_without_effect_is_refused() {
    let unknown = |toml: &str| config(toml).unwrap_err();
    assert!(unknown("theta = 0.9").starts_with("unknown field `theta`, expected one of `kind`,"));
    assert_eq!(
        unknown("kind = { random = { theta = 0.9 } }"),
        "unknown field `theta`, there are no fields"
    );
    assert_eq!(
        unknown("kind = { hotcold = { theta = 0.9 } }"),
        "unknown field `theta`, expected `hot_share` or `hot_access_share`"
    );
    assert!(unknown("kind = 'zipff'").starts_with("unknown variant `zipff`, expected one of"));
    assert!(unknown("kind = { zipf = { theta = nan } }").contains("expected a finite number"));
    assert!(unknown("kind = { bursty = { length = 0 } }").contains("nonzero"));
    assert!(unknown("sizes = [4096]").contains("expected a size such as \"4KiB\""));
    assert!(unknown("sizes = [{ size = '4KiB', wait = 2 }]").contains("unknown field `wait`"));
    assert!(unknown("queue = 256").contains("256"));
}

#[test]
fn values_that_no_workload_can_have_are_refused_by_name() {
    assert_eq!(refused("requests = 0"), "workload.requests: got 0, expected at least one");
    let none = "workload.sizes: got a list of 0, expected from 1 to 1024 sizes";
    assert_eq!(refused("sizes = []"), none);
    assert_eq!(
        refused("sizes = ['1000B']"),
        "workload.sizes: got 1kB, expected multiples of 512 B from 512 B to 256MiB"
    );
    assert_eq!(
        refused("sizes = ['0B']"),
        "workload.sizes: got 0B, expected multiples of 512 B from 512 B to 256MiB"
    );
    assert_eq!(
        refused("footprint = '32KiB'"),
        "workload.sizes: got 64KiB, expected at most the footprint 32KiB"
    );
    assert_eq!(
        refused("sizes = [{ size = '4KiB', weight = 0 }]"),
        "workload.sizes: got a weight of 0, expected weights of at least 1"
    );
    assert_eq!(
        refused("kind = { zipf = { theta = -1.0 } }"),
        "workload.kind.zipf.theta: got -1, expected from 0 to 10"
    );
    assert_eq!(
        refused("kind = { hotcold = { hot_share = 1.0 } }"),
        "workload.kind.hotcold.hot_share: got 1, \
         expected a share that leaves hot and cold some of 262144 granules"
    );
    assert_eq!(
        refused("kind = 'zipf'\nfootprint = '1MiB'\nsizes = ['300KiB', '64KiB', '28KiB']"),
        "workload.sizes: got sizes whose least common multiple is larger than the footprint, \
         expected sizes that divide one another"
    );
    assert_eq!(
        refused("interarrival = '90d'"),
        "workload.interarrival: got 1000000 requests 90d apart, \
         expected a workload shorter than 15 years"
    );
}

/// Every key documents its meaning, its default and its source.
#[test]
fn the_schema_documents_every_key() {
    let schema = schemars::schema_for!(WorkloadConfig).to_value();
    let tables = [
        &schema,
        &schema["$defs"]["ZipfConfig"],
        &schema["$defs"]["HotcoldConfig"],
        &schema["$defs"]["BurstyConfig"],
        &schemars::schema_for!(TraceOptions).to_value(),
    ];
    for table in tables {
        for (key, about) in table["properties"].as_object().unwrap() {
            let text = about["description"].as_str().unwrap_or_else(|| panic!("{key}: {about}"));
            assert!(text.contains("Default:"), "{key}: {text}");
        }
    }
}
