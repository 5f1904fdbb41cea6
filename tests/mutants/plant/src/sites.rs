//! Where in a file the mutants go.

use std::ops::Range;

use syn::spanned::Spanned;
use syn::visit::{self, Visit};

use crate::{Genre, Mutant};

/// A stretch of the source that a switch chooses another text for.
pub struct Site {
    pub range: Range<usize>,
    pub shape: Shape,
    /// Mutants, each with its text.
    pub mutants: Vec<(u32, String)>,
}

/// How the choice is written.
#[derive(Clone, Copy, PartialEq)]
pub enum Shape {
    /// A function that returns at once: the range is empty, before its first statement.
    Return,
    /// A function that returns `impl Iterator`: the range is its body.
    Iterator,
    /// One of several expressions.
    Expression,
    /// An arm without a guard that is not taken: the range is empty, after its pattern.
    Arm,
    /// An arm that is not taken though its guard, the range, is met.
    GuardedArm,
}

/// The sites of a file's mutants. A mutant for which none is found is left out.
pub fn find(source: &str, mutants: &[&Mutant]) -> syn::Result<Vec<Site>> {
    let mut finder = Finder { source, mutants, sites: Vec::new() };
    finder.visit_file(&syn::parse_file(source)?);
    Ok(finder.sites)
}

struct Finder<'a> {
    source: &'a str,
    mutants: &'a [&'a Mutant],
    sites: Vec<Site>,
}

impl Finder<'_> {
    /// The mutants of a kind that begin where something begins, each with its text.
    fn at(
        &self,
        place: &impl Spanned,
        genre: Genre,
        text: impl Fn(&str) -> String,
    ) -> Vec<(u32, String)> {
        let start = place.span().start();
        let here = |mutant: &&&Mutant| {
            let position = mutant.span.start;
            mutant.genre == genre
                && (position.line, position.column) == (start.line, start.column + 1)
        };
        let found = self.mutants.iter().filter(here);
        found.map(|mutant| (mutant.id, text(&mutant.replacement))).collect()
    }

    fn add(&mut self, range: Range<usize>, shape: Shape, mutants: Vec<(u32, String)>) {
        if !mutants.is_empty() {
            self.sites.push(Site { range, shape, mutants });
        }
    }

    fn text(&self, place: &impl Spanned) -> &str {
        &self.source[place.span().byte_range()]
    }

    fn function(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let (Some(first), Some(last)) = (block.stmts.first(), block.stmts.last()) else { return };
        let mutants = self.at(first, Genre::FnValue, str::to_string);
        let start = first.span().byte_range().start;
        let returns_impl = matches!(&signature.output,
            syn::ReturnType::Type(_, kind) if matches!(**kind, syn::Type::ImplTrait(_)));
        if returns_impl {
            self.add(start..last.span().byte_range().end, Shape::Iterator, mutants);
        } else {
            self.add(start..start, Shape::Return, mutants);
        }
    }
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.function(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(block) = &function.default {
            self.function(&function.sig, block);
        }
        visit::visit_trait_item_fn(self, function);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        // What a condition binds with `let` could not be used beyond the choice.
        if !has_let(&binary.left) && !has_let(&binary.right) {
            let (left, right) = (self.text(&binary.left), self.text(&binary.right));
            let mutants = self.at(&binary.op, Genre::BinaryOperator, |operator| {
                if assigns(operator) {
                    format!("{left} {operator} {right}")
                } else {
                    // In brackets: `a as u32 < b` would be a type's argument.
                    format!("({left}) {operator} {right}")
                }
            });
            self.add(binary.span().byte_range(), Shape::Expression, mutants);
        }
        visit::visit_expr_binary(self, binary);
    }

    fn visit_expr_unary(&mut self, unary: &'ast syn::ExprUnary) {
        let operand = self.text(&unary.expr);
        let mutants =
            self.at(&unary.op, Genre::UnaryOperator, |operator| format!("{operator} {operand}"));
        self.add(unary.span().byte_range(), Shape::Expression, mutants);
        visit::visit_expr_unary(self, unary);
    }

    fn visit_expr_struct(&mut self, value: &'ast syn::ExprStruct) {
        let whole = value.span().byte_range();
        let mut mutants = Vec::new();
        for field in &value.fields {
            let range = field.span().byte_range();
            let after = self.source[range.end..whole.end].trim_start();
            let after = after.strip_prefix(',').unwrap_or(after);
            let before = &self.source[whole.start..range.start];
            mutants.extend(self.at(field, Genre::StructField, |_| format!("{before}{after}")));
        }
        self.add(whole, Shape::Expression, mutants);
        visit::visit_expr_struct(self, value);
    }

    fn visit_arm(&mut self, arm: &'ast syn::Arm) {
        let end = arm.pat.span().byte_range().end;
        let (range, shape) = match &arm.guard {
            Some((_, guard)) => (guard.span().byte_range(), Shape::GuardedArm),
            None => (end..end, Shape::Arm),
        };
        if let Some((_, guard)) = arm.guard.as_ref().filter(|(_, guard)| !has_let(guard)) {
            let mutants = self.at(guard, Genre::MatchArmGuard, str::to_string);
            self.add(range.clone(), Shape::Expression, mutants);
        }
        let mutants = self.at(arm, Genre::MatchArm, str::to_string);
        self.add(range, shape, mutants);
        visit::visit_arm(self, arm);
    }
}

/// Whether an operator stores its result, as `+=` does and `<=` does not.
fn assigns(operator: &str) -> bool {
    operator.ends_with('=') && !["==", "!=", "<=", ">="].contains(&operator)
}

/// Whether a condition has a `let` in it.
fn has_let(condition: &syn::Expr) -> bool {
    match condition {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) if matches!(binary.op, syn::BinOp::And(_)) => {
            has_let(&binary.left) || has_let(&binary.right)
        }
        _ => false,
    }
}
