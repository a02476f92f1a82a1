// Section 2.2 of the specification: the answer to a send request.
import type { Test } from 'tap';
import { RECEIVER } from '../support/world.ts';
import type { Stage } from './stage.ts';
import type { Cases, REJECTION_REASONS, SEND_RESPONSE } from './tables.ts';

const OUR_UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

export const sendResponseCases: Cases<typeof SEND_RESPONSE> = {
  async id(t, { send, world, acme }) {
    const { body } = await send();
    t.same(Object.keys(body), ['id', 'message_ids', 'rejected', 'replayed'], 'these fields and no other');
    t.match(body.id, OUR_UUID);
    const shown = await world.call(`GET /emails/${body.message_ids[0]}`, { key: acme.key });
    t.equal(shown.body.submission_id, body.id);
    t.not((await send()).body.id, body.id, 'the next one has another');
  },

  async message_ids(t, { send, inbox }) {
    const { body } = await send({ to: [`a@${RECEIVER}`, `b@${RECEIVER}`, `c@${RECEIVER}`] });
    t.equal(body.message_ids.length, 3);
    for (const [index, id] of body.message_ids.entries()) {
      t.match(id, OUR_UUID);
      const { to } = await inbox.mail(id);
      t.equal(to, `${'abc'[index]}@${RECEIVER}`, 'in the order of to');
      t.equal((await inbox.parsed(id)).messageId, `<${id}@acme.test>`, 'the same as in Message-ID');
    }
  },

  async rejected(t, stage) {
    await stage.world.suppress(stage.acme.id, `no@${RECEIVER}`, 'manual');
    const to = [`a@${RECEIVER}`, `No Name <No@${RECEIVER}>`, `no@${RECEIVER}`, `NO@${RECEIVER}`, `b@${RECEIVER}`];
    const { status, body } = await stage.send({ to });
    t.equal(status, 202);
    t.equal(body.message_ids.length, 2, 'the others are queued');
    const rejected = ['No', 'no', 'NO'].map((local) => ({ to: `${local}@${RECEIVER}`, reason: 'manual' }));
    t.same(body.rejected, rejected, 'the bare address as written, once for each distinct recipient');
    t.same((await stage.send()).body.rejected, [], 'empty when all are queued');
  },

  async replayed(t, { send, world }) {
    const headers = { 'Idempotency-Key': `replayed-${world.engine}` };
    const first = await send({}, headers);
    t.equal(first.body.replayed, false);
    t.equal((await send({}, headers)).body.replayed, true);
    t.equal((await send()).body.replayed, false);
  },
};

async function suppressedFor(t: Test, stage: Stage, reason: string): Promise<void> {
  const gone = `${reason}@${RECEIVER}`;
  await stage.world.suppress(stage.acme.id, gone, reason);
  const { status, body } = await stage.send({ to: [gone, `jo@${RECEIVER}`] });
  t.equal(status, 202);
  t.same(body.rejected, [{ to: gone, reason }]);
  const body2 = { from: 'app@rival.test', to: gone, subject: 'Hello', text: 'Hello' };
  const theirs = await stage.world.call('POST /emails', { key: stage.rival.key, body: body2 });
  t.equal(theirs.status, 202, "a tenant's list is its own");
}

export const rejectionReasonCases: Cases<typeof REJECTION_REASONS> = {
  async hard_bounce(t, stage) {
    await suppressedFor(t, stage, 'hard_bounce');
    await stage.world.suppressForAll(`nobody@${RECEIVER}`);
    const { body } = await stage.send({ to: [`Nobody@${RECEIVER}`, `jo@${RECEIVER}`] });
    t.same(body.rejected, [{ to: `Nobody@${RECEIVER}`, reason: 'hard_bounce' }], "on the platform's list");
    await stage.world.suppress(stage.acme.id, `nobody@${RECEIVER}`, 'manual');
    const again = await stage.send({ to: [`nobody@${RECEIVER}`, `jo@${RECEIVER}`] });
    t.equal(again.body.rejected[0].reason, 'manual', "the tenant's own list is asked first");
  },
  complaint: (t, stage) => suppressedFor(t, stage, 'complaint'),
  unsubscribe: (t, stage) => suppressedFor(t, stage, 'unsubscribe'),
  manual: (t, stage) => suppressedFor(t, stage, 'manual'),
};
