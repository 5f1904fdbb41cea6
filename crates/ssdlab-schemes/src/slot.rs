//! Macros that turn a list of policies into config choices, policy types and method calls.

/// Forwards the common methods of policies to the chosen one.
macro_rules! learns {
    ($Any:ident { $($name:ident $Policy:ident),+ }) => {
        impl Learner for $Any {
            fn name(&self) -> &'static str {
                match self { $($Any::$Policy(_) => stringify!($name)),+ }
            }

            fn events(&self) -> EventMask {
                match self { $($Any::$Policy(policy) => policy.events()),+ }
            }

            fn on_event(&mut self, event: &Event, context: &mut EventContext) {
                match self { $($Any::$Policy(policy) => policy.on_event(event, context)),+ }
            }

            fn columns(&mut self) -> Vec<Column<'_>> {
                match self { $($Any::$Policy(policy) => policy.columns()),+ }
            }

            fn counters(&self) -> Vec<(&'static str, Counter)> {
                match self { $($Any::$Policy(policy) => policy.counters()),+ }
            }
        }
    };
}

/// Declares a slot: the names and settings for a config, the policies themselves, and a macro that
/// calls a method of the chosen policy.
macro_rules! slot {
    (
        $d:tt $each:ident
        $(#[doc = $doc:literal])*
        $Any:ident from $Choice:ident {
            $(
                $(#[doc = $note:literal])*
                $name:ident => $Policy:ident in $($place:ident)::+ $(as $scheme:literal: $summary:literal)?
            ),+ $(,)?
        } default $default:ident, schemes $SCHEMES:ident from $before:literal, $after:literal
    ) => {
        $(use $($place)::+::$Policy;)+

        /// The schemes that consist of one policy of this slot.
        pub(crate) const $SCHEMES: &[Entry] = &[$($(Entry {
            name: $scheme,
            summary: $summary,
            toml: concat!($before, stringify!($name), $after),
            over: None,
        },)?)+];

        choice! {
            $(#[doc = $doc])*
            pub enum $Choice {
                $($(#[doc = $note])* $name => $Policy(<$Policy as Policy>::Config)),+
            } default $default
        }

        $(#[doc = $doc])*
        #[derive(Clone, Debug)]
        pub enum $Any {
            $($(#[doc = $note])* $Policy($Policy)),+
        }

        impl $Any {
            /// Returns the metadata components that the chosen policy reads.
            pub fn components(choice: &$Choice) -> &'static [&'static str] {
                match choice {
                    $($Choice::$Policy(_) => <$Policy as Policy>::COMPONENTS),+
                }
            }

            /// Builds the chosen policy for this drive.
            pub fn build(choice: &$Choice, context: &PolicyContext) -> $Any {
                match choice {
                    $($Choice::$Policy(config) => $Any::$Policy(Policy::build(config, context))),+
                }
            }

            /// Checks whether the chosen policy can work on this drive.
            ///
            /// # Errors
            /// The setting or fact that it cannot work with.
            pub fn check(choice: &$Choice, context: &PolicyContext) -> Result<(), Refusal> {
                match choice {
                    $($Choice::$Policy(config) => <$Policy as Policy>::check(config, context)),+
                }
            }
        }

        learns! { $Any { $($name $Policy),+ } }

        macro_rules! $each {
            ($d policy:expr, $d chosen:ident => $d call:expr) => {
                match $d policy { $($Any::$Policy($d chosen) => $d call),+ }
            };
            (of $d choice:expr, $d Chosen:ident, $d config:ident => $d call:expr) => {
                match $d choice {
                    $($Choice::$Policy($d config) => { type $d Chosen = $Policy; $d call }),+
                }
            };
        }
    };
}

/// Declares the background policies: a config section for each, and the list of those that are on.
macro_rules! background {
    (
        $d:tt $each:ident, schemes $SCHEMES:ident
        $(
            $(#[doc = $note:literal])*
            $name:ident => $Policy:ident in $($place:ident)::+, $on:ident $(as $scheme:literal: $summary:literal)?
        ),+ $(,)?
    ) => {
        $(use $($place)::+::$Policy;)+

        /// The schemes that consist of one background policy.
        pub(crate) const $SCHEMES: &[Entry] = &[$($(Entry {
            name: $scheme,
            summary: $summary,
            toml: concat!("background.", stringify!($name), " = true\n"),
            over: None,
        },)?)+];

        /// The background policies, each by its name.
        #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields, default)]
        pub struct BackgroundChoice {
            $($(#[doc = $note])* pub $name: Toggle<<$Policy as Policy>::Config>),+
        }

        impl Default for BackgroundChoice {
            fn default() -> BackgroundChoice {
                BackgroundChoice { $($name: Toggle::$on()),+ }
            }
        }

        impl BackgroundChoice {
            /// The names of the sections.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];

            /// Returns the policies for a drive with this share of the planes
            /// ([`BackgroundPolicy::for_part`]).
            #[must_use]
            pub fn for_part(&self, share: f64) -> BackgroundChoice {
                BackgroundChoice {
                    $($name: self.$name.map(|config| {
                        <$Policy as BackgroundPolicy>::for_part(config, share)
                    })),+
                }
            }

            /// Returns the policies that are on by default, with the same settings. If none of them
            /// collects garbage, those that do stay on, too.
            #[must_use]
            pub fn conventional(&self) -> BackgroundChoice {
                let unset = BackgroundChoice::default();
                let by_default = BackgroundChoice {
                    $($name: match unset.$name.get() {
                        Some(_) => self.$name.clone(),
                        None => Toggle::off(),
                    }),+
                };
                if !AnyBackground::collectors(&by_default).is_empty() {
                    return by_default;
                }
                let collectors = AnyBackground::collectors(self);
                BackgroundChoice {
                    $($name: if collectors.contains(&stringify!($name)) {
                        self.$name.clone()
                    } else {
                        by_default.$name
                    }),+
                }
            }
        }

        /// A background policy.
        #[derive(Clone, Debug)]
        pub enum AnyBackground { $($(#[doc = $note])* $Policy($Policy)),+ }

        learns! { AnyBackground { $($name $Policy),+ } }

        impl AnyBackground {
            /// Builds the background policies that are on, in the order in which the drive asks
            /// them.
            pub fn build(choice: &BackgroundChoice, context: &PolicyContext) -> Vec<AnyBackground> {
                let mut policies = Vec::new();
                $(if let Some(config) = choice.$name.get() {
                    policies.push(AnyBackground::$Policy(Policy::build(config, context)));
                })+
                policies
            }

            /// Returns the metadata components that the background policies read that are on.
            pub fn components(choice: &BackgroundChoice) -> Vec<&'static str> {
                let mut all = Vec::new();
                $(if choice.$name.get().is_some() {
                    all.extend(<$Policy as Policy>::COMPONENTS);
                })+
                all
            }

            /// Returns whether a background policy that is on uses such a resource of a drive.
            pub fn any_uses(
                choice: &BackgroundChoice,
                is_it: impl Fn(&BackgroundUses) -> bool,
            ) -> bool {
                $(choice.$name.get().is_some_and(|config| {
                    is_it(&<$Policy as BackgroundPolicy>::uses(config))
                }))||+
            }

            /// Returns the names of the policies that are on and collect garbage.
            pub fn collectors(choice: &BackgroundChoice) -> Vec<&'static str> {
                let mut all = Vec::new();
                $(if let Some(config) = choice.$name.get()
                    && <$Policy as BackgroundPolicy>::uses(config).collects_garbage
                {
                    all.push(stringify!($name));
                })+
                all
            }

            /// Checks whether the background policies that are on can work on this drive.
            ///
            /// # Errors
            /// The setting or fact that they cannot work with.
            pub fn check(choice: &BackgroundChoice, context: &PolicyContext) -> Result<(), Refusal> {
                $(if let Some(config) = choice.$name.get() {
                    <$Policy as Policy>::check(config, context)?;
                })+
                Ok(())
            }
        }

        macro_rules! $each {
            ($d policy:expr, $d chosen:ident => $d call:expr) => {
                match $d policy { $(AnyBackground::$Policy($d chosen) => $d call),+ }
            };
        }
    };
}

/// Forwards the methods of a slot to the chosen policy.
macro_rules! asks {
    ($each:ident, $Any:ident {
        $($(#[$hint:meta])+ fn $name:ident($me:ident: $Me:ty $(, $argument:ident: $Argument:ty)*) $(-> $Returned:ty)?;)+
    }) => {
        impl $Any {
            $($(#[$hint])+ pub fn $name($me: $Me $(, $argument: $Argument)*) $(-> $Returned)? {
                $each!($me, policy => policy.$name($($argument),*))
            })+
        }
    };
}
