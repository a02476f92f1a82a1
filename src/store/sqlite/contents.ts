// What couriers read, from a read-only connection of their own thread.
import { describeError } from '../../base/errors.ts';
import type { ContentReader, ContentResult, MessageContent } from '../contents.ts';
import { openForReading } from './database-file.ts';
import { steadyPlan } from './steady-plan.ts';
import { fromId, type Row, toId } from './values.ts';

const CONTENT = `
  SELECT m.recipient, m.recipient_name, m.tenant_id, m.submission_id, m.created_at,
    s.from_address, s.from_name, c.subject, c.html, c.text, c.headers, t.bounces_domain,
    d.id AS domain_id, d.name AS domain, k.id AS signing_key, k.selector, k.master_key_id, k.sealed
  FROM messages m
  JOIN submissions s ON s.id = m.submission_id
  JOIN contents c ON c.id = s.content_id
  JOIN tenants t ON t.id = m.tenant_id
  JOIN domains d ON d.id = s.domain_id
  JOIN signing_keys k ON k.id = d.signing_key
  WHERE m.id = ?`;

export function openContentReader(file: string): ContentReader {
  const db = openForReading(file);
  const select = db.prepare(steadyPlan(CONTENT));
  return {
    read(messageId) {
      try {
        return contentFromRow(messageId, select.get(toId(messageId)) as Row | undefined);
      } catch (error) {
        return { kind: 'unreadable', reason: `the stored message cannot be read: ${describeError(error)}` };
      }
    },
    close: () => void db.close(),
  };
}

function contentFromRow(messageId: string, row: Row | undefined): ContentResult {
  if (!row) return { kind: 'unreadable', reason: 'the content of the message is missing' };
  if (row.sealed === null) return { kind: 'unreadable', reason: 'the signing key of the domain has been erased' };
  const content: MessageContent = {
    messageId,
    tenantId: fromId(row.tenant_id),
    submissionId: fromId(row.submission_id),
    from: { address: row.from_address as string, name: row.from_name as string | null },
    to: { address: row.recipient as string, name: row.recipient_name as string | null },
    subject: row.subject as string,
    html: row.html as string | null,
    text: row.text as string | null,
    headers: JSON.parse(row.headers as string) as [string, string][],
    createdAt: row.created_at as number,
    signing: {
      domainId: fromId(row.domain_id),
      domain: row.domain as string,
      selector: row.selector as string,
      signingKeyId: row.signing_key as number,
      privateKey: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
    },
    bouncesDomain: row.bounces_domain as string | null,
  };
  return { kind: 'content', content };
}
