#!/bin/sh
# The association beside other stacks, in one run: ./run.sh [ROUNDS [MEGABYTES]]
# Needs libusrsctp-dev for usrsctp, which is left out without it.
set -eu
cd "$(dirname "$0")"
rounds=${1:-9} megabytes=${2:-200}

# dcSCTP as published writes every packet in hex for its log, also when nobody
# logs: that line is guarded here, or the comparison would be with a formatter.
rm -rf vendor
cargo vendor --quiet --locked --manifest-path fetch/Cargo.toml vendor >/dev/null 2>&1 ||
    cargo vendor --quiet --manifest-path fetch/Cargo.toml vendor >/dev/null
sed -i 's|^    pub fn log_packet(.*{$|&\n        if !log::log_enabled!(log::Level::Info) {\n            return;\n        }|' \
    vendor/dcsctp/src/lib.rs
grep -q log_enabled vendor/dcsctp/src/lib.rs
cargo build --quiet --release
stacks="anabranch dcsctp sctp-proto"
if cc -O2 -o usrsctp usrsctp.c -lusrsctp -lpthread 2>/dev/null; then
    stacks="$stacks usrsctp usrsctp-nocrc"
fi
bin=${CARGO_TARGET_DIR:-target}/release/sctp-peers

one() { # stack, message, batch
    case $1 in
    usrsctp) ./usrsctp "$2" "$megabytes" 1 ;;
    usrsctp-nocrc) ./usrsctp "$2" "$megabytes" 0 ;;
    *) "$bin" "$1" "$2" "$megabytes" "$3" ;;
    esac
}

echo "$megabytes MB, median (least to most) of $rounds rounds, CPU time of both ends, Gbit/s"
for batch in 1 64; do
    for message in 1200 32000; do
        out=$(mktemp)
        round=0
        while [ $round -lt "$rounds" ]; do
            for stack in $stacks; do
                case $stack:$batch in
                usrsctp*:64) continue ;; # its threads batch as they like
                # A SACK for every second packet costs it what it has waiting:
                # two rounds show it.
                sctp-proto:1) [ $round -lt 2 ] || continue ;;
                esac
                echo "$stack $(one $stack $message $batch)" >>"$out"
            done
            round=$((round + 1))
        done
        for stack in $stacks; do
            grep "^$stack " "$out" | sort -k2 -n | awk -v name="$stack" -v mb="$megabytes" \
                -v message="$message" -v batch="$batch" '
                { t[NR] = $2 } END { if (NR) printf "batch %-3d message %-6d %-14s %6.2f (%.2f to %.2f)\n",
                    batch, message, name, mb * 0.008 / t[int((NR + 1) / 2)], mb * 0.008 / t[NR], mb * 0.008 / t[1] }'
        done
        rm "$out"
    done
done
