// The conformance suite for one language: every case of clients/conformance with a scripted server
// of its own, all at once, and what came at a wrong time once more with less company.
import { createHash } from 'node:crypto';
import type { Test } from 'tap';
import type { Case, CaughtError, Json, JsonObject, Outcome } from '../../clients/conformance/case-format.ts';
import { type ScriptedServer, startScriptedServer } from '../../clients/conformance/server.ts';
import { closedUrl } from '../support/free-port.ts';
import { createTestAuthority } from '../support/test-authority.ts';
import { judge, type Played, type Verdict } from './compare-case.ts';
import type { Installed, Language } from './language.ts';
import { readCases, readWebhookCases } from './read-cases.ts';
import { Runners } from './runner-process.ts';

/** With the cases that had nothing wrong but their times. */
const ONCE_MORE = 3;

export async function conformance(t: Test, language: Language, { runner }: Installed): Promise<void> {
  const stage = await openStage();
  const runners = new Runners(runner, { processes: language.processes });
  const wanted = process.env.CASE ?? '';
  const cases = [...readCases(), ...readWebhookCases(Date.now())]
    .filter((one) => isFor(language, one))
    .filter(({ name }) => name.includes(wanted));
  const played = new Map<Case, Played>();
  try {
    const play = async (one: Case): Promise<Verdict> => {
      const result = one.env === undefined ? await stage.play(one, runners) : await stage.playApart(one, runner);
      const whole = { case: one, language: language.name, ...result };
      played.set(one, whole);
      return judge(whole);
    };
    const verdicts = new Map<Case, Verdict>();
    const playAll = (some: Case[]) => Promise.all(some.map(async (one) => verdicts.set(one, await play(one))));
    // What has to be on time comes when the runner is warm and has less to do at once.
    const isTimed = ({ expect, options }: Case) =>
      options?.timeout_ms !== undefined || expect.requests.some(({ after_ms }) => after_ms !== undefined);
    const isWebhook = ({ call }: Case) => call.method === 'verify_webhook';
    await playAll(cases.filter((one) => !isTimed(one) && !isWebhook(one)));
    await playAll(cases.filter(isTimed));
    // Those count from when they are signed, so one after the other, each signed when its turn comes.
    const signed = (name: string) => readWebhookCases(Date.now()).find((one) => one.name === name)!;
    for (const one of cases.filter(isWebhook)) verdicts.set(one, await play({ ...one, ...signed(one.name) }));
    for (let again = 0; again < ONCE_MORE; again++) {
      await playAll(cases.filter((one) => verdicts.get(one)!.mayBeTheMachine));
    }
    for (const one of cases) t.same(verdicts.get(one)!.problems, [], one.name);
    t.same(generatedTwice([...played.values()]), [], 'each call has an idempotency key of its own');
    t.same(await runners.end(), [], 'the runner ends well');
  } finally {
    await stage.close();
  }
}

/** A compiler may refuse a parsed payload, and a key of its own for an email of a batch. */
function isFor({ typing }: Language, { call }: Case): boolean {
  const emails = Array.isArray(call.args.emails) ? (call.args.emails as JsonObject[]) : [];
  const hasKeys = emails.some((email) => 'idempotency_key' in email);
  return typing === 'dynamic' || !('payload_parsed' in call.args || hasKeys);
}

interface Stage {
  play(one: Case, runners: Runners): Promise<Omit<Played, 'case' | 'language'>>;
  /** In a process of its own, with the environment of the case. */
  playApart(one: Case, runner: Installed['runner']): Promise<Omit<Played, 'case' | 'language'>>;
  close(): Promise<void>;
}

async function openStage(): Promise<Stage> {
  const authority = createTestAuthority();
  const strange = await startScriptedServer([], authority.issue('127.0.0.1'));
  const closed = await closedUrl();
  authority.close();

  const withServer = async (one: Case, ask: (order: Placed) => Promise<Outcome>) => {
    // The places stand in the answers too: a redirect says where to.
    const answers: Case['answers'] = [];
    const server = await startScriptedServer(answers);
    const placed = putInPlaces(one, { server, closed, tls: strange.url });
    answers.push(...placed.answers);
    try {
      const outcome = await ask(placed).catch((error: Error) => ({ name: one.name, error: brokenRunner(error) }));
      return { apiKey: placed.apiKey, requests: server.requests, outcome };
    } finally {
      await server.close();
    }
  };
  return {
    play: (one, runners) => withServer(one, ({ options, call }) => runners.ask({ name: one.name, options, call })),
    playApart: (one, runner) =>
      withServer(one, async ({ options, call, env }) => {
        const runners = new Runners(runner, { env });
        const outcome = await runners.ask({ name: one.name, options, call });
        await runners.end();
        return outcome;
      }),
    close: () => strange.close(),
  };
}

interface Placed {
  options: JsonObject;
  call: Case['call'];
  answers: Case['answers'];
  env: Record<string, string>;
  apiKey: string;
}

function putInPlaces(
  one: Case,
  { server, closed, tls }: { server: ScriptedServer; closed: string; tls: string },
): Placed {
  const { port } = new URL(server.url);
  const text = JSON.stringify({ options: one.options ?? {}, env: one.env ?? {}, answers: one.answers })
    .replaceAll('{server}', server.url)
    .replaceAll('{port}', port)
    .replaceAll('{closed}', closed)
    .replaceAll('{tls}', tls);
  const { options, env, answers } = JSON.parse(text) as Pick<Placed, 'options' | 'env' | 'answers'>;
  const ownKey = `pr_${createHash('sha256').update(one.name).digest('hex').slice(0, 32)}`;
  const given: JsonObject = { api_key: ownKey, base_url: server.url, ...options };
  const apiKey = typeof given.api_key === 'string' && given.api_key !== '' ? given.api_key : ownKey;
  for (const [name, value] of Object.entries(given)) if (value === null) delete given[name];
  return { options: given, env, answers, call: one.call, apiKey };
}

function brokenRunner({ message }: Error): CaughtError {
  const nothing = { status: null, code: null, request_id: null, timeout: null, retry_after: null };
  return {
    ...nothing,
    class: 'the runner',
    base: false,
    message,
    domain: null,
    check: null as Json,
    index: null,
    text: '',
  };
}

/** Keys of different calls that are the same although the caller gave none. */
function generatedTwice(played: readonly Played[]): string[] {
  const seen = new Map<string, string>();
  const twice: string[] = [];
  for (const { case: one, requests } of played) {
    const key = requests[0]?.headers['idempotency-key'] as string | undefined;
    if (key === undefined || 'idempotency_key' in one.call.args) continue;
    if (seen.has(key)) twice.push(`${key}: ${seen.get(key)}, ${one.name}`);
    seen.set(key, one.name);
  }
  return twice;
}
