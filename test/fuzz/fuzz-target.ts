// The process that is fuzzed: the API in-process, with its store, in a process of its own, so
// that its memory is its own and a crash is one. Obeys the messages of the process that started it.
import { randomUUID } from 'node:crypto';
import type { HttpEngineName } from '../../src/http/http.ts';
import { startApiHarness } from '../support/api-harness.ts';
import type { Surroundings } from './body-generator.ts';

/** To this process. */
export type Order = 'measure' | 'stop';

/** From it. */
export type Report =
  | ({ kind: 'ready'; port: number; key: string } & Surroundings)
  | { kind: 'memory'; rssBytes: number; heapBytes: number; failures: string[] };

const DOMAIN = 'acme.test';
const SUPPRESSED = 'no@receiver.test';

const harness = await startApiHarness({ engine: process.argv[2] as HttpEngineName });
const { id, key } = await harness.addTenant();
await harness.addVerifiedDomain(id, DOMAIN);
await harness.store.suppressions.addSuppression(id, {
  address: SUPPRESSED,
  reason: 'manual',
  messageId: null,
  createdAt: 0,
});
const templates = [
  { name: 'Plain', text: 'Hi {{ x }} {{ y.k1 }}' },
  { name: 'Loop', html: '<ul>{% for i in x %}<li>{{ i }}</li>{% endfor %}</ul>', text: 'x' },
  { name: 'Filters', text: 'x {{ x | json }} {{ y | size }} {{ constructor }} {{ x.__proto__ }}' },
];
const templateIds: string[] = [];
for (const body of templates) {
  const created = await harness.call('POST', '/templates', { key, body });
  templateIds.push(created.body.id ?? randomUUID());
}

process.on('message', (order: Order) => {
  if (order === 'measure') tell({ kind: 'memory', ...measure() });
  else void harness.close().then(() => process.disconnect());
});
tell({ kind: 'ready', port: harness.port, key, domain: DOMAIN, suppressed: SUPPRESSED, templateIds });

function tell(report: Report): void {
  process.send!(report);
}

/** What the harness notes down for tests is none of the API's memory. */
function measure() {
  const failures = harness.log.filter(({ level }) => level === 'error').map(({ facts }) => String(facts.reason));
  harness.log.length = 0;
  harness.notices.length = 0;
  globalThis.gc!();
  const { rss, heapUsed } = process.memoryUsage();
  return { rssBytes: rss, heapBytes: heapUsed, failures };
}
