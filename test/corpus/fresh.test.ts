// The parser and the rules on mails made up after the formats of many servers (fresh/), so that what is right on
// the real ones of bounces.test.ts is right on their relatives too. None of them is like a mail of the corpus.
import t from 'tap';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { type CorpusMail, checkScore, scoreOf } from './bounce-corpus.ts';
import { APPLIANCES } from './fresh/appliances.ts';
import { BARE_REPLIES } from './fresh/bare-replies.ts';
import { EXCHANGE } from './fresh/exchange.ts';
import { FRAMED_REPLIES } from './fresh/framed-replies.ts';
import type { FreshMail } from './fresh/fresh-mail.ts';
import { GATEWAYS } from './fresh/gateways.ts';
import { MORE_NOTICES } from './fresh/more-notices.ts';
import { MORE_REPLIES } from './fresh/more-replies.ts';
import { NOTICES } from './fresh/notices.ts';
import { ODD_FORMS } from './fresh/odd-forms.ts';
import { OLDER_SERVERS } from './fresh/older-servers.ts';
import { PROVIDERS } from './fresh/providers.ts';
import { REPLIES } from './fresh/replies.ts';
import { THIRD_SET } from './fresh/third-set.ts';
import { UNIX_SERVERS } from './fresh/unix-servers.ts';

const rules = loadBounceRules(SHIPPED_RULES);
const sets = {
  REPLIES,
  UNIX_SERVERS,
  EXCHANGE,
  PROVIDERS,
  APPLIANCES,
  NOTICES,
  ODD_FORMS,
  MORE_REPLIES,
  OLDER_SERVERS,
  MORE_NOTICES,
  THIRD_SET,
  BARE_REPLIES,
  FRAMED_REPLIES,
  GATEWAYS,
};

function asInCorpus([name, kinds, recipient, status, mail]: FreshMail): CorpusMail {
  const allowed = kinds.split('|') as CorpusMail['expected']['kind'][];
  const label = allowed.length === 1 ? 'exact' : 'coarse';
  const expected = { kind: allowed[0]!, kind_ok: allowed, label, recipient, status } as const;
  return { file: name, octets: Buffer.from(mail), expected };
}

t.test('kinds, recipients and statuses', async (t) => {
  const mails = Object.values(sets).flat().map(asInCorpus);
  t.ok(mails.length >= 1_000, `note: ${mails.length} mails`);
  t.equal(new Set(mails.map(({ file }) => file)).size, mails.length, 'each has a name of its own');
  checkScore(t, scoreOf(mails, rules), { kinds: 98, recipients: 99, statuses: 99, notHard: 99.8 });
});
