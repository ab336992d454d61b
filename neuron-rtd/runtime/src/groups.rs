//! NeuronCore groups: contiguous runs of cores (neuron-rtd.md §3.1).

use std::collections::BTreeMap;

use crate::cores::Cores;
use crate::failure::{Code, Failure};

/// A group, as `list_egs` shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupInfo {
    /// Handle, from 1.
    pub id: u32,
    /// First core, counted over the devices of the runtime.
    pub start: u32,
    /// Cores.
    pub count: u32,
    /// Position of the first core's device among those of the runtime.
    pub device_start: u32,
    /// First core in its device.
    pub core_start: u32,
    /// Session that made it; 0 for none.
    pub session: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Group {
    pub(crate) start: u32,
    pub(crate) count: u32,
    pub(crate) session: u64,
    /// Made for one model, and goes with it.
    pub(crate) implicit: bool,
    /// Its session has ended; it goes with its last model.
    pub(crate) orphan: bool,
    /// Models in it and loads under way.
    pub(crate) members: u32,
    /// The model that is started.
    pub(crate) running: Option<u32>,
}

#[derive(Debug, Default)]
pub(crate) struct Groups {
    pub(crate) all: BTreeMap<u32, Group>,
    last: u32,
}

const PLACE: &str = "NMGR:kmgr_create_eg";

impl Groups {
    /// Makes a group of `count` cores, or of the longest free run.
    pub(crate) fn create(
        &mut self,
        cores: &Cores,
        count: Option<u32>,
        session: u64,
        implicit: bool,
    ) -> Result<u32, Failure> {
        let runs = self.free_runs(cores);
        let longest = runs.iter().map(|(_, length)| *length).max().unwrap_or(0);
        let wanted = count.unwrap_or(longest);
        let fits = runs.iter().find(|(_, length)| *length >= wanted && wanted > 0);
        let Some((start, _)) = fits.copied() else {
            let text = format!("Not enough free NCs to allocate {} members group", wanted.max(1));
            return Err(Failure::new(Code::ResourceNc, PLACE, text)
                .then(PLACE, format!("the longest free run has {longest}; {}", self.holders())));
        };
        self.insert(start, wanted, session, implicit)
    }

    /// The group that a model makes for itself on exactly these cores, or has
    /// made: models that are placed on the same cores share it and take turns.
    pub(crate) fn place(
        &mut self,
        cores: &Cores,
        start: u32,
        count: u32,
        session: u64,
    ) -> Result<u32, Failure> {
        let same = |group: &Group| group.implicit && (group.start, group.count) == (start, count);
        if let Some((id, _)) = self.all.iter().find(|(_, group)| same(group)) {
            return Ok(*id);
        }
        let runs = self.free_runs(cores);
        let end = start.checked_add(count);
        let fits = |(first, length): &(u32, u32)| {
            *first <= start && end.is_some_and(|end| end <= first + length)
        };
        if !runs.iter().any(fits) {
            let text = format!("Not enough free NCs to allocate {count} from {start} on");
            return Err(Failure::new(Code::ResourceNc, PLACE, text)
                .then(PLACE, format!("there are {}; {}", cores.count(), self.holders())));
        }
        self.insert(start, count, session, true)
    }

    fn insert(
        &mut self,
        start: u32,
        count: u32,
        session: u64,
        implicit: bool,
    ) -> Result<u32, Failure> {
        let id = self.last.checked_add(1).ok_or_else(|| {
            Failure::new(Code::Resource, PLACE, "all handles of groups have been used")
        })?;
        self.last = id;
        let (orphan, members, running) = (false, 0, None);
        let group = Group { start, count, session, implicit, orphan, members, running };
        self.all.insert(id, group);
        Ok(id)
    }

    /// Runs of free cores that one group may hold: start and length.
    fn free_runs(&self, cores: &Cores) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for index in 0..cores.count() {
            if self.owner(index).is_some() {
                continue;
            }
            match runs.last_mut() {
                Some((start, length)) if *start + *length == index && cores.joined(index) => {
                    *length += 1;
                }
                _ => runs.push((index, 1)),
            }
        }
        runs
    }

    fn owner(&self, core: u32) -> Option<u32> {
        let holds = |group: &Group| (group.start..group.start + group.count).contains(&core);
        self.all.iter().find(|(_, group)| holds(group)).map(|(id, _)| *id)
    }

    /// Who holds which cores, in words.
    fn holders(&self) -> String {
        let mut parts = Vec::new();
        for (id, group) in self.all.iter().filter(|(_, group)| group.count > 0) {
            let last = group.start + group.count - 1;
            let session = match group.session {
                0 => "no session".to_owned(),
                session => format!("session {session}"),
            };
            parts.push(format!("EG({id}) of {session} holds {}-{last}", group.start));
        }
        if parts.is_empty() { "no core is held".to_owned() } else { parts.join(", ") }
    }

    pub(crate) fn get(&self, id: u32, place: &str) -> Result<&Group, Failure> {
        self.all.get(&id).ok_or_else(|| unknown(id, place))
    }

    pub(crate) fn get_mut(&mut self, id: u32, place: &str) -> Result<&mut Group, Failure> {
        self.all.get_mut(&id).ok_or_else(|| unknown(id, place))
    }

    /// Destroys an explicit group without models.
    pub(crate) fn destroy(&mut self, id: u32) -> Result<(), Failure> {
        const PLACE: &str = "NMGR:kmgr_destroy_eg";
        let group = self.get(id, PLACE)?;
        if group.implicit {
            let text = format!("EG({id}) goes with its model; unload that");
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        if group.members > 0 {
            let text = format!("EG({id}) holds {} models; unload them first", group.members);
            return Err(Failure::new(Code::Invalid, PLACE, text));
        }
        self.all.remove(&id);
        Ok(())
    }

    /// Takes a member off a group, and the group away if it goes with it.
    pub(crate) fn leave(&mut self, id: u32) {
        if let Some(group) = self.all.get_mut(&id) {
            group.members = group.members.saturating_sub(1);
            if group.members == 0 && (group.implicit || group.orphan) {
                self.all.remove(&id);
            }
        }
    }

    pub(crate) fn info(&self, cores: &Cores) -> Vec<GroupInfo> {
        let info = |(id, group): (&u32, &Group)| {
            let first = cores.core(group.start);
            GroupInfo {
                id: *id,
                start: group.start,
                count: group.count,
                device_start: first.map_or(0, |core| core.position),
                core_start: first.map_or(0, |core| core.within),
                session: group.session,
            }
        };
        self.all.iter().map(info).collect()
    }
}

fn unknown(id: u32, place: &str) -> Failure {
    Failure::new(Code::InvalidHandle, place, format!("Failed to find EG: {id}"))
}

#[cfg(test)]
mod tests {
    use neuron_core::instance::InstanceType;

    use super::*;

    fn inf1() -> Cores {
        Cores::new(InstanceType::find("inf1.6xlarge").unwrap(), &[]).unwrap()
    }

    #[test]
    fn the_first_run_that_fits_is_taken() {
        let (cores, mut groups) = (inf1(), Groups::default());
        let make = |groups: &mut Groups, count| groups.create(&cores, count, 0, false);
        assert_eq!(make(&mut groups, Some(2)), Ok(1));
        // six cores over two devices
        assert_eq!(make(&mut groups, Some(6)), Ok(2));
        assert_eq!(make(&mut groups, Some(4)), Ok(3));
        groups.destroy(2).unwrap();
        // the run between 1 and 3
        assert_eq!(make(&mut groups, None), Ok(4));
        assert_eq!(groups.all[&4].count, 6);
        assert_eq!(make(&mut groups, None), Ok(5));
        assert_eq!((groups.all[&5].start, groups.all[&5].count), (12, 4));
        let full = make(&mut groups, Some(1)).unwrap_err();
        assert_eq!(full.code, Code::ResourceNc);
        assert!(full.details().contains("Not enough free NCs to allocate 1 members group"));
        assert!(full.details().contains("EG(3) of no session holds 8-11"), "{full}");
        let info = groups.info(&cores);
        assert_eq!((info[1].id, info[1].device_start, info[1].core_start), (3, 2, 0));
        assert_eq!(groups.destroy(2).unwrap_err().code, Code::InvalidHandle);
    }

    #[test]
    fn groups_do_not_cross_devices_that_are_apart() {
        let cores = Cores::new(InstanceType::find("trn1.32xlarge").unwrap(), &[]).unwrap();
        let mut groups = Groups::default();
        // devices 0 to 3 are a row of the torus; 3 and 4 are not joined
        assert_eq!(groups.create(&cores, None, 0, false), Ok(1));
        assert_eq!(groups.all[&1].count, 8);
        let refused = groups.create(&cores, Some(9), 0, false).unwrap_err();
        assert!(refused.details().contains("the longest free run has 8"), "{refused}");
    }
}
