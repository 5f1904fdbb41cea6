//! Selects the requests of one device, and keeps the device of each request.

use std::collections::BTreeMap;

/// Returns the twin that a device's name mentions: "twin of hm_0 (DLV)" in "high (twin of hm_0
/// (DLV))".
pub fn twin_in(device: &str) -> Option<&str> {
    let begin = device.rfind("(twin of ")?;
    device[begin + 1..].strip_suffix(')')
}

/// A filter for the requests of one device.
pub(crate) struct DeviceFilter {
    /// The selected device; `None` selects all.
    pub(crate) selected: Option<String>,
    name: Vec<u8>,
    /// Devices seen before the first request of the selected one, for the message if it never
    /// comes.
    seen: Vec<Vec<u8>>,
    found: bool,
    /// The devices of the requests, if the trace keeps them.
    known: Option<Known>,
}

impl DeviceFilter {
    const MAX_NAMED: usize = 8;

    /// Selects the requests of this device, or of all devices.
    pub(crate) fn new(selected: Option<&str>) -> DeviceFilter {
        let selected = selected.map(str::to_owned);
        DeviceFilter { selected, name: Vec::new(), seen: Vec::new(), found: false, known: None }
    }

    /// Returns whether requests of this device are selected. `name_it` writes the device's name; it
    /// is called only if needed.
    pub(crate) fn accepts(&mut self, name_it: impl FnOnce(&mut Vec<u8>)) -> bool {
        if self.selected.is_none() && self.known.is_none() {
            return true;
        }
        self.name.clear();
        name_it(&mut self.name);
        if let Some(known) = &mut self.known {
            known.take(&self.name);
        }
        let Some(selected) = &self.selected else { return true };
        let accepts = self.name == selected.as_bytes();
        self.found |= accepts;
        let new = !self.found && !self.seen.contains(&self.name);
        if new && self.seen.len() <= Self::MAX_NAMED {
            self.seen.push(self.name.clone());
        }
        accepts
    }

    /// Keeps the device of each request from now on.
    pub(crate) fn remember(&mut self) {
        self.known.get_or_insert_default();
    }

    /// Returns the number of the device of the last request.
    pub(crate) fn last(&self) -> u32 {
        self.known.as_ref().map_or(0, |known| known.last)
    }

    /// Returns the name of the device with this number.
    pub(crate) fn name_of(&self, number: u32) -> Option<&str> {
        self.known.as_ref()?.names.get(number as usize).map(String::as_str)
    }

    /// Returns the selected devices that are twins.
    pub(crate) fn twins(&self) -> Vec<String> {
        let accepts =
            |name: &&String| self.selected.as_ref().is_none_or(|selected| selected == *name);
        let names = self.known.iter().flat_map(|known| &known.names).filter(accepts);
        let mut twins: Vec<String> =
            names.filter(|name| twin_in(name).is_some()).cloned().collect();
        twins.sort();
        twins
    }

    /// Returns the devices seen, for the message that the selected one is not among them.
    pub(crate) fn seen_names(&self) -> String {
        let named = self.seen.iter().take(Self::MAX_NAMED);
        let mut names: Vec<_> = named.map(|name| String::from_utf8_lossy(name)).collect();
        if self.seen.len() > Self::MAX_NAMED {
            names.push("…".into());
        }
        names.join(", ")
    }
}

/// Devices in the order of their first requests.
#[derive(Default)]
struct Known {
    numbers: BTreeMap<Vec<u8>, u32>,
    names: Vec<String>,
    last: u32,
    last_name: Vec<u8>,
}

impl Known {
    /// The most names that are kept apart; all further devices count as one.
    const MAX_NAMES: usize = 1 << 16;
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
        if self.names.len() < Self::MAX_NAMES {
            self.numbers.insert(name.to_vec(), number);
            let plain = |c: char| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c };
            self.names.push(String::from_utf8_lossy(name).chars().map(plain).collect());
            return number;
        }
        if self.names.len() == Self::MAX_NAMES {
            self.names.push(Self::OTHERS.into());
        }
        Self::MAX_NAMES as u32
    }
}
