//! Names that the server knows by number (atoms).

x11rb::atom_manager! {
    /// The ICCCM and EWMH atoms in use, and this crate's own.
    pub(crate) Atoms:
    /// The pending replies for [`Atoms`].
    AtomsCookie {
        CLIPBOARD,
        INCR,
        TARGETS,
        UTF8_STRING,
        TEXT,
        TEXT_PLAIN_UTF8: b"text/plain;charset=utf-8",
        TEXT_PLAIN: b"text/plain",
        STICKPIN_CLIPBOARD: b"_STICKPIN_CLIPBOARD",
        STICKPIN_SPARES: b"_STICKPIN_SPARES",
        WM_PROTOCOLS,
        WM_STATE,
        _NET_ACTIVE_WINDOW,
        _NET_CLIENT_LIST_STACKING,
        _NET_CURRENT_DESKTOP,
        _NET_FRAME_EXTENTS,
        _GTK_FRAME_EXTENTS,
        _NET_REQUEST_FRAME_EXTENTS,
        _NET_SUPPORTING_WM_CHECK,
        _NET_WM_DESKTOP,
        _NET_WM_NAME,
        _NET_WM_PID,
        _NET_WM_PING,
        _NET_WM_STATE,
        _NET_WM_STATE_HIDDEN,
        _NET_WM_STATE_MODAL,
    }
}
