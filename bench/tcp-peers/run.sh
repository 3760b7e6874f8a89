#!/bin/sh
# Our TCP beside smoltcp on TUN, with the kernel as peer: ./run.sh [ROUNDS [MEGABYTES]]
# Needs root, /dev/net/tun, iproute2 and the registry of crates.
set -eu
cd "$(dirname "$0")"
cargo build --quiet --release --locked
exec "${CARGO_TARGET_DIR:-target}/release/tcp-peers" "$@"
