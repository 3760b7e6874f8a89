#!/bin/sh
# Which lines of the code that it is about each fuzz target reaches, as a table: `make fuzz-coverage`.
# Needs LLVM's tools of the toolchain: rustup component add llvm-tools.
set -eu
cd "$(dirname "$0")"
tools=$(dirname "$(find "$(rustc --print sysroot)" -name llvm-profdata | head -n 1)")
test -x "$tools/llvm-profdata" || { echo "llvm-tools is needed: rustup component add llvm-tools" >&2; exit 1; }
out=target/coverage
export FUZZ_RUNS="${FUZZ_RUNS:-20000}"
# What the compiler itself would write while it builds is not wanted.
export LLVM_PROFILE_FILE="$PWD/$out/build-%p.profraw"
binary=$(RUSTFLAGS="-C instrument-coverage" cargo test --no-default-features --release --target-dir "$out" \
	--test random --no-run --message-format=json 2>/dev/null | sed -n 's/.*"executable":"\([^"]*\/random-[^"]*\)".*/\1/p')
test -n "$binary" || { echo "the targets were not built" >&2; exit 1; }
rm -f "$out"/*.profraw

echo "| target | inputs | of | lines | reached |"
echo "|---|---|---|---|---|"
while read -r target crate; do
	LLVM_PROFILE_FILE="$out/$target.profraw" "$binary" --exact "$target" >"$out/$target.log"
	"$tools/llvm-profdata" merge -sparse "$out/$target.profraw" -o "$out/$target.profdata"
	"$tools/llvm-cov" export --summary-only --instr-profile "$out/$target.profdata" "$binary" \
		"$PWD/../crates/$crate" >"$out/$target.json"
	python3 - "$target" "$crate" "$FUZZ_RUNS" "$out/$target.json" <<'SUM'
import json
import sys

target, crate, runs, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    lines = json.load(file)["data"][0]["totals"]["lines"]
share = 100 * lines["covered"] / lines["count"]
print(f"| `{target}` | {runs} | `crates/{crate}` | {lines['count']} | {share:.0f} % |")
SUM
done <<'TARGETS'
parse_packet wire/src
parse_sctp wire/src/sctp
parse_tcp_options wire/src/tcp/options
tcp_connection tcp/src
sctp_association sctp/src
sctp_chunks sctp/src
mptcp_connection mptcp/src
mptcp_segments mptcp/src
TARGETS
