// DMARC aggregate reports as receivers send them: the XML, a zip archive around it, a mail around that.
import { crc32 } from 'node:zlib';

const DAY_MS = 24 * 60 * 60 * 1000;

export interface DmarcRow {
  count?: number;
  dkim?: string;
  headerFrom?: string;
  sourceIp?: string;
}

export function dmarcXml({
  domain = 'acme.test',
  id = '4711',
  records = [{}],
  beginsAt = Date.now() - 2 * DAY_MS,
  endsAt = beginsAt + DAY_MS,
  orgName = 'Big &amp; Co',
}: {
  domain?: string;
  id?: string;
  records?: DmarcRow[];
  beginsAt?: number;
  endsAt?: number;
  orgName?: string;
}): string {
  const rows = records.map(
    ({ count = 1, dkim = 'pass', headerFrom = 'acme.test', sourceIp = '192.0.2.1' }) => `<record>
    <row><source_ip>${sourceIp}</source_ip><count>${count}</count>
      <policy_evaluated><disposition>none</disposition><dkim>${dkim}</dkim><spf>fail</spf></policy_evaluated></row>
    <identifiers><header_from>${headerFrom}</header_from></identifiers>
    <auth_results><dkim><domain>${headerFrom}</domain><result>pass</result></dkim></auth_results>
  </record>`,
  );
  return `<?xml version="1.0" encoding="UTF-8" ?>
<feedback>
  <report_metadata><org_name>${orgName}</org_name><email>dmarc@big.test</email><report_id>${id}</report_id>
    <date_range><begin>${secs(beginsAt)}</begin><end>${secs(endsAt)}</end></date_range></report_metadata>
  <policy_published><domain>${domain}</domain><adkim>r</adkim><aspf>r</aspf><p>none</p><pct>100</pct></policy_published>
  ${rows.join('\n  ')}
</feedback>
`;
}

function secs(ms: number): number {
  return Math.floor(ms / 1000);
}

/** One file; `packed` is what stands in the archive. */
export function zipOf(name: string, content: Buffer, packed: Buffer, method: 0 | 8): Buffer {
  const facts = Buffer.alloc(26);
  facts.writeUInt16LE(20, 0); // version needed
  facts.writeUInt16LE(method, 4);
  facts.writeUInt32LE(crc32(content), 10);
  facts.writeUInt32LE(packed.length, 14);
  facts.writeUInt32LE(content.length, 18);
  facts.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), facts, Buffer.from(name), packed]);
  const entry = Buffer.concat([
    Buffer.from('PK\x01\x02\x14\x00', 'latin1'),
    facts,
    Buffer.alloc(14), // comment, disk, attributes, and the place of the local header: 0
    Buffer.from(name),
  ]);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(1, 8);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length, 16);
  return Buffer.concat([local, entry, end]);
}

export function dmarcMail(attachment: Buffer, type = 'application/gzip'): string {
  return [
    'From: noreply-dmarc@big.test',
    'To: dmarc@bounces.mail.postrider.test',
    'Subject: Report domain: acme.test Submitter: big.test Report-ID: 4711',
    'MIME-Version: 1.0',
    `Content-Type: ${type}; name="big.test!acme.test!1795000000!1795086399.xml.gz"`,
    'Content-Transfer-Encoding: base64',
    '',
    attachment.toString('base64').replace(/.{76}/g, '$&\r\n'),
    '',
  ].join('\r\n');
}
