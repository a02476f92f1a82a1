import net from 'node:net';
import t from 'tap';
import { describeError, Fault } from '../../src/base/errors.ts';
import { listenFault, systemTrouble, systemWords } from '../../src/base/text/system-words.ts';

function refusal(code: string, syscall = 'open') {
  return Object.assign(new Error(`${code}: as Node says it, ${syscall} '/a/file'`), { code, syscall, path: '/a/file' });
}

t.test('what the system refuses is said without codes', async (t) => {
  t.equal(systemWords(refusal('EISDIR')), 'it is a folder');
  t.equal(systemTrouble(refusal('ENOENT')), '/a/file: no such file or folder');
  t.equal(systemTrouble(new Error('something else')), 'something else');
  t.equal(systemTrouble(new Fault('ours', { cause: refusal('ENOENT') })), 'ours');
  t.equal(systemTrouble('thrown'), 'thrown');
});

t.test('a listener names its settings and what to do', async (t) => {
  const at = { host: '127.0.0.1', port: 25 };
  const said = (code: string) => describeError(listenFault('smtp', at, refusal(code, 'listen')));
  t.match(
    said('EADDRINUSE'),
    /^smtp\.host, smtp\.port: cannot listen on 127\.0\.0\.1:25 \(another program uses this port .* smtp\.port \(environment variable POSTRIDER_SMTP_PORT\)/,
  );
  t.match(said('EACCES'), /CAP_NET_BIND_SERVICE, .*: start the daemon with it, or choose another smtp\.port/);
  t.match(said('EADDRNOTAVAIL'), /this machine has no such address: choose another smtp\.host/);
  t.match(said('EMFILE'), /cannot listen on 127\.0\.0\.1:25 \(EMFILE/);
  const other = new Error('a certificate');
  t.equal(listenFault('http', at, other), other);
  const taken = net.createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  t.teardown(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const error = await new Promise<unknown>((resolve) => {
    net.createServer().once('error', resolve).listen(port, '127.0.0.1');
  });
  t.match(listenFault('http', { host: '127.0.0.1', port }, error), Fault);
});
