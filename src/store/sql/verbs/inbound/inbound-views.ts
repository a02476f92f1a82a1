// Inbound mail, as people read it; and erasing old mail.

import type {
  DmarcDayRow,
  InboundEffect,
  InboundFilter,
  InboundKind,
  InboundMailRecord,
  InboundStore,
} from '../../../inbound.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction, Work } from '../../transaction.ts';
import { fromOptionalId, type Row, toId } from '../../values.ts';
import { forgetDmarcDays, forgetDmarcReports } from './dmarc-reports.ts';
import { receptionFromRow } from './inbound.ts';
import { eraseOldestReturned } from './returned-mail.ts';
import { eraseOldestContents } from './unasked-mail.ts';

type InboundViewVerbs = Work<
  Pick<InboundStore, 'listInbound' | 'getInbound' | 'listDmarcDays' | 'forgetInbound' | 'freeInboundSpace'>
>;

export function inboundViewVerbs(db: Transaction): InboundViewVerbs {
  return {
    listInbound: (filter) => list(db, filter),
    getInbound: (id) => get(db, id),
    *listDmarcDays(domain, { since, limit }) {
      const rows = db.sql(
        `SELECT d.domain, d.day, p.name, p.sender, r.source_ip, r.disposition, r.dkim, r.spf, r.messages
           FROM dmarc_domain_days d JOIN dmarc_rows r ON r.domain_day_id = d.id
           JOIN dmarc_reporters p ON p.id = d.reporter_id
           WHERE d.domain = +? AND d.day >= +? ORDER BY d.day DESC LIMIT +?`,
      );
      return ((yield* rows.all(domain, since, limit)) as Row[]).map(dayFromRow);
    },
    forgetInbound: (before, limit) => forget(db, before, limit),
    freeInboundSpace: (limit) => freeSpace(db, limit),
  };
}

function* list(db: Transaction, filter: InboundFilter): Steps<InboundMailRecord[] | 'unknown'> {
  const conditions: string[] = [];
  const values: unknown[] = [];
  const require = (condition: string, value: unknown) => {
    conditions.push(condition);
    values.push(value);
  };
  if (filter.messageId !== undefined) require('message_id = +?', toId(filter.messageId));
  if (filter.kind === 'refused') conditions.push('refused_with IS NOT NULL');
  else if (filter.kind !== undefined) require('kind = +?', filter.kind);
  if (filter.effect !== undefined) require('effect = +?', filter.effect);
  if (filter.before !== undefined) {
    const cursor = yield* db.sql('SELECT seq FROM inbound_mails WHERE id = +?', 'column').get(toId(filter.before));
    if (cursor === undefined) return 'unknown';
    require('seq < +?', cursor);
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(' AND ')}` : '';
  const rows = db.sql(`SELECT * FROM inbound_mails ${where} ORDER BY seq DESC LIMIT +?`);
  return ((yield* rows.all(...values, filter.limit)) as Row[]).map(mailFromRow);
}

function* get(db: Transaction, id: string) {
  const row = (yield* db.sql('SELECT * FROM inbound_mails WHERE id = +?').get(toId(id))) as Row | undefined;
  if (!row) return null;
  const content = yield* db.sql('SELECT content FROM inbound_contents WHERE mail_seq = +?', 'column').get(row.seq);
  return { mail: mailFromRow(row), content: (content as Buffer | undefined) ?? null };
}

/** Mails are numbered nearly in the order of their reception. */
const OUT_OF_ORDER = 100;

/** In small slices, so that other verbs of the writer don't wait for long. Newer contents are not looked at. */
function* forget(
  db: Transaction,
  { content, records }: { content: number; records: number },
  limit: number,
): Steps<number> {
  const old = db.sql(
    'SELECT seq FROM inbound_mails WHERE received_at < +? AND processed_at IS NOT NULL LIMIT +?',
    'column',
  );
  const gone = (yield* old.all(records, limit)) as number[];
  for (const seq of gone) {
    yield* db.sql('DELETE FROM inbound_contents WHERE mail_seq = +?').run(seq);
    yield* db.sql('DELETE FROM inbound_mails WHERE seq = +?').run(seq);
  }
  const emptied = (yield* db
    .sql(
      `DELETE FROM inbound_contents WHERE mail_seq IN
         (SELECT c.mail_seq FROM inbound_contents c WHERE c.mail_seq <=
            (SELECT max(seq) FROM (SELECT seq FROM inbound_mails WHERE received_at < +@content
                                   ORDER BY received_at DESC LIMIT ${OUT_OF_ORDER}) latest)
          AND EXISTS (SELECT 1 FROM inbound_mails m
                      WHERE m.seq = c.mail_seq AND m.received_at < +@content AND m.processed_at IS NOT NULL)
          ORDER BY c.mail_seq LIMIT +@limit)`,
    )
    .run({ content, limit })).changes;
  const day = new Date(records).toISOString().slice(0, 10);
  const days = yield* forgetDmarcDays(db, day, limit);
  return gone.length + emptied + days + (yield* forgetDmarcReports(db, records, limit));
}

function* freeSpace(db: Transaction, limit: number): Steps<number> {
  const contents = (yield* eraseOldestContents(db, limit)) || (yield* eraseOldestReturned(db, limit));
  if (contents > 0) return contents;
  const oldest = (yield* db.sql('SELECT min(day) FROM dmarc_domain_days', 'column').get()) as string | null;
  return oldest === null ? 0 : yield* forgetDmarcDays(db, `${oldest}~`, limit);
}

function mailFromRow(row: Row): InboundMailRecord {
  return {
    ...receptionFromRow(row),
    sizeBytes: row.size_octets as number,
    processedAt: row.processed_at as number | null,
    kind: row.refused_with === null ? (row.kind as InboundKind | null) : 'refused',
    effect: row.effect as InboundEffect | null,
    reason: row.reason as string | null,
    messageId: fromOptionalId(row.message_id),
    tenantId: fromOptionalId(row.tenant_id),
    finding: row.finding === null ? null : (JSON.parse(row.finding as string) as Record<string, unknown>),
  };
}

function dayFromRow(row: Row): DmarcDayRow {
  return {
    domain: row.domain as string,
    day: row.day as string,
    orgName: row.name as string,
    sender: (row.sender as string) || null,
    sourceIp: row.source_ip as string,
    disposition: row.disposition as string,
    dkim: row.dkim as DmarcDayRow['dkim'],
    spf: row.spf as DmarcDayRow['spf'],
    messages: row.messages as number,
  };
}
