//! `fast_open` of a flow's `tcp`: from and to TOML.

use super::form::Form;
use crate::InputError;
use anabranch_tcp::FastOpenOptions;

/// The fields of the table.
pub(super) fn fields(form: &mut Form<'_>, o: &mut FastOpenOptions) -> Result<(), InputError> {
    form.says("asks for cookies and opens with them").boolean("client", &mut o.client)?;
    form.says("gives cookies and accepts data").boolean("server", &mut o.server)?;
    form.says("asks by option kind 254").boolean("experimental", &mut o.experimental)?;
    form.says("data without a cookie is sent and accepted (RFC 7413 §7.3)")
        .boolean("cookieless", &mut o.cookieless)?;
    form.says("how long a key makes cookies, which are good for two; at least 1 s")
        .quantity_or_off("key_lifetime", &mut o.key_lifetime)?;
    form.says(
        "how long a client opens as usual after a refusal or a lost SYN; doubled by each in a \
         row",
    )
    .quantity("retry_after", &mut o.retry_after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fields::Fields;
    use crate::quantity::Quantity;
    use anabranch_units::Span;

    fn read_text(text: &str) -> Result<Option<FastOpenOptions>, InputError> {
        let table = text.parse().expect("the test's TOML");
        super::super::tcp::read(Fields::new("flows[0].tcp", &table)).map(|item| item.fast_open)
    }

    #[test]
    fn it_is_read_and_written() {
        let default = FastOpenOptions::default();
        for (text, expected) in [
            ("", None),
            ("fast_open = false", None),
            ("fast_open = true", Some(default)),
            ("fast_open = { server = false }", Some(FastOpenOptions { server: false, ..default })),
            ("fast_open = { client = false }", Some(FastOpenOptions { client: false, ..default })),
            (
                "fast_open = { experimental = true, cookieless = true }",
                Some(FastOpenOptions { experimental: true, cookieless: true, ..default }),
            ),
            (
                "fast_open = { key_lifetime = \"1 s\", retry_after = \"5 s\" }",
                Some(FastOpenOptions {
                    key_lifetime: Some(Span::from_secs(1)),
                    retry_after: Span::from_secs(5),
                    ..default
                }),
            ),
        ] {
            let options = read_text(text).unwrap();
            assert_eq!(options, expected, "{text}");
            let config = anabranch_tcp::Config { fast_open: options, ..Default::default() };
            let written = super::super::tcp::write(&config).to_string();
            assert_eq!(read_text(&written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("fast_open = 1", "fast_open", "true, false or a table"),
            ("fast_open = { server = 1 }", "fast_open.server", "true or false"),
            ("fast_open = { key_lifetime = \"0 s\" }", "fast_open.key_lifetime", "at least 1 s"),
            ("fast_open = { retry_after = \"3\" }", "fast_open.retry_after", Span::ALLOWED),
            (
                "fast_open = { cookie = true }",
                "fast_open.cookie",
                "no field of this name; did you mean `cookieless`?",
            ),
        ] {
            let error = read_text(text).unwrap_err();
            assert_eq!(error.field, format!("flows[0].tcp.{field}"));
            assert_eq!(error.allowed, allowed);
        }
    }
}
