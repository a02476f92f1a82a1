// Which words of a text are names, and which only have dots.
import t from 'tap';
import { ADDRESS_SIGN, HOST_SIGN, withoutNames } from '../../../../src/protocol/mail/inbound/names-in-text.ts';

/** H is a host, A an address. */
const TEXTS: [text: string, left: string][] = [
  ['host relay.there.test[192.0.2.1] said: 550 no', 'host H said: 550 no'],
  ['host relay[192.0.2.1] said: 550 no', 'host H said: 550 no'],
  ['This is the mail system at host relay.', 'This is the mail system at host H'],
  ['sent by MX1.There.Test.', 'sent by H.'],
  ['<full@unknown-user.test>... User unknown', '<A>... User unknown'],
  ['ann@rcpt.test...User unknown', 'A...User unknown'],
  ['to "full mailbox"@rcpt.test', 'to A'],
  ['"full.box"@rcpt.test says', 'A says'],
  ['see https://spam.there.test/why?id=ann%40rcpt.test&x=1', 'see https://H/why?id=A&x=1'],
  ['xn--d1acpjx3f.xn--p1ai said', 'H said'],
  ['RESOLVER.ADR.RecipNotFound; not found', 'RESOLVER.ADR.RecipNotFound; not found'],
  ['X:QuotaExceededException.MapiExceptionShutoff', 'X:QuotaExceededException.MapiExceptionShutoff'],
  ['(err.nosuchuser)', '(err.nosuchuser)'],
  ['User unknown.Please check', 'User unknown. Please check'],
  ['5.1.1.Unknown user', '5. 1. 1. Unknown user'],
  ['size 1.5 MB, e.g. large', 'size 1.5 MB, e.g. large'],
  ['invoice.pdf and why.html', 'invoice.pdf and why.html'],
];

t.test('names are found', async (t) => {
  for (const [text, left] of TEXTS) {
    const found = withoutNames(text).replaceAll(ADDRESS_SIGN, 'A').replaceAll(HOST_SIGN, 'H');
    t.equal(found, left, text);
  }
});

t.test('no text takes long', async (t) => {
  const parts = ['a.', 'a-', '@', 'a@', '"', '%40', '[', 'at host ', 'a.b.', '.', '-.', 'a[', 'a[1.'];
  for (const part of parts) {
    const started = process.cpuUsage();
    withoutNames(part.repeat(16_000 / part.length));
    const { user } = process.cpuUsage(started);
    t.ok(user < 500_000, `${part}: ${user} µs of processor time`);
  }
});
