//! Which instance this is: DMI first, then the metadata service.

/// What a machine says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identity {
    /// EC2 instance type.
    pub instance_type: Option<String>,
    /// EC2 instance id.
    pub instance_id: Option<String>,
}

/// Identity of this machine.
pub fn identify() -> Identity {
    Identity::default()
}
