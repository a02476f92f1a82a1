// Conformance: mail that came in takes effect once, together with its note.
import type { Test } from 'tap';
import type { ContentQuota, InboundAction, InboundUpdate, InboundVerdict } from '../../../src/store/inbound.ts';
import type { ClaimedMessage } from '../../../src/store/queue.ts';
import { type Bench, countAll, T0 } from './harness.ts';
import { actOn, bytesOf, keepReturned, newInboundMail as mail, returnedStore } from './returned-mail.ts';

export const inboundCases = {
  'what is kept waits in its order, and is read as it came': async (t: Test, bench: Bench) => {
    const mails = [mail(bench, { content: Buffer.from([0, 13, 10, 255]) }), mail(bench), mail(bench)];
    for (const one of mails) await bench.store.inbound.keepInbound(one);
    const waiting = await bench.store.inbound.waitingInbound([1], 0, 10);
    t.strictSame(
      waiting.map(({ seq, slot, tries, ...rest }) => rest),
      mails,
    );
    t.same(
      (await bench.store.inbound.waitingInbound([1], waiting[0]!.seq, 1)).map(({ id }) => id),
      [mails[1]!.id],
    );
  },

  'what was unreadable waits again when an operator wants it': async (t: Test, bench: Bench) => {
    const kept = mail(bench);
    await bench.store.inbound.keepInbound(kept);
    const [waiting] = await bench.store.inbound.waitingInbound([1], 0, 1);
    const { seq } = waiting!;
    const record = (kind: 'unreadable' | 'human') =>
      bench.recordInbound({
        ...{ seq, at: T0, action: null },
        verdict: { kind, effect: 'kept', reason: 'r', digest: null, messageId: null, tenantId: null, finding: {} },
      });
    t.equal(await bench.store.inbound.retryInbound(bench.id()), 'unknown');
    t.equal(await bench.store.inbound.retryInbound(kept.id), 'waiting_already');
    await bench.store.inbound.noteInboundTrial([await bench.owner()], seq);
    await bench.store.inbound.noteInterruptedInbound([await bench.owner()], 1);
    await record('unreadable');
    t.equal(await bench.store.inbound.retryInbound(kept.id), 'waits');
    t.match(await bench.store.inbound.getInbound(kept.id), { mail: { kind: null, effect: null, processedAt: null } });
    t.match(await bench.store.inbound.waitingInbound([1], 0, 10), [{ ...kept, seq, tries: 0 }]);
    await record('human');
    t.equal(await bench.store.inbound.retryInbound(kept.id), 'not_unreadable');
    await bench.store.inbound.retryInbound(kept.id);
    t.match(await bench.store.inbound.getInbound(kept.id), { mail: { kind: 'human' } });
  },

  "a report is enough for the tenant's list, for the platform's with another tenant's": async (
    t: Test,
    bench: Bench,
  ) => {
    const { store } = bench;
    const held = async () => (await store.suppressions.listPlatformSuppressions({ after: null, limit: 10 })).length;
    const suppress = { suppressionKey: 'a@x.test', mxGroup: 'mx', rule: 'r', platformExpiresAt: T0 + 9e9 };
    const report = async (domain: string) => {
      const message = await delivered(bench, domain);
      const event = bench.event('email.bounced');
      const note = { ...suppress, needsSecondTenant: true };
      const action: InboundAction = { do: 'bounce', bounce: 'hard', suppress: note, event };
      await bench.recordInbound(await updateFor(bench, message, { effect: 'bounced' }, action));
      return message.tenantId;
    };
    const first = await report('acme.test');
    t.match(await store.suppressions.listSuppressions(first, { after: null, limit: 10 }), [
      { address: 'a@x.test', mxGroup: 'mx' },
    ]);
    t.equal(await held(), 0);
    t.same(
      await store.suppressions.undoHardBounces({ mxGroup: 'mx', since: 0 }, 10),
      { platform: 0, tenants: 1 },
      "a tenant's alone",
    );
    await report('gamma.test');
    t.equal(await held(), 0, 'what was undone is no evidence');
    await report('beta.test');
    t.equal(await held(), 1, 'both say so');
  },

  'a bounce turns delivered into bounced, with event and suppressions, once': async (t: Test, bench: Bench) => {
    const message = await delivered(bench);
    const event = bench.event('email.bounced');
    const suppress = { suppressionKey: 'a@x.test', mxGroup: 'mx', rule: 'r', platformExpiresAt: T0 + 9 };
    const action: InboundAction = { do: 'bounce', bounce: 'hard', suppress, event };
    const update = await updateFor(bench, message, { effect: 'bounced', reason: 'gone' }, action);
    t.strictSame(await bench.recordInbound(update), { kind: 'recorded', effect: 'bounced', reason: 'gone' });
    t.match(await bench.message(message.id), { state: 'bounced', lastReason: 'gone', finishedAt: update.at });
    t.strictSame(
      (await bench.store.events.eventsOfMessage(message.tenantId, message.id)).map(({ id }) => id),
      [event.id],
    );
    const page = { after: null, limit: 10 };
    t.match(await bench.store.suppressions.listSuppressions(message.tenantId, page), [
      { address: 'a@x.test', reason: 'hard_bounce' },
    ]);
    t.match(await bench.store.suppressions.listPlatformSuppressions(page), [
      { address: 'a@x.test', mxGroup: 'mx', rule: 'r' },
    ]);
    t.strictSame(await bench.store.inbound.waitingInbound([1], 0, 10), []);

    t.strictSame(await bench.recordInbound(update), { kind: 'unchanged', why: 'processed' }, 'the same mail again');
    const again = await updateFor(
      bench,
      message,
      { effect: 'bounced' },
      { ...action, event: bench.event('email.bounced') },
    );
    t.match(await bench.recordInbound(again), {
      effect: 'none',
      reason: 'the message is bounced already',
    });
    t.equal((await bench.store.events.eventsOfMessage(message.tenantId, message.id)).length, 1);
    t.match(await bench.store.tenants.recentResultsOf(message.tenantId, 10), { messages: 1, hardBounces: 1 });
  },

  'a hard report after a soft bounce suppresses the address, with no second event': async (t: Test, bench: Bench) => {
    const message = await delivered(bench);
    const suppress = { suppressionKey: 'a@x.test', mxGroup: 'mx', rule: 'r', platformExpiresAt: null };
    const report = async (bounce: 'soft' | 'block' | 'hard', of = message) => {
      const note = bounce === 'hard' ? suppress : null;
      const action: InboundAction = { do: 'bounce', bounce, suppress: note, event: bench.event('email.bounced') };
      return bench.recordInbound(await updateFor(bench, of, { effect: 'bounced' }, action));
    };
    const listed = () => bench.store.suppressions.listSuppressions(message.tenantId, { after: null, limit: 10 });
    t.match(await report('soft'), { effect: 'bounced' });
    t.match(await report('soft'), { effect: 'none', reason: 'the message is bounced already' });
    t.strictSame(await listed(), []);
    t.match(await report('hard'), { effect: 'none', reason: /bounced already; its address is suppressed/ });
    t.match(await listed(), [{ address: 'a@x.test', reason: 'hard_bounce', rule: 'r', messageId: message.id }]);
    t.equal((await bench.store.events.eventsOfMessage(message.tenantId, message.id)).length, 1);
    t.match(await bench.store.tenants.recentResultsOf(message.tenantId, 10), { messages: 1, hardBounces: 0 });

    const blocked = await delivered(bench, 'other.test');
    t.match(await report('block', blocked), { effect: 'bounced' });
    t.match(await report('hard', blocked), { effect: 'none', reason: 'the message is bounced already' });
    const page = { after: null, limit: 10 };
    t.strictSame(await bench.store.suppressions.listSuppressions(blocked.tenantId, page), [], 'only after a soft one');
  },

  'a bounce ends a message that waits after an attempt, and none that was never sent': async (
    t: Test,
    bench: Bench,
  ) => {
    const { domain } = await bench.sender('acme.test');
    const message = await bench.sending(domain, 'a@x.test');
    await bench.store.queue.record([
      bench.attempted(message, { to: 'deferred', dueAt: T0 + 5, reason: 'lost', ambiguous: true }),
    ]);
    const bounce = (): InboundAction => {
      return { do: 'bounce', bounce: 'soft', suppress: null, event: bench.event('email.bounced') };
    };
    const update = await updateFor(bench, message, { effect: 'bounced' }, bounce());
    t.match(await bench.recordInbound(update), { effect: 'bounced' });
    t.match(await bench.message(message.id), { state: 'bounced', dueAt: null });
    await bench.store.domains.revokeDomain(domain.tenantId, domain.id);
    t.equal((await bench.openContents().read(message.id)).kind, 'unreadable', 'nothing else needed the key');

    const { domain: other } = await bench.sender('other.test');
    const { id } = await bench.queued(other, 'b@x.test');
    const waiting = await updateFor(bench, { id, tenantId: other.tenantId }, { effect: 'bounced' }, bounce());
    t.match(await bench.recordInbound(waiting), { effect: 'none', reason: 'the message was never sent' });
    t.match(await bench.message(id), { state: 'queued' });
  },

  'a bounce leaves a message that was canceled after an attempt as it is': async (t: Test, bench: Bench) => {
    const { domain } = await bench.sender('acme.test');
    const [message, other] = [await bench.sending(domain, 'a@x.test'), await bench.sending(domain, 'b@x.test')];
    const ambiguous = { to: 'deferred', dueAt: T0 + 5, reason: 'lost', ambiguous: true } as const;
    await bench.store.queue.record([bench.attempted(message, ambiguous)]);
    await bench.store.queue.endWaiting(bench.update(message, { to: 'canceled', reason: 'a mistake' }));
    const action: InboundAction = { do: 'bounce', bounce: 'soft', suppress: null, event: bench.event('email.bounced') };
    const update = await updateFor(bench, message, { effect: 'bounced' }, action);
    t.match(await bench.recordInbound(update), { effect: 'none', reason: /is canceled already/ });
    t.equal((await bench.message(message.id)).state, 'canceled');
    t.equal(await bench.store.figures.countOpenMessages(), 1, 'the other one still needs its key');
    t.equal((await bench.message(other.id)).state, 'sending');
  },

  'of what came back, charts tell what had been delivered': async (t: Test, bench: Bench) => {
    const { tenant, domain } = await bench.sender('acme.test');
    const [taken, lost] = [await bench.sending(domain, 'a@x.test'), await bench.sending(domain, 'b@x.test')];
    const ambiguous = { to: 'deferred', dueAt: T0 + 5, reason: 'lost', ambiguous: true } as const;
    const tags = { kind: 'news' };
    await bench.accept(domain, ['c@x.test'], { labels: { tags, metadata: null } });
    await bench.store.queue.record([
      bench.attempted(taken, { to: 'delivered' }, bench.event('email.delivered', { tags })),
      bench.attempted(lost, ambiguous, bench.event('email.deferred')),
    ]);
    for (const message of [taken, lost]) {
      const event = bench.event('email.bounced', { tags, bounce: { type: 'hard', source: 'dsn' } });
      const action: InboundAction = { do: 'bounce', bounce: 'hard', suppress: null, event };
      const update = await updateFor(bench, message, { effect: 'bounced' }, action);
      t.match(await bench.recordInbound(update), { effect: 'bounced' });
    }
    await countAll(bench.store);
    const [sum] = await bench.store.figures.providersOf(tenant.id, { fromHour: 0, untilHour: T0 });
    t.match(sum?.figures, { delivered: 1, deferred: 1, bouncedHard: 2, bouncedLater: 1 });
    const { tags: byTag } = await bench.store.figures.tagsOf(tenant.id, { fromHour: 0, untilHour: T0, limit: 10 });
    t.match(byTag, [{ tag: 'kind:news', figures: { accepted: 1, delivered: 1, bouncedHard: 2, bouncedLater: 1 } }]);
  },

  'a report about a message of another tenant changes nothing': async (t: Test, bench: Bench) => {
    const message = await delivered(bench);
    const { tenant } = await bench.sender('other.test');
    const action: InboundAction = {
      do: 'bounce',
      bounce: 'hard',
      suppress: null,
      event: bench.event('email.bounced'),
    };
    const update = await updateFor(bench, { ...message, tenantId: tenant.id }, { effect: 'bounced' }, action);
    t.match(await bench.recordInbound(update), { effect: 'none' });
    t.match(await bench.message(message.id), { state: 'delivered' });
  },

  'a complaint counts once, and a notice of delay as often as it says something new': async (t: Test, bench: Bench) => {
    const message = await delivered(bench);
    const complaint = (): InboundAction => {
      const event = bench.event('email.complained');
      return { do: 'complaint', suppressionKey: 'a@x.test', reason: 'complaint', weight: 0.5, event };
    };
    const first = await updateFor(bench, message, { effect: 'complained' }, complaint());
    t.match(await bench.recordInbound(first), { effect: 'complained' });
    await bench.store.suppressions.removeSuppression(message.tenantId, 'a@x.test', T0);
    const second = await updateFor(bench, message, { effect: 'complained' }, complaint());
    t.match(await bench.recordInbound(second), { effect: 'none' });
    const page = { after: null, limit: 10 };
    t.strictSame(
      await bench.store.suppressions.listSuppressions(message.tenantId, page),
      [],
      'what was removed stays removed',
    );
    t.match(await bench.store.tenants.recentResultsOf(message.tenantId, 10), { complaints: 1 });

    for (const [digest, effect] of [
      ['a', 'deferred'],
      ['a', 'none'],
      ['b', 'deferred'],
    ] as const) {
      const notice: InboundAction = { do: 'delay_notice', event: bench.event('email.deferred') };
      const verdict = { effect: 'deferred', digest: Buffer.from(digest) } as const;
      const update = await updateFor(bench, message, verdict, notice);
      t.match(await bench.recordInbound(update), { effect });
    }
    const types = (await bench.store.events.eventsOfMessage(message.tenantId, message.id)).map(({ type }) => type);
    t.same(types, ['email.complained', 'email.deferred', 'email.deferred']);
  },

  'a DMARC report is stored once, summed up per day': async (t: Test, bench: Bench) => {
    const row = {
      ...{ domain: 'acme.test', day: '2026-01-01', orgName: 'big', sourceIp: '192.0.2.1' },
      ...({ disposition: 'none', dkim: 'pass', spf: 'fail', messages: 3 } as const),
    };
    const store = async (reportId: string) => {
      const report = {
        domain: 'acme.test',
        orgName: 'big',
        sender: null,
        organization: null,
        reportId,
        beginsAt: T0,
        endsAt: T0,
        policy: {},
        rows: [row],
      };
      return bench.recordInbound(
        await updateFor(
          bench,
          null,
          { kind: 'dmarc', effect: 'stored' },
          { do: 'dmarc', report, limits: { rowsPerDomainAndDay: 10, bytesPerDay: 1e6, largeReporters: [] } },
        ),
      );
    };
    t.match(await store('1'), { effect: 'stored' });
    t.match(await store('1'), { effect: 'none' });
    t.match(await store('2'), { effect: 'stored' });
    const days = await bench.store.inbound.listDmarcDays('acme.test', { since: '2026-01-01', limit: 10 });
    t.strictSame(days, [{ ...row, sender: null, messages: 6 }]);
    t.strictSame(await bench.store.inbound.listDmarcDays('other.test', { since: '2026-01-01', limit: 10 }), []);
  },

  'lists are read from the newest on, and shown whole': async (t: Test, bench: Bench) => {
    const message = await delivered(bench);
    const ids: string[] = [];
    for (const kind of ['human', 'report', 'human'] as const) {
      const update = await updateFor(bench, kind === 'report' ? message : null, { kind, finding: { x: 1 } }, null);
      await bench.recordInbound(update);
      ids.push(update.id);
    }
    const list = async (filter: object) => {
      const found = await bench.store.inbound.listInbound({ limit: 10, ...filter });
      return found === 'unknown' ? found : found.map(({ id }) => id);
    };
    t.same(await list({}), [...ids].reverse());
    t.same(await list({ kind: 'human', limit: 1 }), [ids[2]]);
    t.same(await list({ before: ids[2] }), [ids[1], ids[0]]);
    t.same(await list({ messageId: message.id }), [ids[1]]);
    t.equal(await list({ before: bench.id() }), 'unknown');
    const shown = await bench.store.inbound.getInbound(ids[1]!);
    t.match(shown, {
      mail: { kind: 'report', messageId: message.id, finding: { x: 1 } },
      content: Buffer.from('mail'),
    });
    t.equal(await bench.store.inbound.getInbound(bench.id()), null);
  },

  'a refused mail is listed without content, and does not wait': async (t: Test, bench: Bench) => {
    const { content: _, ...envelope } = mail(bench);
    const refused = { ...envelope, sizeBytes: 7, reply: '554 5.6.11 no' };
    await bench.store.inbound.noteRefusedInbound(refused);
    const other = await updateFor(bench, null, { kind: 'human' }, null);
    await bench.recordInbound(other);
    const shown = {
      id: refused.id,
      kind: 'refused',
      effect: 'none',
      reason: 'refused with 554 5.6.11 no',
      sizeBytes: 7,
    };
    t.match(await bench.store.inbound.listInbound({ limit: 10 }), [{ id: other.id, kind: 'human' }, shown]);
    t.match(await bench.store.inbound.listInbound({ kind: 'refused', limit: 10 }), [shown]);
    t.equal((await bench.store.inbound.listInbound({ kind: 'human', limit: 10 })).length, 1);
    t.match(await bench.store.inbound.getInbound(refused.id), { mail: shown, content: null });
    t.strictSame(await bench.store.inbound.waitingInbound([1], 0, 10), []);
  },

  'of refused mails the newest thousand stay, and nothing else goes': async (t: Test, bench: Bench) => {
    const other = await updateFor(bench, null, { kind: 'human' }, null);
    await bench.recordInbound(other);
    const note = () => {
      const { content: _, ...envelope } = mail(bench);
      return bench.store.inbound.noteRefusedInbound({ ...envelope, sizeBytes: 7, reply: '554 5.6.11 no' });
    };
    await Promise.all(Array.from({ length: 1003 }, note));
    t.equal((await bench.store.inbound.listInbound({ kind: 'refused', limit: 2000 })).length, 1000);
    t.equal((await bench.store.inbound.listInbound({ kind: 'human', limit: 10 })).length, 1);
  },

  'contents of mail that proves no message share a room, and the oldest make place': async (t: Test, bench: Bench) => {
    const unasked = { of: 'unasked', maxBytes: 1000 } as const;
    const keep = async (bytes: number, store?: ContentQuota) => {
      const one = mail(bench, { content: Buffer.alloc(bytes) });
      await bench.store.inbound.keepInbound(one, store);
      const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 100)).find(({ id }) => id === one.id)!;
      const verdict: InboundVerdict = {
        ...{ kind: 'human', effect: 'kept', reason: 'because', digest: null },
        ...{ messageId: null, tenantId: null, finding: {} },
      };
      await bench.recordInbound({ seq, at: T0, verdict, action: null });
      return one.id;
    };
    const bounce = await keep(5000);
    const ids = [await keep(400, unasked), await keep(400, unasked), await keep(400, unasked)];
    t.same(await Promise.all(ids.map((id) => bytesOf(bench, id))), [null, 400, 400]);
    t.match(await bench.store.inbound.getInbound(ids[0]!), {
      mail: { effect: 'kept', reason: 'because; its content was erased to make room', sizeBytes: 400 },
    });
    t.equal(await bytesOf(bench, bounce), 5000, 'what came back for a message is not counted');
    const waiting = mail(bench, { content: Buffer.alloc(900) });
    t.equal(await bench.store.inbound.keepInbound(waiting, unasked), 'kept');
    t.same(await Promise.all(ids.map((id) => bytesOf(bench, id))), [null, null, null]);
    t.equal(await bytesOf(bench, waiting.id), 900);
    await bench.store.inbound.forgetInbound({ content: T0 + 1, records: T0 + 1 }, 10);
    const last = await keep(100, { of: 'unasked', maxBytes: 1900 });
    t.equal(await bytesOf(bench, last), 100, 'what retention erases is counted no longer');
  },

  'what proves no message and waits is bounded, and never erased': async (t: Test, bench: Bench) => {
    const keep = async (bytes: number, quota: ContentQuota = { of: 'unasked', maxBytes: 1000 }) => {
      const one = mail(bench, { content: Buffer.alloc(bytes) });
      return { id: one.id, result: await bench.store.inbound.keepInbound(one, quota) };
    };
    const first = await keep(600);
    const full = await keep(401);
    t.same([first.result, full.result], ['kept', 'full']);
    t.equal(await bench.store.inbound.getInbound(full.id), null);
    const second = await keep(400);
    t.same([second.result, (await keep(1)).result], ['kept', 'full']);
    t.same(await Promise.all([first, second].map(({ id }) => bytesOf(bench, id))), [600, 400]);
    t.equal(
      (await keep(1000, returnedStore(bench))).result,
      'kept',
      'what comes back for a message does not wait for it',
    );
    await actOn(bench, first.id);
    t.equal((await keep(300)).result, 'kept', 'a mail that was processed makes room');
    t.same(await Promise.all([first, second].map(({ id }) => bytesOf(bench, id))), [null, 400]);
    await actOn(bench, second.id);
    t.equal((await keep(2000)).result, 'full', 'one that is larger than the limit');
    t.equal(await bytesOf(bench, second.id), 400, 'for which nothing is erased');
    t.equal((await keep(700)).result, 'kept');
    const waiting = await bench.store.inbound.waitingInbound([1], 0, 100);
    for (const { id } of waiting) await actOn(bench, id);
    t.equal((await keep(2000)).result, 'kept', 'as the only one');
  },

  'a full disk: contents go first, then the oldest days of reports': async (t: Test, bench: Bench) => {
    const seen = async (id: string) => (await bench.store.inbound.getInbound(id))?.content !== null;
    const asked = await updateFor(bench, null, { kind: 'report' }, null);
    await bench.recordInbound(asked);
    const bounce = await keepReturned(bench, returnedStore(bench));
    const one = mail(bench);
    await bench.store.inbound.keepInbound(one, { of: 'unasked', maxBytes: 1e6 });
    t.equal(await bench.store.inbound.freeInboundSpace(10), 0, 'all still waits');
    await actOn(bench, bounce);
    const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 10))[0]!;
    const row = { domain: 'acme.test', sourceIp: '192.0.2.1', disposition: 'none', dkim: 'pass', spf: 'fail' } as const;
    const rows = ['2026-01-01', '2026-01-02'].map((day) => ({ ...row, day, messages: 1 }));
    const report = {
      domain: 'acme.test',
      orgName: 'big',
      sender: null,
      organization: null,
      reportId: '1',
      beginsAt: T0,
      endsAt: T0,
    };
    const limits = { rowsPerDomainAndDay: 10, bytesPerDay: 1e6, largeReporters: [] };
    await bench.recordInbound({
      ...asked,
      seq,
      action: { do: 'dmarc', report: { ...report, policy: {}, rows }, limits },
    });
    const days = async () =>
      (await bench.store.inbound.listDmarcDays('acme.test', { since: '2026-01-01', limit: 10 })).map(({ day }) => day);
    t.ok((await bench.store.inbound.freeInboundSpace(10)) > 0);
    t.same([await seen(one.id), await seen(bounce), (await days()).length], [false, true, 2]);
    t.ok((await bench.store.inbound.freeInboundSpace(10)) > 0);
    t.same([await seen(bounce), (await days()).length], [false, 2]);
    t.ok((await bench.store.inbound.freeInboundSpace(10)) > 0);
    t.same(await days(), ['2026-01-02']);
    while ((await bench.store.inbound.freeInboundSpace(10)) > 0);
    t.same(await days(), []);
    t.equal(await seen(asked.id), true, 'what counts nowhere stays');
    t.ok((await bench.store.upkeep.reusableBytes()) >= 0);
  },

  'what is old is forgotten, content first, and nothing that waits': async (t: Test, bench: Bench) => {
    const update = await updateFor(bench, null, { kind: 'human', effect: 'kept' }, null);
    await bench.recordInbound(update);
    await bench.store.inbound.keepInbound(mail(bench));
    await bench.store.inbound.forgetInbound({ content: T0 + 1, records: T0 }, 10);
    t.match(await bench.store.inbound.getInbound(update.id), { content: null });
    await bench.store.inbound.forgetInbound({ content: T0 + 1, records: T0 + 1 }, 10);
    t.equal(await bench.store.inbound.getInbound(update.id), null);
    t.equal((await bench.store.inbound.waitingInbound([1], 0, 10)).length, 1);
    t.equal(await bench.store.inbound.forgetInbound({ content: T0 + 1, records: T0 + 1 }, 10), 0);
  },
};

export async function delivered(bench: Bench, name = `d${bench.id()}.test`): Promise<ClaimedMessage> {
  const { domain } = await bench.sender(name);
  const message = await bench.sending(domain, 'a@x.test');
  await bench.store.queue.record([bench.attempted(message, { to: 'delivered' })]);
  return message;
}

/** Of a mail that has just come in. */
export async function updateFor(
  bench: Bench,
  message: { id: string; tenantId: string } | null,
  verdict: Partial<InboundVerdict>,
  action: InboundAction | null,
): Promise<Omit<InboundUpdate, 'owner'> & { id: string }> {
  const kept = mail(bench);
  await bench.store.inbound.keepInbound(kept);
  const { seq } = (await bench.store.inbound.waitingInbound([1], 0, 100)).find(({ id }) => id === kept.id)!;
  const whole: InboundVerdict = {
    ...{ kind: 'report', effect: 'none', reason: 'because', digest: null, finding: {} },
    messageId: message?.id ?? null,
    tenantId: message?.tenantId ?? null,
    ...verdict,
  };
  return { id: kept.id, seq, at: T0 + 2000, verdict: whole, action };
}
