//! Runs as users begin them: what they accept, what they keep, and what comes out. One program
//! holds all of these tests, since each program takes as long to build as the library.

mod bounds;
mod digests;
mod figures;
mod keys;
mod limits;
mod memory;
mod mix;
mod observe;
mod paranoid;
mod shared_starts;
mod state;
mod state_files;
mod theory;
mod twins;
