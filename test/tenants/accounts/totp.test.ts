// One-time passwords against the vectors of the RFCs, and the window in which a code is good.
import t from 'tap';
import { hotp, matchingStep, STEP_MS, secretInWords, stepAt, totpUri } from '../../../src/tenants/accounts/totp.ts';

const SECRET = Buffer.from('12345678901234567890');

t.test('the counters of RFC 4226, appendix D', async (t) => {
  const codes = ['755224', '287082', '359152', '969429', '338314', '254676', '287922', '162583', '399871', '520489'];
  t.same(
    codes.map((_, counter) => hotp(SECRET, counter)),
    codes,
  );
});

t.test('the times of RFC 6238, appendix B, for SHA-1', async (t) => {
  const vectors: [seconds: number, code: string][] = [
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ];
  for (const [seconds, code] of vectors) t.equal(hotp(SECRET, stepAt(seconds * 1000), 8), code, `${seconds} s`);
});

t.test('a code is good in its step, the one before and the one after, and never twice', async (t) => {
  const now = 1_800_000_000_000;
  const step = stepAt(now);
  const match = (code: string, at = now, lastStep = 0) => matchingStep(SECRET, code, { now: at, lastStep });
  const code = hotp(SECRET, step);
  t.equal(match(code), step);
  t.equal(match(code, now + STEP_MS), step, 'typed slowly');
  t.equal(match(code, now - STEP_MS), step, 'from a device whose clock is ahead');
  t.equal(match(code, now + 2 * STEP_MS), null, 'too slow');
  t.equal(match(code, now - 2 * STEP_MS), null);
  t.equal(match(code, now, step), null, 'taken before');
  t.equal(match(hotp(SECRET, step - 1), now, step), null, 'and none from before it');
  t.equal(match(hotp(SECRET, step + 1), now, step), step + 1);
  t.equal(match(`${code.slice(0, 3)} ${code.slice(3)}`), step, 'as apps show it');
  for (const wrong of ['', '000000', code.slice(1), `${code}0`, 'abcdef', '１２３４５６']) {
    if (wrong !== code) t.equal(match(wrong), null, JSON.stringify(wrong));
  }
});

t.test('what an authenticator app reads', async (t) => {
  t.equal(secretInWords(SECRET), 'GEZD GNBV GY3T QOJQ GEZD GNBV GY3T QOJQ');
  const uri = new URL(totpUri(SECRET, { issuer: 'Postrider mail.test', account: 'a+b@x.test' }));
  t.equal(uri.protocol, 'otpauth:');
  t.equal(decodeURIComponent(uri.pathname), '/Postrider mail.test:a+b@x.test');
  t.equal(uri.searchParams.get('secret'), 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  t.equal(uri.searchParams.get('issuer'), 'Postrider mail.test');
});
