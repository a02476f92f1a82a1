// `node bench/prepare.ts`: how many messages one courier thread could prepare per second (read,
// compose, sign twice) if it did nothing else, beside what signing alone would allow. The mail is that
// of the bench, in a database as the daemon makes it. With `--recipients 50` that many share a body.
import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { IdSource } from '../src/base/ids.ts';
import { Vault } from '../src/base/vault.ts';
import { createPrepare, type Prepare } from '../src/delivery/courier/prepare.ts';
import { createDkimKeyPair } from '../src/protocol/mail/dkim/dkim-key.ts';
import { openSqliteStore } from '../src/store/sqlite/open.ts';
import { openContentReader } from '../src/store/sqlite/reading/courier-reads.ts';
import type { Store } from '../src/store/store.ts';
import { SAMPLE } from './sample-mail.ts';

const { values } = parseArgs({
  options: { seconds: { type: 'string', default: '4' }, recipients: { type: 'string', default: '1' } },
});
const seconds = Number(values.seconds);
const recipientsEach = Number(values.recipients);

const MESSAGES = 3000;
/** As many as a session gets at once. */
const BATCH = 100;
/** The header fields that a DKIM signature covers. */
const SIGNED_BYTES = 1500;
const DOMAIN = 'sender.test';

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'postrider-prepare-'));
try {
  await measure(path.join(folder, 'postrider.db'));
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}

async function measure(file: string): Promise<void> {
  const vault = new Vault([randomBytes(32)]);
  const store = await openSqliteStore({ file });
  const messageIds = await fill(store, vault);
  await store.close();
  const { privateKey: serviceKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const contents = openContentReader(file);
  const prepare = createPrepare({
    contents,
    vault,
    tokenKey: { id: 'a', key: randomBytes(32) },
    bouncesDomain: 'bounces.test',
    links: { url: 'https://links.test', key: { id: 'a', key: randomBytes(32) } },
    serviceSigner: { domain: 'bounces.test', selector: 's1', key: serviceKey },
    now: Date.now,
  });
  await prepareFor(prepare, messageIds, 1); // code gets compiled
  const before = signaturesPerCpuSecond(serviceKey);
  const prepared = await prepareFor(prepare, messageIds, seconds);
  const after = signaturesPerCpuSecond(serviceKey);
  contents.close();
  const signatures = (before + after) / 2;
  const perMessageUs = 1e6 / prepared.perCpuSecond;
  const signingUs = 2e6 / signatures;
  process.stdout.write(
    [
      `prepared, ${recipientsEach} to a submission: ${prepared.perSecond.toFixed(0)} /s, ${prepared.perCpuSecond.toFixed(0)} per second of processor time`,
      `two RSA-2048 signatures alone: ${(signatures / 2).toFixed(0)} per second of processor time`,
      `per message ${perMessageUs.toFixed(0)} µs, of which signing ${signingUs.toFixed(0)} µs, the rest ${(perMessageUs - signingUs).toFixed(0)} µs`,
      '',
    ].join('\n'),
  );
}

async function fill(store: Store, vault: Vault): Promise<string[]> {
  const ids = new IdSource();
  const now = Date.now();
  const tenantId = ids.next();
  await store.tenants.createTenant({
    ...{ id: tenantId, name: 'Bench', status: 'active', statusReason: null, tier: '1k', tierPinned: false },
    ...{ openTracking: false, clickTracking: false, unsubscribe: false, bouncesDomain: null },
    createdAt: now,
  });
  const domainId = ids.next();
  const { publicKeyB64, privateKeyDer } = await createDkimKeyPair();
  const privateKey = vault.seal(privateKeyDer, `domain-key:${domainId}`);
  await store.domains.createDomain({
    ...{ id: domainId, tenantId, name: DOMAIN, selector: 'pr1', publicKeyB64, privateKey, createdAt: now },
  });
  await store.domains.recordVerdict(tenantId, domainId, { state: 'verified', failureReason: null, checkedAt: now });
  const accepted = Array.from({ length: MESSAGES / recipientsEach }, (_, number) =>
    store.submissions.accept({
      ...{ id: ids.next(), tenantId, apiKeyId: ids.next(), domainId, idempotencyKey: `bench-${number}` },
      from: { address: `orders@${DOMAIN}`, name: 'Example Shop' },
      ...SAMPLE,
      subject: `${SAMPLE.subject} (${number})`,
      headers: [],
      recipients: Array.from({ length: recipientsEach }, (_, index) => ({
        messageId: ids.next(),
        address: `customer-${number}-${index}@in1.test`,
        ...{ name: 'Customer', domain: 'in1.test', suppressionKey: `customer-${number}-${index}@in1.test` },
      })),
      ...{ acceptedAt: now, expiresAt: now + 86_400_000 },
    }),
  );
  return (await Promise.all(accepted)).flatMap((result) =>
    result.kind === 'accepted' ? result.receipt.messageIds : [],
  );
}

interface Rate {
  perSecond: number;
  /** Other programs on the machine do not show in this one. */
  perCpuSecond: number;
}

async function prepareFor(prepare: Prepare, messageIds: string[], forSeconds: number): Promise<Rate> {
  const startedAtMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let count = 0;
  while (performance.now() - startedAtMs < forSeconds * 1000) {
    const from = count % messageIds.length;
    const batch = { messageIds: messageIds.slice(from, from + BATCH) };
    for (const index of batch.messageIds.keys()) {
      const prepared = await prepare(batch, index);
      if (prepared.kind !== 'ready') throw new Error(prepared.reason);
      count++;
    }
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  return {
    perSecond: (count * 1000) / (performance.now() - startedAtMs),
    perCpuSecond: (count * 1e6) / (user + system),
  };
}

function signaturesPerCpuSecond(key: KeyObject): number {
  const data = randomBytes(SIGNED_BYTES);
  const cpuBefore = process.cpuUsage();
  const SIGNATURES = 2000;
  for (let index = 0; index < SIGNATURES; index++) sign('sha256', data, key);
  const { user, system } = process.cpuUsage(cpuBefore);
  return (SIGNATURES * 1e6) / (user + system);
}
