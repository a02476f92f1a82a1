// The addresses of the root's name servers, as data.
import { isIPv4, isIPv6 } from 'node:net';
import t from 'tap';
import { isPublicAddress } from '../../../src/protocol/dns/addresses/private-address.ts';
import { ROOT_HINTS } from '../../../src/protocol/dns/lookup/root-hints.ts';

t.test('thirteen servers, each with a public address of either family', async (t) => {
  t.same(
    ROOT_HINTS.map(({ name }) => name),
    [...'abcdefghijklm'].map((letter) => `${letter}.root-servers.net`),
  );
  const ips = ROOT_HINTS.flatMap((hint) => hint.ips);
  t.equal(new Set(ips).size, 26, 'none twice');
  for (const { name, ips } of ROOT_HINTS) {
    t.equal(ips.filter(isIPv4).length, 1, name);
    t.equal(ips.filter(isIPv6).length, 1, name);
    t.ok(ips.every(isPublicAddress), name);
  }
});
