// What sending adds to a submission: the domain's key, and the tenant's settings for its mail.

import type { SendingFacts } from '../../../submissions.ts';
import type { Steps } from '../../steps.ts';
import type { Transaction } from '../../transaction.ts';
import { fromId, type Row, toId } from '../../values.ts';

/** Of domains `d`, their keys `k` and tenants `t`. */
export const SENDING_COLUMNS = `t.bounces_domain, t.open_tracking, t.click_tracking, t.unsubscribe,
    d.id AS domain_id, d.name AS domain, k.id AS signing_key, k.selector, k.master_key_id, k.sealed`;

const FACTS = `SELECT ${SENDING_COLUMNS} FROM domains d
  JOIN tenants t ON t.id = d.tenant_id
  JOIN signing_keys k ON k.id = d.signing_key
  WHERE d.id = +? AND d.tenant_id = +?`;

export function* readSendingFacts(db: Transaction, tenantId: string, domainId: string): Steps<SendingFacts | null> {
  return yield* db.cached(`sending ${tenantId} ${domainId}`, function* () {
    const row = (yield* db.sql(FACTS).get(toId(domainId), toId(tenantId))) as Row | undefined;
    return row === undefined || row.sealed === null ? null : sendingFactsFromRow(row);
  });
}

/** The key must not have been erased. */
export function sendingFactsFromRow(row: Row): SendingFacts {
  return {
    signing: {
      domainId: fromId(row.domain_id),
      domain: row.domain as string,
      selector: row.selector as string,
      signingKeyId: row.signing_key as number,
      privateKey: { masterKeyId: row.master_key_id as string, sealed: row.sealed as Buffer },
    },
    bouncesDomain: row.bounces_domain as string | null,
    openTracking: row.open_tracking === 1,
    clickTracking: row.click_tracking === 1,
    unsubscribe: row.unsubscribe === 1,
  };
}
