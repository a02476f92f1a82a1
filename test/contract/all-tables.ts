// The interface specification, table by table and row by row, over real sockets against the real
// daemon. At the end it prints how many rows of each table were shown.
import type { Test } from 'tap';
import { REFUSALS } from '../../src/base/refusals.ts';
import { authenticationCases, scopeCases } from './authentication-cases.ts';
import type { Engine, Way } from './contract-world.ts';
import { dnsRecordCases, domainRecordCases, recordsToPublishCases, transitionCases } from './domain-cases.ts';
import { contractEndpointCases, endpointCases, endpointRuleCases } from './endpoint-cases.ts';
import { errorCases } from './error-cases.ts';
import { healthCases } from './health-cases.ts';
import { limitCases, limitRuleCases } from './limit-cases.ts';
import { managingCases } from './managing-cases.ts';
import { domainRulingCases, httpRulingCases } from './ruling-cases.ts';
import { sendRequestCases, sendRequestHeaderCases } from './send-request-cases.ts';
import { rejectionReasonCases, sendResponseCases } from './send-response-cases.ts';
import { sendingRulingCases, templateRulingCases } from './sending-ruling-cases.ts';
import { setStage } from './stage.ts';
import * as rows from './tables.ts';
import { templateRecordCases } from './template-cases.ts';
import { webhookRecordCases } from './webhook-cases.ts';

interface TableOfRows extends rows.Table {
  rows: readonly string[];
}

const TABLES: TableOfRows[] = [
  { title: '2.1 send request', rows: rows.SEND_REQUEST, cases: sendRequestCases },
  { title: '2.1 headers of the send request', rows: rows.SEND_REQUEST_HEADERS, cases: sendRequestHeaderCases },
  { title: '2.2 send response', rows: rows.SEND_RESPONSE, cases: sendResponseCases },
  { title: '2.2 rejected[].reason', rows: rows.REJECTION_REASONS, cases: rejectionReasonCases },
  { title: '2.3 domain record', rows: rows.DOMAIN_RECORD, cases: domainRecordCases },
  { title: '2.3 DNS record object', rows: rows.DNS_RECORD, cases: dnsRecordCases },
  { title: '2.3 records to publish', rows: rows.RECORDS_TO_PUBLISH, cases: recordsToPublishCases },
  { title: '2.4 webhook record', rows: rows.WEBHOOK_RECORD, cases: webhookRecordCases },
  { title: '2.5 template record (contract 5)', rows: rows.TEMPLATE_RECORD, cases: templateRecordCases },
  { title: '2.6 health response', rows: rows.HEALTH_RESPONSE, cases: healthCases },
  { title: '3 states and transitions', rows: rows.DOMAIN_TRANSITIONS, cases: transitionCases, atOnce: true },
  { title: '4 endpoints', rows: rows.ENDPOINTS, cases: endpointCases },
  { title: '4 endpoints of the contract', rows: rows.CONTRACT_ENDPOINTS, cases: contractEndpointCases },
  { title: '4 endpoints beyond the specification', rows: rows.MANAGING_ENDPOINTS, cases: managingCases },
  { title: '4 rules', rows: rows.ENDPOINT_RULES, cases: endpointRuleCases },
  { title: '5 authentication', rows: rows.AUTHENTICATION, cases: authenticationCases },
  { title: '5 scopes', rows: rows.SCOPES_OF_ENDPOINTS, cases: scopeCases },
  { title: '7 errors (specification and contract)', rows: Object.keys(REFUSALS), cases: errorCases },
  { title: '8 limits', rows: rows.LIMITS, cases: limitCases },
  { title: '8 rules', rows: rows.LIMIT_RULES, cases: limitRuleCases },
  { title: 'contract 1: HTTP', rows: rows.HTTP_RULINGS, cases: httpRulingCases },
  { title: 'contract 2: sending', rows: rows.SENDING_RULINGS, cases: sendingRulingCases },
  { title: 'contract 3: domains', rows: rows.DOMAIN_RULINGS, cases: domainRulingCases, atOnce: true },
  { title: 'contract 5: templates', rows: rows.TEMPLATE_RULINGS, cases: templateRulingCases },
];

const MAX_AT_ONCE = 10;

/** The tables in which it could matter what stands between a client and the daemon. */
export const WHERE_BYTES_MATTER = /^(?:2\.1|2\.6|4 endpoints|7|8 limits|contract 1)/;

export interface ContractRun {
  engine: Engine;
  way?: Way;
  /** Only tables whose titles match. */
  only?: RegExp;
}

export function testContract(t: Test, { engine, way = 'clear text', only = /./ }: ContractRun): void {
  const about = `the interface specification on ${engine}, by ${way}`;
  t.test(about, async (t) => {
    const stage = await setStage(t, { engine, way, settings: { log: { level: 'debug' } } });
    t.jobs = MAX_AT_ONCE;
    for (const { title, rows, cases, atOnce = false } of TABLES.filter((table) => only.test(table.title))) {
      const show = async (row: string) => {
        const result = await t.test(`${title}: ${row}`, { buffered: atOnce }, (t) => cases[row]!(t, stage));
        return result?.ok && result.pass > 0;
      };
      const results = atOnce ? await Promise.all(rows.map(show)) : [];
      if (!atOnce) for (const row of rows) results.push(await show(row));
      const shown = results.filter(Boolean).length;
      t.equal(shown, rows.length, `note: ${title}: ${shown} of ${rows.length} rows`);
    }
    const { answers } = stage.world.client;
    t.ok(answers > 0, `note: ${about}: ${answers} answers, each as the API description has it`);
  });
}
