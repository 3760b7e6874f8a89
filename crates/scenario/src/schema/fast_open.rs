//! `fast_open` of a flow's `tcp`: from and to TOML.

use super::form::table_of;
use crate::InputError;
use crate::fields::Fields;
use crate::quantity::Quantity;
use anabranch_tcp::FastOpenOptions;
use toml::Value;

/// `true`, `false`, or a table.
pub(super) fn read(
    f: &Fields<'_>,
    default: Option<FastOpenOptions>,
) -> Result<Option<FastOpenOptions>, InputError> {
    let Some(value) = f.get("fast_open") else { return Ok(default) };
    if let Some(on) = value.as_bool() {
        return Ok(on.then(|| default.unwrap_or_default()));
    }
    if !value.is_table() {
        return Err(f.error("fast_open", "true, false, or a table of its options"));
    }
    let Some(t) = f.table("fast_open")? else { return Ok(default) };
    let default = default.unwrap_or_default();
    let options = FastOpenOptions {
        client: t.boolean("client")?.unwrap_or(default.client),
        server: t.boolean("server")?.unwrap_or(default.server),
        experimental: t.boolean("experimental")?.unwrap_or(default.experimental),
        cookieless: t.boolean("cookieless")?.unwrap_or(default.cookieless),
        key_lifetime: match t.get("key_lifetime") {
            Some(Value::Boolean(false)) => None,
            _ => t.quantity("key_lifetime")?.or(default.key_lifetime),
        },
        retry_after: t.quantity("retry_after")?.unwrap_or(default.retry_after),
        ..default
    };
    t.finish()?;
    Ok(Some(options))
}

pub(super) fn write(options: Option<FastOpenOptions>) -> Value {
    let Some(option) = options else { return false.into() };
    table_of([
        ("client", option.client.into()),
        ("server", option.server.into()),
        ("experimental", option.experimental.into()),
        ("cookieless", option.cookieless.into()),
        ("key_lifetime", option.key_lifetime.map_or(false.into(), |span| span.write().into())),
        ("retry_after", option.retry_after.write().into()),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
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
            let table = table_of([("fast_open", write(options))]);
            let written = table.as_table().expect("a table").to_string();
            assert_eq!(read_text(&written), Ok(expected), "{written}");
        }
    }

    #[test]
    fn errors_name_the_field_and_what_is_allowed() {
        for (text, field, allowed) in [
            ("fast_open = 1", "fast_open", "true, false, or a table of its options"),
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
