//! Provisioners as they are written: which run when, and what their blocks say.

use crate::decode::decode;
use crate::evaluator::Evaluator;
use crate::scope::ModuleScope;
use formwork_configuration::{Provisioner, ProvisionerTime, RemovedBlock, ResourceBlock};
use formwork_diagnostics::Checked;
use formwork_eval::Functions;
use formwork_provider_schema::Block;
use formwork_syntax::Body;
use formwork_values::{Type, Value};

/// The provisioners of a block that run at one time, in order.
pub struct Provisioners<'c> {
    all: Vec<&'c Provisioner>,
    /// The connection of those that have none of their own.
    connection: Option<&'c Body>,
}

impl<'c> Provisioners<'c> {
    /// Those of a resource.
    pub fn of_resource(block: &'c ResourceBlock, when: ProvisionerTime) -> Self {
        Self::of(&block.provisioners, block.connection.as_ref(), when)
    }

    /// Those of a `removed` block.
    pub fn of_removal(block: &'c RemovedBlock, when: ProvisionerTime) -> Self {
        Self::of(&block.provisioners, block.connection.as_ref(), when)
    }

    fn of(all: &'c [Provisioner], connection: Option<&'c Body>, when: ProvisionerTime) -> Self {
        Self {
            all: all.iter().filter(|p| p.when == when).collect(),
            connection,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// In order.
    pub fn iter(&self) -> impl Iterator<Item = &'c Provisioner> + '_ {
        self.all.iter().copied()
    }
}

/// What the block of a provisioner says.
pub struct ProvisionerBody {
    /// By the schema of its kind.
    pub config: Value,
    /// How its machine is reached; null if nothing says it.
    pub connection: Value,
}

impl Evaluator {
    /// Reads the block of a provisioner. What stands in it goes to no store, so it may be ephemeral.
    pub async fn read_provisioner(
        &self,
        provisioners: &Provisioners<'_>,
        p: &Provisioner,
        schemas: ProvisionerSchemas<'_>,
        scope: &ModuleScope<'_>,
        functions: &dyn Functions,
    ) -> Checked<ProvisionerBody> {
        let read = async |body: &Body, schema: &Block| {
            self.calls()
                .settled(|reading| {
                    reading.passes_on = true;
                    let value = decode(body, schema, p.open, scope, functions, reading);
                    reading.pending.extend(scope.take_pending());
                    value
                })
                .await
        };
        let (config, mut said) = read(&p.body, schemas.own).await;
        let mut connections = Vec::new();
        let written = provisioners.connection.into_iter().chain(&p.connection);
        for body in written {
            let (value, more) = read(body, schemas.connection).await;
            said.append(more);
            connections.push(value);
        }
        let connection = connections
            .into_iter()
            .reduce(|shared, own| merged(schemas.connection, &shared, &own))
            .unwrap_or_else(|| Value::null(Type::Dynamic));
        (ProvisionerBody { config, connection }, said)
    }
}

/// By which schemas a provisioner is read.
#[derive(Clone, Copy)]
pub struct ProvisionerSchemas<'s> {
    /// Of its kind.
    pub own: &'s Block,
    /// Of connections.
    pub connection: &'s Block,
}

/// The connection of the whole block, with what the provisioner's own says on top.
fn merged(schema: &Block, shared: &Value, own: &Value) -> Value {
    let chosen = schema.iter().filter_map(|(name, _)| {
        let own = own.attribute(name).filter(|v| !v.is_null());
        let value = own.or_else(|| shared.attribute(name))?;
        Some((name.clone(), value.clone()))
    });
    Value::object(chosen.collect::<Vec<_>>())
}
