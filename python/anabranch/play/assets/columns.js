// Columns of numbers as the server sends them: a kind, a colon, little-endian octets in base64.

const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u4: Uint32Array };

export const decode = (text) => {
  const binary = atob(text.slice(3));
  const octets = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) octets[i] = binary.charCodeAt(i);
  return new KINDS[text.slice(0, 2)](octets.buffer);
};

// How many values are not above `at`; the values ascend.
export const upTo = (values, at) => {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (values[middle] <= at) low = middle + 1;
    else high = middle;
  }
  return low;
};
