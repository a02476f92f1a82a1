// The message as it arrives: two signatures that verify, and the fields and the return path by
// which reports find their way back.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js';
import t from 'tap';
import { readFeedbackId } from '../../src/protocol/mail/addresses/feedback-id.ts';
import { readReturnPath } from '../../src/protocol/mail/addresses/return-path.ts';
import { BOUNCES_DOMAIN, type DeliveryHarness, FROM_DOMAIN } from '../support/delivery-harness.ts';
import { isDelivered, setOneMx, setUp } from './set-up.ts';

/** The value of a field, unfolded. */
function field(raw: Buffer, name: string): string | undefined {
  const [head = ''] = raw.toString('utf8').split('\r\n\r\n', 1);
  const line = head
    .replace(/\r\n[ \t]+/g, ' ')
    .split('\r\n')
    .find((candidate) => candidate.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  return line?.slice(name.length + 1).trim();
}

/** What an operator publishes for the tenant and for the service. */
async function verify(harness: DeliveryHarness, raw: Buffer) {
  const domain = await harness.store.domains.getDomain(harness.tenantId, harness.domainId);
  const { dkim } = harness.identity;
  const records = new Map([
    [`${domain!.selector}._domainkey.${FROM_DOMAIN}`, domain!.publicKeyB64],
    [`${dkim.selector}._domainkey.${BOUNCES_DOMAIN}`, dkim.publicKeyB64],
  ]);
  const resolver = async (name: string) => {
    const key = records.get(name);
    if (key === undefined) throw Object.assign(new Error(name), { code: 'ENOTFOUND' });
    return [[`v=DKIM1; k=rsa; p=${key}`]];
  };
  const { results } = await dkimVerify(raw, { resolver: resolver as never });
  return results.map(({ signingDomain, status }) => ({ signingDomain, result: status.result }));
}

t.test('signed by the tenant and by the service, and traceable', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const contents = [
    { text: 'Hello.\n' },
    {
      text: '.\n..\nFrom here on: Grüße aus Köln ✉\n',
      html: '<p>Grüße</p>',
      fromName: 'Jürgen "J" Groß',
      toName: '宛先',
    },
    { html: `<p>${'long '.repeat(5000)}</p>`, text: null, headers: [['X-Order', '4711']] as [string, string][] },
  ];
  for (const [index, content] of contents.entries()) {
    const [id] = await harness.send([`user${index}@rcpt.test`], content);
    await harness.until(id!, isDelivered);
    const { raw, from } = sink.mails[index]!;
    t.same(await verify(harness, raw), [
      { signingDomain: FROM_DOMAIN, result: 'pass' },
      { signingDomain: BOUNCES_DOMAIN, result: 'pass' },
    ]);
    const keys = (keyId: string) => harness.identity.tokenKeys.get(keyId);
    const [local = '', domain] = from.split('@');
    t.equal(domain, BOUNCES_DOMAIN);
    t.equal(readReturnPath(local, keys), id);
    t.equal(readReturnPath(local.toUpperCase(), keys), id);
    t.equal(field(raw, 'CFBL-Address'), `fbl@${BOUNCES_DOMAIN}; report=arf`);
    t.equal(readFeedbackId(field(raw, 'CFBL-Feedback-ID')!, keys), id);
    t.equal(field(raw, 'Feedback-ID'), `${harness.tenantId}:${FROM_DOMAIN}:transactional:postrider`);
    t.equal(field(raw, 'Message-ID'), `<${id}@${FROM_DOMAIN}>`);
    for (const name of ['cfbl-address', 'cfbl-feedback-id', 'feedback-id', 'message-id', 'to', 'subject']) {
      t.match(field(raw, 'DKIM-Signature'), new RegExp(`h=[^;]*\\b${name}\\b`, 'i'), `${name} is signed`);
    }
  }
  t.equal(field(sink.mails[2]!.raw, 'X-Order'), '4711');
});

t.test('an altered body fails both signatures', async (t) => {
  const { sink, harness } = await setUp(t);
  setOneMx(harness);
  const [id] = await harness.send(['ann@rcpt.test'], { text: 'Pay 10 euros.\n' });
  await harness.until(id!, isDelivered);
  const altered = Buffer.from(sink.mails[0]!.raw.toString().replace('Pay 10', 'Pay 99'));
  for (const { result } of await verify(harness, altered)) t.not(result, 'pass');
});
