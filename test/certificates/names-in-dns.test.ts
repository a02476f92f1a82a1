// Which names have no address: asked of the machine's resolver and of the zones' own servers, both real.
import t from 'tap';
import { systemClock } from '../../src/base/clock.ts';
import { namesWithoutAddress } from '../../src/certificates/names-in-dns.ts';
import { createAuthority } from '../../src/protocol/dns/lookup/authority.ts';
import { createResolver } from '../../src/protocol/dns/lookup/resolver.ts';
import { startDnsServer } from '../support/dns-server.ts';
import { patience } from '../support/patience.ts';

t.test('an address in either view of DNS is enough, and no answer is no verdict', async (t) => {
  const [dns, inside] = [await startDnsServer(), await startDnsServer()];
  t.teardown(() => dns.close());
  dns.addZone('a.test');
  dns.set('four.a.test', 'A', ['192.0.2.1']);
  dns.set('six.a.test', 'AAAA', ['2001:db8::1']);
  dns.set('text.a.test', 'TXT', ['no address']);
  inside.set('inside.a.test', 'A', ['10.0.0.1']);
  const resolverOf = ({ endpoint }: { endpoint: string }) =>
    createResolver({ servers: [endpoint], clock: systemClock, timeoutMs: patience(2000) });
  const outside = createAuthority({ resolver: resolverOf(dns), authorityPort: dns.port, allowPrivate: true }).records;
  const names = ['four.a.test', 'six.a.test', 'text.a.test', 'gone.a.test', 'inside.a.test'];
  const missing = (resolver: typeof dns) =>
    namesWithoutAddress(names, { resolver: resolverOf(resolver), authority: outside });
  t.same(await missing(dns), ['text.a.test', 'gone.a.test', 'inside.a.test']);
  t.same(await missing(inside), ['text.a.test', 'gone.a.test']);
  await inside.close();
  t.same(await missing(inside), [], 'the resolver is silent: the directory decides');
});
