// DMARC aggregate reports: what they say, what they come packed in, and what is refused.
import { deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { readDmarcReport, scanDmarcReport } from '../../../src/protocol/mail/dmarc-report.ts';
import { unpack } from '../../../src/protocol/mail/packed-file.ts';
import { dmarcXml, zipOf } from '../../support/dmarc-mail.ts';

const MIB = 1024 * 1024;

t.test('a report', async (t) => {
  const xml = dmarcXml({
    domain: 'Acme.test',
    records: [{ count: 3 }, { count: 2, dkim: 'fail', headerFrom: 'news.acme.test' }],
  });
  const reading = readDmarcReport(xml);
  t.strictSame(reading, {
    ok: true,
    report: {
      orgName: 'Big & Co',
      reportId: '4711',
      beginsAt: 1_795_000_000_000,
      endsAt: 1_795_086_399_000,
      policy: { domain: 'acme.test', p: 'none', sp: '', adkim: 'r', aspf: 'r', pct: '100' },
      records: [
        { sourceIp: '192.0.2.1', messages: 3, disposition: 'none', dkim: 'pass', spf: 'fail', headerFrom: 'acme.test' },
        {
          sourceIp: '192.0.2.1',
          messages: 2,
          disposition: 'none',
          dkim: 'fail',
          spf: 'fail',
          headerFrom: 'news.acme.test',
        },
      ],
    },
  });
  const prefixed = xml.replace(/<(\/?)([a-z])/g, '<$1d:$2').replace('<d:feedback', '<d:feedback xmlns:d="urn:x"');
  t.strictSame(readDmarcReport(prefixed), reading, 'with a namespace');
  t.strictSame(readDmarcReport(xml.replace('4711', '<![CDATA[4711]]><!-- not 4712 -->')), reading, 'in other words');
});

t.test('what is refused', async (t) => {
  const xml = dmarcXml({});
  const refused = (text: string) => {
    const reading = readDmarcReport(text);
    return reading.ok ? 'taken' : reading.reason;
  };
  const doctype = '<?xml version="1.0"?><!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';
  t.match(refused(doctype + xml), 'DOCTYPE');
  t.match(refused(xml.slice(0, -20)), 'ends in the middle');
  t.match(refused(xml.replace('</record>', '</recrod>')), 'closes nothing');
  t.match(refused(`<feedback>${'<a>'.repeat(1000)}`), 'too deep');
  t.match(refused('<feedback></feedback>'), 'which time');
  t.match(refused(xml.replace('<domain>acme.test</domain>', '')), 'no policy_published/domain');
  t.match(refused(''), 'which time');
});

t.test('a large report lets others go on', async (t) => {
  const scan = scanDmarcReport(dmarcXml({ records: Array.from({ length: 2_000 }, () => ({})) }));
  let turns = 0;
  for (let step = scan.next(); !step.done; step = scan.next()) turns++;
  t.ok(turns > 5, `${turns} turns`);
});

t.test('what it comes packed in', async (t) => {
  const xml = Buffer.from(dmarcXml({}));
  const content = { kind: 'content', content: xml };
  t.strictSame(await unpack(gzipSync(xml), MIB), content);
  t.strictSame(await unpack(zipOf('r.xml', xml, deflateRawSync(xml), 8), MIB), content);
  t.strictSame(await unpack(zipOf('r.xml', xml, xml, 0), MIB), content, 'stored');
  t.strictSame(await unpack(xml, MIB), content, 'not at all');
  t.equal(await unpack(Buffer.from('Dear Postmaster,'), MIB), null);
  t.equal(await unpack(Buffer.alloc(0), MIB), null);
});

t.test('bombs and rubble', async (t) => {
  const zeros = Buffer.alloc(30 * MIB);
  for (const [name, packed] of Object.entries({
    gzip: gzipSync(zeros),
    zip: zipOf('r.xml', zeros, deflateRawSync(zeros), 8),
    'a zip that lies': zipOf('r.xml', Buffer.from('x'), deflateRawSync(zeros), 8),
  })) {
    t.ok(packed.length < MIB, `${name} is small`);
    t.match(await unpack(packed, 25 * MIB), { kind: 'refused', reason: 'it unpacks to more than 25 MiB' }, name);
  }
  const zip = zipOf('r.xml', Buffer.from('x'), deflateRawSync(Buffer.from('x')), 8);
  for (let cut = 4; cut < zip.length; cut++) {
    t.match(await unpack(zip.subarray(0, cut), MIB), { kind: 'refused' }, `cut at ${cut}`);
  }
  t.match(await unpack(gzipSync('x').subarray(0, 12), MIB), { kind: 'refused' });
  const encrypted = Buffer.from(zip);
  encrypted.writeUInt16LE(1, zip.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 8);
  t.match(await unpack(encrypted, MIB), { kind: 'refused', reason: /encrypted/ });
});
