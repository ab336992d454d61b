//! Groups by handle.

use super::{Runtime, Tables};
use crate::failure::{Code, Failure};
use crate::groups::GroupInfo;
use crate::journal::Level;
use crate::sessions;

impl Runtime {
    /// Makes a group of `count` cores, or of the longest free run.
    ///
    /// # Errors
    ///
    /// [`Code::ResourceNc`] with who holds the cores; an unknown session.
    pub fn create_group(&self, count: Option<u32>, session: u64) -> Result<GroupInfo, Failure> {
        const PLACE: &str = "NMGR:kmgr_create_eg";
        self.check_serving()?;
        let mut tables = self.tables();
        sessions::check(&tables, session, PLACE)?;
        let id = tables.groups.create(self.cores(), count.filter(|n| *n > 0), session, false)?;
        let all = tables.groups.info(self.cores());
        drop(tables);
        let info = all.into_iter().find(|info| info.id == id);
        let info = info.ok_or_else(|| Failure::new(Code::Fail, PLACE, "the group is gone"))?;
        self.shared().stats.own(info.start, info.count, true);
        let text = format!("Created EG({id}) with {} NCs, start: {}", info.count, info.start);
        self.say(Level::Info, PLACE, &text);
        Ok(info)
    }

    /// Destroys a group without models.
    ///
    /// # Errors
    ///
    /// An unknown group; one with models, or one that belongs to a model.
    pub fn destroy_group(&self, id: u32) -> Result<(), Failure> {
        let mut tables = self.tables();
        let place = tables.groups.all.get(&id).map(|group| (group.start, group.count));
        tables.groups.destroy(id)?;
        if let Some((start, count)) = place {
            self.shared().stats.own(start, count, false);
        }
        drop(tables);
        self.say(Level::Info, "NMGR:kmgr_destroy_eg", &format!("Destroyed EG({id})"));
        Ok(())
    }

    /// Destroys a group now, or with its last model.
    pub(crate) fn abandon_group(&self, tables: &mut Tables, id: u32) {
        let Some(group) = tables.groups.all.get_mut(&id) else { return };
        if group.members == 0 {
            self.shared().stats.own(group.start, group.count, false);
            tables.groups.all.remove(&id);
        } else {
            group.orphan = true;
        }
    }

    /// A model, or a load that failed, leaves its group.
    pub(crate) fn leave_group(&self, id: u32) {
        let mut tables = self.tables();
        let place = tables.groups.all.get(&id).map(|group| (group.start, group.count));
        tables.groups.leave(id);
        if let (Some((start, count)), None) = (place, tables.groups.all.get(&id)) {
            self.shared().stats.own(start, count, false);
        }
    }

    /// Keeps a seed for the random numbers of a group's models. A program that
    /// draws random numbers is refused by the software NeuronCore, as no public
    /// source has the device's generator, so there the seed changes nothing.
    ///
    /// # Errors
    ///
    /// An unknown group.
    pub fn seed_group(&self, id: u32, seed: u32) -> Result<(), Failure> {
        let mut tables = self.tables();
        tables.groups.get(id, "NMGR:kmgr_random_seed")?;
        tables.seeds.insert(id, seed);
        Ok(())
    }

    /// The seed of a group.
    pub fn seed(&self, id: u32) -> Option<u32> {
        self.tables().seeds.get(&id).copied()
    }

    /// All groups.
    pub fn groups(&self) -> Vec<GroupInfo> {
        self.tables().groups.info(self.cores())
    }
}
