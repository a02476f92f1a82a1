// Bodies of POST /emails: some that nothing is wrong with, most with a few things changed, in
// their structure, their types, their texts, their numbers, or in the bytes that they are written with.
import { type JsonTree, nodesOf, treeOf, writeTree } from './json-tree.ts';
import type { SeededRandom } from './seeded-random.ts';

export interface FuzzedCall {
  body: Buffer;
  headers: Record<string, string>;
  /** Nothing was changed: it has to be accepted. */
  untouched: boolean;
}

export interface Surroundings {
  /** Verified. */
  domain: string;
  /** On the tenant's suppression list. */
  suppressed: string;
  templateIds: string[];
}

const WORDS = ['Order', 'Grüße', '你好', '🚲', 'a', 'Ærøskøbing', '{{ x }}', '<b>', '"quoted"', 'e\u0301', '\u202eabc'];

/** What has surprised parsers before. */
const HOSTILE_TEXTS = [
  '',
  ' ',
  '\0',
  '\r\nX-Injected: 1',
  '\n',
  '\t',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\ud800',
  '\udc00\ud800',
  '\ufffe\uffff',
  '\u{10ffff}',
  '<',
  '>',
  '<>',
  '@',
  '"',
  '\\',
  'a@b@c.test',
  '"a\\"b"@c.test',
  'a@[192.0.2.1]',
  'a@[IPv6:::1]',
  'a@localhost',
  'a@xn--zz--zz.test',
  'a@-.test',
  'ü@ü.test',
  '"" <a@b.test>',
  'Jo <<a@b.test>>',
  'Jo <"<"@b.test>',
  '=?utf-8?Q?=0D=0A?=',
  '{{',
  '{% for %}',
  '%00',
  'null',
  '__proto__',
  'constructor',
  '[object Object]',
  'a'.repeat(65),
  'a'.repeat(999),
];
/** Rare, since they take most of the time. */
const LONG_TEXTS = ['Ü'.repeat(5000), 'word '.repeat(3000), '\0'.repeat(2000)];

const NAMES = ['from', 'to', 'subject', 'html', 'text', 'template_id', 'data', 'headers'] as const;
const HOSTILE_NAMES = [
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'then', 'toJSON', 'valueOf'],
  ...[
    '',
    ' ',
    '0',
    'From',
    'FROM',
    'from ',
    'fr\u0430m',
    'subjekt',
    'to[0]',
    'headers.X',
    '\0',
    '\ud800',
    'kind',
    'refused',
  ],
];

const HOSTILE_NUMBERS = [
  ...['0', '-0', '1', '-1', '1.5', '1e400', '-1e400', '1e-400', '9007199254740993', '123456789012345678901234567890'],
  ...['0.1e1', '1E+2', '01', '+1', '.5', '1.', '0x10', 'NaN', 'Infinity', '1_000', '--1', '1e'],
];

const HOSTILE_LITERALS = ['null', 'true', 'false', 'True', 'undefined', "'text'", '{}', '[]', '[[]]', '{"a":{}}', ''];

export function generateCall(random: SeededRandom, surroundings: Surroundings): FuzzedCall {
  const tree = treeOf(goodBody(random, surroundings));
  const headers = goodHeaders(random);
  if (random.chance(0.08)) return { body: Buffer.from(writeTree(tree, random)), headers, untouched: true };
  const changes = 1 + random.below(3);
  for (let change = 0; change < changes; change++) changeTree(tree, random);
  const root = random.chance(0.02) ? hostileTree(random) : tree;
  const text = writeTree(root, random);
  const body = random.chance(0.15) ? changeBytes(Buffer.from(text), random) : Buffer.from(text);
  return { body, headers: random.chance(0.03) ? hostileHeaders(random) : headers, untouched: false };
}

function goodBody(random: SeededRandom, { domain, suppressed, templateIds }: Surroundings): Record<string, unknown> {
  const address = () => `${random.pick(['jo', 'a.b', 'x+y', '"q q"', 'ü'])}${random.below(1000)}@receiver.test`;
  // A quoted local part is followed by no number.
  const recipient = () => {
    const bare = address().replace(/"(\d+)@/, '"@');
    return random.chance(0.3) ? `${words(random)} <${bare}>` : bare;
  };
  const several = () => random.times(1 + random.below(random.chance(0.05) ? 50 : 4), recipient);
  const body: Record<string, unknown> = {
    from: random.chance(0.5) ? `app@${domain}` : `${words(random)} <app@${domain}>`,
    to: random.chance(0.5) ? recipient() : several(),
    subject: words(random),
  };
  if (Array.isArray(body.to) && body.to.length < 50 && random.chance(0.1)) body.to.push(suppressed);
  if (random.chance(0.05)) body.template_id = random.pick(templateIds);
  else body[random.pick(['html', 'text'])] = words(random).repeat(1 + random.below(50));
  if (random.chance(0.3)) body.data = goodData(random, 0);
  if (random.chance(0.3)) body.headers = { [`X-${random.below(100)}`]: words(random), 'Reply-To': `help@${domain}` };
  if (random.chance(0.1)) body[random.pick(['data', 'headers', 'template_id'])] ??= null;
  return body;
}

function goodData(random: SeededRandom, depth: number): Record<string, unknown> {
  const value = (): unknown => {
    if (depth < 4 && random.chance(0.3)) return goodData(random, depth + 1);
    return random.pick<unknown>([1, 'x', null, true, [1, 2], words(random)]);
  };
  return Object.fromEntries(random.times(random.below(5), (index) => [random.pick(['x', 'y', `k${index}`]), value()]));
}

function words(random: SeededRandom): string {
  return random.times(1 + random.below(4), () => random.pick(WORDS)).join(' ');
}

function goodHeaders(random: SeededRandom): Record<string, string> {
  const headers: Record<string, string> = { 'Content-Type': 'application/json' };
  // Few different keys, so that many calls are replays, and many at the same time.
  if (random.chance(0.05)) headers['Idempotency-Key'] = `key-${random.below(50)}`;
  return headers;
}

function hostileHeaders(random: SeededRandom): Record<string, string> {
  const type = random.pick(['', 'text/plain', 'application/json;', 'application/json; charset=utf-16', 'a/b', 'json']);
  const key = random.pick(['', ' ', 'k'.repeat(200), 'k'.repeat(201), '"', 'key-1 key-2', '{}']);
  return random.chance(0.5) ? { 'Content-Type': type } : { 'Content-Type': 'application/json', 'Idempotency-Key': key };
}

/** One change somewhere in the tree, which is changed in place. */
function changeTree(tree: JsonTree, random: SeededRandom): void {
  const node = random.pick(nodesOf(tree));
  if (node.kind === 'object') changeObject(node, random);
  else if (node.kind === 'array') changeArray(node, random);
  else if (node.kind === 'string' && random.chance(0.7)) node.text = hostileText(node.text, random);
  else Object.assign(node, hostileTree(random));
}

function changeObject(node: JsonTree & { kind: 'object' }, random: SeededRandom): void {
  const { members } = node;
  const at = random.below(members.length + 1);
  const name = () => (random.chance(0.5) ? random.pick(NAMES) : random.pick(HOSTILE_NAMES));
  const chosen = members[at];
  switch (random.below(6)) {
    case 0:
      members.splice(at, 1);
      break;
    case 1:
      members.splice(at, 0, [name(), hostileTree(random)]);
      break;
    case 2:
      if (chosen) chosen[0] = name();
      break;
    case 3:
      if (chosen) members.push([chosen[0], hostileTree(random)]);
      break;
    case 4:
      if (chosen) chosen[1] = hostileTree(random);
      break;
    case 5:
      if (random.chance(0.05))
        members.push(...random.times(2000, (index): [string, JsonTree] => [`k${index}`, treeOf(index)]));
      else members.reverse();
      break;
  }
}

function changeArray(node: JsonTree & { kind: 'array' }, random: SeededRandom): void {
  const { items } = node;
  const at = random.below(items.length + 1);
  switch (random.below(4)) {
    case 0:
      items.splice(at, 1);
      break;
    case 1:
      items.splice(at, 0, hostileTree(random));
      break;
    case 2:
      items.push(...items.slice(0, 60), ...items.slice(0, 60));
      break;
    case 3:
      items.splice(0, items.length, ...random.times(51, () => treeOf('jo@receiver.test')));
      break;
  }
}

function hostileText(text: string, random: SeededRandom): string {
  const hostile = random.pick(random.chance(0.03) ? LONG_TEXTS : HOSTILE_TEXTS);
  const at = random.below(text.length + 1);
  switch (random.below(5)) {
    case 0:
      return hostile;
    case 1:
      return text.slice(0, at) + hostile + text.slice(at);
    case 2:
      return text.slice(0, at);
    case 3:
      return text.slice(at) + text.slice(0, at);
    default:
      return text.slice(0, at) + String.fromCharCode(random.below(0x10000)) + text.slice(at + 1);
  }
}

function hostileTree(random: SeededRandom): JsonTree {
  switch (random.below(7)) {
    case 0:
      return { kind: 'raw', text: random.pick(HOSTILE_NUMBERS) };
    case 1:
      return { kind: 'raw', text: random.pick(HOSTILE_LITERALS) };
    case 2:
      return { kind: 'string', text: random.pick(HOSTILE_TEXTS) };
    case 3:
      return { kind: 'array', items: random.times(random.below(4), () => hostileTree(random)) };
    case 4:
      return { kind: 'object', members: [[random.pick(HOSTILE_NAMES), hostileTree(random)]] };
    case 5:
      return deepTree(random);
    default:
      return { kind: 'raw', text: '{"refused":"internal_error","message":"x","then":1,"toJSON":"x"}' };
  }
}

/** As text: a nesting that is deeper than the stack must not be walked. */
function deepTree(random: SeededRandom): JsonTree {
  const levels = random.chance(0.05) ? random.pick([2000, 20_000]) : random.pick([2, 5, 20, 200]);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"__proto__":', '}'],
  ] as const);
  const missing = random.chance(0.1) ? 1 : 0;
  return { kind: 'raw', text: `${open.repeat(levels)}0${close.repeat(levels - missing)}` };
}

function changeBytes(bytes: Buffer, random: SeededRandom): Buffer {
  const [from, to] = [random.below(bytes.length + 1), random.below(bytes.length + 1)].sort((a, b) => a - b) as [
    number,
    number,
  ];
  const [before, part, after] = [bytes.subarray(0, from), bytes.subarray(from, to), bytes.subarray(to)];
  switch (random.below(7)) {
    case 0:
      return before;
    case 1:
      return Buffer.concat([before, after]);
    case 2:
      return Buffer.concat([before, part, part, after]);
    case 3:
      return Buffer.concat([before, Buffer.from([random.below(256)]), part, after]);
    case 4:
      return Buffer.concat([before, Buffer.from(random.pick(INVALID_UTF8)), part, after]);
    case 5:
      return Buffer.concat([Buffer.from('\ufeff'), bytes]);
    default:
      return Buffer.concat([bytes, Buffer.from(random.pick(['}', ',', '\0', ' x', '//', '/* */', '{}', '\n\n']))]);
  }
}

/** A lone continuation, an overlong slash, half a surrogate pair, beyond Unicode, broken off. */
const INVALID_UTF8 = [[0x80], [0xc0, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xe2, 0x82], [0xff], [0xfe]];
