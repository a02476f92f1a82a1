// Whatever a command changes is in the audit log. The test walks through the registry: a new command is either among
// those that change nothing, or is tried here.
import fs from 'node:fs';
import path from 'node:path';
import t, { type Test } from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { COMMAND_NAMES } from '../../src/cli/registry.ts';
import type { OperatorServices } from '../../src/operator/operator-services.ts';
import type { AuditEntry } from '../../src/store/audit.ts';
import type { WaitingInboundMail } from '../../src/store/inbound.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { Store } from '../../src/store/store.ts';
import { NO_ROUTE } from '../../src/store/suppressions.ts';
import { takeFirstSlot } from '../support/first-slot.ts';
import { newProgram } from '../support/program.ts';
import { addWaitingMessage } from './waiting-message.ts';

const MASTER_KEY = Buffer.alloc(MASTER_KEY_BYTES, 1);

const CHANGE_NOTHING = [
  ...['serve', 'sandbox', 'doctor', 'doctor daemon', 'dns', 'config check', 'config print', 'upgrade'],
  ...['tenant list', 'tenant show', 'key list', 'domain list', 'domain records', 'certificate list'],
  'nodes list',
  ...['queue list', 'queue find', 'queue show', 'queue sources', 'restore drill'],
  ...['suppression list', 'suppression doubts', 'webhook list', 'webhook attempts', 'inbound list', 'inbound show'],
  ...['dmarc list', 'dmarc show', 'address explain', 'bounce reply', 'bounce explain'],
];

interface Stage {
  folder: string;
  tenantId: string;
  messageId: string;
  webhookId: string;
  /** Runs a command that must succeed. */
  run(...args: string[]): Promise<Record<string, unknown>>;
  /** Between commands, while none holds the data folder. */
  withStore<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

type Play = (stage: Stage) => Promise<unknown>;

const PLAYS: Readonly<Record<string, readonly [action: string, play: Play]>> = {
  'tenant create': ['tenant.created', ({ run }) => run('tenant', 'create', '--name', 'Acme')],
  'tenant set': ['tenant.changed', ({ run, tenantId }) => run('tenant', 'set', tenantId, '--tier', '10k')],
  'user create': ['user.created', ({ run }) => run('user', 'create', '--operator', '--email', 'op@x.test')],
  'user reset': ['user.password_reset', ({ run }) => run('user', 'reset', '--email', 'op@x.test')],
  'key create': ['key.created', createKey],
  'key revoke': ['key.revoked', async (stage) => stage.run('key', 'revoke', String((await createKey(stage)).id))],
  'nodes drain': ['node.drained', ({ run, withStore }) => addNodes(withStore).then(() => run('nodes', 'drain', 'a'))],
  'nodes resume': ['node.resumed', ({ run, withStore }) => addNodes(withStore).then(() => run('nodes', 'resume', 'a'))],
  'nodes forget': [
    'node.forgotten',
    ({ run, withStore }) => addNodes(withStore, Date.now() - 60_000).then(() => run('nodes', 'forget', 'a')),
  ],
  'queue retry': ['queue.retry', ({ run, messageId }) => run('queue', 'retry', messageId)],
  'queue pause': ['queue.pause', ({ run, messageId }) => run('queue', 'pause', messageId, '--reason', 'a test')],
  'queue resume': ['queue.resume', ({ run, messageId }) => run('queue', 'resume', messageId)],
  'queue cancel': ['queue.cancel', ({ run, tenantId }) => run('queue', 'cancel', '--tenant', tenantId)],
  'queue move': ['queue.move', moveScheduled],
  'queue release': [
    'queue.release',
    async ({ run, withStore }) => {
      await withStore((store) => store.queue.holdUnfinished({ now: Date.now(), notBefore: 0 }));
      return run('queue', 'release');
    },
  ],
  'suppression add': [
    'suppression.added',
    ({ run, tenantId }) => run('suppression', 'add', '--tenant', tenantId, ...TO),
  ],
  'suppression remove': [
    'suppression.removed',
    ({ run, tenantId }) => run('suppression', 'remove', '--tenant', tenantId, ...TO),
  ],
  'domain add': ['domain.created', ({ run, tenantId }) => run('domain', 'add', 'new.test', '--tenant', tenantId)],
  'domain verify': ['domain.checked', verifyInVain],
  'suppression import': ['suppression.imported', importList],
  'suppression export': [
    'suppression.exported',
    ({ run, tenantId }) => run('suppression', 'export', '--tenant', tenantId),
  ],
  'suppression trust': ['receiver.trusted', trust],
  'webhook replay': [
    'webhook.failed_replayed',
    ({ run, webhookId }) => run('webhook', 'replay', webhookId, '--failed-since', '2026-01-01'),
  ],
  'webhook rotate': ['webhook.secret_rotated', ({ run, webhookId }) => run('webhook', 'rotate', webhookId)],
  'inbound retry': ['inbound.retried', retryUnreadable],
  backup: ['platform.backed_up', ({ run, folder }) => run('backup', path.join(folder, 'a.db'))],
  restore: ['platform.restored', ({ run, folder }) => run('restore', '--force', path.join(folder, 'a.db'))],
  migrate: ['platform.migrated', migrateAnew],
};

async function moveScheduled({ run, withStore }: Stage) {
  const soon = Date.now() + 3_600_000;
  const parts = (store: Store) => ({ store, clock: systemClock, ids: new IdSource() }) as never;
  const { messageId } = await withStore((store) => addWaitingMessage(parts(store), { sendAt: soon }));
  return run('queue', 'move', messageId, '--to', new Date(soon + 1000).toISOString());
}

/** No DNS server answers; the attempt counts. */
function verifyInVain({ run }: Stage) {
  return run('domain', 'verify', 'new.test').catch(() => {});
}

/** test/thorough/cli/setup.test.ts, which has a machine to set up. */
const TRIED_ELSEWHERE = ['setup', 'certificate renew'];

const TO = ['--address', 'joe@x.test'];

function createKey({ run, tenantId }: Stage) {
  return run('key', 'create', '--tenant', tenantId, '--name', 'app', '--scopes', 'emails:send');
}

function importList({ run, folder, tenantId }: Stage) {
  const file = path.join(folder, 'list.csv');
  fs.writeFileSync(file, 'address\na@x.test\nb@x.test\n');
  return run('suppression', 'import', file, '--tenant', tenantId);
}

async function trust({ run, withStore }: Stage) {
  await withStore((store) =>
    store.reputation.doubtReceiver({ mxGroup: NO_ROUTE, since: Date.now(), reason: 'a test' }),
  );
  return run('suppression', 'trust', '--group', NO_ROUTE);
}

async function retryUnreadable({ run, withStore }: Stage) {
  const id = new IdSource().next();
  await withStore(async (store) => {
    const mail = { id, receivedAt: Date.now(), remoteIp: '192.0.2.1', ehloName: 'mx.x.test', tls: null, mailFrom: '' };
    await store.inbound.keepInbound({ ...mail, recipients: ['abuse@x.test'], content: Buffer.from('no header') });
    const [{ seq }] = (await store.inbound.waitingInbound([1], 0, 1)) as [WaitingInboundMail];
    const found = { kind: 'unreadable', effect: 'kept', reason: 'a test', digest: null, finding: {} } as const;
    const verdict = { ...found, messageId: null, tenantId: null };
    const owner = await takeFirstSlot(store);
    await store.inbound.recordInbound({ seq, at: Date.now(), owner, verdict, action: null });
  });
  return run('inbound', 'retry', id);
}

function migrateAnew({ run, folder }: Stage) {
  fs.rmSync(path.join(folder, 'data'), { recursive: true });
  return run('migrate');
}

async function openStage(t: Test): Promise<Stage> {
  const program = newProgram();
  t.teardown(program.remove);
  const { folder, json: run } = program;
  fs.appendFileSync(program.configFile, '[dns]\nservers = ["127.0.0.1:9"]\n');
  await run('migrate');
  const withStore: Stage['withStore'] = async (work) => {
    const store = await openSqliteStore({ file: path.join(program.dataDir, 'postrider.db') });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  };
  fs.writeFileSync(path.join(program.dataDir, 'master.key'), MASTER_KEY.toString('base64'), { mode: 0o600 });
  const ids = new IdSource();
  const made = await withStore(async (store) => {
    const message = await addWaitingMessage({ store, ids, clock: systemClock } as OperatorServices);
    const { tenantId } = message;
    const url = 'https://hooks.example.com/';
    const secret = new Vault([MASTER_KEY]).seal(Buffer.alloc(28), 'here');
    const webhook = { id: ids.next(), tenantId, url, target: url, description: null, createdAt: Date.now(), secret };
    await store.webhooks.createWebhook(webhook, 50);
    return { ...message, webhookId: webhook.id };
  });
  return { folder, run, withStore, ...made };
}

/** Two that live, or did then. */
function addNodes(withStore: Stage['withStore'], now = Date.now()): Promise<void> {
  return withStore(async ({ owners }) => {
    for (const node of ['a', 'b']) {
      await owners.keepSlots({ node, version: '1.0.0', startedAt: now, owners: [], now, leaseUntil: now });
    }
  });
}

t.test('every command that changes something', async (t) => {
  const changing = COMMAND_NAMES.filter((name) => ![...CHANGE_NOTHING, ...TRIED_ELSEWHERE].includes(name));
  t.same(changing.sort(), Object.keys(PLAYS).sort(), 'is tried here');
  const stage = await openStage(t);
  const log = () => stage.withStore((store) => store.audit.listAllAudit({ before: null, limit: 1000 }));
  let before: AuditEntry[] = [];
  for (const [name, [action, play]] of Object.entries(PLAYS)) {
    // These two put another database in place of the one that there was.
    before = name === 'restore' || name === 'migrate' ? [] : await log();
    await play(stage);
    const fresh = (await log()).filter(({ seq }) => seq > (before[0]?.seq ?? 0));
    t.match(fresh[0], { action, actor: 'command', who: 'command line' }, name);
  }
});
