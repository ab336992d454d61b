//! UltraServer membership. `sz` must be the size of the struct.

super::arguments! {
    /// Argument of `POD_INFO`.
    PodInfo, "pod_info", 260 {
        /// In: 260.
        sz: u16,
        /// [`crate::uapi::enums::PodType`].
        pod_type: u8,
        /// Opaque identity, all zero outside an UltraServer.
        pod_id: [u8; 256],
        /// Number of servers.
        pod_sz: u8,
    }

    /// Argument of `POD_STATUS`.
    PodStatus, "pod_status", 268 {
        /// In: 268.
        sz: u16,
        /// Opaque identity, all zero outside an UltraServer.
        pod_id: [u8; 256],
        /// [`crate::uapi::enums::PodState`].
        state: u32,
        /// [`crate::uapi::enums::PodType`].
        pod_type: u8,
        /// Number of servers.
        pod_sz: u8,
        /// This server within the UltraServer, -1 for none.
        node_id: i8,
    }

    /// Argument of `POD_STATUS_V2`.
    PodStatusV2, "pod_status_v2", 276 {
        /// The first form, with `sz` 276.
        v1: PodStatus,
        /// [`crate::uapi::enums::UltraServerMode`].
        mode: u32,
        /// Modes that are possible, one bit each.
        modes_supported: u32,
    }

    /// Argument of `POD_CTRL`.
    PodCtrl, "pod_ctrl", 16 {
        /// In: 16.
        sz: u16,
        /// [`crate::uapi::enums::PodControl`].
        ctrl: u32,
        /// Seconds to wait.
        timeout: u32,
        /// Out: [`crate::uapi::enums::PodState`].
        state: u32,
    }

    /// Argument of `POD_CTRL_V2`.
    PodCtrlV2, "pod_ctrl_v2", 20 {
        /// The first form, with `sz` 20.
        v1: PodCtrl,
        /// [`crate::uapi::enums::UltraServerMode`].
        mode: u32,
    }
}
