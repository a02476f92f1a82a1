// Whether a copy may begin, goes on, or is there already: decided by the notes that both databases have of it.
import { Fault } from '../../base/errors.ts';
import type { CopyMark } from '../postgres/engine/copied-from.ts';
import { commandBack, type MovedMark } from '../sqlite/engine/moved-mark.ts';

export interface BothMarks {
  /** In SQLite. */
  moved: MovedMark | null;
  /** In PostgreSQL. */
  copied: CopyMark | null;
  /** How PostgreSQL's note calls this SQLite database. */
  source: string;
  /** How people call the PostgreSQL database. */
  server: string;
  /** PostgreSQL's has no rows. */
  isEmpty: boolean;
}

/** `finished`: both databases are as they are after a copy. Throws what people should do instead. */
export function agree({ moved, copied, source, server, isEmpty }: BothMarks): 'begin' | 'continue' | 'finished' {
  if (moved && copied && copied.id === moved.id) {
    if (copied.state === 'in_use') throw refusal(`${alreadyMoved(moved)} ${inUse(copied)}`);
    if (copied.state === 'complete') return 'finished';
    return copied.state === 'copying' ? 'continue' : 'begin';
  }
  if (moved?.complete) {
    throw refusal(`${alreadyMoved(moved)} To move it to ${server} instead, go back first: ${commandBack(moved)}`);
  }
  if (copied === null) {
    if (isEmpty) return 'begin';
    throw refusal(
      `the database ${server} already has data of Postrider: name an empty one, or drop the schema there if nothing needs it (DROP SCHEMA postrider CASCADE)`,
    );
  }
  const isUseless = copied.state === 'copying' || copied.state === 'void';
  if (isUseless && copied.source === source) return 'begin';
  throw refusal(
    `the database ${server} has ${isUseless ? 'an unfinished copy' : 'a copy'} of ${copied.source}, and not of this database: name an empty one, or drop the schema there if nothing needs it (DROP SCHEMA postrider CASCADE)`,
  );
}

/** Throws why there is no way back. */
export function agreeToGoBack({
  moved,
  copied,
  server,
}: Pick<BothMarks, 'copied' | 'server'> & { moved: MovedMark }): void {
  if (copied?.id !== moved.id) {
    throw refusal(
      `the database ${server} is not the one that this database was moved to, which is ${moved.server}: name that one. If it is lost, and no daemon has used it: postrider migrate --back --force`,
    );
  }
  if (copied.state === 'in_use') {
    throw refusal(`there is no way back: ${inUse(copied)} What it has accepted since is not in SQLite's file.`);
  }
}

function alreadyMoved({ at, server }: MovedMark): string {
  return `this database was moved to ${server} on ${dayOf(at)}.`;
}

function inUse({ at }: CopyMark): string {
  return `PostgreSQL's database has been in use since ${new Date(at).toISOString()}.`;
}

function dayOf(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

function refusal(message: string): Fault {
  return new Fault(message, { permanence: 'permanent' });
}
