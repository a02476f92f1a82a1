// store.url, as people write it.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { describeServer, parseServerAddress } from '../../../src/store/postgres/engine/server-address.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('what is understood', async (t) => {
  const plain = parseServerAddress('postgres://post:s%40fe@db.test/mail');
  t.match(plain, { hosts: [{ host: 'db.test', port: 5432 }], user: 'post', database: 'mail' });
  t.equal(plain.password(), 's@fe');
  t.match(plain.tls, { optional: true, options: { rejectUnauthorized: false } }, 'TLS where the server has it');
  t.equal(describeServer(plain), 'mail at db.test:5432');
  const { hosts } = parseServerAddress('postgresql://post@one.test:5433,[2001:db8::1]:6000,192.0.2.1/mail?port=5434');
  t.strictSame(hosts, [
    { host: 'one.test', port: 5433 },
    { host: '2001:db8::1', port: 6000 },
    { host: '192.0.2.1', port: 5434 },
  ]);
  t.match(parseServerAddress('postgres://post@/mail?host=/run/postgresql').hosts, [{ host: '/run/postgresql' }]);
});

t.test('a password in a file is read each time', async (t) => {
  const file = path.join(testFolder(t), 'pass word');
  const { password } = parseServerAddress(`postgres://post@db.test/mail?password_file=${encodeURIComponent(file)}`);
  t.throws(password, /^store\.password_file can't be read: .*no such file/);
  for (const text of ['p@ss/$1 ü\nignored\n', 'another\r\n']) {
    fs.writeFileSync(file, text);
    t.equal(password(), text.split(/\r?\n/)[0]);
  }
  fs.writeFileSync(file, Buffer.from('pässword', 'latin1'));
  t.throws(password, /^store\.password_file can't be read: it is not UTF-8 text$/);
});

t.test('how much TLS proves', async (t) => {
  const tls = (mode: string) => parseServerAddress(`postgres://post@db.test/mail?sslmode=${mode}`).tls;
  t.equal(tls('disable'), null);
  t.match(tls('require'), { optional: false, options: { rejectUnauthorized: false } });
  t.match(tls('verify-ca'), { optional: false, options: { rejectUnauthorized: true, checkServerIdentity: Function } });
  const full = tls('verify-full');
  t.match(full, { optional: false, options: { rejectUnauthorized: true } });
  t.notOk(full!.options.checkServerIdentity, "Node's own check of the name");
});

t.test('what is refused, and why', async (t) => {
  const refused = (url: string, message: RegExp) =>
    t.throws(() => parseServerAddress(url), { name: 'Fault', permanence: 'permanent', message }, url);
  refused('mysql://post@db.test/mail', /must look like postgres:\/\/user:password@host:5432\/database/);
  refused('postgres://db.test/mail', /no user name/);
  refused('postgres://post@db.test/', /no database name/);
  refused('postgres:///mail', /no user name/);
  refused('postgres://post@/mail', /no host/);
  refused('postgres://post@db.test:0/mail', /"db.test:0" has no valid port/);
  refused('postgres://post@db.test:99999/mail', /no valid port/);
  refused('postgres://post@db.test/mail?ssl_mode=require', /the parameter "ssl_mode"; known are .*sslmode/);
  refused('postgres://post@db.test/mail?sslmode=on', /sslmode "on" must be one of disable, prefer/);
  refused(
    'postgres://post@db.test/mail?sslrootcert=/no/such.pem',
    /sslrootcert \/no\/such.pem can't be read: no such file/,
  );
  refused('postgres://post:100%@db.test/mail', /percent sign/);
  t.throws(() => parseServerAddress('postgres://post:secret@db.test'), { message: /^(?!.*secret)/ }, 'no password');
});
