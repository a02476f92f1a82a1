// Mails as Python's email package reads them: a reader that shares no code with what writes ours.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('../../support/read-mails.py', import.meta.url));
const MAX_OUTPUT_BYTES = 1024 * 1024 * 1024;

/** A media type, or one with those that it contains. */
export type Structure = string | Structure[];

export interface PythonLeaf {
  type: string;
  disposition: string | null;
  filename: string | null;
  /** The name in Content-Type. */
  typeName: string | null;
  contentId: string | null;
  charset: string | null;
  /** Base64. */
  content: string;
  defects: string[];
}

type Mailboxes = [name: string, address: string][] | null;

export interface PythonFields {
  names: string[];
  subject: string;
  From: Mailboxes;
  To: Mailboxes;
  Cc: Mailboxes;
  'Reply-To': Mailboxes;
}

export interface PythonMail {
  /** When they were asked for. */
  fields: PythonFields | null;
  structure: Structure;
  leaves: PythonLeaf[];
  defects: string[];
}

/** By the old parser and the new one; a sentence when there is no Python. The folder must be empty. */
export function readByPython(
  folder: string,
  mails: readonly Buffer[],
  ...options: '--fields'[]
): Record<'compat32' | 'default', PythonMail>[] | string {
  for (const [index, mail] of mails.entries()) writeFileSync(join(folder, `${index}`.padStart(6, '0')), mail);
  const run = spawnSync('python3', [SCRIPT, folder, ...options], { encoding: 'utf8', maxBuffer: MAX_OUTPUT_BYTES });
  if (run.error) return `python3 can't be run (Debian: apt-get install python3): ${run.error.message}`;
  if (run.status !== 0) throw new Error(run.stderr);
  const lines = run.stdout.split('\n').slice(0, -1);
  if (lines.length !== mails.length) throw new Error(`${mails.length} mails, but Python read ${lines.length}`);
  return lines.map((line) => JSON.parse(line));
}
