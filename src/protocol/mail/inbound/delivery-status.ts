// Reads the fields of a delivery report: RFC 3464 section 2, RFC 6533 for non-ASCII addresses. Blank lines between the
// groups are often missing or too many, so a recipient's group begins at a field that the previous group already has.
import { parseAddress } from '../addresses/address.ts';
import { addressesIn, sameAddress, tidyAddress } from './addresses-in-text.ts';
import { decodeWords } from './encoded-words.ts';
import type { ReportedAction, ReportedRecipient } from './inbound-mail.ts';

export interface DeliveryStatus {
  reportingMta: string | null;
  recipients: ReportedRecipient[];
}

/** The types of the part with these fields. */
export const STATUS_PARTS: ReadonlySet<string> = new Set(['message/delivery-status', 'message/global-delivery-status']);

type Group = Map<string, string[]>;

const MAX_RECIPIENTS = 200;
const MAX_LINES = 5_000;
const MAX_DIAGNOSTIC_CHARACTERS = 4_000;
const MAX_ADDRESS_CHARACTERS = 600;

/** Fields that begin a recipient's group. */
const OPENING = new Set(['final-recipient', 'original-recipient', 'x-actual-recipient', 'action']);
const OF_A_RECIPIENT = new Set([...OPENING, 'status', 'diagnostic-code', 'remote-mta', 'last-attempt-date']);
const FIELD = /^([A-Za-z][\w-]{1,60})[ \t]*:[ \t]*(.*)$/;

/** Null when the text has no fields of a delivery report. */
export function readDeliveryStatus(text: string): DeliveryStatus | null {
  const { ofMessage, recipients } = readGroups(text);
  if (recipients.length === 0) return null;
  const reportingMta = hostOf(first(ofMessage, 'reporting-mta') ?? first(ofMessage, 'x-postfix-queue-host'));
  return { reportingMta, recipients: onePerAddress(recipients.map(recipientOf)) };
}

function readGroups(text: string): { ofMessage: Group; recipients: Group[] } {
  const ofMessage: Group = new Map();
  const recipients: Group[] = [];
  let current: Group = ofMessage;
  let values: string[] | null = null;
  let isAfterBlank = false;
  for (const line of text.split('\n', MAX_LINES)) {
    const field = FIELD.exec(line);
    if (!field) {
      // A folded line; some writers omit the leading space (Exchange, Notes).
      if (line.trim() === '') [values, isAfterBlank] = [null, true];
      else if (values && values.length > 0)
        values.push(`${values.pop()!} ${line.trim()}`.slice(0, MAX_DIAGNOSTIC_CHARACTERS));
      continue;
    }
    const name = field[1]!.toLowerCase();
    const isNext = current.has(name) || (isAfterBlank && name.endsWith('l-recipient'));
    isAfterBlank = false;
    const opens = OPENING.has(name) && (current === ofMessage || (isNext && hasAddress(current)));
    if (opens || (current === ofMessage && OF_A_RECIPIENT.has(name))) {
      if (recipients.length >= MAX_RECIPIENTS) break;
      current = new Map();
      recipients.push(current);
    }
    values = current.get(name) ?? [];
    values.push(decodeWords(field[2]!.slice(0, MAX_DIAGNOSTIC_CHARACTERS).trim()));
    current.set(name, values);
  }
  return { ofMessage, recipients: recipients.filter((group) => hasAddress(group) || group.has('status')) };
}

/** RFC 3464 has one group per recipient; some servers write one for each host that they tried. */
function onePerAddress(recipients: readonly ReportedRecipient[]): ReportedRecipient[] {
  const merged: ReportedRecipient[] = [];
  for (const recipient of recipients) {
    const known = merged.findIndex(({ address }) => sameAddress(address, recipient.address));
    if (known < 0) merged.push(recipient);
    else merged[known] = together(merged[known]!, recipient);
  }
  return merged;
}

function together(one: ReportedRecipient, other: ReportedRecipient): ReportedRecipient {
  const tells = ({ action, diagnostics }: ReportedRecipient) =>
    (action === 'failed' ? 2 : action === 'delayed' ? 1 : 0) + (/^[45]\d\d\b/.test(diagnostics[0] ?? '') ? 0.5 : 0);
  const [first, second] = tells(other) > tells(one) ? [other, one] : [one, other];
  const isSameNews = first.action === second.action;
  return {
    ...first,
    address: one.address,
    originalAddress: first.originalAddress ?? second.originalAddress,
    status: first.status ?? (isSameNews ? second.status : null),
    // The reply to an earlier attempt is not the reason of the final result.
    diagnostics: isSameNews ? [...new Set([...first.diagnostics, ...second.diagnostics])] : first.diagnostics,
  };
}

function hasAddress(group: Group): boolean {
  return group.has('final-recipient') || group.has('original-recipient');
}

function first(group: Group, name: string): string | null {
  return group.get(name)?.[0] ?? null;
}

function recipientOf(group: Group): ReportedRecipient {
  const final = addressOf(first(group, 'final-recipient'));
  const actual = addressOf(first(group, 'x-actual-recipient'));
  const original = addressOf(first(group, 'original-recipient'));
  const status = statusOf(first(group, 'status'));
  return {
    address: final ?? original ?? actual,
    originalAddress: original,
    action: actionOf(first(group, 'action'), status),
    status,
    diagnostics: (group.get('diagnostic-code') ?? []).map(withoutType).filter((text) => text !== ''),
    context: null,
    remoteMta: hostOf(first(group, 'remote-mta')),
  };
}

/** `type; address`, in all spellings that occur. */
function addressOf(value: string | null): string | null {
  if (value === null) return null;
  const address = value
    .slice(0, MAX_ADDRESS_CHARACTERS)
    .replace(/^\s*[\w-]{1,20}\s*;\s*/, '')
    // RFC 6533 section 3 and RFC 3461 section 4 (xtext).
    .replace(/\\x\{([0-9a-f]{1,6})\}/gi, (_, hex: string) => codePoint(hex))
    .replace(/\+([0-9A-F]{2})/g, (all, hex: string) => (value.includes('@') ? all : codePoint(hex)));
  // Valid addresses may begin with quotes and asterisks, and have spaces in a quoted local part: a search cuts those off.
  if (parseAddress(address.trim()).ok) return address.trim();
  const plain = tidyAddress(address.replace(/^<|>$/g, '').trim());
  return addressesIn(address)[0] ?? (plain === '' || /\s/.test(plain) ? null : plain);
}

function codePoint(hex: string): string {
  const code = Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

/** RFC 3463: the digits, ignoring anything around them. */
function statusOf(value: string | null): string | null {
  return /(?<![\d.])([245]\.\d{1,3}\.\d{1,3})(?![.\d])/.exec(value ?? '')?.[1] ?? null;
}

const ACTIONS: readonly ReportedAction[] = ['failed', 'delayed', 'delivered', 'relayed', 'expanded'];

function actionOf(value: string | null, status: string | null): ReportedAction {
  const word = /[a-z]+/.exec(value?.toLowerCase() ?? '')?.[0] ?? '';
  // `fail`, `failure`, `delay`, `deliver…` of writers that deviate from the RFC.
  const known = ACTIONS.find(
    (action) => word.length > 3 && (action.startsWith(word) || word.startsWith(action.slice(0, 5))),
  );
  if (known) return known;
  return status?.startsWith('2') ? 'delivered' : 'failed';
}

function withoutType(value: string): string {
  return value
    .replace(/\s+/g, ' ')
    .replace(/^ ?[\w-]{1,40} ?; ?/, '')
    .trim();
}

function hostOf(value: string | null): string | null {
  const host = withoutType((value ?? '').slice(0, MAX_ADDRESS_CHARACTERS))
    .replace(/\(.*$/, '')
    .trim()
    .replace(/^\[|\]$/g, '');
  return host === '' || /\s/.test(host) ? null : host;
}
