// Steps of the walk: pieces of written mails come, are dropped, become part of a submission, and are swept.
import { HOUR_MS } from '../../../src/base/clock.ts';
import type { NewSubmission } from '../../../src/store/submissions.ts';
import type { Model, ModelWritten } from './model.ts';
import type { Step, Walk } from './walk.ts';

function coming(model: Model, tenantId?: string): ModelWritten[] {
  return [...model.written.values()].filter(
    (mail) => mail.state === 'coming' && (tenantId === undefined || mail.tenantId === tenantId),
  );
}

async function keepPiece(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const tenant = walk.pick(model.tenants.values());
  if (!tenant) return;
  const known = walk.chance(0.6) && walk.pick(model.written.values());
  const mail = known || { id: walk.id(), tenantId: tenant.id, state: 'coming' as const, since: walk.now, pieces: [] };
  const position = mail.pieces.length;
  const bytes = Buffer.from(`${walk.id()}\r\n`);
  const keeping = store.writtenMails.keepPiece({ tenantId: mail.tenantId, id: mail.id, position, bytes, at: walk.now });
  const kept = await keeping.then(
    () => true,
    () => false,
  );
  walk.same(kept, mail.state === 'coming', 'keepPiece');
  if (!kept) return;
  mail.pieces.push(bytes);
  mail.since = walk.now;
  model.written.set(mail.id, mail);
}

/** A submission of a mail whose pieces are there, or of one that lacks a piece. */
export function asWritten(walk: Walk, tenantId: string): Pick<NewSubmission, 'id' | 'written'> | null {
  const mail = walk.chance(0.5) && walk.pick(coming(walk.model, tenantId));
  if (!mail) return null;
  // The last one may come with the submission.
  const last = walk.chance(0.5) ? Buffer.from(`${walk.id()}\r\n`) : null;
  const bytes = [...mail.pieces, last ?? Buffer.alloc(0)].reduce((sum, { length }) => sum + length, 0);
  const facts = { header: Buffer.from('Subject: Hello\r\n'), bodyHash: 'a hash', eightBit: false };
  const pieces = mail.pieces.length + (last ? 1 : 0) + (walk.chance(0.2) ? 1 : 0);
  const written = { source: 'smtp' as const, ...facts, pieces, bytes, messageId: mail.id };
  return { id: mail.id, written: last ? { ...written, last } : written };
}

export function lacksPieces(model: Model, { id, written }: Pick<NewSubmission, 'id' | 'written'>): boolean {
  return written !== undefined && model.written.get(id)!.pieces.length + (written.last ? 1 : 0) !== written.pieces;
}

export function becomeAccepted(model: Model, { id, written }: Pick<NewSubmission, 'id' | 'written'>): void {
  const mail = model.written.get(id)!;
  mail.state = 'accepted';
  if (written?.last) mail.pieces.push(written.last);
}

async function drop(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const mail = walk.pick(model.written.values());
  if (!mail) return;
  await store.writtenMails.drop({ tenantId: mail.tenantId, id: mail.id });
  if (mail.state === 'coming') mail.state = 'over';
}

async function sweep(walk: Walk): Promise<void> {
  const { model, store } = walk;
  const before = walk.now - walk.oneOf(0, HOUR_MS);
  const old = [...model.written.values()].filter(
    ({ state, since }) => state === 'over' || (state === 'coming' && since < before),
  );
  let rows = 0;
  for (;;) {
    const swept = await store.writtenMails.sweep({ before, limit: 2 });
    if (swept > 2) walk.same(swept, 2, 'the limit of a sweep');
    if (swept === 0) break;
    rows += swept;
  }
  walk.same(
    rows,
    old.reduce((sum, { pieces }) => sum + pieces.length + 1, 0),
    'sweep',
  );
  for (const { id } of old) model.written.delete(id);
}

async function readPieces(walk: Walk): Promise<void> {
  const mail = walk.pick(walk.model.written.values());
  if (!mail) return;
  const { tenantId, id: submissionId } = mail;
  for (const [position, bytes] of mail.pieces.entries()) {
    const found = await walk.contents.piece({ tenantId, submissionId, position }).catch(() => null);
    walk.same(found, mail.state === 'accepted' ? bytes : null, 'a piece');
  }
}

export const writtenSteps: readonly Step[] = [
  { name: 'keepPiece', weight: 4, run: keepPiece },
  { name: 'drop', weight: 0.5, run: drop },
  { name: 'sweep', weight: 0.5, run: sweep },
  { name: 'readPieces', weight: 1, run: readPieces },
];
