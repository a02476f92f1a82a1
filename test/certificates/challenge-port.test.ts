// The plain HTTP port: challenges, redirects to our own names, and nothing else.
import { once } from 'node:events';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import t from 'tap';
import { ChallengeAnswers } from '../../src/certificates/challenge-answers.ts';
import { openChallengePort } from '../../src/certificates/challenge-port.ts';
import { findFreePort } from '../support/free-port.ts';

const origins = new Map([
  ['mail.a.test', 'https://mail.a.test:8443'],
  ['links.a.test', 'https://links.a.test'],
]);

const home = 'https://mail.a.test:8443';

async function open(answers = new ChallengeAnswers(), toHome: string | null = home) {
  const port = await findFreePort();
  const opened = await openChallengePort({ host: '127.0.0.1', port, answers, origins, home: toHome });
  t.teardown(() => opened.close());
  const ask = async (...lines: string[]) => {
    const socket = net.connect(port, '127.0.0.1');
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return text(socket);
  };
  return { answers, port, ask };
}

t.test('challenges are answered as long as they are asked', async (t) => {
  const { answers, ask } = await open();
  const line = 'GET /.well-known/acme-challenge/token HTTP/1.1';
  t.match(await ask(line, 'Host: whatever.test'), /^HTTP\/1.1 404 /);
  answers.put('token', 'token.thumbprint');
  t.match(await ask(line, 'Host: whatever.test'), /^HTTP\/1.1 200 [\s\S]*\r\n\r\ntoken\.thumbprint$/);
  t.match(await ask(line.replace('GET', 'POST'), 'Host: whatever.test'), /^HTTP\/1.1 403 /);
  answers.drop('token');
  t.match(await ask(line, 'Host: whatever.test'), /^HTTP\/1.1 404 /);
});

t.test(
  'what another daemon may answer is looked up, and an answer that cannot be had is not a missing one',
  async (t) => {
    const { answers, ask } = await open(
      new ChallengeAnswers(async (token) => {
        if (token === 'lost') throw new Error('no database');
        return token === 'theirs' ? 'theirs.thumbprint' : null;
      }),
    );
    answers.put('ours', 'ours.thumbprint');
    const asked = (token: string) => ask(`GET /.well-known/acme-challenge/${token} HTTP/1.1`, 'Host: mail.a.test');
    t.match(await asked('ours'), /^HTTP\/1.1 200 [\s\S]*\r\n\r\nours\.thumbprint$/);
    t.match(await asked('theirs'), /^HTTP\/1.1 200 [\s\S]*Content-Type: text\/plain[\s\S]*\r\n\r\ntheirs\.thumbprint$/);
    t.match(await asked('nobodys'), /^HTTP\/1.1 404 /);
    t.match(await asked('lost'), /^HTTP\/1.1 503 /);
  },
);

t.test('browsers are sent to https, to our own names only', async (t) => {
  const { ask } = await open();
  const redirected = await ask('GET /portal?a=b HTTP/1.1', 'Host: MAIL.a.test:80');
  t.match(redirected, /^HTTP\/1.1 308 /);
  t.match(redirected, /\r\nLocation: https:\/\/mail\.a\.test:8443\/portal\?a=b\r\n/);
  t.match(redirected, /\r\nConnection: close\r\n/);
  const location = async (host: string) =>
    /^HTTP\/1.1 308 [\s\S]*\r\nLocation: (.*)\r\n/.exec(await ask('GET /portal HTTP/1.1', `Host: ${host}`))?.[1];
  t.equal(await location('links.a.test'), 'https://links.a.test/portal');
  t.equal(await location('192.0.2.7'), `${home}/portal`, 'whoever types the address');
  t.equal(await location('evil.test'), `${home}/portal`, 'never to a name of theirs');
  const nowhere = await open(undefined, null);
  t.match(await nowhere.ask('GET / HTTP/1.1', 'Host: evil.test'), /^HTTP\/1.1 404 /);
  t.match(await ask('GET http://evil.test/ HTTP/1.1', 'Host: mail.a.test'), /^HTTP\/1.1 404 /);
  t.match(await ask(`GET /${'a'.repeat(3000)} HTTP/1.1`, 'Host: mail.a.test'), /^HTTP\/1.1 414 /);
});

t.test('what carries a secret is refused instead', async (t) => {
  const { ask } = await open();
  const [get, post] = ['GET /domains HTTP/1.1', 'POST /emails HTTP/1.1'];
  t.match(await ask(get, 'Host: mail.a.test', 'Authorization: Bearer x'), /^HTTP\/1.1 403 [\s\S]*replace the key/);
  t.match(await ask(post, 'Host: mail.a.test', 'Content-Length: 0'), /^HTTP\/1.1 403 /);
  t.match(await ask(post, 'Host: 192.0.2.7', 'Content-Length: 0'), /^HTTP\/1.1 403 /);
});

t.test('a port that is taken is a sentence, not a crash', async (t) => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.teardown(() => taken.close());
  const { port } = taken.address() as net.AddressInfo;
  const opening = openChallengePort({ host: '127.0.0.1', port, answers: new ChallengeAnswers(), origins, home });
  await t.rejects(opening, { message: /^tls\.acme_host, tls\.acme_http_port: cannot listen on/ });
});

t.test('answers are limited in number', async (t) => {
  const answers = new ChallengeAnswers();
  for (let n = 0; n <= 100; n++) answers.put(`t${n}`, 'x');
  t.equal(await answers.find('t0'), null);
  t.equal(await answers.find('t100'), 'x');
});
