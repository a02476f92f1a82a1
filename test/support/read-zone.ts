// Lines of a zone file as another program reads them: Perl's Net::DNS.
import { spawnSync } from 'node:child_process';

export const NO_ZONE_READER =
  spawnSync('perl', ['-MNet::DNS::ZoneFile', '-e', '1']).status === 0
    ? false
    : 'Net::DNS is missing: apt-get install libnet-dns-perl';

const PROGRAM = `use Net::DNS::ZoneFile; local $/; my $zone = <STDIN>;
  for my $rr (Net::DNS::ZoneFile->parse(\\$zone)) {
    print join("\\t", $rr->owner, $rr->type, unpack('H*', $rr->type eq 'TXT' ? $rr->rdata : $rr->rdstring)), "\\n";
  }`;

/** Name, type and value of each record; the strings of a TXT record are joined. */
export function readZone(zone: string): [name: string, type: string, value: string][] {
  const { status, stdout, stderr } = spawnSync('perl', ['-e', PROGRAM], { input: zone, encoding: 'utf8' });
  if (status !== 0) throw new Error(stderr);
  const lines = stdout.trim() === '' ? [] : stdout.trim().split('\n');
  return lines.map((line) => {
    const [owner = '', type = '', hex = ''] = line.split('\t');
    const data = Buffer.from(hex, 'hex');
    return [owner, type, type === 'TXT' ? joined(data) : data.toString()];
  });
}

/** RFC 1035 section 3.3.14: each string with its length in front. */
function joined(rdata: Buffer): string {
  const parts: Buffer[] = [];
  for (let at = 0; at < rdata.length; at += rdata[at]! + 1) parts.push(rdata.subarray(at + 1, at + 1 + rdata[at]!));
  return Buffer.concat(parts).toString();
}
