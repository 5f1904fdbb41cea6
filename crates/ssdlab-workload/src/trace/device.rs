//! Which requests are read where one device was asked for.

/// Leaves out the requests of devices that were not asked for.
pub(crate) struct DeviceFilter {
    /// The device that was asked for.
    pub(crate) wanted: Option<String>,
    name: Vec<u8>,
    /// Devices that were seen before the first that is wanted, for the message if none is.
    seen: Vec<Vec<u8>>,
    found: bool,
}

impl DeviceFilter {
    const MOST_NAMED: usize = 8;

    /// Wants the requests of this device, or all.
    pub(crate) fn new(wanted: Option<&str>) -> DeviceFilter {
        let wanted = wanted.map(str::to_owned);
        DeviceFilter { wanted, name: Vec::new(), seen: Vec::new(), found: false }
    }

    /// Whether requests of this device are wanted; `name_it` writes its name, if it matters.
    #[inline]
    pub(crate) fn wants(&mut self, name_it: impl FnOnce(&mut Vec<u8>)) -> bool {
        let Some(wanted) = &self.wanted else { return true };
        self.name.clear();
        name_it(&mut self.name);
        let wants = self.name == wanted.as_bytes();
        self.found |= wants;
        let new = !self.found && !self.seen.contains(&self.name);
        if new && self.seen.len() <= Self::MOST_NAMED {
            self.seen.push(self.name.clone());
        }
        wants
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
