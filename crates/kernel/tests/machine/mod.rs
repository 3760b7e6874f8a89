//! A machine for the instructions of a law: BPF as RFC 9669 has it, without helpers, maps and calls. What it
//! does not know, or an address beyond the law and the stack, panics.

const STACK: usize = 512;
/// Where the law and the stack begin, as a program sees them.
const LAW_AT: u64 = 0x1_0000;
const STACK_AT: u64 = 0x2_0000;

/// Runs a program on a law.
pub fn run(program: &[u8], law: &mut [u8]) {
    let mut stack = [0; STACK];
    let mut r = [0_u64; 11];
    (r[1], r[10]) = (LAW_AT, STACK_AT + STACK as u64);
    let mut at = 0;
    for _ in 0..1_000_000 {
        let octets = &program[8 * at..8 * at + 8];
        at += 1;
        let (code, dst, src) =
            (octets[0], usize::from(octets[1] & 15), usize::from(octets[1] >> 4));
        let offset = i16::from_le_bytes([octets[2], octets[3]]);
        let imm = i32::from_le_bytes([octets[4], octets[5], octets[6], octets[7]]);
        let operand = if code & 8 == 0 { imm as i64 as u64 } else { r[src] };
        let address = |base: u64| base.wrapping_add(offset as i64 as u64);
        let size = [4, 2, 1, 8][usize::from(code >> 3 & 3)];
        match code & 7 {
            0 => {
                assert_eq!(code, 0x18, "a load of another kind");
                let high = u32::from_le_bytes(program[8 * at + 4..8 * at + 8].try_into().unwrap());
                r[dst] = u64::from(imm as u32) | u64::from(high) << 32;
                at += 1;
            }
            1 => r[dst] = load(memory(law, &mut stack, address(r[src]), size)),
            2 => store(memory(law, &mut stack, address(r[dst]), size), imm as i64 as u64),
            3 => store(memory(law, &mut stack, address(r[dst]), size), r[src]),
            4 => r[dst] = u64::from(small(code >> 4, r[dst] as u32, operand as u32)),
            7 => r[dst] = large(code >> 4, r[dst], operand),
            class => {
                if code == 0x95 {
                    return;
                }
                let jumps = if class == 5 {
                    holds(code >> 4, (r[dst], operand), (r[dst] as i64, operand as i64))
                } else {
                    let (a, b) = (r[dst] as u32, operand as u32);
                    let signed = (i64::from(a as i32), i64::from(b as i32));
                    holds(code >> 4, (u64::from(a), u64::from(b)), signed)
                };
                if jumps {
                    at = (at as i64 + i64::from(offset)) as usize;
                }
            }
        }
    }
    panic!("a law that does not end");
}

fn memory<'a>(law: &'a mut [u8], stack: &'a mut [u8], at: u64, size: usize) -> &'a mut [u8] {
    let (area, from) = if at < STACK_AT { (law, at - LAW_AT) } else { (stack, at - STACK_AT) };
    &mut area[from as usize..from as usize + size]
}

fn load(from: &[u8]) -> u64 {
    from.iter().rev().fold(0, |value, octet| value << 8 | u64::from(*octet))
}

fn store(to: &mut [u8], value: u64) {
    let size = to.len();
    to.copy_from_slice(&value.to_le_bytes()[..size]);
}

fn large(operation: u8, a: u64, b: u64) -> u64 {
    match operation {
        0 => a.wrapping_add(b),
        1 => a.wrapping_sub(b),
        2 => a.wrapping_mul(b),
        3 => a.checked_div(b).unwrap_or(0),
        4 => a | b,
        5 => a & b,
        6 => a.wrapping_shl(b as u32),
        7 => a.wrapping_shr(b as u32),
        8 => a.wrapping_neg(),
        9 => a.checked_rem(b).unwrap_or(a),
        10 => a ^ b,
        11 => b,
        12 => (a as i64).wrapping_shr(b as u32) as u64,
        other => panic!("an operation {other}"),
    }
}

fn small(operation: u8, a: u32, b: u32) -> u32 {
    match operation {
        7 => a.wrapping_shr(b),
        12 => (a as i32).wrapping_shr(b) as u32,
        6 => a.wrapping_shl(b),
        _ => large(operation, u64::from(a), u64::from(b)) as u32,
    }
}

fn holds(operation: u8, (a, b): (u64, u64), (x, y): (i64, i64)) -> bool {
    match operation {
        0 => true,
        1 => a == b,
        2 => a > b,
        3 => a >= b,
        4 => a & b != 0,
        5 => a != b,
        6 => x > y,
        7 => x >= y,
        10 => a < b,
        11 => a <= b,
        12 => x < y,
        13 => x <= y,
        other => panic!("a jump {other}"),
    }
}
