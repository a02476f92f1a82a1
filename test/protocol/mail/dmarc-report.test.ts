// DMARC aggregate reports: what they say, what they come packed in, and what is refused.
import { deflateRawSync, gzipSync } from 'node:zlib';
import t from 'tap';
import { readDmarcReport, scanDmarcReport } from '../../../src/protocol/mail/reports/dmarc-report.ts';
import { unpack } from '../../../src/protocol/mail/reports/packed-file.ts';
import { dmarcXml, zipOf } from '../../support/dmarc-mail.ts';

const MIB = 1024 * 1024;

const DAY = { beginsAt: 1_795_000_000_000, endsAt: 1_795_086_399_000 };

t.test('a report', async (t) => {
  const xml = dmarcXml({
    ...DAY,
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
  const xml = dmarcXml(DAY);
  const refused = (text: string) => {
    const reading = readDmarcReport(text);
    return reading.ok ? 'taken' : reading.reason;
  };
  const doctype = '<?xml version="1.0"?><!DOCTYPE feedback [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>';
  t.match(refused(doctype + xml), 'declares entities');
  t.match(refused(xml.replace('<report_metadata>', '<!ENTITY a "aaaa"><report_metadata>')), 'declares entities');
  t.match(refused(xml.slice(0, -20)), 'ends in the middle');
  t.match(refused(xml.replace('</record>', '</recrod>')), '</feedback> comes before </record>');
  t.match(refused(`<feedback>${'<a>'.repeat(1000)}`), 'too deep');
  t.equal(
    refused('<feedback></feedback>'),
    'it has no date_range, no policy_published/domain, no report_id, no org_name',
  );
  t.equal(refused(xml.replace('<domain>acme.test</domain>', '')), 'it has no policy_published/domain');
  t.equal(refused(xml.replace('<begin>1795000000</begin>', '')), 'it has no date_range');
  const asWords = xml.replace('1795000000', '2026-11-18T10:00:00Z');
  t.match(refused(asWords), 'its date_range, 2026-11-18T10:00:00Z to 1795086399, is not two times in seconds');
  t.match(refused(xml.replace('192.0.2.1', '')), 'none of its 1 records has an address as source_ip');
  for (const other of ['', 'Dear Postmaster,', '<html><p>a < b</p></html>', '{"policies": []}']) {
    t.equal(refused(other), 'it has no <feedback> element', other);
  }
  t.match(refused('<!-- <feedback>'), 'ends in the middle');
  t.match(refused(`<!DOCTYPE feedback [<!ELEMENT feedback ANY>${xml}`), 'ends in the middle');
});

t.test('whatever stands around <feedback>, the report is read', async (t) => {
  const [prolog, ...lines] = dmarcXml({}).split('\n');
  const feedback = lines.join('\n');
  const plain = readDmarcReport(feedback);
  t.match(plain, { ok: true });
  for (const [name, xml] of Object.entries({
    'a byte order mark': `\ufeff${prolog}\n${feedback}`,
    'comments that name it': `<!-- <feedback> --><!---->${feedback}<!-- </feedback> -->`,
    'a DOCTYPE': `${prolog}<!DOCTYPE feedback SYSTEM "http://a.test/x>y.dtd">${feedback}`,
    'a DOCTYPE with a subset': `<!DOCTYPE feedback [<!-- ]> ' --><!ELEMENT feedback ANY><!ATTLIST a b CDATA "]>">]>${feedback}`,
    'a schema that is not closed': `${prolog}<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema">${feedback}`,
    'elements around it': `<mail><attachment type="xml">${feedback}</attachment></mail>`,
    'an end that closes nothing within it': feedback.replace('<record>', '</xs:schema><record>'),
    'words before and behind it': `Report follows: 1 < 2\n${feedback}\n-- \nBig & Co <unclosed`,
  })) {
    t.strictSame(readDmarcReport(xml), plain, name);
  }
});

t.test('entities are never expanded', async (t) => {
  const reading = readDmarcReport(dmarcXml({ id: '&lol;&#65;&amp;' }));
  t.match(reading, { report: { reportId: '&lol;&#65;&' } });
});

t.test('a large report lets others go on', async (t) => {
  const scan = scanDmarcReport(dmarcXml({ records: Array.from({ length: 2_000 }, () => ({})) }));
  let turns = 0;
  for (let step = scan.next(); !step.done; step = scan.next()) turns++;
  t.ok(turns > 5, `${turns} turns`);
});

t.test('the number of tags is limited, and the largest honest report is below the limit', async (t) => {
  const read = (xml: string) => {
    const scan = scanDmarcReport(xml);
    let turns = 0;
    for (let step = scan.next(); ; step = scan.next(), turns++) if (step.done) return { turns, reading: step.value };
  };
  const whole = dmarcXml({ records: [{}] }).replace(/>\s+</g, '><');
  const [record = ''] = /<record>.*<\/record>/.exec(whole) ?? [];
  const spf = '<spf><domain>acme.test</domain><scope>mfrom</scope><result>pass</result></spf></auth_results>';
  const many = (count: number, one = record) => whole.replace(record, () => one.repeat(count));
  const largest = many(50_000, record.replace('</auth_results>', spf));
  t.match(read(largest), { reading: { report: { records: { length: 50_000 } } } }, `${largest.length} bytes`);
  const signatures = record.replace(/<dkim><domain>.*<\/dkim>/, (signature) => signature.repeat(100));
  t.match(read(many(500, signatures)), { reading: { ok: true } }, 'a hundred signatures on each mail');

  const inARecord = / 10000 tags in one record$/;
  const outside = / 10000 tags outside its records$/;
  const filled = record.replace('</record>', `${'<x/>'.repeat(4_000)}</record>`);
  for (const [name, xml, reason, turns] of [
    ['elements without content', `<feedback>${'<x></x>'.repeat(1e6)}`, outside, 3],
    ['elements with many names', `<feedback>${numbered(1e5)}`, outside, 3],
    ['elements in a record', whole.replace('<record>', `<record>${'<x/>'.repeat(1e6)}`), inARecord, 3],
    ['before the report', '<x>'.repeat(1e6) + whole, outside, 3],
    ['comments', `<feedback>${'<!---->'.repeat(1e6)}`, outside, 3],
    ['a DOCTYPE', `<!DOCTYPE feedback [${'""'.repeat(1e6)}]>${whole}`, outside, 3],
    ['records without content', many(60_000, '<record/>'), 'it has more than 50000 records', 21],
    ['records full of elements', many(500, filled), 'it has more than 2000000 tags', 401],
  ] as const) {
    const result = read(xml);
    t.match(result.reading, { ok: false, reason }, name);
    t.ok(result.turns <= turns, `${name}: ${result.turns} turns`);
  }
});

function numbered(count: number): string {
  return Array.from({ length: count }, (_, number) => `<x${number}>y</x${number}>`).join('');
}

t.test('what it comes packed in', async (t) => {
  const xml = Buffer.from(dmarcXml({}));
  const content = { kind: 'content', content: xml };
  t.strictSame(await unpack(gzipSync(xml), MIB), content);
  t.strictSame(await unpack(zipOf('r.xml', xml, deflateRawSync(xml), 8), MIB), content);
  t.strictSame(await unpack(zipOf('r.xml', xml, xml, 0), MIB), content, 'stored');
  t.equal(await unpack(xml, MIB), null, 'not at all');
  t.equal(await unpack(Buffer.from('Dear Postmaster,'), MIB), null);
  t.equal(await unpack(Buffer.alloc(0), MIB), null);
});

t.test('gzip data with octets behind it is read', async (t) => {
  const xml = Buffer.from(dmarcXml({}));
  const content = { kind: 'content', content: xml };
  const named = Buffer.from(gzipSync(xml));
  // FEXTRA, FNAME, FCOMMENT and FHCRC: RFC 1952 section 2.3.1.
  named[3] = 4 | 8 | 16 | 2;
  const fields = Buffer.concat([Buffer.from([3, 0, 1, 2, 3]), Buffer.from('r.xml\0a comment\0'), Buffer.from([9, 9])]);
  const withFields = Buffer.concat([named.subarray(0, 10), fields, named.subarray(10)]);
  for (const [name, behind] of Object.entries({
    'a line end': Buffer.from('\n'),
    'a blank line': Buffer.from('\r\n\r\n'),
    zeros: Buffer.alloc(100),
    words: Buffer.from('-- scanned by a gateway'),
    'the beginning of more': gzipSync('x').subarray(0, 12),
    'a damaged second one': Buffer.concat([gzipSync('x').subarray(0, 10), Buffer.alloc(20, 0xff)]),
  })) {
    t.strictSame(await unpack(Buffer.concat([gzipSync(xml), behind]), MIB), content, name);
    const unpacked = await unpack(Buffer.concat([withFields, behind]), MIB);
    t.strictSame(unpacked, content, `${name}, behind a header with all fields`);
  }
  t.strictSame(await unpack(Buffer.concat([gzipSync('one, '), gzipSync('two')]), MIB), {
    kind: 'content',
    content: Buffer.from('one, two'),
  });
  const damaged = gzipSync(xml);
  damaged[damaged.length - 6]! ^= 1;
  const refused = { kind: 'refused', reason: 'its compressed data is damaged' };
  t.strictSame(await unpack(Buffer.concat([damaged, Buffer.from('words')]), MIB), refused, 'only what is whole');
  const bomb = Buffer.concat([gzipSync(Buffer.alloc(2 * MIB)), Buffer.from('words')]);
  t.strictSame(await unpack(bomb, MIB), { kind: 'refused', reason: 'it unpacks to more than 1 MiB' });
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
  t.match(await unpack(gzipSync('x').subarray(0, 12), MIB), { reason: 'its compressed data ends in the middle' });
  t.match(await unpack(zip.subarray(0, 30), MIB), { reason: 'the zip archive has no directory' });
  const encrypted = Buffer.from(zip);
  encrypted.writeUInt16LE(1, zip.lastIndexOf(Buffer.from('PK\x01\x02', 'latin1')) + 8);
  t.match(await unpack(encrypted, MIB), { kind: 'refused', reason: /encrypted/ });
});
