//! Each find of a fuzzer or a property test, named as a fact.
