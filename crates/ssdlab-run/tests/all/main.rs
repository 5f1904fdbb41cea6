//! Tests of whole runs, as users start them: accepted inputs, recorded files and results. One
//! program holds all tests, because each program takes as long to build as the library.

mod bounds;
mod digests;
mod figures;
mod keys;
mod limits;
mod memory;
mod mix;
mod observe;
mod paranoid;
mod settled;
mod shared_starts;
mod state;
mod state_files;
mod theory;
mod twins;
