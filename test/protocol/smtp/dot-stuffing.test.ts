// Byte for byte; the round trip through a real server is in session.test.ts.
import t from 'tap';
import { dotStuff, endOfData } from '../../../src/protocol/smtp/dot-stuffing.ts';

const stuff = (text: string) => dotStuff(Buffer.from(text)).toString();

t.test('a dot at the beginning of a line is doubled', async (t) => {
  t.equal(stuff('.first\r\n'), '..first\r\n');
  t.equal(stuff('a\r\n.\r\nb\r\n'), 'a\r\n..\r\nb\r\n');
  t.equal(stuff('a\r\n..b\r\n.c\r\n'), 'a\r\n...b\r\n..c\r\n');
  t.equal(stuff('.\r\n.\r\n.'), '..\r\n..\r\n..');
  t.equal(stuff('a\n.\nb\r\n'), 'a\n..\nb\r\n', 'after a bare LF too');
});

t.test('other dots are left alone, without a copy', async (t) => {
  const message = new Uint8Array(Buffer.from('a.b\r\n a\r\nb.\r\n\r\n'));
  t.equal(dotStuff(message).buffer, message.buffer);
  t.equal(dotStuff(message).toString(), 'a.b\r\n a\r\nb.\r\n\r\n');
  t.equal(stuff(''), '');
});

t.test('a message in pieces, cut anywhere', async (t) => {
  const message = '.a\r\n..b\r\n.\r\n\n.c\r.d\r\n';
  for (let cut = 1; cut < message.length; cut++) {
    const [first, second] = [message.slice(0, cut), message.slice(cut)];
    const pieces = [dotStuff(Buffer.from(first)), dotStuff(Buffer.from(second), first.endsWith('\n'))];
    t.equal(Buffer.concat(pieces).toString(), stuff(message), `cut at ${cut}`);
  }
});

t.test('a view into a larger buffer', async (t) => {
  const whole = new Uint8Array(Buffer.from('xx.a\r\n.b\r\nyy'));
  t.equal(dotStuff(whole.subarray(2, 10)).toString(), '..a\r\n..b\r\n');
});

t.test('the final dot stands on a line of its own', async (t) => {
  const end = (text: string) => endOfData(Buffer.from(text)).toString();
  t.equal(end('a\r\n'), '.\r\n');
  t.equal(end(''), '.\r\n');
  t.equal(end('a'), '\r\n.\r\n');
  t.equal(end('a\n'), '\r\n.\r\n');
  t.equal(end('\n'), '\r\n.\r\n');
});
