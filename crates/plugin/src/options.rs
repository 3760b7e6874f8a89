//! The options that a scenario gives a law, held against those that the law takes.

use anabranch_algorithm::Parameter;
use anabranch_custom::{OptionValue, Options};

/// One value for each of the law's options.
///
/// # Errors
/// What is allowed instead.
pub(crate) fn values(parameters: &[Parameter], options: &Options) -> Result<Vec<f64>, String> {
    let mut values: Vec<f64> = parameters.iter().map(Parameter::default).collect();
    for (name, value) in options {
        let place = parameters.iter().position(|parameter| parameter.name() == name);
        let place = place.ok_or_else(|| {
            let taken: Vec<_> = parameters.iter().map(described).collect();
            let taken = if taken.is_empty() { "no options".into() } else { taken.join(", ") };
            format!("options that the algorithm takes ({taken}); there is no `{name}`")
        })?;
        let number = match value {
            OptionValue::Boolean(is_set) => Some(f64::from(u8::from(*is_set))),
            OptionValue::Integer(integer) => Some(*integer as f64),
            OptionValue::Number(number) => Some(*number),
            OptionValue::Text(_) => None,
        };
        let fits = |number: &f64| parameters[place].range().contains(number);
        values[place] = number.filter(fits).ok_or_else(|| described(&parameters[place]))?;
    }
    Ok(values)
}

/// The option with its range: `beta from 0.1 to 0.9`.
fn described(parameter: &Parameter) -> String {
    let range = parameter.range();
    format!("`{}` from {} to {}", parameter.name(), range.start(), range.end())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAKEN: [Parameter; 2] =
        [Parameter::new("beta", 0.5, 0.1..=0.9), Parameter::new("fast", 0.0, 0.0..=1.0)];

    fn given(name: &str, value: OptionValue) -> Result<Vec<f64>, String> {
        values(&TAKEN, &Options::from([(name.into(), value)]))
    }

    #[test]
    fn numbers_within_the_range_and_switches_are_taken() {
        assert_eq!(values(&TAKEN, &Options::new()), Ok(vec![0.5, 0.0]));
        assert_eq!(given("beta", OptionValue::Number(0.7)), Ok(vec![0.7, 0.0]));
        assert_eq!(given("fast", OptionValue::Integer(1)), Ok(vec![0.5, 1.0]));
        assert_eq!(given("fast", OptionValue::Boolean(true)), Ok(vec![0.5, 1.0]));
    }

    #[test]
    fn anything_else_is_refused_with_what_is_allowed() {
        let range = Err("`beta` from 0.1 to 0.9".into());
        assert_eq!(given("beta", OptionValue::Number(0.95)), range);
        assert_eq!(given("beta", OptionValue::Number(f64::NAN)), range);
        assert_eq!(given("beta", OptionValue::Text("0.5".into())), range);
        let taken = "options that the algorithm takes (`beta` from 0.1 to 0.9, `fast` from 0 to 1); \
                     there is no `bta`";
        assert_eq!(given("bta", OptionValue::Number(0.5)), Err(taken.into()));
        let none = values(&[], &Options::from([("beta".into(), OptionValue::Number(0.5))]));
        assert!(none.unwrap_err().contains("(no options)"));
    }
}
