//! Turning to another model, and whether its server has it.

use crate::host::{Host, Line, connect_model};
use rhumb_session::{ConnectResponse, EffectKind, Failure, Level, LookupResponse, Response};
use rhumb_text::nearest;

/// As many names are told of those that a server lists.
const MOST_TOLD: usize = 5;

impl Host {
    /// Asks another model from now on.
    pub(crate) fn use_model(self, model: String) {
        // The settings may have to run a command for the key of another provider.
        self.blocking(EffectKind::UseModel.failed(), move |runner| {
            // A server that was picked on this machine goes on answering, by any name.
            let picked = runner.line().filter(|line| !line.configured);
            let line = match picked {
                Some(line) => Line::new(line.provider, model),
                None => match connect_model(&runner.shared.outfit, &model) {
                    Ok(Some(Line { lacks_key_of: Some(provider), .. })) => {
                        return key_missing(Some(provider), model);
                    }
                    Ok(Some(line)) => line,
                    Ok(None) => return key_missing(runner.shared.outfit.settings.maker_of(&model), model),
                    Err(error) => {
                        return Response::Failed {
                            effect: EffectKind::UseModel,
                            failure: Failure { message: format!("{error}."), hint: error.hint() },
                        };
                    }
                },
            };
            let model = line.model.clone();
            let connected = runner.set_line(line);
            tokio::spawn(runner.clone().tell_if_unlisted(model));
            connected
        });
    }

    /// Lists are not always whole, so that the model is asked all the same.
    async fn tell_if_unlisted(self, model: String) {
        let served = self.served_models().await;
        // Whoever has turned to yet another one meanwhile does not wonder about this one.
        let Some(line) = self.line().filter(|line| line.model == model) else { return };
        if let Some((text, hint)) = unlisted(&line.provider.name(), &model, &served) {
            self.report(Response::LookedUp(LookupResponse::Status { level: Level::Warning, text, hint })).await;
        }
    }
}

fn key_missing(provider: Option<String>, model: String) -> Response {
    Response::Connecting(ConnectResponse::KeyMissing { provider, model })
}

/// Whether a server with this list has the model. One without a list may have any.
pub(crate) fn is_listed(model: &str, served: &[String]) -> bool {
    served.is_empty() || model.is_empty() || served.iter().any(|name| is_name_of(model, name))
}

/// Whether a listed name is the model's. Ollama takes the tag `latest` for granted, makers list a model by its date and answer to
/// the name without it or with `latest`, and brokers let `:` and a wish follow the name.
fn is_name_of(model: &str, listed: &str) -> bool {
    let undated = model.strip_suffix("-latest").unwrap_or(model);
    // 20250929, 2025-08-07 or 0613, and no further part of a name: `4-5` is none.
    let is_date = |rest: &str| {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        digits >= 4 && rest.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    let wish = model.split_once(':').filter(|(name, _)| name.contains('/'));
    model == listed
        || listed.strip_suffix(":latest") == Some(model)
        || listed.strip_prefix(undated).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_date)
        || wish.is_some_and(|(name, _)| name == listed)
}

/// What to tell of a model that the server does not list.
fn unlisted(host: &str, model: &str, served: &[String]) -> Option<(String, String)> {
    if is_listed(model, served) {
        return None;
    }
    let near = nearest(model, served.iter().map(String::as_str)).map(|near| format!("Did you mean {near}? "));
    let first: Vec<&str> = served.iter().take(MOST_TOLD).map(String::as_str).collect();
    let more = if served.len() > MOST_TOLD { " …" } else { "" };
    let hint = format!("{}It lists {}{more}; /models shows all.", near.unwrap_or_default(), first.join(", "));
    Some((format!("{host} does not list {model}."), hint))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_that_is_not_listed_is_told_with_the_nearest() {
        let served = ["tide-7b", "reef:latest"].map(str::to_owned);
        let dated =
            ["claude-sonnet-4-5-20250929", "gpt-5-2025-08-07", "anthropic/claude-sonnet-4.5"].map(str::to_owned);
        for name in ["claude-sonnet-4-5", "claude-sonnet-4-5-latest", "gpt-5", "anthropic/claude-sonnet-4.5:online"] {
            assert!(is_listed(name, &dated), "{name}");
        }
        for name in ["claude-sonnet-4", "gpt-5-mini", "gpt", "claude-sonnet-4.5:online"] {
            assert!(!is_listed(name, &dated), "{name}");
        }
        for name in ["tide-7b", "reef", "reef:latest", ""] {
            assert!(is_listed(name, &served), "{name}");
        }
        assert!(is_listed("anything", &[]), "no list says nothing");
        let (text, hint) = unlisted("box", "tide7b", &served).unwrap();
        assert_eq!(text, "box does not list tide7b.");
        assert_eq!(hint, "Did you mean tide-7b? It lists tide-7b, reef:latest; /models shows all.");
    }
}
