// How near a tenant is to a review: least numbers, one count for each recipient, several domains, weak proofs.
import t from 'tap';
import type { ProblemMessage } from '../../src/store/suppressions.ts';
import { brakeOf } from '../../src/suppression/brake.ts';

const LIMITS = {
  ...{ hardBounceRate: 0.1, complaintRate: 0.005, window: 1000 },
  mailboxesAt: (domain: string) =>
    ['gmail.com', 'googlemail.com'].includes(domain)
      ? { domain: 'gmail.com', ignored: '.', aliasSeparator: null }
      : domain === 'yahoo.com'
        ? { domain, ignored: '', aliasSeparator: '-' }
        : null,
};

type Sign = Pick<ProblemMessage, 'isHardBounce' | 'complaintWeight'>;
const HARD: Sign = { isHardBounce: true, complaintWeight: 0 };
const complaint = (complaintWeight: number): Sign => ({ isHardBounce: false, complaintWeight });

/** Recipients `r0`, `r1` … spread over so many domains, unless their addresses are given. */
function signs(count: number, sign: Sign, domains = 10, addressOf?: (index: number) => string): ProblemMessage[] {
  return Array.from({ length: count }, (_, index) => {
    const recipient = addressOf?.(index) ?? `r${index}@x${index % domains}.test`;
    return { recipient, ...sign };
  });
}

const decide = (messages: number, problems: ProblemMessage[]) => brakeOf({ messages, problems }, LIMITS).decision;

t.test('hard bounces: more than 10 %, and 25 at least', async (t) => {
  t.equal(decide(1000, signs(100, HARD)), 'warn', 'exactly ten in a hundred');
  t.equal(decide(1000, signs(101, HARD)), 'review');
  t.equal(decide(1000, signs(50, HARD)), 'warn', 'half of the way');
  t.equal(decide(1000, signs(49, HARD)), 'go_on');
  t.equal(decide(24, signs(24, HARD)), 'warn', 'too few to stop anybody');
  t.equal(decide(25, signs(25, HARD)), 'review');
  t.equal(decide(12, signs(12, HARD)), 'go_on');
  t.equal(decide(0, []), 'go_on');
});

t.test('complaints: more than 0.5 %, and a weight of 10 at least', async (t) => {
  t.equal(decide(1000, signs(9, complaint(1))), 'warn');
  t.equal(decide(1000, signs(10, complaint(1))), 'review', 'one in a hundred, since fewer than 2,000 are looked at');
  t.equal(decide(2000, signs(10, complaint(1))), 'warn', 'exactly 0.5 %');
  t.equal(decide(2000, signs(11, complaint(1))), 'review');
  t.equal(decide(1000, signs(19, complaint(0.5))), 'warn', 'the return path alone proves half');
  t.equal(decide(1000, signs(20, complaint(0.5))), 'review');
  t.equal(decide(20, signs(4, complaint(1))), 'go_on', 'a few complaints say little');
});

t.test('one person stops no tenant', async (t) => {
  const again = () => 'guest@own.test';
  for (const sign of [HARD, complaint(1)]) {
    t.equal(decide(1000, signs(900, sign, 1, again)), 'go_on', 'one recipient counts once');
    t.equal(
      decide(
        1000,
        signs(900, sign, 1, (index) => `Guest+${index}@own.test`),
      ),
      'go_on',
      'plus parts are one',
    );
    const own = signs(900, sign, 1, (index) => `guest${index}@own.test`);
    t.equal(decide(1000, own), 'warn', 'many at one domain of their own stop nothing');
    t.equal(decide(1000, signs(900, sign, 4)), 'warn', 'nor at four');
    t.equal(decide(1000, signs(900, sign, 5)), 'review');
  }
});

t.test('however many names one owner has, they are one domain', async (t) => {
  for (const sign of [HARD, complaint(1)]) {
    const domainsOf = (addressOf: (index: number) => string) => {
      const problems = signs(900, sign, 1, addressOf);
      t.not(decide(1000, problems), 'review');
      const { hardBounces, complaints } = brakeOf({ messages: 1000, problems }, LIMITS);
      return Math.max(hardBounces.domains, complaints.domains);
    };
    t.equal(
      domainsOf((index) => `r${index}@s${index % 5}.evil.example`),
      1,
      'subdomains',
    );
    t.equal(
      domainsOf((index) => `r${index}@s${index % 5}.evil.co.uk`),
      1,
      'below a registry of two labels',
    );
    t.equal(
      domainsOf((index) => `r${index}@free${index % 50}.duckdns.org`),
      1,
      'names that cost nothing',
    );
    t.equal(
      domainsOf((index) => `r${index}@s${index % 5}.gmail.com`),
      1,
      'a provider is meant by its own name only',
    );
    const some = ['evil.example', 'S1.EVIL.example', 'bank.co.uk', 'shop.co.uk'];
    t.equal(
      domainsOf((index) => `r${index}@${some[index % 4]}`),
      3,
      'two below co.uk have different owners',
    );
  }
});

t.test('however a mailbox is written, it is one', async (t) => {
  const spellings = (name: string) =>
    Array.from({ length: name.length - 1 }, (_, at) => `${name.slice(0, at + 1)}.${name.slice(at + 1)}`);
  const dotted = spellings('manydotsinhere');
  t.equal(dotted.length, 13);
  const cases: [string, (index: number) => string][] = [
    ['dots', (index) => `${dotted[index]}@gmail.com`],
    ['dots at two names of one provider', (index) => `${dotted[index]}@${index % 2 ? 'gmail.com' : 'googlemail.com'}`],
    ['dots, cases and plus parts', (index) => `${dotted[index]!.toUpperCase()}+${index}@gmail.com`],
    ['what the owner puts behind a hyphen', (index) => `base-${index}@yahoo.com`],
  ];
  for (const [about, addressOf] of cases) {
    const { complaints, decision } = brakeOf(
      { messages: 1000, problems: signs(13, complaint(1), 1, addressOf) },
      LIMITS,
    );
    t.match(complaints, { recipients: 1, weight: 1, domains: 1 }, about);
    t.equal(decision, 'go_on', about);
  }
  const elsewhere = brakeOf(
    { messages: 1000, problems: signs(13, complaint(1), 1, (at) => `${dotted[at]}@own.test`) },
    LIMITS,
  );
  t.equal(elsewhere.complaints.recipients, 13, 'elsewhere dots tell people apart');
});

t.test("recipients at a provider's domain are different people, up to five", async (t) => {
  const gmail = (index: number) => `r${index}@gmail.com`;
  t.equal(decide(1000, signs(10, complaint(1), 1, gmail)), 'review');
  const [few, other] = [signs(4, complaint(1), 1, gmail), signs(9, complaint(1), 1)];
  t.equal(brakeOf({ messages: 1000, problems: [...few, ...other] }, LIMITS).complaints.domains, 5);
  t.equal(brakeOf({ messages: 1000, problems: signs(9, complaint(1), 1, gmail) }, LIMITS).complaints.domains, 5);
});

t.test('it says its reason, and how far it is', async (t) => {
  const state = brakeOf({ messages: 900, problems: signs(14, complaint(1)) }, LIMITS);
  t.equal(state.reason, '14 complaints in the last 900 messages (limit 0.5 %)');
  const near = brakeOf({ messages: 1000, problems: signs(62, HARD, 3) }, LIMITS);
  t.equal(near.nearness, 0.62);
  t.match(near.distance, /^Hard bounces: 62 % of the way to a review, from 3 domains \(limit: 25 recipients/);
  t.match(near.reason, '62 of the last 1000 messages bounced hard (limit 10 %), 0 complaints in');
});
