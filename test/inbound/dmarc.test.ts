// Mail to the address for DMARC reports: what is found in it, and what is said of what cannot be used.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { DmarcReader } from '../../src/inbound/dmarc.ts';
import type { Domain } from '../../src/store/domains.ts';
import type { DmarcReportRow, InboundAction, WaitingInboundMail } from '../../src/store/inbound.ts';
import { dmarcMail, dmarcXml, zipOf } from '../support/dmarc-mail.ts';
import { ProcessorTime } from '../support/patience.ts';

const MAILS = 8;
const MIB = 1024 * 1024;
const HOLDER = {} as Domain;
const limits = { rowsPerReport: 5, rowsPerDomainAndDay: 100, bytesPerDay: 1e9, largeReporters: [] };
const proveSender = async () => ({ domain: 'big.test', reason: 'sent by big.test' });
const store = { domains: { findVerifiedHolder: async (name: string) => (name === 'acme.test' ? HOLDER : null) } };
const TLS_REPORT = {
  'organization-name': 'Big & Co',
  'date-range': { 'start-datetime': '2026-11-20T00:00:00Z', 'end-datetime': '2026-11-20T23:59:59Z' },
  'contact-info': 'tls@big.test',
  'report-id': '2026-11-20_acme.test',
  policies: [
    {
      policy: { 'policy-type': 'sts', 'policy-domain': 'Acme.test' },
      summary: { 'total-successful-session-count': 12, 'total-failure-session-count': 3 },
    },
    { policy: { 'policy-domain': 'acme.test' }, summary: { 'total-successful-session-count': 1 } },
  ],
};
const TLS_JSON = Buffer.from(JSON.stringify(TLS_REPORT));

function mailOf(content: string): WaitingInboundMail {
  const envelope = { id: '', receivedAt: Date.now(), remoteIp: '', ehloName: '', tls: null, mailFrom: 'a@big.test' };
  return {
    ...envelope,
    recipients: ['dmarc@b.test'],
    slot: 1,
    seq: 1,
    tries: 0,
    content: Buffer.from(content, 'latin1'),
  };
}

const reader = new DmarcReader({ store, limits, proveSender });

function verdictOn(content: string) {
  return reader
    .read(mailOf(content))
    .then((update) => update && { ...update.verdict, action: update.action?.do, rows: rowsIn(update.action) });
}

function rowsIn(action: InboundAction | null | undefined): DmarcReportRow[] | undefined {
  return action?.do === 'dmarc' ? action.report.rows : undefined;
}

function partsOf(...parts: [type: string, body: Buffer][]): string {
  const texts = parts.map(
    ([type, body]) =>
      `--b\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: base64\r\n\r\n${body.toString('base64')}\r\n`,
  );
  return `From: a@big.test\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n${texts.join('')}--b--\r\n`;
}

t.test('reports are found in whatever form they come', async (t) => {
  const xml = Buffer.from(dmarcXml({}));
  for (const [name, mail] of Object.entries({
    gzip: dmarcMail(gzipSync(xml)),
    'gzip with octets behind it': dmarcMail(Buffer.concat([gzipSync(xml), Buffer.from('\r\nscanned by a gateway')])),
    zip: dmarcMail(zipOf('r.xml', xml, deflateRawSync(xml), 8), 'application/zip'),
    'plain XML behind a comment': dmarcMail(Buffer.concat([Buffer.from('\ufeff<!-- made by us -->'), xml]), 'text/xml'),
    'UTF-16, little end first': dmarcMail(Buffer.from(`\ufeff${xml}`, 'utf16le'), 'text/xml'),
    'UTF-16, packed, big end first': dmarcMail(gzipSync(Buffer.from(`\ufeff${xml}`, 'utf16le').swap16())),
    'a wrapping element': dmarcMail(
      Buffer.from(`<?xml version="1.0"?><reports>${xml.subarray(38)}</reports>`),
      'text/xml',
    ),
    'behind words and another file': partsOf(
      ['text/plain', Buffer.from('This is a DMARC report.')],
      ['application/zip', zipOf('logo.svg', Buffer.from('<svg/>'), Buffer.from('<svg/>'), 0)],
      ['application/gzip', gzipSync(xml)],
    ),
  })) {
    t.match(await verdictOn(mail), { kind: 'dmarc', effect: 'stored', action: 'dmarc' }, name);
  }
});

t.test('what is not stored says why', async (t) => {
  const xml = dmarcXml({});
  const why = async (content: string | Buffer, type?: string) =>
    (await verdictOn(dmarcMail(Buffer.from(content), type)))?.reason;
  t.match(await why(gzipSync('<html>no report</html>')), 'it has no <feedback> element');
  t.match(await why(gzipSync(xml).subarray(0, 100)), 'its compressed data ends in the middle');
  t.match(await why(gzipSync(`<!DOCTYPE a [<!ENTITY b "${'c'.repeat(100)}">]>${xml}`)), 'it declares entities');
  t.match(await why(gzipSync(dmarcXml({ records: [] }))), 'DMARC report of Big & Co on acme.test: it has no record');
  const strange = dmarcXml({ records: [{ headerFrom: 'stranger.test' }] });
  t.match(await why(gzipSync(strange)), 'no tenant sends from the domains in its records');
  t.equal(
    await verdictOn(dmarcMail(Buffer.from('Dear Postmaster, <feedback>'), 'text/plain')),
    null,
    'words are not one',
  );
  t.equal(await verdictOn(dmarcMail(Buffer.from('<html>Hello</html>'), 'text/html')), null);
  t.equal(await verdictOn(dmarcMail(Buffer.from('{"hello": 1}'), 'application/json')), null);
});

t.test('a TLS report is called one', async (t) => {
  const facts = {
    kind: 'report',
    effect: 'kept',
    action: undefined,
    reason: /^TLS report \(RFC 8460\) of Big & Co on acme\.test: 13 sessions succeeded, 3 failed\./,
    finding: { tls_report: { org_name: 'Big & Co', domains: ['acme.test'], succeeded: 13, failed: 3 } },
  };
  const packed = gzipSync(TLS_JSON);
  t.match(await verdictOn(dmarcMail(packed, 'application/tlsrpt+gzip')), facts);
  t.match(await verdictOn(dmarcMail(packed, 'application/gzip')), facts, 'by its content');
  t.match(await verdictOn(dmarcMail(TLS_JSON, 'application/tlsrpt+json')), facts);
  t.match(await verdictOn(dmarcMail(TLS_JSON, 'application/json')), facts);
  const words: [string, Buffer] = ['text/plain', Buffer.from('This is an aggregate TLS report.')];
  t.match(await verdictOn(partsOf(words, ['application/tlsrpt+gzip', packed])), facts);

  const unreadable = async (content: Buffer, type: string) => (await verdictOn(dmarcMail(content, type)))?.reason;
  t.match(
    await unreadable(packed.subarray(0, 40), 'application/tlsrpt+gzip'),
    'a TLS report (RFC 8460) that cannot be read: its compressed data ends in the middle',
  );
  t.match(await unreadable(Buffer.from('[]'), 'application/tlsrpt+json'), 'it is not the JSON that RFC 8460 describes');
  const long = Buffer.from(`{"a": "${' '.repeat(2 * 1024 * 1024)}"}`);
  t.match(await unreadable(gzipSync(long), 'application/tlsrpt+gzip'), 'it is larger than 2 MiB');
  const odd = { ...TLS_REPORT, policies: [null, 1, { policy: 'x', summary: { 'total-failure-session-count': -1 } }] };
  t.match(await unreadable(Buffer.from(JSON.stringify(odd)), 'application/json'), /on no domain: 0 sessions/);
});

t.test('many bombs in one mail are unpacked only so far', async (t) => {
  const bomb: [string, Buffer] = ['application/gzip', gzipSync(Buffer.alloc(26 * 1024 * 1024))];
  const verdict = await verdictOn(partsOf(...Array.from({ length: 100 }, () => bomb)));
  t.match(verdict, { effect: 'kept', reason: /it unpacks to more than 25 MiB/ });
});

t.test('files of many mails are read one at a time, and DNS is queried for many at once', async (t) => {
  let [atOnce, most, proving] = [0, 0, 0];
  const allProve = Promise.withResolvers<void>();
  const counting = new DmarcReader({
    store: {
      domains: {
        async findVerifiedHolder() {
          most = Math.max(most, ++atOnce);
          await nextTurn();
          atOnce--;
          return HOLDER;
        },
      },
    },
    limits,
    async proveSender() {
      if (++proving === MAILS) allProve.resolve();
      await allProve.promise;
      return { domain: null, reason: 'sent by anyone' };
    },
  });
  const content = dmarcMail(gzipSync(dmarcXml({})));
  const outcomes = await Promise.all(Array.from({ length: MAILS }, () => counting.read(mailOf(content))));
  t.equal(most, 1);
  t.match(outcomes, Array(MAILS).fill({ verdict: { effect: 'stored' } }));
});

t.test('a stop finishes the mail that is being read, and leaves those behind it', async (t) => {
  const [begun, found] = [Promise.withResolvers<void>(), Promise.withResolvers<Domain>()];
  const stopping = new DmarcReader({
    store: {
      domains: {
        findVerifiedHolder() {
          begun.resolve();
          return found.promise;
        },
      },
    },
    limits,
    proveSender,
  });
  const content = dmarcMail(gzipSync(dmarcXml({})));
  const [first, ...others] = Array.from({ length: MAILS }, () => stopping.read(mailOf(content)));
  const left = others.map((one) => t.rejects(one, /the daemon is stopping/));
  await begun.promise;
  stopping.stop();
  found.resolve(HOLDER);
  t.match(await first, { verdict: { effect: 'stored' } });
  await Promise.all(left);
});

t.test('while DNS is queried, what was read of a file is held, and not the file', async (t) => {
  let proving = 0;
  const [allProve, proven] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = new DmarcReader({
    store: { domains: { findVerifiedHolder: async () => HOLDER } },
    limits,
    async proveSender() {
      if (++proving === MAILS) allProve.resolve();
      await proven.promise;
      return { domain: null, reason: 'sent by anyone' };
    },
  });
  const xml = dmarcXml({ records: [{ headerFrom: 'a-long-name.acme.test', sourceIp: '2001:db8:1:2:3:4:5:6' }] });
  const content = dmarcMail(gzipSync(`${xml}<!--${'x'.repeat(20 * MIB)}-->`));
  const before = heapAfterCollection();
  const reading = Array.from({ length: MAILS }, () => slow.read(mailOf(content)));
  await allProve.promise;
  const heldBytes = heapAfterCollection() - before;
  proven.resolve();
  t.match(await Promise.all(reading), Array(MAILS).fill({ verdict: { effect: 'stored' } }));
  t.ok(heldBytes < 10 * MIB, `${(heldBytes / MIB).toFixed(1)} MiB held`);
});

/** Strings are on the heap. */
function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

t.test('small mails that unpack to millions of tags end soon, and say why', async (t) => {
  const why = async (...files: string[]) => {
    const parts = files.map((file): [string, Buffer] => ['application/gzip', gzipSync(file)]);
    return (await verdictOn(partsOf(...parts)))?.reason;
  };
  const bomb = `<feedback>${'<x></x>'.repeat(3_000_000)}`;
  t.match(await why(bomb), 'the DMARC report is not usable: it has more than 10000 tags outside its records');
  t.match(await why(bomb, dmarcXml({})), 'not usable', 'nothing is examined after a large file');
  t.match(await why('<feedback>', dmarcXml({})), /^DMARC report of Big & Co/, 'it is after a small one');
});

t.test('what is no report is known by its beginning', async (t) => {
  const written = '=41'.repeat(2 * MIB);
  const costOf = async (encoding: string) => {
    const time = new ProcessorTime();
    const part = `--b\r\nContent-Type: text/plain\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${written}\r\n`;
    const mail = `Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}--b--\r\n`;
    t.equal(await verdictOn(mail), null);
    return time.usedMs;
  };
  const leastOf = async (encoding: string) =>
    Math.min(await costOf(encoding), await costOf(encoding), await costOf(encoding));
  const [plain, quoted] = [await leastOf('8bit'), await leastOf('quoted-printable')];
  t.ok(quoted < 2 * plain + 20, `${quoted} ms of processor time, and ${plain} ms without an encoding`);
});
