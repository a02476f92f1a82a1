// Two tenants that want one domain: every order in which they can register, verify and revoke,
// with what stands in DNS meanwhile. A model of a few lines says what each call must answer.
import t, { type Test } from 'tap';
import { startContractWorld } from '../../contract/contract-world.ts';
import { goodMail } from '../../contract/stage.ts';

type Who = 'A' | 'B';
type Verb = 'register' | 'verify' | 'revoke';
type Step = `${Who} ${Verb}`;
type State = 'none' | 'pending' | 'failed' | 'verified' | 'revoked';
/** Whose records are published while somebody verifies. */
type Published = (verifying: Who) => readonly Who[];

const VERBS: readonly Verb[] = ['register', 'verify', 'revoke'];

const PUBLISHED: Record<string, Published> = {
  'both records stand in DNS': () => ['A', 'B'],
  'only the record of who verifies stands in DNS': (verifying) => [verifying],
  'only the record of A stands in DNS': () => ['A'],
  'no record stands in DNS': () => [],
};

/** All 20 ways in which two times three steps can follow each other. */
function orders(a: readonly Verb[] = VERBS, b: readonly Verb[] = VERBS): Step[][] {
  if (a.length === 0 && b.length === 0) return [[]];
  const byA = a.length > 0 ? orders(a.slice(1), b).map((rest): Step[] => [`A ${a[0]!}`, ...rest]) : [];
  const byB = b.length > 0 ? orders(a, b.slice(1)).map((rest): Step[] => [`B ${b[0]!}`, ...rest]) : [];
  return [...byA, ...byB];
}

/** What should happen: the states of the two, and the answer to a step. */
class Model {
  readonly states: Record<Who, State> = { A: 'none', B: 'none' };

  /** The status of the answer and its error; null when there is nothing to ask with. */
  take(step: Step, published: readonly Who[]): string | null {
    const [who, verb] = step.split(' ') as [Who, Verb];
    const other = who === 'A' ? 'B' : 'A';
    if (verb === 'register') {
      if (this.states[other] === 'verified') return '409 domain_exists';
      this.states[who] = 'pending';
      return '201';
    }
    if (this.states[who] === 'none') return null;
    if (verb === 'revoke') {
      this.states[who] = 'revoked';
      return '200';
    }
    if (!published.includes(who)) {
      this.states[who] = 'failed';
      return '422 verification_failed';
    }
    if (this.states[other] === 'verified') {
      if (published.includes(other)) return '409 domain_exists';
      this.states[other] = 'failed';
    }
    this.states[who] = 'verified';
    return '200';
  }
}

const world = await startContractWorld(t);
const tenants = { A: await world.addTenant(), B: await world.addTenant() };

for (const [about, published] of Object.entries(PUBLISHED)) {
  t.test(about, async (t) => {
    const all = orders();
    t.equal(all.length, 20);
    const scene = about.split(' ')[0]!;
    await Promise.all(all.map((steps, index) => play(t, steps, { published, domain: `${scene}-${index}.test` })));
  });
}

async function play(t: Test, steps: Step[], { published, domain }: { published: Published; domain: string }) {
  const model = new Model();
  const ids: Partial<Record<Who, string>> = {};
  const records: Partial<Record<Who, { name: string; value: string }>> = {};
  world.dns.addZone(domain);
  for (const [index, step] of steps.entries()) {
    const [who, verb] = step.split(' ') as [Who, Verb];
    const { key } = tenants[who];
    const there = verb === 'verify' ? published(who) : [];
    for (const [owner, record] of Object.entries(records) as [Who, { name: string; value: string }][]) {
      world.dns.set(record.name, 'TXT', there.includes(owner) ? [record.value] : [], 0);
    }
    const expected = model.take(step, there);
    if (expected === null) continue;
    const about = `${steps.slice(0, index + 1).join(', ')}`;
    const selector = `of-${who.toLowerCase()}`;
    const answer = await (verb === 'register'
      ? world.call('POST /domains', { key, body: { domain, selector } })
      : world.call(verb === 'verify' ? `POST /domains/${ids[who]}/verify` : `DELETE /domains/${ids[who]}`, { key }));
    t.equal([answer.status, answer.body.error].filter(Boolean).join(' '), expected, about);
    if (answer.status === 201) {
      ids[who] = answer.body.id;
      records[who] = answer.body.records[0];
    }
    await compare(t, { model, ids, domain, about });
  }
}

/** That the daemon sees the two as the model does, and lets only the holder send. */
async function compare(
  t: Test,
  { model, ids, domain, about }: { model: Model; ids: Partial<Record<Who, string>>; domain: string; about: string },
) {
  for (const who of ['A', 'B'] as const) {
    const { key } = tenants[who];
    const state = ids[who] ? (await world.call(`GET /domains/${ids[who]}`, { key })).body.state : 'none';
    t.equal(state, model.states[who], `${about}: ${who} is ${state}`);
    const { status } = await world.call('POST /emails', { key, body: goodMail(domain) });
    t.equal(status, model.states[who] === 'verified' ? 202 : 422, `${about}: ${who} sends`);
  }
}
