//! `-var` and `-var-file`, in the order in which they were given: the later one wins.

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::fmt;

/// Something that gives values to variables. Its debug form shows no value: it may be sensitive.
#[derive(Clone, PartialEq, Eq)]
pub enum Input {
    /// `-var`: `name=value`, not yet taken apart.
    Value(String),
    /// `-var-file`: a file.
    File(String),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Value(text) => {
                let name = text.split_once('=').map_or("", |(name, _)| name);
                write!(f, "Value({name}=..)")
            }
            Self::File(file) => write!(f, "File({file:?})"),
        }
    }
}

/// All of them, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs(pub Vec<Input>);

impl Args for Inputs {
    fn augment_args(command: Command) -> Command {
        command
            .arg(
                Arg::new("var")
                    .long("var")
                    .value_name("NAME=VALUE")
                    .action(ArgAction::Append)
                    .help("Give a variable of the root module a value; may be repeated."),
            )
            .arg(
                Arg::new("var-file")
                    .long("var-file")
                    .value_name("FILE")
                    .action(ArgAction::Append)
                    .help("Read values of variables from a file; may be repeated."),
            )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Inputs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let of = |name: &str, make: fn(String) -> Input| -> Vec<(usize, Input)> {
            let places = matches.indices_of(name).into_iter().flatten();
            let values = matches.get_many::<String>(name).into_iter().flatten();
            places.zip(values.cloned().map(make)).collect()
        };
        let mut all = of("var", Input::Value);
        all.extend(of("var-file", Input::File));
        all.sort_by_key(|(place, _)| *place);
        Ok(Self(all.into_iter().map(|(_, input)| input).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
