//! Who is at the other end of a connection on loopback.
//!
//! The kernel lists every TCP socket with the user that owns it. The socket of
//! the peer is the one whose local address is our peer and whose remote address
//! is ours. Sockets of other network namespaces are not listed: such a peer is
//! unknown, and refused.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The lists of the kernel, by family (proc(5)).
const LISTS: [&str; 2] = ["/proc/net/tcp", "/proc/net/tcp6"];

/// The user at `peer` of a connection with `local`; `None` when the kernel does
/// not list it.
///
/// # Errors
///
/// When the list cannot be read.
pub(super) fn user(peer: SocketAddr, local: SocketAddr) -> io::Result<Option<u32>> {
    for list in LISTS {
        // A kernel without IPv6 has no list of it.
        let text = match std::fs::read_to_string(list) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        let mut found = text.lines().skip(1).filter_map(entry);
        let wanted = (plain(peer), plain(local));
        if let Some((_, _, user)) = found.find(|(own, remote, _)| (*own, *remote) == wanted) {
            return Ok(Some(user));
        }
    }
    Ok(None)
}

/// An address of IPv4 that is written as one of IPv6 is the one of IPv4.
fn plain(address: SocketAddr) -> SocketAddr {
    SocketAddr::new(address.ip().to_canonical(), address.port())
}

/// Local address, remote address and user of a line.
fn entry(line: &str) -> Option<(SocketAddr, SocketAddr, u32)> {
    let mut fields = line.split_ascii_whitespace();
    let local = address(fields.nth(1)?)?;
    let remote = address(fields.next()?)?;
    // state, queues, timer, retransmits
    let user = fields.nth(4)?.parse().ok()?;
    Some((local, remote, user))
}

/// `0100007F:0BB9`: words of four bytes in the byte order of the host.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let word = |at: usize| {
        let digits = ip.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    let ip: IpAddr = match ip.len() {
        8 => Ipv4Addr::from(word(0)?).into(),
        32 => {
            let words = [word(0)?, word(1)?, word(2)?, word(3)?];
            let bytes: [u8; 16] = words.concat().try_into().ok()?;
            Ipv6Addr::from(bytes).to_canonical()
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    #[cfg(target_endian = "little")]
    fn lines_of_the_kernel() {
        let line = "   0: 0100007F:0BB9 0200007F:C350 01 00000000:00000000 00:00000000 00000000 \
                    1000        0 27653 1 0000000000000000 100 0 0 10 0";
        let wanted = ("127.0.0.1:3001".parse().unwrap(), "127.0.0.2:50000".parse().unwrap(), 1000);
        assert_eq!(entry(line), Some(wanted));
        let six = "00000000000000000000000001000000:0BB9";
        assert_eq!(address(six), Some("[::1]:3001".parse().unwrap()));
        let mapped = "0000000000000000FFFF00000100007F:0BB9";
        assert_eq!(address(mapped), Some("127.0.0.1:3001".parse().unwrap()));
        for bad in ["", ":", "0100007F", "0100007:0BB9", "0100007G:0BB9", "0100007F:10000"] {
            assert_eq!(address(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_user_of_a_real_connection() {
        let own = rustix::process::geteuid().as_raw();
        for at in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(at) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (server, peer) = listener.accept().unwrap();
            assert_eq!(user(peer, server.local_addr().unwrap()).unwrap(), Some(own), "{at}");
            let other = SocketAddr::new(peer.ip(), 1);
            assert_eq!(user(other, client.local_addr().unwrap()).unwrap(), None);
        }
    }
}
