// Replies whole and cut anywhere, sloppy and hostile.
import t from 'tap';
import { type Reply, ReplyParser } from '../../../src/protocol/smtp/reply.ts';

function parse(...chunks: (string | Buffer)[]) {
  const replies: Reply[] = [];
  const parser = new ReplyParser();
  let violation: string | null = null;
  for (const chunk of chunks) violation ??= parser.push(Buffer.from(chunk as string), (reply) => replies.push(reply));
  return { replies, violation, midReply: parser.midReply };
}

function one(text: string | Buffer): Reply {
  const { replies, violation } = parse(text);
  t.equal(violation, null, 'no violation');
  t.equal(replies.length, 1, 'one reply');
  return replies[0]!;
}

t.test('single and multi-line replies', async (t) => {
  t.match(one('250 ok\r\n'), { code: 250, enhancedCode: null, text: 'ok' });
  t.match(one('250\r\n'), { code: 250, text: '' }, 'a bare code (RFC 5321 section 4.2.1)');
  t.match(one('250-mx.example.org\r\n250-SIZE 1000\r\n250 DSN\r\n'), {
    text: 'mx.example.org SIZE 1000 DSN',
    lines: ['mx.example.org', 'SIZE 1000', 'DSN'],
  });
});

t.test('enhanced codes', async (t) => {
  t.match(one('550 5.1.1 No such user\r\n'), { code: 550, enhancedCode: '5.1.1', text: 'No such user' });
  t.match(
    one(
      '550-5.1.1 The account does not exist. Please try\r\n550-5.1.1 double-checking the address\r\n550 5.1.1 bye\r\n',
    ),
    { enhancedCode: '5.1.1', text: 'The account does not exist. Please try double-checking the address bye' },
    'repeated codes do not tear the sentence apart',
  );
  t.match(one('550 #5.1.0 Address rejected.\r\n'), { enhancedCode: '5.1.0', text: 'Address rejected.' });
  t.match(one('554 5.7.1: refused\r\n'), { enhancedCode: '5.7.1', text: 'refused' });
  t.match(one('550-see below\r\n550 5.7.26 unauthenticated\r\n'), { enhancedCode: '5.7.26' });
  t.match(one('450 5.1.1 confused\r\n'), { enhancedCode: null, text: '5.1.1 confused' }, 'the class must match');
  t.match(
    one('550 5.79.22.1 is listed\r\n'),
    { enhancedCode: null, text: '5.79.22.1 is listed' },
    'an address is no code',
  );
});

t.test('sloppy servers are understood', async (t) => {
  t.match(
    parse('250-a\n250 b\n220 c\r\n').replies.map(({ text }) => text),
    ['a b', 'c'],
    'bare LF',
  );
  t.equal(one('250 a\r\r\n').text, 'a');
  t.equal(one(Buffer.from('550 Empf\xe4nger unbekannt\r\n', 'latin1')).text, 'Empfänger unbekannt');
  t.equal(one('550 Empfänger unbekannt\r\n').text, 'Empfänger unbekannt');
  t.equal(one('550 a\tb\u0000\u001b[31mc\r\n').text, 'a b  [31mc', 'control characters are replaced');
  t.match(
    one('550-first\r\n554 second\r\n'),
    { code: 550, text: 'first second' },
    'a code may change within its class',
  );
});

t.test('replies cut anywhere', async (t) => {
  const wire = Buffer.from('220 mx ESMTP\r\n250-5.0.0 ä\r\n250 b\r\n354 go\r\n');
  const whole = parse(wire).replies;
  t.equal(whole.length, 3);
  t.same(parse(...[...wire].map((byte) => Buffer.of(byte))).replies, whole, 'byte by byte');
  for (let at = 0; at <= wire.length; at++) {
    t.same(parse(wire.subarray(0, at), wire.subarray(at)).replies, whole, `cut at ${at}`);
  }
  t.ok(parse('250 o').midReply);
  t.ok(parse('250-o\r\n').midReply);
  t.notOk(parse('250 o\r\n').midReply);
});

t.test('a reply survives that all its pieces are read into the same buffer', async (t) => {
  const wire = Buffer.from('250-5.0.0 first line\r\n250 second line\r\n354 go\r\n');
  const whole = parse(wire).replies;
  for (let at = 1; at < wire.length; at++) {
    const [replies, parser, buffer] = [[] as Reply[], new ReplyParser(), Buffer.alloc(wire.length)];
    for (const piece of [wire.subarray(0, at), wire.subarray(at)]) {
      // Whoever reads may have overwritten all of it before the next piece is there.
      buffer.fill('#');
      piece.copy(buffer);
      t.equal(
        parser.push(buffer.subarray(0, piece.length), (reply) => replies.push(reply)),
        null,
      );
    }
    t.same(replies, whole, `cut at ${at}`);
  }
});

t.test('what is not SMTP ends it', async (t) => {
  for (const garbage of [
    'HTTP/1.1 400 Bad Request\r\n',
    '\r\n',
    '25 x\r\n',
    '199 x\r\n',
    '600 x\r\n',
    '2500 x\r\n',
    '250x\r\n',
  ]) {
    t.match(parse(garbage), { replies: [], violation: /^not an SMTP reply/ }, JSON.stringify(garbage));
  }
  t.match(parse('250-a\r\n550 b\r\n').violation, /code changes/);
  t.match(
    parse('220 first\r\ngarbage\r\n'),
    { replies: [{ code: 220 }], violation: /not an SMTP/ },
    'what came before counts',
  );
});

t.test('limits', async (t) => {
  t.equal(one(`250 ${'a'.repeat(1_990)}\r\n`).text.length, 1_000, 'the text is capped');
  t.match(parse(`250 ${'a'.repeat(2_000)}\r\n`).violation, 'reply line too long');
  t.match(
    parse('250 '.padEnd(1_500, 'a'), 'a'.repeat(600)).violation,
    'reply line too long',
    'before the line has ended',
  );
  t.equal(parse(`${'250-a\r\n'.repeat(99)}250 a\r\n`).violation, null, '100 lines');
  t.match(parse('250-a\r\n'.repeat(101)).violation, 'reply has too many lines');
  t.match(parse(`250-${'a'.repeat(1_900)}\r\n`.repeat(18)).violation, 'reply too long');
  const many = parse(`250 ${'a'.repeat(1_900)}\r\n`.repeat(40));
  t.match(many, { violation: null, replies: { length: 40 } }, 'the total is per reply');
});
