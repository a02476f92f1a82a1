// The content of an attachment in the three encodings that Resend's SDKs send, as base64: base64 itself, a list of
// integers (Python), and a Buffer as JavaScript writes it in JSON.

export type ReadContent = { ok: true; base64: string } | { ok: false; problem: string };

const MAX_BYTE = 255;

/** `content` as the JSON schema lets it through. */
export function readContent(content: unknown): ReadContent {
  if (typeof content === 'string') return { ok: true, base64: content };
  if (Array.isArray(content)) return fromBytes(content);
  if (isBuffer(content)) return fromBytes(content.data);
  return {
    ok: false,
    problem: 'must be base64, a list of integers from 0 to 255, or {"type": "Buffer", "data": [such a list]}.',
  };
}

function isBuffer(content: unknown): content is { data: unknown[] } {
  const { type, data, ...others } = (content ?? {}) as Record<string, unknown>;
  return type === 'Buffer' && Array.isArray(data) && Object.keys(others).length === 0;
}

function fromBytes(numbers: unknown[]): ReadContent {
  const bytes = Buffer.allocUnsafe(numbers.length);
  for (let at = 0; at < numbers.length; at++) {
    const number = numbers[at];
    if (!isByte(number))
      return { ok: false, problem: `must have bytes only, integers from 0 to 255; see index ${at}.` };
    bytes[at] = number;
  }
  return { ok: true, base64: bytes.toString('base64') };
}

function isByte(number: unknown): number is number {
  return typeof number === 'number' && Number.isInteger(number) && number >= 0 && number <= MAX_BYTE;
}
