//! Models by handle: start, stop, unload.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::journal::Level;
use crate::model::{Model, ModelInfo, ModelState};
use crate::stats::Metric;

impl Runtime {
    pub(crate) fn model(&self, id: u32) -> Result<Arc<Model>, Failure> {
        self.tables().models.get(&id).cloned().ok_or_else(|| unknown_model(id))
    }

    /// All models.
    pub fn models(&self) -> Vec<ModelInfo> {
        let models: Vec<Arc<Model>> = self.tables().models.values().cloned().collect();
        models.iter().map(|model| model.info()).collect()
    }

    /// One model.
    ///
    /// # Errors
    ///
    /// When there is none of this handle.
    pub fn model_info(&self, id: u32) -> Result<ModelInfo, Failure> {
        Ok(self.model(id)?.info())
    }

    /// Starts a model; nothing when it runs. Where the settings say so, the one
    /// of its group that runs is stopped before.
    ///
    /// # Errors
    ///
    /// An unknown model; one that has failed; another one of its group runs.
    pub fn start(&self, id: u32) -> Result<(), Failure> {
        if self.shared().settings.auto_switch
            && let Some(other) = self.running_beside(id)
        {
            let text = format!("Stopping model ({other}) for ({id})");
            self.say(Level::Info, "NMGR:dlr_kelf_start", &text);
            self.stop(other)?;
        }
        const PLACE: &str = "NMGR:dlr_kelf_start";
        let from = Instant::now();
        let model = self.model(id)?;
        self.check_serving()?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        {
            let mut tables = self.tables();
            if !tables.models.contains_key(&id) {
                return Err(unknown_model(id));
            }
            if let Some(group) = model.group {
                let running = tables.groups.get(group, PLACE)?.running;
                let other = running.filter(|other| *other != id);
                let active = other.and_then(|other| tables.models.get(&other));
                if let Some(other) = active.filter(|other| other.state() == ModelState::Started) {
                    let text = format!(
                        "Model ({}) of EG({group}) is running; stop it before ({id})",
                        other.id
                    );
                    return Err(Failure::new(Code::Invalid, PLACE, text));
                }
                tables.groups.get_mut(group, PLACE)?.running = Some(id);
            }
        }
        let before = model.state();
        let started = model.start();
        if started.is_ok() && before == ModelState::Loaded {
            self.profile_if_asked(&model);
            self.shared().stats.starts.fetch_add(1, Relaxed);
            self.shared().stats.measure(Metric::StartLatency, from.elapsed().as_secs_f64());
            self.models_changed();
            self.say(Level::Info, PLACE, &format!("Started model ({id})"));
        }
        started
    }

    /// The other model of a model's group that is started.
    fn running_beside(&self, id: u32) -> Option<u32> {
        let tables = self.tables();
        let group = tables.models.get(&id)?.group?;
        let running = tables.groups.all.get(&group)?.running.filter(|other| *other != id)?;
        tables.models.contains_key(&running).then_some(running)
    }

    /// Stops a model: cancels what is queued, waits for what runs.
    ///
    /// # Errors
    ///
    /// An unknown model.
    pub fn stop(&self, id: u32) -> Result<(), Failure> {
        let model = self.model(id)?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        self.stop_locked(&model);
        Ok(())
    }

    fn stop_locked(&self, model: &Model) {
        let from = Instant::now();
        let before = model.state();
        model.stop();
        if let Some(group) = model.group
            && let Some(group) = self.tables().groups.all.get_mut(&group)
            && group.running == Some(model.id)
        {
            group.running = None;
        }
        if before != ModelState::Loaded {
            self.shared().stats.stops.fetch_add(1, Relaxed);
            self.shared().stats.measure(Metric::StopLatency, from.elapsed().as_secs_f64());
            self.models_changed();
            self.say(Level::Info, "NMGR:dlr_kelf_stop", &format!("Stopped model ({})", model.id));
        }
    }

    /// Unloads a model, stopping it first if need be.
    ///
    /// # Errors
    ///
    /// An unknown model.
    pub fn unload(&self, id: u32) -> Result<(), Failure> {
        let from = Instant::now();
        let model = self.model(id)?;
        let _control = model.control.lock().unwrap_or_else(PoisonError::into_inner);
        // somebody else may have been faster
        if !self.tables().models.contains_key(&id) {
            return Err(unknown_model(id));
        }
        self.stop_locked(&model);
        self.tables().models.remove(&id);
        self.shared().cookies.forget(|job| job.model.upgrade().is_some_and(|of| of.id == id));
        let handles =
            std::mem::take(&mut *model.handles.lock().unwrap_or_else(PoisonError::into_inner));
        self.release(handles);
        if let Some(group) = model.group {
            self.leave_group(group);
        }
        self.shared().stats.unloads.fetch_add(1, Relaxed);
        self.shared().stats.measure(Metric::UnloadLatency, from.elapsed().as_secs_f64());
        self.models_changed();
        // tools that look now see all that the model did
        self.publish();
        self.say(Level::Info, "NMGR:dlr_kelf_unload", &format!("Unloaded model ({id})"));
        Ok(())
    }

    /// Unloads every model and removes every group, of all clients.
    pub fn unload_all(&self) {
        let ids: Vec<u32> = self.tables().models.keys().copied().collect();
        self.unload_together(&ids);
        let mut tables = self.tables();
        let groups: Vec<u32> = tables.groups.all.keys().copied().collect();
        for group in groups {
            self.abandon_group(&mut tables, group);
        }
    }
}

impl Runtime {
    /// Unloads models at the same time: one that does not come back must not
    /// keep the others waiting. One that somebody else unloads meanwhile is gone
    /// as well.
    pub(crate) fn unload_together(&self, ids: &[u32]) {
        std::thread::scope(|scope| {
            for id in ids {
                let unload = || self.unload(*id).is_ok();
                // without a thread to be had, on this one
                if std::thread::Builder::new().spawn_scoped(scope, unload).is_err() {
                    unload();
                }
            }
        });
    }
}

fn unknown_model(id: u32) -> Failure {
    Failure::new(Code::InvalidHandle, "NMGR:kmgr_find_model", format!("Failed to find model: {id}"))
}
