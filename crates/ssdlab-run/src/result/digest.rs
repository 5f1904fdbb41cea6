//! The digest of a result.

use sha2::{Digest, Sha256};

use super::RunResult;

impl RunResult {
    /// Returns this result with its digest.
    pub(super) fn sealed(self) -> RunResult {
        RunResult { results_digest: self.digest(), ..self }
    }

    /// Returns the hash of every figure here and of the completions.
    fn digest(&self) -> String {
        let mut figures = serde_json::to_value(self).expect("a result can be written");
        let entries = figures.as_object_mut().expect("a result is an object");
        for key in ["label", "workload", "results_digest", "remarks", "sim", "provenance"] {
            entries.remove(key);
        }
        let mut hash = Sha256::new();
        hash.update(figures.to_string());
        hash.update(self.provenance.config_hash.as_bytes());
        hash.update(self.completions_digest.to_le_bytes());
        hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}
