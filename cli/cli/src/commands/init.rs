//! `init`: fetch what must be fetched. Local modules and native providers need nothing, so what is left
//! to do here is to say that the configuration can be worked with.

use crate::arguments;
use crate::operation::{Operation, Wanted, refused};
use crate::providers;
use crate::runtime::block_on;
use crate::session::{Session, exit};
use formwork_provider::Providers;

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Init) -> u8 {
    session.notice();
    if !session.has_configuration() {
        session
            .streams
            .out("There is no configuration in this directory, so there is nothing to prepare.\n");
        return exit::SUCCESS;
    }
    block_on(session, async |interrupts| {
        let wanted = Wanted {
            variables: Some(&arguments.variables),
            early: true,
            reading: arguments.reading.clone(),
            no_cloud: true,
            ..Wanted::default()
        };
        let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
            Ok(begun) => begun,
            Err(refusal) => return refused(session, &refusal),
        };
        let (loaded, mut said) = formwork_ops::load(&operation.ops);
        if arguments.backend {
            said.append(loaded.unserved(&operation.ops));
        }
        if !said.has_errors() {
            let wanted = loaded.configuration.required_providers().into_keys();
            let level = operation.ops.settings.level.version.to_string();
            let factory = operation.ops.factory.clone();
            let (_, problems) = Providers::launch(factory, &level, wanted).await;
            said.append(problems);
        }
        let code = session.say_as(
            &said,
            &loaded.sources,
            arguments.reading.compact_warnings,
            false,
        );
        if code == exit::SUCCESS {
            let mut text = String::new();
            for (provider, version) in providers::selections(&operation.preview) {
                text.push_str(&format!(
                    "- {provider} v{version} is native: nothing to install\n"
                ));
            }
            text.push_str(&format!(
                "\n{}\n",
                session
                    .style
                    .good("Formwork has been successfully initialized!")
            ));
            session.streams.out(&text);
        }
        operation.end().await;
        code
    })
}
