// Arrays as parameters, in PostgreSQL's binary format (array_recv): the client library sends a Buffer as it is, so nothing
// is quoted here and nothing is parsed there.
import { toParameter } from './values.ts';

/** The types that columns of the schema have, and their object IDs in pg_catalog.pg_type. */
const ELEMENT_OIDS = { bigint: 20, bytea: 17, text: 25, 'double precision': 701 } as const;

export type ElementType = keyof typeof ELEMENT_OIDS;

export function isElementType(name: string): name is ElementType {
  return name in ELEMENT_OIDS;
}

/** Dimensions, whether it has nulls, the type; then length and lower bound of its only dimension. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
const NULL_LENGTH = -1;
const UINT32_VALUES = 2 ** 32;

/** Throws for a value that is not of the type. It has at least one element. */
export function encodeArray(type: ElementType, values: readonly unknown[]): Buffer {
  const elements = values.map((value) => (value === null || value === undefined ? null : elementOf(type, value)));
  const bytes = elements.reduce((sum, element) => sum + LENGTH_BYTES + (element?.bytes ?? 0), HEADER_BYTES);
  const array = Buffer.allocUnsafe(bytes);
  const header = [1, elements.includes(null) ? 1 : 0, ELEMENT_OIDS[type], elements.length, 1];
  let at = 0;
  for (const field of header) at = array.writeInt32BE(field, at);
  for (const element of elements) {
    at = array.writeInt32BE(element?.bytes ?? NULL_LENGTH, at);
    element?.write(array, at);
    at += element?.bytes ?? 0;
  }
  return array;
}

interface Element {
  bytes: number;
  write(array: Buffer, at: number): void;
}

function elementOf(type: ElementType, value: unknown): Element {
  switch (type) {
    case 'text': {
      if (typeof value !== 'string') throw misplaced(type, value);
      const text = toParameter(value) as string;
      return { bytes: Buffer.byteLength(text), write: (array, at) => array.write(text, at) };
    }
    case 'bytea': {
      if (!(value instanceof Uint8Array)) throw misplaced(type, value);
      return { bytes: value.length, write: (array, at) => array.set(value, at) };
    }
    case 'bigint': {
      if (!Number.isSafeInteger(value)) throw misplaced(type, value);
      return { bytes: 8, write: (array, at) => writeInteger(array, value as number, at) };
    }
    case 'double precision': {
      if (typeof value !== 'number') throw misplaced(type, value);
      return { bytes: 8, write: (array, at) => array.writeDoubleBE(value, at) };
    }
  }
}

/** In halves: a BigInt for each would cost more than all the rest. */
function writeInteger(array: Buffer, value: number, at: number): void {
  const high = Math.floor(value / UINT32_VALUES);
  array.writeInt32BE(high, at);
  array.writeUInt32BE(value - high * UINT32_VALUES, at + 4);
}

function misplaced(type: ElementType, value: unknown): TypeError {
  return new TypeError(`a value of the type ${typeof value} is not a ${type}`);
}
