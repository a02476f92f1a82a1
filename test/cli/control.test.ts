// The command line beside a running daemon: a real control server over a real store in this
// process, asked by the real program in its own.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import t, { type Test } from 'tap';
import { HOUR_MS, systemClock } from '../../src/base/clock.ts';
import { IdSource } from '../../src/base/ids.ts';
import { MASTER_KEY_BYTES, Vault } from '../../src/base/vault.ts';
import { loadDaemonCommands } from '../../src/cli/registry.ts';
import { loadConfig } from '../../src/config/load.ts';
import { NOTHING_BEGUN } from '../../src/events/end-waiting.ts';
import { silentLogger } from '../../src/observe/log.ts';
import { askDaemon } from '../../src/operator/control/control-client.ts';
import { socketName } from '../../src/operator/control/control-protocol.ts';
import { startControlServer } from '../../src/operator/control/control-server.ts';
import { sqliteFolder } from '../../src/operator/data-folder.ts';
import type { OperatorServices } from '../../src/operator/operator-services.ts';
import { storeQueueControl } from '../../src/operator/queue-control.ts';
import { lockDataFolder } from '../../src/store/sqlite/engine/data-lock.ts';
import { openSqliteStore } from '../../src/store/sqlite/open.ts';
import type { LaneNotice } from '../../src/store/submissions.ts';
import { createScheduling } from '../../src/submission/schedule.ts';
import { newProgram } from '../support/program.ts';
import { addWaitingMessage } from './waiting-message.ts';

const REMEMBERED = { mxGroup: 'mx.remembered.test', since: 1, reason: 'it could not be stored' };

/** What the daemon does for the command line: lock, store, socket. */
async function startDaemonSide(t: Test) {
  const program = newProgram();
  const lock = lockDataFolder(program.dataDir);
  const { database, controlSocket } = sqliteFolder(program.dataDir);
  fs.writeFileSync(controlSocket, 'left behind by a dead daemon');
  const store = await openSqliteStore({ file: database });
  const changedTenants: string[] = [];
  const lanes: LaneNotice[] = [];
  const ran: string[] = [];
  const parts = { store, clock: systemClock, ids: new IdSource() };
  const { config } = loadConfig({ file: program.configFile, env: {} });
  const onLanes = (notices: LaneNotice[]) => void lanes.push(...notices);
  const services: OperatorServices = {
    ...parts,
    config,
    queue: await storeQueueControl({ ...parts, config, log: silentLogger }, onLanes),
    scheduling: createScheduling({
      ...parts,
      log: silentLogger,
      lifetimeMs: HOUR_MS,
      onScheduled: () => {},
      endBegun: NOTHING_BEGUN,
    }),
    isSandbox: false,
    vault: () => new Vault([Buffer.alloc(MASTER_KEY_BYTES, 3)]),
    domains: () => Promise.reject(new Error('no domains here')) as never,
    tenantChanged: ({ id }) => void changedTenants.push(id),
    receiverTrusted: (mxGroup) => (mxGroup === REMEMBERED.mxGroup ? REMEMBERED : null),
    inboundWaits: () => {},
  };
  const onCommand = (command: string, answer: { kind: string }) => void ran.push(`${command}: ${answer.kind}`);
  const server = await startControlServer({
    socketFile: controlSocket,
    run: await loadDaemonCommands(),
    services,
    onCommand,
  });
  t.teardown(async () => {
    await server.close();
    await store.close();
    lock.release();
    program.remove();
  });
  return { program, controlSocket, services, server, lock, changedTenants, lanes, ran };
}

t.test('commands are carried out in the daemon, and it hears of what they change', async (t) => {
  const { program, services, changedTenants, ran } = await startDaemonSide(t);
  const { code, stdout } = await program.run('tenant', 'create', '--name', 'Acme', '--json');
  t.equal(code, 0);
  const { id } = JSON.parse(stdout);
  t.match(await services.store.tenants.getTenant(id), { name: 'Acme' });
  t.match(await program.run('tenant', 'set', id, '--status', 'active'), { code: 0, stdout: /status: +active/ });
  t.same(changedTenants, [id]);
  t.match(await program.runHere('key', 'revoke', id), {
    code: 1,
    stderr: /postrider key revoke: key not found/,
  });
  t.same(ran, ['tenant create: done', 'tenant set: done', 'key revoke: failed']);
});

t.test('a doubt that is in the memory of the daemon alone ends there, and the answer says so', async (t) => {
  const { program } = await startDaemonSide(t);
  t.match(await program.run('suppression', 'trust', '--group', REMEMBERED.mxGroup, '--json'), {
    code: 0,
    stdout: /"reason":\s*"it could not be stored"/,
  });
  t.match(await program.run('suppression', 'trust', '--group', 'mx.other.test'), {
    code: 1,
    stderr: /are not doubted/,
  });
});

t.test('the queue', async (t) => {
  const { program, services, lanes } = await startDaemonSide(t);
  const { tenantId, messageId } = await addWaitingMessage(services);
  t.match(await program.json('queue', 'list'), {
    lanes: [{ tenant_id: tenantId, domain: 'receiver.example', waiting: 1 }],
    messages: [{ id: messageId, to: 'joe@receiver.example', state: 'queued', attempts: 0, finished_at: null }],
  });
  t.match(await program.runHere('queue', 'list'), {
    stdout: new RegExp(`^WAITING.*\\n1 +receiver[\\s\\S]*${messageId}`),
  });
  t.match(await program.json('queue', 'list', '--domain', 'other.example'), { messages: [], lanes: [] });
  t.match(await program.json('queue', 'show', messageId), { subject: 'Hello', state: 'queued', attempt_list: [] });
  t.match(await program.runHere('queue', 'show', messageId), { stdout: /subject: +Hello[\s\S]*No attempts yet/ });

  t.match(await program.json('queue', 'retry', messageId), { id: messageId, state: 'queued' });
  t.match(lanes, [{ tenantId, domain: 'receiver.example' }], 'the scheduler is told');

  t.match(await program.json('queue', 'cancel', messageId, '--reason', 'wrong list'), {
    id: messageId,
    state: 'canceled',
  });
  t.match(await services.store.events.eventsOfMessage(tenantId, messageId), [
    {
      type: 'email.canceled',
      data: {
        message_id: messageId,
        to: 'joe@receiver.example',
        cancellation: { by: 'operator', reason: 'wrong list' },
      },
    },
  ]);
  t.match(await program.json('queue', 'show', messageId), { last_reason: 'wrong list', next_attempt_at: null });
  for (const verb of ['retry', 'cancel']) {
    t.match(await program.runHere('queue', verb, messageId), { code: 1, stderr: /is not waiting: it is canceled/ });
  }
});

t.test('a message that was handed in by SMTP says so, and the Message-ID of its application', async (t) => {
  const { program, services } = await startDaemonSide(t);
  const name = 'order-4711@app.example';
  const header = Buffer.from(`Message-ID: <${name}>\r\n`);
  const last = Buffer.from('Hello\r\n');
  const mail = { header, pieces: 1, bytes: last.length, last, bodyHash: '', eightBit: false, messageId: name };
  const { messageId } = await addWaitingMessage(services, { written: { source: 'smtp', ...mail } });
  t.match(await program.json('queue', 'show', messageId), { source: 'smtp', header_message_id: name });
  t.match(await program.runHere('queue', 'show', messageId), {
    stdout: /^source: +smtp\nheader message id: +order-4711@app\.example$/m,
  });
  const other = await addWaitingMessage(services);
  const shown = await program.json('queue', 'show', other.messageId);
  t.notOk('source' in shown || 'header_message_id' in shown, 'mail over HTTP says nothing');
});

t.test('the socket obeys its owner only', async (t) => {
  const { controlSocket } = await startDaemonSide(t);
  t.equal(fs.statSync(controlSocket).mode & 0o777, 0o600);
  t.ok(fs.statSync(controlSocket).isSocket(), 'what a dead daemon left is gone');
});

t.test('what is no sensible request gets an error and changes nothing', async (t) => {
  const { controlSocket, services } = await startDaemonSide(t);
  const tenantCreate = (options: unknown) => JSON.stringify({ command: 'tenant create', options });
  const requests: [line: string, exit: 1 | 2, says: RegExp][] = [
    ['rubbish\n', 1, /not valid/],
    ['null\n', 1, /not valid/],
    ['{"command":"tenant list"}\n', 1, /not valid/],
    ['{"command":"tenant list","options":[]}\n', 1, /not valid/],
    ['{"command":"serve","options":{}}\n', 1, /does not know "serve"/],
    [`${tenantCreate({})}\n`, 2, /--name is missing/],
    [`${tenantCreate({ name: 7 })}\n`, 2, /--name has an invalid value/],
    [`${tenantCreate({ name: 'x', nmae: 'y' })}\n`, 2, /unknown option --nmae/],
    [`${tenantCreate({ name: 'x', __proto__: null, constructor: 'y' })}\n`, 2, /unknown option --constructor/],
    ['x'.repeat(70_000), 1, /not valid/],
  ];
  for (const [line, exit, says] of requests) {
    const answer = await ask(controlSocket, line);
    t.match(JSON.parse(answer), { error: { exit, message: says } }, line.slice(0, 60));
  }
  t.same(await services.store.tenants.listTenants(), []);
});

t.test('closing does not wait for those who never ask, and removes the socket', async (t) => {
  const { controlSocket, server, program, lock } = await startDaemonSide(t);
  const silent = net.connect(controlSocket);
  const halfway = net.connect(controlSocket);
  halfway.write('{"command":');
  const closed = [silent, halfway].map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  for (const socket of [silent, halfway]) socket.on('error', () => {});
  await ask(controlSocket, 'null\n'); // answered after the other two were taken
  await server.close();
  await Promise.all(closed);
  t.notOk(fs.existsSync(controlSocket));
  lock.release();
  t.match(await program.runHere('tenant', 'list'), { code: 0 }, 'commands then run without a daemon');
});

t.test('a socket that is gone while its daemon runs is told of, and one without a daemon is passed over', async (t) => {
  const { controlSocket, program } = await startDaemonSide(t);
  fs.rmSync(controlSocket);
  t.match(await program.runHere('tenant', 'list'), {
    code: 1,
    stderr: new RegExp(
      `another Postrider process uses ${program.dataDir}, but none answers at ${controlSocket}\\. .*restart the daemon`,
    ),
  });
  const alone = newProgram();
  t.teardown(alone.remove);
  await alone.json('tenant', 'create', '--name', 'x');
  const dead = net.createServer();
  const { controlSocket: stale } = sqliteFolder(alone.dataDir);
  await new Promise<void>((resolve) => dead.listen(`${stale}.listening`, resolve));
  fs.linkSync(`${stale}.listening`, stale);
  await new Promise((resolve) => dead.close(resolve));
  t.match(await alone.runHere('tenant', 'list'), { code: 0 });
  t.match(await alone.runHere('doctor', 'daemon'), {
    code: 1,
    stderr: `no daemon is running: nothing listens at ${stale}`,
  });
});

t.test('a daemon that breaks off leaves no doubt that the outcome is unknown', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  fs.mkdirSync(program.dataDir);
  const server = net.createServer((socket) => socket.once('data', () => socket.destroy()));
  await new Promise<void>((resolve) => server.listen(sqliteFolder(program.dataDir).controlSocket, resolve));
  t.teardown(() => server.close());
  const result = await program.runHere('tenant', 'create', '--name', 'x');
  t.match(result, {
    code: 1,
    stderr: /closed the connection without an answer\. Check whether the command took effect/,
  });
});

t.test('a daemon that does not answer is not said to have broken off', async (t) => {
  const program = newProgram();
  t.teardown(program.remove);
  const { controlSocket } = sqliteFolder(program.folder);
  const silent = net.createServer().listen(controlSocket);
  t.teardown(() => silent.close());
  await t.rejects(askDaemon(controlSocket, { command: 'tenant list', options: {} }, 10), {
    message:
      'the running daemon has not answered for 0.01 s. It may be stuck: check its log. Check whether the command took effect before you run it again',
  });
});

t.test('the name of a socket that would be cut is shortened or refused', async (t) => {
  const deep = path.join('/', 'a'.repeat(60), 'b'.repeat(60), 'control.sock');
  t.equal(socketName('/data/control.sock', '/'), '/data/control.sock');
  t.equal(socketName(deep, path.dirname(deep)), 'control.sock');
  t.throws(() => socketName(deep, '/'), /choose a shorter data\.dir/);
});

function ask(socketFile: string, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = net.connect(socketFile, () => socket.write(line));
    socket.on('data', (part) => {
      answer += part;
    });
    socket.once('error', reject);
    socket.once('close', () => resolve(answer));
  });
}
