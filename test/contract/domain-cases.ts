// Sections 2.3 and 3 of the specification: the domain record, its DNS records, and the states
// that a domain goes through.
import type { Test } from 'tap';
import type { Answer } from './contract-client.ts';
import { goodMail, refused, type Stage } from './stage.ts';
import type { Cases, DNS_RECORD, DOMAIN_RECORD, DOMAIN_TRANSITIONS, RECORDS_TO_PUBLISH } from './tables.ts';

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

interface DnsRecord {
  name: string;
  type: string;
  value: string;
  required: boolean;
  purpose: string;
}

/** The record of acme's domain, as three endpoints show it alike. */
async function shownRecord(t: Test, { world, acme }: Stage) {
  const { body } = await world.call(`GET /domains/${acme.domainId}`, { key: acme.key });
  const { body: list } = await world.call('GET /domains', { key: acme.key });
  t.same(
    list.domains.find(({ id }: { id: string }) => id === acme.domainId),
    body,
    'the list shows the same',
  );
  return body;
}

export const domainRecordCases: Cases<typeof DOMAIN_RECORD> = {
  async id(t, stage) {
    const record = await shownRecord(t, stage);
    t.equal(record.id, stage.acme.domainId);
    t.match(record.id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
    const upper = await stage.world.call(`GET /domains/${record.id.toUpperCase()}`, { key: stage.acme.key });
    t.same(upper.body, record, 'an id in the path may be in upper case');
  },

  async domain(t, stage) {
    t.equal((await shownRecord(t, stage)).domain, 'acme.test');
    for (const domain of [
      'Upper.test',
      'dot.test.',
      'bücher.test',
      'localhost',
      '192.0.2.1',
      'a..test',
      '-a.test',
      '',
    ]) {
      const answer = await register(stage, domain);
      refused(t, answer, { code: 'validation_failed', message: /^domain: /, about: domain });
    }
    const own = await register(stage, 'bounces.mail.postrider.test');
    refused(t, own, { code: 'validation_failed', message: /^domain: /, about: "the service's own domain" });
  },

  async state(t, stage) {
    t.equal((await shownRecord(t, stage)).state, 'verified', 'each state is seen in the table of transitions');
  },

  async dkim_selector(t, stage) {
    const domain = `selector-${stage.world.engine}.test`;
    const { body } = await register(stage, domain, 'news.2026');
    t.equal(body.dkim_selector, 'news.2026');
    t.equal(body.records[0].name, `news.2026._domainkey.${domain}`);
    for (const selector of ['', 'a b', '-a', 'a..b', 'x'.repeat(64), 5]) {
      const answer = await register(stage, `other-${domain}`, selector);
      refused(t, answer, { code: 'validation_failed', message: /^selector: /, about: String(selector) });
    }
  },

  async dkim_public_key_b64(t, stage) {
    const { dkim_public_key_b64: key, records } = await shownRecord(t, stage);
    const der = Buffer.from(key, 'base64');
    t.equal(der.toString('base64'), key, 'base64');
    t.equal(der.length, 294, 'a SubjectPublicKeyInfo of RSA 2048');
    t.ok(records[0].value.endsWith(`p=${key}`));
  },

  async created_at(t, stage) {
    const { created_at } = await shownRecord(t, stage);
    t.match(created_at, TIME);
    t.ok(Math.abs(Date.now() - Date.parse(created_at)) < 120_000, 'a moment ago');
  },

  async records(t, stage) {
    const record = await shownRecord(t, stage);
    t.equal(record.records.length, 3);
    t.same(Object.keys(record).sort(), ALL_FIELDS, "the table's fields and those of the contract");
    t.match(record, { failure_reason: null, verified_at: TIME, last_checked_at: TIME });
  },
};

const ALL_FIELDS = [
  ...['created_at', 'dkim_public_key_b64', 'dkim_selector', 'domain', 'failure_reason', 'id', 'last_checked_at'],
  ...['records', 'state', 'verified_at'],
];

async function everyRecord(t: Test, stage: Stage, check: (record: DnsRecord, index: number) => void): Promise<void> {
  const { records } = await shownRecord(t, stage);
  for (const [index, record] of records.entries()) {
    t.same(Object.keys(record), ['name', 'type', 'value', 'required', 'purpose']);
    check(record, index);
  }
}

export const dnsRecordCases: Cases<typeof DNS_RECORD> = {
  name: (t, stage) => everyRecord(t, stage, ({ name }) => t.match(name, /(?:^|\.)acme\.test$/)),
  type: (t, stage) => everyRecord(t, stage, ({ type }) => t.equal(type, 'TXT')),
  value: (t, stage) => everyRecord(t, stage, ({ value }) => t.match(value, /^v=(?:DKIM1|spf1|DMARC1)\b/)),
  required: (t, stage) => everyRecord(t, stage, ({ required }, index) => t.equal(required, index === 0)),
  async purpose(t, stage) {
    const wanted = [/DKIM/, /already has a record.*v=spf1/, /don't weaken its policy/];
    await everyRecord(t, stage, ({ purpose }, index) => t.match(purpose, wanted[index]));
  },
};

export const recordsToPublishCases: Cases<typeof RECORDS_TO_PUBLISH> = {
  async DKIM(t, stage) {
    const { records, dkim_selector, dkim_public_key_b64 } = await shownRecord(t, stage);
    const name = `${dkim_selector}._domainkey.acme.test`;
    t.match(records[0], { name, type: 'TXT', value: `v=DKIM1; k=rsa; p=${dkim_public_key_b64}`, required: true });
  },
  async SPF(t, stage) {
    const { records } = await shownRecord(t, stage);
    const value = 'v=spf1 include:bounces.mail.postrider.test ~all';
    t.match(records[1], { name: 'acme.test', type: 'TXT', value, required: false });
  },
  async DMARC(t, stage) {
    const { records } = await shownRecord(t, stage);
    const value = 'v=DMARC1; p=none; rua=mailto:dmarc@bounces.mail.postrider.test';
    t.match(records[2], { name: '_dmarc.acme.test', type: 'TXT', value, required: false });
  },
};

function register({ world, acme }: Stage, domain: string, selector?: unknown): Promise<Answer> {
  return world.call('POST /domains', { key: acme.key, body: { domain, selector } });
}

/** A domain of acme's that one case sends through its states. */
async function newDomain(stage: Stage, name: string) {
  const { world, acme } = stage;
  const domain = `${name}-${world.engine}.test`;
  // A zone without the records; a zone that is not there would not be found again for a while.
  world.dns.addZone(domain);
  const created = await register(stage, domain);
  const { id, records } = created.body;
  const dkim = records[0].name;
  return {
    ...{ id, domain, created },
    publish: () => world.publish(domain, records),
    withdraw: () => world.dns.remove(dkim),
    verify: () => world.call(`POST /domains/${id}/verify`, { key: acme.key }),
    revoke: () => world.call(`DELETE /domains/${id}`, { key: acme.key }),
    show: async () => (await world.call(`GET /domains/${id}`, { key: acme.key })).body,
    send: () => world.call('POST /emails', { key: acme.key, body: goodMail(domain) }),
  };
}

type TestDomain = Awaited<ReturnType<typeof newDomain>>;

async function assertFails(t: Test, subject: TestDomain): Promise<void> {
  const { status, body } = await subject.verify();
  t.equal(status, 422);
  const check = { record: 'dkim', required: true, ok: false, found: [], reason: 'not_found' };
  t.match(body, { error: 'verification_failed', domain: subject.domain, check });
  t.match(await subject.show(), {
    state: 'failed',
    failure_reason: 'not_found',
    verified_at: null,
    last_checked_at: TIME,
  });
  refused(t, await subject.send(), { code: 'domain_not_verified' });
}

/** The answer to the check. */
async function assertPasses(t: Test, subject: TestDomain): Promise<Answer['body']> {
  const { status, body } = await subject.verify();
  t.equal(status, 200);
  t.match(body, { state: 'verified', failure_reason: null, verified_at: TIME, checks: [{ ok: true }, {}, {}] });
  t.match(await subject.show(), { state: 'verified' });
  t.equal((await subject.send()).status, 202);
  return body;
}

export const transitionCases: Cases<typeof DOMAIN_TRANSITIONS> = {
  async '(none), POST /domains: pending'(t, stage) {
    const subject = await newDomain(stage, 'pending');
    t.match(subject.created, { status: 201, body: { state: 'pending', records: [{}, {}, {}] } });
    t.same(await subject.show(), subject.created.body);
    refused(t, await subject.send(), { code: 'domain_not_verified' });
    refused(t, await register(stage, subject.domain), { code: 'domain_exists' });
  },

  async 'pending, verify, check passes: verified'(t, stage) {
    const subject = await newDomain(stage, 'straight');
    subject.publish();
    for (const name of [subject.domain, `_dmarc.${subject.domain}`]) stage.world.dns.remove(name, 'TXT');
    const { checks } = await assertPasses(t, subject);
    t.same(
      checks.map(({ record, ok }: { record: string; ok: boolean }) => [record, ok]),
      [
        ['dkim', true],
        ['spf', false],
        ['dmarc', false],
      ],
      'SPF and DMARC are advice',
    );
  },

  async 'pending, verify, check fails: failed'(t, stage) {
    await assertFails(t, await newDomain(stage, 'hasty'));
  },

  async 'failed, verify, check passes: verified'(t, stage) {
    const subject = await newDomain(stage, 'late');
    await subject.verify();
    subject.publish();
    await assertPasses(t, subject);
  },

  async 'failed, verify, check fails: failed'(t, stage) {
    const subject = await newDomain(stage, 'never');
    await subject.verify();
    await assertFails(t, subject);
  },

  async 'verified, verify: verified or failed'(t, stage) {
    const [kept, withdrawn] = [await newDomain(stage, 'kept'), await newDomain(stage, 'withdrawn')];
    for (const subject of [kept, withdrawn]) {
      subject.publish();
      await assertPasses(t, subject);
    }
    withdrawn.withdraw();
    await Promise.all([assertPasses(t, kept), assertFails(t, withdrawn)]);
  },

  async 'pending, verified or failed, DELETE: revoked'(t, stage) {
    for (const state of ['pending', 'failed', 'verified']) {
      const subject = await newDomain(stage, `was-${state}`);
      if (state === 'verified') subject.publish();
      if (state !== 'pending') await subject.verify();
      t.equal((await subject.show()).state, state);
      const { status, body } = await subject.revoke();
      t.match({ status, ...body }, { status: 200, state: 'revoked', records: [{}, {}, {}] });
      t.same(await subject.show(), body, 'it can still be looked at');
      refused(t, await subject.send(), { code: 'domain_not_verified' });
      refused(t, await subject.verify(), { code: 'domain_not_found', about: 'verify on a revoked domain' });
      refused(t, await subject.revoke(), { code: 'domain_not_found', about: 'revoked twice' });
      const again = await register(stage, subject.domain);
      t.match(again, { status: 201, body: { state: 'pending' } }, 'the name is free again');
      t.not(again.body.id, subject.id);
      t.not(again.body.dkim_public_key_b64, body.dkim_public_key_b64, 'with a key pair of its own');
    }
  },
};
