// The elements of a DMARC report (RFC 7489 appendix C), whatever surrounds them: some reporters put comments, a
// DOCTYPE, a schema's element or a byte order mark before <feedback>. A scanner for this purpose only: entities are
// never declared nor expanded, and depth and lengths are limited. The number of steps is left to its callers.

export type ElementStep =
  | { kind: 'open'; path: string }
  | { kind: 'close'; path: string; text: string }
  /** Markup that is not read, reported so that callers can count the work. */
  | { kind: 'passed' }
  | { kind: 'broken'; reason: string };

/** The elements that are read. All others are passed: anyone can name millions of them, and names may be long. */
const READ_PATHS = [
  'feedback/report_metadata/org_name',
  'feedback/report_metadata/email',
  'feedback/report_metadata/report_id',
  'feedback/report_metadata/date_range/begin',
  'feedback/report_metadata/date_range/end',
  'feedback/policy_published/domain',
  'feedback/policy_published/p',
  'feedback/policy_published/sp',
  'feedback/policy_published/adkim',
  'feedback/policy_published/aspf',
  'feedback/policy_published/pct',
  'feedback/record/row/source_ip',
  'feedback/record/row/count',
  'feedback/record/row/policy_evaluated/disposition',
  'feedback/record/row/policy_evaluated/dkim',
  'feedback/record/row/policy_evaluated/spf',
  'feedback/record/identifiers/header_from',
];

interface KnownElement {
  path: string;
  children: Map<string, KnownElement>;
}

/** Contains the root. */
const AROUND = treeOf(READ_PATHS);

interface OpenElement {
  name: string;
  /** Null: neither it nor what it contains is read. */
  known: KnownElement | null;
}

const MAX_DEPTH = 12;
const MAX_VALUE_CHARACTERS = 500;
const MAX_TAG_CHARACTERS = 200;
const PASSED: ElementStep = { kind: 'passed' };
const CUT_OFF = 'it ends in the middle';

/** From the first <feedback> to its end; paths begin with it. */
export function* feedbackElements(xml: string): Generator<ElementStep> {
  const open: OpenElement[] = [];
  let text = '';
  let at = 0;
  for (;;) {
    const start = xml.indexOf('<', at);
    if (start < 0) return yield broken(open.length > 0 ? CUT_OFF : 'it has no <feedback> element');
    if (text.length < MAX_VALUE_CHARACTERS) text += xml.slice(at, Math.min(start, at + MAX_VALUE_CHARACTERS));
    const aside = yield* asideAt(xml, start);
    if (typeof aside === 'string') return yield broken(aside);
    if (aside !== null) {
      if (text.length < MAX_VALUE_CHARACTERS) text += aside.text;
      at = aside.end;
      yield PASSED;
      continue;
    }
    // A stray `<` in text around the report: the next one may begin a tag.
    const end = /[\w/]/.test(xml[start + 1] ?? '') ? xml.indexOf('>', start) : start;
    if (end < 0) return yield broken(CUT_OFF);
    at = end + 1;
    const tag = xml.slice(start + 1, Math.min(end, start + MAX_TAG_CHARACTERS));
    const name = localName(tag);
    if (isStray(tag, name, open)) {
      yield PASSED;
      continue;
    }
    const isEnd = tag.startsWith('/');
    if (!isEnd) {
      if (open.length >= MAX_DEPTH) return yield broken('its elements lie too deep in each other');
      const parent = open.length === 0 ? AROUND : open.at(-1)!.known;
      const known = parent?.children.get(name) ?? null;
      open.push({ name, known });
      yield known ? { kind: 'open', path: known.path } : PASSED;
    } else if (open.at(-1)?.name !== name) return yield broken(`</${name}> comes before </${open.at(-1)?.name}>`);
    const isEmpty = !isEnd && xml[end - 1] === '/';
    if (isEnd || isEmpty) {
      const known = open.pop()?.known;
      yield known ? { kind: 'close', path: known.path, text: isEmpty ? '' : plain(text) } : PASSED;
      if (open.length === 0) return;
    }
    text = '';
  }
}

function treeOf(paths: readonly string[]): KnownElement {
  const around: KnownElement = { path: '', children: new Map() };
  for (const names of paths.map((path) => path.split('/'))) {
    let parent = around;
    for (const [depth, name] of names.entries()) {
      const path = names.slice(0, depth + 1).join('/');
      const child = parent.children.get(name) ?? { path, children: new Map() };
      parent.children.set(name, child);
      parent = child;
    }
  }
  return around;
}

/** Outside the report, or an end tag without a start tag. */
function isStray(tag: string, name: string, open: readonly OpenElement[]): boolean {
  if (tag.startsWith('/')) return !open.some((element) => element.name === name);
  return name === '' || (open.length === 0 && !AROUND.children.has(name));
}

interface Aside {
  end: number;
  text: string;
}

/** A comment, CDATA, declaration or instruction; null: something else; a string: why it is rejected. */
function* asideAt(xml: string, start: number): Generator<ElementStep, Aside | string | null> {
  if (xml[start + 1] === '?') return asideUntil(xml, '?>', start + 2);
  if (xml[start + 1] !== '!') return null;
  if (xml.startsWith('<!--', start)) return asideUntil(xml, '-->', start + 4);
  if (xml.startsWith('<![CDATA[', start)) {
    const aside = asideUntil(xml, ']]>', start + 9);
    if (typeof aside === 'string') return aside;
    return { ...aside, text: xml.slice(start + 9, Math.min(aside.end - 3, start + 9 + MAX_VALUE_CHARACTERS)) };
  }
  return yield* declarationAt(xml, start);
}

function asideUntil(xml: string, sign: string, from: number): Aside | string {
  const end = xml.indexOf(sign, from);
  return end < 0 ? CUT_OFF : { end: end + sign.length, text: '' };
}

/** A DOCTYPE with its brackets. One that declares entities is rejected, since they might expand to gigabytes. */
function* declarationAt(xml: string, start: number): Generator<ElementStep, Aside | string> {
  const signs = /<!ENTITY|<!--|["'[\]>]/gi;
  signs.lastIndex = start;
  let isInBrackets = false;
  for (let found = signs.exec(xml); found !== null; found = signs.exec(xml)) {
    const [sign] = found;
    yield PASSED;
    if (sign.length > 4) return 'it declares entities, which no DMARC report needs';
    if (sign === '>' && !isInBrackets) return { end: signs.lastIndex, text: '' };
    if (sign === '[' || sign === ']') isInBrackets = sign === '[';
    const closing = sign === '<!--' ? '-->' : sign === '"' || sign === "'" ? sign : null;
    if (closing === null) continue;
    const end = xml.indexOf(closing, signs.lastIndex);
    if (end < 0) return CUT_OFF;
    signs.lastIndex = end + closing.length;
  }
  return CUT_OFF;
}

/** Without prefix and attributes. */
function localName(tag: string): string {
  return (/^\/?(?:[\w.-]+:)?([\w.-]+)/.exec(tag)?.[1] ?? '').toLowerCase();
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" };

function plain(text: string): string {
  const value = text.replace(/&(lt|gt|amp|quot|apos);/g, (_, name: string) => ENTITIES[name]!);
  return value.trim().slice(0, MAX_VALUE_CHARACTERS);
}

function broken(reason: string): ElementStep {
  return { kind: 'broken', reason };
}
