// What the portal's search for messages takes, as its pages ask for it: through the reading process, in
// a database with a million messages of one tenant, and in one with as many of a thousand tenants, of which
// the first has half. Whatever is asked for, an answer comes within 100 ms: searches for a rare state come
// back before they are through, and say how far they have come.
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import type { MessagePage, MessageSearch, PortalReads } from '../../src/store/reads.ts';
import { openPortalReads } from '../../src/store/sqlite/reading/reading.ts';
import { type FilledTenant, fillWithMessages, JOE } from '../message-rows.ts';
import type { RunContext } from '../run-context.ts';
import { atMost, factRow, type Row, withLimit } from '../table.ts';

const LIMIT_MS = 100;
/** As the portal's list asks. */
const PAGE = { limit: 50, budgetMs: 50 };
const ROUNDS = 5;
const MANY_TENANTS = 1000;
const SPAN = { from: Date.UTC(2026, 0, 1), until: Date.UTC(2026, 2, 1) };

interface Timed {
  worstMs: number;
  page: MessagePage;
}

export async function measureMessageSearch(run: RunContext): Promise<Row[]> {
  const rows: Row[] = [];
  for (const tenants of [1, MANY_TENANTS]) {
    const file = path.join(run.folder, `search-${tenants}`, 'postrider.db');
    const filled = await fillWithMessages({ file, messages: run.options.backlog, tenants, ...SPAN });
    const reading = openPortalReads({ file, onTrouble: (reason) => process.stderr.write(`${reason}\n`) });
    try {
      rows.push(...(await rowsOf(reading.reads, filled[0]!, tenants)));
    } finally {
      await reading.close();
    }
  }
  return rows;
}

const WHERE = { recipientDomain: 'in3.test' };

function searchesOf({ senderDomain, apiKeyIds }: FilledTenant): Record<string, Partial<MessageSearch>> {
  return {
    newest: {},
    'of one recipient': { recipient: JOE, ...WHERE },
    'of nobody': { recipient: 'nobody@in3.test', ...WHERE },
    'of a domain': WHERE,
    'of the rare key': { apiKeyId: apiKeyIds[1]! },
    bounced: { state: 'bounced' },
    'failed, which is rare': { state: 'failed' },
    'everything together': {
      ...{ recipient: JOE, ...WHERE, senderDomain, apiKeyId: apiKeyIds[0]!, state: 'delivered' },
      ...{ from: Date.UTC(2026, 0, 15), until: Date.UTC(2026, 1, 15) },
    },
  };
}

async function rowsOf(reads: PortalReads, tenant: FilledTenant, tenants: number): Promise<Row[]> {
  await timed(reads, tenant, {}); // the process starts
  const rows: Row[] = [];
  for (const [name, search] of Object.entries(searchesOf(tenant))) {
    const { worstMs, page } = await timed(reads, tenant, search);
    const through = page.stoppedEarly ? `in part: ${page.scanned} looked through` : 'all of it';
    const found = `${page.messages.length} found, ${through}`;
    const row = factRow(
      `search, ${tenants} tenants: ${name}`,
      `${worstMs.toFixed(1)} ms`,
      { worst_ms: worstMs },
      found,
    );
    rows.push(
      withLimit(
        row,
        atMost(worstMs, LIMIT_MS, (ms) => `${ms} ms`),
      ),
    );
  }
  return rows;
}

async function timed(reads: PortalReads, tenant: FilledTenant, search: Partial<MessageSearch>): Promise<Timed> {
  let worstMs = 0;
  let page: MessagePage | null = null;
  for (let round = 0; round < ROUNDS; round++) {
    const startedAt = performance.now();
    const outcome = await reads.searchMessages(tenant.id, { ...PAGE, ...search });
    worstMs = Math.max(worstMs, performance.now() - startedAt);
    if (outcome.kind === 'refused') throw new Error(outcome.reason);
    page = outcome.value;
  }
  return { worstMs, page: page! };
}
