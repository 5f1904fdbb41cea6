//! Which requests are read where one device was asked for, and of which device each is.

use std::collections::BTreeMap;

/// What a device's name says that it is a twin of: "twin of hm_0 (DLV)" of
/// "high (twin of hm_0 (DLV))".
pub fn twin_in(device: &str) -> Option<&str> {
    let begin = device.rfind("(twin of ")?;
    device[begin + 1..].strip_suffix(')')
}

/// Leaves out the requests of devices that were not asked for.
pub(crate) struct DeviceFilter {
    /// The device that was asked for.
    pub(crate) wanted: Option<String>,
    name: Vec<u8>,
    /// Devices that were seen before the first that is wanted, for the message if none is.
    seen: Vec<Vec<u8>>,
    found: bool,
    /// The devices of the requests read, if they are to be told.
    known: Option<Known>,
}

impl DeviceFilter {
    const MOST_NAMED: usize = 8;

    /// Wants the requests of this device, or all.
    pub(crate) fn new(wanted: Option<&str>) -> DeviceFilter {
        let wanted = wanted.map(str::to_owned);
        DeviceFilter { wanted, name: Vec::new(), seen: Vec::new(), found: false, known: None }
    }

    /// Whether requests of this device are wanted; `name_it` writes its name, if it matters.
    pub(crate) fn wants(&mut self, name_it: impl FnOnce(&mut Vec<u8>)) -> bool {
        if self.wanted.is_none() && self.known.is_none() {
            return true;
        }
        self.name.clear();
        name_it(&mut self.name);
        if let Some(known) = &mut self.known {
            known.take(&self.name);
        }
        let Some(wanted) = &self.wanted else { return true };
        let wants = self.name == wanted.as_bytes();
        self.found |= wants;
        let new = !self.found && !self.seen.contains(&self.name);
        if new && self.seen.len() <= Self::MOST_NAMED {
            self.seen.push(self.name.clone());
        }
        wants
    }

    /// From now on remembers of which device each request is.
    pub(crate) fn remember(&mut self) {
        self.known.get_or_insert_default();
    }

    /// The number of the device of the request looked at last.
    pub(crate) fn last(&self) -> u32 {
        self.known.as_ref().map_or(0, |known| known.last)
    }

    /// The name of the device of this number.
    pub(crate) fn name_of(&self, number: u32) -> Option<&str> {
        self.known.as_ref()?.names.get(number as usize).map(String::as_str)
    }

    /// The devices that are twins, of those remembered and wanted.
    pub(crate) fn twins(&self) -> Vec<String> {
        let wants = |name: &&String| self.wanted.as_ref().is_none_or(|wanted| wanted == *name);
        let names = self.known.iter().flat_map(|known| &known.names).filter(wants);
        let mut twins: Vec<String> =
            names.filter(|name| twin_in(name).is_some()).cloned().collect();
        twins.sort();
        twins
    }

    /// The devices seen, for the message that the one wanted is not among them.
    pub(crate) fn seen_names(&self) -> String {
        let named = self.seen.iter().take(Self::MOST_NAMED);
        let mut names: Vec<_> = named.map(|name| String::from_utf8_lossy(name)).collect();
        if self.seen.len() > Self::MOST_NAMED {
            names.push("…".into());
        }
        names.join(", ")
    }
}

/// Devices by the order in which they came.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<Vec<u8>, u32>,
    names: Vec<String>,
    last: u32,
    last_name: Vec<u8>,
}

impl Known {
    /// Names kept apart; what comes after is of one device more.
    const MOST: usize = 1 << 16;
    const OTHERS: &str = "…";

    fn take(&mut self, name: &[u8]) {
        if self.names.is_empty() || self.last_name != name {
            self.last = self.number(name);
            self.last_name.clear();
            self.last_name.extend_from_slice(name);
        }
    }

    fn number(&mut self, name: &[u8]) -> u32 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        if self.names.len() < Self::MOST {
            self.numbers.insert(name.to_vec(), number);
            let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
            self.names.push(String::from_utf8_lossy(name).chars().map(plain).collect());
            return number;
        }
        if self.names.len() == Self::MOST {
            self.names.push(Self::OTHERS.into());
        }
        Self::MOST as u32
    }
}
