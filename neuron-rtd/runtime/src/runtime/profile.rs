//! Profiles of inferences, by model.

use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;

use super::Runtime;
use crate::failure::{Code, Failure};
use crate::model::{Model, ModelState};

const PLACE: &str = "NMGR:profile";

impl Runtime {
    /// Profiles the next inference of a model into the file `name` of the
    /// folder of the settings; further nodes on NeuronCores have files of their
    /// own beside it.
    ///
    /// # Errors
    ///
    /// An unknown model or one that does not run; no folder; a name that is not
    /// a plain one with the ending `.ntff`.
    pub fn profile_start(&self, id: u32, name: &str) -> Result<(), Failure> {
        let model = self.model(id)?;
        let invalid = |text: String| Failure::new(Code::Invalid, PLACE, text);
        let plain = name.strip_suffix(".ntff").is_some_and(|stem| {
            !stem.is_empty() && !stem.starts_with('.') && !name.contains(['/', '\0'])
        });
        if !plain || name.len() > 200 {
            return Err(invalid(format!("profile {name:?}: give the plain name of a .ntff file")));
        }
        let folder = self.shared().settings.profile_folder.as_ref().ok_or_else(|| {
            invalid("profiles are off; rtd.profile_dir of the configuration names a folder".into())
        })?;
        if model.state() != ModelState::Started {
            let text = format!("Model ({id}) is not in a running state; start it first");
            return Err(Failure::new(Code::InvalidHandle, PLACE, text));
        }
        model.begin_capture(folder.join(name));
        Ok(())
    }

    /// As [`Self::profile_start`] into any file, for who runs in the process of
    /// the one who asks; the model need not run yet.
    ///
    /// # Errors
    ///
    /// An unknown model.
    pub fn profile_into(&self, id: u32, file: PathBuf) -> Result<(), Failure> {
        self.model(id)?.begin_capture(file);
        Ok(())
    }

    /// Ends a profile; gives its files.
    ///
    /// # Errors
    ///
    /// An unknown model; no profile was started; no inference came; the file
    /// could not be written.
    pub fn profile_stop(&self, id: u32) -> Result<Vec<PathBuf>, Failure> {
        self.model(id)?.end_capture()
    }

    /// A model that was loaded to be profiled is started: its first inference
    /// goes into a file that says its name, handle and number.
    pub(super) fn profile_if_asked(&self, model: &Model) {
        let Some(folder) = self.shared().settings.profile_folder.as_ref() else { return };
        if model.profile {
            let number = self.inner.profiles.fetch_add(1, Relaxed);
            let plain =
                |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '+' };
            let name: String = model.name.chars().take(100).map(plain).collect();
            model.begin_capture(folder.join(format!("{name}-{}-{number}.ntff", model.id)));
        }
    }
}
