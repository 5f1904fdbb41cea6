//! The source with every choice written out.

use std::cmp::Reverse;
use std::ops::Range;

use serde::Serialize;

use crate::sites::{Shape, Site};

/// The new text of a file.
#[derive(Default)]
pub struct Planted {
    pub text: String,
    pub marks: Vec<Mark>,
}

/// A stretch of the new text and the mutants whose it is, in bytes.
#[derive(Serialize)]
pub struct Mark {
    start: usize,
    end: usize,
    mutants: Vec<u32>,
}

pub fn render(source: &str, mut sites: Vec<Site>) -> Planted {
    // The outer one first; before those that begin at the same place what stands in front of them.
    sites.sort_by_key(|site| {
        let inside = site.shape == Shape::Expression;
        (site.range.start, !site.range.is_empty(), Reverse(site.range.end), inside)
    });
    let mut planted = Planted::default();
    planted.stretch(source, 0..source.len(), &sites);
    planted
}

impl Planted {
    /// A stretch of the source with the sites in it.
    fn stretch(&mut self, source: &str, range: Range<usize>, mut sites: &[Site]) {
        let mut at = range.start;
        while let Some((site, others)) = sites.split_first() {
            let inside = others.partition_point(|other| other.range.start < site.range.end);
            self.text.push_str(&source[at..site.range.start]);
            self.site(source, site, &others[..inside]);
            at = site.range.end;
            sites = &others[inside..];
        }
        self.text.push_str(&source[at..range.end]);
    }

    fn site(&mut self, source: &str, site: &Site, inside: &[Site]) {
        let start = self.text.len();
        let opening = if site.shape == Shape::Expression { "(" } else { "" };
        self.text.push_str(opening);
        for (mutant, text) in &site.mutants {
            let start = self.text.len();
            self.text.push_str(&choice(site.shape, *mutant, text));
            self.mark(start, vec![*mutant]);
        }
        let (before, after) = around(site);
        self.text.push_str(before);
        self.stretch(source, site.range.clone(), inside);
        self.text.push_str(&after);
        self.mark(start, site.mutants.iter().map(|(mutant, _)| *mutant).collect());
    }

    fn mark(&mut self, start: usize, mutants: Vec<u32>) {
        self.marks.push(Mark { start, end: self.text.len(), mutants });
    }
}

/// What is written for one mutant, before the code that it would replace.
fn choice(shape: Shape, mutant: u32, text: &str) -> String {
    let on = format!("crate::mutants::on({mutant})");
    match shape {
        Shape::Return => format!("if {on} {{ return {text}; }}\n"),
        Shape::Iterator => {
            format!("crate::mutants::either({mutant}, move || {text}, move || {{ ")
        }
        Shape::Expression => format!("if {on} {{ {text} }} else "),
        Shape::Arm => format!(" if !{on}"),
        Shape::GuardedArm => format!("!{on} && "),
    }
}

/// What stands around the code itself, once all its mutants have been named.
fn around(site: &Site) -> (&'static str, String) {
    match site.shape {
        Shape::Return | Shape::Arm => ("", String::new()),
        Shape::Iterator => ("", " })".repeat(site.mutants.len())),
        Shape::Expression => ("{ ", " })".to_string()),
        Shape::GuardedArm => ("(", ")".to_string()),
    }
}
