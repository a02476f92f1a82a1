// postrider setup on a pseudo terminal: its questions, broken off at each, and waiting for DNS.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { NO_ZONE_READER } from '../../support/read-zone.ts';
import { configOf, IP, publish, setupWorld } from './setup-world.ts';

const ANSWERS: [RegExp, string][] = [
  [/^Host name of this machine.*: /m, 'mail.service.test'],
  [/^HTTPS: "self" .* or "proxy" \[(?:self|proxy)\]: /m, 'proxy'],
  [/^Domain of return paths.* \[bounces\.mail\.service\.test\]: /m, ''],
  [/^Your email address.*: /m, 'me@acme.test'],
  [/^Domain to send from.* \[service\.test\]: /m, 'acme.test'],
  [/^Name of the first tenant.* \[acme\.test\]: /m, 'Acme'],
];

t.test('on a terminal: asks, shows, and waits until DNS has all', { skip: NO_ZONE_READER }, async (t) => {
  const world = await setupWorld(t);
  const person = world.onTerminal('--address', IP);
  await person.answers(ANSWERS[0]![0], 'nonsense');
  await person.sees(/"nonsense" is not a domain name/);
  for (const [question, answer] of ANSWERS) await person.answers(question, answer);
  await person.sees(/password \S+$/m);
  await person.sees(/API key \S+$/m);
  await person.sees(/^Checking again until all are right/m);
  t.match(person.output, /outbound port: \d+ is open[\s\S]*Domain of return paths/, 'checked first');
  const { stdout } = await world.run('dns', '--zone', '--address', IP);
  publish(world.dns, stdout);
  await person.sees(/^right {4}MX: /m);
  await person.sees(/^Send the first mail:/m);
  await person.sees(/^curl 'http:\/\/127\.0\.0\.1:8080\/emails'/m);
  t.equal(await person.ended, 0);
  t.match(await world.run('domain', 'list', '--tenant', 'Acme'), { stdout: /verified +acme\.test/ });
});

t.test('on a terminal: Ctrl-C while it waits leaves all in place, and says how to go on', async (t) => {
  const world = await setupWorld(t);
  const person = world.onTerminal('--address', IP);
  for (const [question, answer] of ANSWERS) await person.answers(question, answer);
  await person.sees(/^Checking again until all are right/m);
  person.type('\x03');
  await person.sees(/^Not all records are right yet\. postrider dns --wait/m);
  await person.sees(/^curl /m);
  t.equal(await person.ended, 1);
  const again = world.onTerminal('--address', IP);
  await again.sees(/has all that is needed, and was not changed/);
  await again.sees(/Login me@acme\.test exists\./);
  await again.sees(/^Checking again until all are right/m);
  t.notMatch(again.output, /first tenant/, 'nothing is asked that is known');
});

t.test('broken off at every question: nothing is changed, and the next run begins again', async (t) => {
  const world = await setupWorld(t);
  for (const [at, [question]] of ANSWERS.entries()) {
    const person = world.onTerminal('--address', IP);
    for (const [earlier, answer] of ANSWERS.slice(0, at)) await person.answers(earlier, answer);
    await person.sees(question);
    person.type(at % 2 === 0 ? '\x03' : '\x04');
    await person.sees(/stopped at ".*"; nothing was changed\. Run postrider setup again/);
    t.equal(await person.ended, 1);
    t.equal(configOf(world), null);
  }
  t.notOk(fs.existsSync(path.join(world.folder, 'data')));
  const last = world.onTerminal('--address', IP);
  for (const [question, answer] of ANSWERS) await last.answers(question, answer);
  await last.sees(/API key \S+$/m);
});

t.test('a closed port is said before the questions, and asks whether to go on', async (t) => {
  const world = await setupWorld(t);
  world.env.POSTRIDER_DELIVERY_PORT = '9';
  const person = world.onTerminal('--address', IP);
  await person.answers(ANSWERS[0]![0], ANSWERS[0]![1]);
  await person.sees(/^fail {2}outbound port: 9 is closed/m);
  await person.answers(/Go on all the same \[no\]: /, '');
  await person.sees(/stopped; nothing was changed/);
  t.equal(await person.ended, 1);
  t.equal(configOf(world), null);
});
