//! `init`: fetch what must be fetched. Native providers need nothing, so it is modules that are fetched,
//! and what is left to do then is to say that the configuration can be worked with.

use crate::arguments;
use crate::backend::{Initialising, initialise};
use crate::modules;
use crate::operation::{Fetcher, Operation, Wanted, refused};
use crate::providers;
use crate::runtime::{Interrupts, block_on};
use crate::session::{Session, exit};
use formwork_addresses::BUILTIN_HOST;
use formwork_diagnostics::{Diagnostics, SourceMap};
use formwork_modules::{Entry, Installer, Manifest, copy_into};
use formwork_provider::Providers;
use std::sync::{Arc, Once};

/// Runs the command.
pub fn run(session: &Session, arguments: &arguments::Init) -> u8 {
    let strict = arguments.reading.strict_version;
    let session = match session.streaming(&arguments.streaming, strict, None) {
        Ok(session) => session,
        Err(code) => return code,
    };
    session.notice();
    block_on(&session, async |interrupts| {
        init(&session, arguments, interrupts).await
    })
}

/// Tells programs of a step; people are told what it brings.
fn step(session: &Session, code: &str, message: &str) {
    if let Some(stream) = &session.stream {
        stream.init_output(code, message);
    }
}

fn announce_modules(session: &Session, once: &Once) {
    once.call_once(|| {
        step(
            session,
            "initializing_modules_message",
            "Initializing modules...",
        );
    });
}

/// Which modules beside their callers lie where, as programs are told; of those that are fetched they are told
/// when it is done.
fn tell_modules(session: &Session, manifest: &Manifest) {
    let Some(stream) = &session.stream else {
        return;
    };
    let local = |e: &&Entry| e.source.starts_with("./") || e.source.starts_with("../");
    for entry in manifest.entries.values().filter(local) {
        stream.log(&format!("- {} in {}", entry.key, entry.directory));
    }
}

async fn init(session: &Session, arguments: &arguments::Init, interrupts: &Interrupts) -> u8 {
    if arguments.reconfigure && (arguments.migrate_state || arguments.force_copy) {
        return session.fail(
            "Failed to parse command-line flags",
            "-reconfigure brings no state along, and -migrate-state and -force-copy do: only one of them \
             can be meant.",
        );
    }
    let (mut settings, said) = match modules::settings(session, interrupts) {
        Ok(made) => made,
        Err(refusal) => return refused(session, &refusal),
    };
    session.say(&said, &SourceMap::new());
    if let Some(source) = &arguments.from_module
        && let Err(d) = copy_into(source, &settings)
    {
        return session.say(&Diagnostics::from(*d), &SourceMap::new());
    }
    if !session.has_configuration() {
        let message =
            "There is no configuration in this directory, so there is nothing to prepare.";
        session.tell(&format!("{message}\n"));
        step(session, "output_init_empty_message", message);
        return exit::SUCCESS;
    }
    if arguments.backend {
        step(
            session,
            "initializing_backend_message",
            "Initializing the backend...",
        );
    }
    // said when the first module is spoken of: whether there are any is known when all is read
    let announced = Arc::new(Once::new());
    let (listening, once, told) = (session.clone(), announced.clone(), settings.tell.clone());
    settings.tell = Arc::new(move |what| {
        announce_modules(&listening, &once);
        told(what);
    });
    let installer = arguments
        .get
        .then(|| Arc::new(Installer::new(settings, arguments.upgrade)));
    let wanted = Wanted {
        variables: Some(&arguments.variables),
        early: true,
        reading: arguments.reading.clone(),
        locking: Some(arguments.locking.clone()),
        no_cloud: true,
        no_state: true,
        fetcher: installer.clone().map(|i| i as Fetcher),
        ..Wanted::default()
    };
    let (operation, _) = match Operation::begin(session, interrupts, &wanted).await {
        Ok(begun) => begun,
        Err(refusal) => return refused(session, &refusal),
    };
    let (mut loaded, mut said) = formwork_ops::load(&operation.ops);
    // The modules that runs of tests name are installed with the others.
    said.append(formwork_ops::check_tests(
        &operation.ops,
        &arguments.test_directory,
        &mut loaded.sources,
    ));
    if let Some(installer) = installer {
        if loaded.configuration.modules().count() > 1 {
            announce_modules(session, &announced);
        }
        match installer.finish(&loaded.configuration, !said.has_errors()) {
            Ok(manifest) => tell_modules(session, &manifest),
            Err(d) => said.push(*d),
        }
    }
    if arguments.backend {
        said.append(loaded.unserved(&operation.ops));
        if !said.has_errors() {
            let asked = arguments.variables.input;
            let how = Initialising {
                given: &arguments.backend_config,
                reconfigure: arguments.reconfigure,
                migrate: arguments.migrate_state || arguments.force_copy,
                force_copy: arguments.force_copy,
                may_ask: asked.unwrap_or(session.may_ask) && session.is_for_people,
            };
            let ready = initialise(session, &operation, &how, &mut loaded.sources).await;
            said.append(ready.unwrap_or_else(|errors| errors));
        }
    }
    if !said.has_errors() {
        step(
            session,
            "initializing_provider_plugin_message",
            "Initializing provider plugins...",
        );
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
        if let Some(stream) = &session.stream {
            let needed = loaded.configuration.required_providers().into_keys();
            for provider in needed.filter(|p| &*p.host == BUILTIN_HOST) {
                stream.log(&format!("{provider} is built in to {}", session.product()));
            }
        }
        for (provider, version) in providers::selections(&operation.preview) {
            let line = format!("- {provider} v{version} is native: nothing to install");
            session.tell(&format!("{line}\n"));
            if let Some(stream) = &session.stream {
                stream.log(&line);
            }
        }
        let done = format!("{} has been successfully initialized!", session.product());
        session.tell(&format!("\n{}\n", session.style.good(&done)));
        step(session, "output_init_success_message", &done);
    }
    operation.end().await;
    code
}
