// What a chaos run counts as connections at one time: not one that its client has closed already, though the receiver has yet
// to read what came before its end.
import t from 'tap';
import { startMailSink } from '../support/mail-sink.ts';
import { SmtpClient } from '../support/smtp-client.ts';

const FROM = '127.0.0.22';

t.test('connections of an address are counted as long as they are held', async (t) => {
  const sink = await startMailSink();
  t.teardown(() => sink.close());
  const open = async () => {
    const client = await SmtpClient.hello(sink.port, FROM);
    t.teardown(() => client.close());
    return client;
  };
  const first = await open();
  for (const command of ['MAIL FROM:<a@a.test>', 'RCPT TO:<b@b.test>', 'DATA']) await first.ask(command);
  // More than the receiver reads in one turn.
  first.write(Buffer.alloc(1024 * 1024, 'a mail that is broken off\r\n'));
  await new Promise(setImmediate);
  first.close();
  const second = await open();
  t.same([...sink.mostBySource], [[FROM, 1]], 'one was closed before the other');
  const third = await open();
  t.same([...sink.mostBySource], [[FROM, 2]], 'two are open');
  second.close();
  third.close();
});
