// Accepted keeps flowing: a domain is revoked while its mail waits for another try. The mail is
// delivered all the same, signed; the private key goes when the last message is finished, and
// not before.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t, { type Test } from 'tap';
import { uuidToBytes } from '../../../src/base/ids.ts';
import { ContractClient } from '../../contract/contract-client.ts';
import { goodMail, refused, type Stage, setStage } from '../../contract/stage.ts';
import { withDatabase } from '../../support/database.ts';
import type { SinkReply } from '../../support/mail-sink.ts';
import { RECEIVER } from '../../support/world.ts';

/** A receiver that says "later" to whoever it does not take yet. */
class Greylist {
  readonly #taken = new Set<string>();

  take(recipient: string): void {
    this.#taken.add(recipient);
  }

  readonly onRcpt = (recipient: string): SinkReply | null => {
    if (recipient === `gone@${RECEIVER}` && this.#taken.has(recipient))
      return { code: 550, text: '5.1.1 No such user' };
    return this.#taken.has(recipient) ? null : { code: 451, text: '4.7.1 Come back later' };
  };
}

async function deferred({ world, acme }: Stage, recipient: string): Promise<string> {
  const body = { ...goodMail(acme.domain), to: recipient };
  const [id] = (await world.call('POST /emails', { key: acme.key, body })).body.message_ids;
  await world.daemon.until(() => world.daemon.find({ fact: 'deferred', message_id: id }).length > 0, 'defer it');
  return id;
}

function hasPrivateKey({ world }: Stage, domainId: string): boolean {
  return withDatabase(world.postrider.databaseFile, (db) => {
    const rows = db.prepare('SELECT sealed FROM signing_keys WHERE domain_id = ?').all(uuidToBytes(domainId));
    if (rows.length !== 1) throw new Error(`${rows.length} keys`);
    return (rows[0] as { sealed: Buffer | null }).sealed !== null;
  });
}

/** By an independent verifier, with the key that stands in DNS. */
async function isSigned(stage: Stage, messageId: string, record: { name: string; value: string }): Promise<boolean> {
  const { raw } = await stage.inbox.mail(messageId);
  const resolver = async (name: string) => (name === record.name ? [[record.value]] : []);
  const { results } = await dkimVerify(raw, { resolver: resolver as never });
  return results.some(({ signingDomain, status }) => signingDomain === stage.acme.domain && status.result === 'pass');
}

/** Retries come quickly, so that what is let through is taken at once. */
const RETRIES = { retry_steps: ['100ms'], retry_jitter: 0 };

async function setUp(t: Test) {
  const greylist = new Greylist();
  const stage = await setStage(t, { sink: { onRcpt: greylist.onRcpt }, settings: { delivery: RETRIES } });
  const { body } = await stage.world.call(`GET /domains/${stage.acme.domainId}`, { key: stage.acme.key });
  return { greylist, stage, record: body.records[0] as { name: string; value: string } };
}

function revoke({ world, acme }: Stage) {
  return world.call(`DELETE /domains/${acme.domainId}`, { key: acme.key });
}

t.test('delivered, signed, key erased afterwards', async (t) => {
  const { greylist, stage, record } = await setUp(t);
  const { world, acme } = stage;
  const [first, last] = [await deferred(stage, `first@${RECEIVER}`), await deferred(stage, `last@${RECEIVER}`)];
  t.match(await revoke(stage), { status: 200, body: { state: 'revoked' } });
  refused(t, await stage.send(), { code: 'domain_not_verified', about: 'new mail is blocked' });
  t.ok(hasPrivateKey(stage, acme.domainId), 'the key stays while mail waits');

  greylist.take(`first@${RECEIVER}`);
  t.ok(await isSigned(stage, first, record), 'what was accepted arrives, signed by the tenant');
  await world.daemon.logged({ fact: 'delivered', message_id: first });
  t.ok(hasPrivateKey(stage, acme.domainId), 'one message is still on its way');

  greylist.take(`last@${RECEIVER}`);
  t.ok(await isSigned(stage, last, record));
  await world.daemon.logged({ fact: 'delivered', message_id: last });
  t.notOk(hasPrivateKey(stage, acme.domainId), 'erased with the last one');
  t.match((await world.call(`GET /emails/${last}`, { key: acme.key })).body, { state: 'delivered' });
});

t.test('the same over a restart, and with a message that bounces', async (t) => {
  const { greylist, stage, record } = await setUp(t);
  const { world, acme } = stage;
  const id = await deferred(stage, `later@${RECEIVER}`);
  const bounced = await deferred(stage, `gone@${RECEIVER}`);
  t.equal((await revoke(stage)).status, 200);
  t.same(await world.daemon.stop(), { code: 0, signal: null });
  t.ok(hasPrivateKey(stage, acme.domainId));

  greylist.take(`later@${RECEIVER}`);
  const daemon = await world.postrider.serve();
  t.ok(await isSigned(stage, id, record));
  await daemon.logged({ fact: 'delivered', message_id: id });
  t.ok(hasPrivateKey(stage, acme.domainId));
  greylist.take(`gone@${RECEIVER}`);
  await daemon.logged({ fact: 'bounced', message_id: bounced });
  t.notOk(hasPrivateKey(stage, acme.domainId), 'a bounce ends a message, too');
  const client = new ContractClient({ port: daemon.httpPort });
  t.teardown(() => client.close());
  t.match((await client.call(`GET /emails/${bounced}`, { key: acme.key })).body, { state: 'bounced' });
});

t.test('without mail that waits, the key goes at once; the name gets a new one', async (t) => {
  const { stage } = await setUp(t);
  const { world, acme } = stage;
  t.ok(hasPrivateKey(stage, acme.domainId));
  await revoke(stage);
  t.notOk(hasPrivateKey(stage, acme.domainId));
  const domainId = await world.addDomain(acme.key, acme.domain);
  t.ok(hasPrivateKey(stage, domainId));
  t.notOk(hasPrivateKey(stage, acme.domainId));
});
