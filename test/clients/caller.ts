// Calls a client library through its runner against a real sandbox, and compares what it gives.
import { randomUUID } from 'node:crypto';
import type { Test } from 'tap';
import type { CaughtError, Json, JsonObject, Outcome } from '../../clients/conformance/case-format.ts';
import { contains } from './compare-case.ts';
import type { Runners } from './runner-process.ts';
import type { SandboxSite } from './sandbox-site.ts';

export const MAIL = {
  from: 'Shop <shop@hello.verified.test>',
  to: ['Jo <jo@example.org>'],
  subject: 'Grüße 🎉',
  text: 'Ω',
};
export const UUID = '/^[0-9a-f-]{36}$/';
export const TIME = '/^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$/';

export class Caller {
  readonly #t: Test;
  readonly #runners: Runners;
  readonly #site: SandboxSite;

  constructor(t: Test, runners: Runners, site: SandboxSite) {
    this.#t = t;
    this.#runners = runners;
    this.#site = site;
  }

  in(t: Test): Caller {
    return new Caller(t, this.#runners, this.#site);
  }

  outcome(method: string, args: JsonObject = {}, options: JsonObject = {}): Promise<Outcome> {
    const whole = { api_key: this.#site.key, base_url: this.#site.url, ...options };
    return this.#runners.ask({ name: randomUUID(), options: whole, call: { method, args } });
  }

  async result(method: string, args: JsonObject = {}): Promise<Json> {
    const { result, error } = await this.outcome(method, args);
    if (error) throw new Error(`${method}: ${error.class} ${error.code}: ${error.message}`);
    return result ?? null;
  }

  /** The result, in which `expected` is found. */
  async gives(expected: Json, method: string, args: JsonObject = {}): Promise<JsonObject> {
    const result = await this.result(method, args);
    this.#t.same(contains(result, expected, method), [], method);
    return result as JsonObject;
  }

  /** The error, whose fields are these. */
  async fails(expected: Partial<CaughtError>, call: { method: string; args?: JsonObject; options?: JsonObject }) {
    const { error, result } = await this.outcome(call.method, call.args, call.options);
    const name = `${call.method}: ${expected.class} ${expected.code}`;
    this.#t.same(contains((error ?? result ?? null) as Json, { base: true, ...expected } as Json, name), [], name);
    return error;
  }
}
