// Names of columns and reasons in lists of suppressed addresses: ours, and those that the exports of other services have
// (Postmark, SendGrid, Mailgun, Resend, Amazon SES, Mandrill). Compared without case, spaces, hyphens and underscores.
import type { SuppressionReason } from '../store/suppressions.ts';

export type ImportedColumn = 'address' | 'reason' | 'createdAt';

const COLUMNS: Readonly<Record<ImportedColumn, readonly string[]>> = {
  address: ['address', 'email', 'emailaddress', 'recipient'],
  reason: ['reason', 'suppressionreason'],
  createdAt: ['createdat', 'created', 'lastupdatetime'],
};

/** Soft bounces have none: they are no reason to stop sending. */
const REASONS: Readonly<Record<SuppressionReason, readonly string[]>> = {
  hard_bounce: ['hardbounce', 'bounce', 'bounced'],
  complaint: ['complaint', 'spamcomplaint', 'spam', 'spamreport', 'complained'],
  unsubscribe: ['unsubscribe', 'unsubscribed', 'unsub'],
  manual: ['manual', 'manualsuppression'],
};

export interface ReadColumns {
  /** Where each is in a line; -1 if there is none. */
  at: Record<ImportedColumn, number>;
  /** The names of all others. */
  ignored: string[];
}

const MAX_NAME_CHARS = 100;

/** Of two columns with the same meaning the first counts. */
export function readColumns(names: readonly string[]): ReadColumns {
  const plain = names.map(plainName);
  const positionOf = (column: ImportedColumn) => plain.findIndex((name) => COLUMNS[column].includes(name));
  const at = { address: positionOf('address'), reason: positionOf('reason'), createdAt: positionOf('createdAt') };
  const used = Object.values(at);
  const others = names.filter((name, index) => !used.includes(index) && name.trim() !== '').map(shortened);
  return { at, ignored: [...new Set(others)] };
}

export function readReason(text: string): SuppressionReason | undefined {
  const plain = plainName(text);
  return (Object.keys(REASONS) as SuppressionReason[]).find((reason) => REASONS[reason].includes(plain));
}

function plainName(name: string): string {
  return name.toLowerCase().replace(/[\s_-]+/g, '');
}

function shortened(name: string): string {
  const text = name.trim();
  return text.length > MAX_NAME_CHARS ? `${text.slice(0, MAX_NAME_CHARS)}…` : text;
}
