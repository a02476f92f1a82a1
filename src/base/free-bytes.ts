// Large buffers that are done with: until a garbage collector comes by, which counts little of what lies outside of its
// heap, hundreds of megabytes can pile up.

/** At once. A buffer that shares its memory with others stays as it is. */
export function freeBytes({ buffer, byteLength }: Uint8Array): void {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === byteLength) buffer.transfer(0);
}
