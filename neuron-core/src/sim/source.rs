//! The simulated instance as a source.

use std::path::PathBuf;
use std::sync::Arc;

use super::instance::Sim;
use super::place::Places;
use super::view::View;
use crate::driver::{Machine, Setting};
use crate::instance::{self, Identity, InstanceType};
use crate::sample::{Origin, Sample, Wanted};
use crate::source::Source;
use crate::{Error, Result};

/// `sim:INSTANCE[,name=NAME]`, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct SimSpec {
    /// The type.
    pub kind: &'static InstanceType,
    /// The name; by default the type's.
    pub name: String,
}

impl SimSpec {
    /// Reads the text behind `sim:`.
    ///
    /// # Errors
    ///
    /// What is wrong, and which types there are.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut parts = text.split(',');
        let kind = parts.next().unwrap_or_default();
        let row = InstanceType::find(kind).ok_or_else(|| {
            let known: Vec<&str> = instance::TYPES.iter().map(|row| row.name).collect();
            format!("unknown instance type {kind:?}; known are {}", known.join(", "))
        })?;
        let mut name = row.name.to_owned();
        for part in parts {
            match part.split_once('=') {
                Some(("name", value)) => {
                    super::place::check_name(value)?;
                    value.clone_into(&mut name);
                }
                _ => return Err(format!("unknown option {part:?}; known is name=NAME")),
            }
        }
        Ok(Self { kind: row, name })
    }
}

/// Reads a simulated instance, making it first when there is none.
#[derive(Debug)]
pub struct SimSource {
    sim: Sim,
    machine: Machine,
    view: Arc<View>,
    /// What the machine is, as long as the view is the same.
    identity: Option<Identity>,
    /// Whether the machine shows the moment of opening, not yet sampled.
    fresh: bool,
}

impl SimSource {
    /// Opens or creates the instance.
    ///
    /// # Errors
    ///
    /// Those of [`Sim::open_or_create`].
    pub fn open(spec: &SimSpec, logical_nc_config: Option<u32>) -> Result<Self> {
        Self::open_in(&Places::from_env(), spec, logical_nc_config)
    }

    /// As [`Self::open`], among the instances of these places.
    ///
    /// # Errors
    ///
    /// As [`Self::open`].
    pub fn open_in(
        places: &Places,
        spec: &SimSpec,
        logical_nc_config: Option<u32>,
    ) -> Result<Self> {
        let (sim, state) = Sim::open_or_create_read(places, &spec.name, spec.kind)?;
        let view = Arc::new(View::of(&sim, state)?);
        let setting = Setting {
            origin: Origin::Simulated(spec.name.clone()),
            logical_nc_config,
            ..Setting::default()
        };
        let (files, nodes) = (Arc::clone(&view), Arc::clone(&view));
        let machine = Machine::new(files, nodes, setting);
        Ok(Self { sim, machine, view, identity: None, fresh: true })
    }

    fn identity(&mut self) -> Identity {
        let files = self.machine.files();
        self.identity.get_or_insert_with(|| instance::identity_of(files)).clone()
    }
}

impl Source for SimSource {
    fn sample(&mut self, wanted: Wanted) -> Result<Sample> {
        if !std::mem::take(&mut self.fresh) && !self.view.is_current() {
            self.view = Arc::new(View::now(&self.sim)?);
            let (files, nodes) = (Arc::clone(&self.view), Arc::clone(&self.view));
            self.machine.replace(files, nodes);
            self.identity = None;
        }
        let identity = self.identity();
        self.machine.sample(wanted, &identity).map_err(|error| match error {
            // A simulated machine whose devices are all gone.
            Error::NoDevices(reason) => Error::sim(self.sim.name(), reason),
            other => other,
        })
    }

    fn bare(&mut self, wanted: Wanted) -> Sample {
        let identity = self.identity();
        self.machine.bare(wanted, &identity)
    }

    fn watch_paths(&self) -> Vec<PathBuf> {
        vec![self.sim.dir().to_owned()]
    }

    /// A process that dies changes no file by itself.
    fn needs_polling(&self) -> bool {
        true
    }
}
