//! Which instance this is: DMI first, then the metadata service.

use crate::driver::Files;

/// What a machine says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// EC2 instance type.
    pub instance_type: Option<String>,
    /// EC2 instance id.
    pub instance_id: Option<String>,
    /// Whether the firmware's tables call the machine EC2's; `None` when they
    /// cannot be read.
    pub on_ec2: Option<bool>,
}

/// Directory of the firmware's identification tables.
const DMI: &str = "sys/devices/virtual/dmi/id";

/// What DMI says: on Nitro the product name is the instance type and the
/// board's asset tag the instance id (driver.md §8.1). Tables of another
/// vendor say nothing about an instance.
pub fn identity_of(files: &dyn Files) -> Identity {
    let text = |name: &str| {
        let bytes = files.read(&format!("{DMI}/{name}")).ok()?;
        Some(String::from_utf8(bytes).ok()?.trim().to_owned()).filter(|text| !text.is_empty())
    };
    let vendor = text("sys_vendor").or_else(|| text("bios_vendor"));
    let on_ec2 = vendor.map(|vendor| vendor == "Amazon EC2");
    if on_ec2 != Some(true) {
        return Identity { on_ec2, ..Identity::default() };
    }
    Identity {
        instance_type: text("product_name").filter(|name| name.contains('.')),
        instance_id: text("board_asset_tag").filter(|tag| tag.starts_with("i-")),
        on_ec2,
    }
}

#[cfg(feature = "imds")]
impl Identity {
    /// Asks the metadata service for what DMI did not give. Nothing is asked
    /// on a machine that says it is not EC2's.
    #[must_use]
    pub fn completed_by_imds(mut self) -> Self {
        let complete = self.instance_type.is_some() && self.instance_id.is_some();
        if complete || self.on_ec2 == Some(false) {
            return self;
        }
        if let Some(mut service) = super::imds::Imds::from_env() {
            if self.instance_type.is_none() {
                self.instance_type = service.get("instance-type");
            }
            if self.instance_id.is_none() {
                self.instance_id = service.get("instance-id");
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::HostFiles;

    fn identity(tables: &[(&str, &str)]) -> Identity {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join(DMI)).unwrap();
        for (name, text) in tables {
            std::fs::write(dir.path().join(DMI).join(name), text).unwrap();
        }
        identity_of(&HostFiles::open(dir.path()).unwrap())
    }

    #[test]
    fn nitro_tables_name_the_instance_and_others_do_not() {
        let nitro = [
            ("sys_vendor", "Amazon EC2\n"),
            ("product_name", "trn1.32xlarge\n"),
            ("board_asset_tag", "i-0123456789abcdef0\n"),
        ];
        let found = identity(&nitro);
        assert_eq!(found.instance_type.as_deref(), Some("trn1.32xlarge"));
        assert_eq!(found.instance_id.as_deref(), Some("i-0123456789abcdef0"));
        let laptop = identity(&[("sys_vendor", "LENOVO\n"), ("product_name", "20.XS\n")]);
        assert_eq!(laptop, Identity { on_ec2: Some(false), ..Identity::default() });
        assert_eq!(identity(&[]), Identity::default());
    }
}
