// How our own addresses are written in the configuration.
import t from 'tap';
import { loadConfig } from '../../src/config/load.ts';
import { readSourceAddress, sourcePool, writeSourceAddress } from '../../src/config/source-address.ts';

t.test('an address with its name, and what may follow', async (t) => {
  t.same(readSourceAddress('192.0.2.10 Out1.Example.com'), {
    ip: '192.0.2.10',
    family: 4,
    ehloName: 'out1.example.com',
    weight: 1,
    warm: false,
  });
  t.match(readSourceAddress('  2001:DB8:0::10   out1.example.com  warm weight=20 '), {
    ip: '2001:db8::10',
    family: 6,
    weight: 20,
    warm: true,
  });
});

t.test('what is not written like that', async (t) => {
  const bad = [
    '',
    '192.0.2.10',
    'out1.example.com',
    '192.0.2.300 a.example',
    'fe80::1%eth0 a.example',
    '192.0.2.1 single',
  ];
  bad.push('192.0.2.1 a.example weight=0', '192.0.2.1 a.example weight=1001', '192.0.2.1 a.example hot');
  bad.push('192.0.2.1 a..example', '192.0.2.1 -a.example', '192.0.2.1 a_b.example');
  for (const text of bad) t.equal(readSourceAddress(text), null, text);
});

t.test('a list in the environment is the list of a file', async (t) => {
  const texts = ['192.0.2.10 out1.example.com weight=2 warm', '2001:db8::10 out2.example.com'];
  const env = {
    POSTRIDER_DELIVERY_SOURCE_ADDRESSES: texts.join(', '),
    POSTRIDER_DELIVERY_SOURCE_RAMP: '10, 20,30',
  };
  const { delivery } = loadConfig({ env, defaultFile: null }).config;
  t.same(delivery.source_addresses, texts);
  t.same(sourcePool(delivery.source_addresses).map(writeSourceAddress), texts);
  t.same(delivery.source_ramp, [10, 20, 30]);
  const { config } = loadConfig({ env: { POSTRIDER_DELIVERY_SOURCE_RAMP: '' }, defaultFile: null });
  t.same(config.delivery.source_ramp, [], 'no ramp');
});
