// Turns the driver's work into the store's verbs. The table says how each verb is run, so it need not be started
// to find out.
import type { Namespace, Verbs } from '../store.ts';
import type { VerbKind } from '../verb-kinds.ts';
import { VERBS } from '../verbs.ts';
import type { Steps } from './steps.ts';
import type { Work } from './transaction.ts';

/** A verb of kind `slices` is run as it is; every other one is work in one transaction. */
export type DriverVerbs = { [Noun in Namespace]: WorkOf<Noun> };

type WorkOf<Noun extends Namespace> = {
  [Name in keyof Verbs[Noun]]: Noun extends keyof typeof VERBS
    ? Name extends keyof (typeof VERBS)[Noun]
      ? (typeof VERBS)[Noun][Name] extends 'slices'
        ? Verbs[Noun][Name]
        : Work<Verbs[Noun]>[Name]
      : never
    : never;
};

export type Run = (...args: unknown[]) => unknown;

/** `name` is how messages between threads call it: `queue.claim`. */
export type DeclaredVerb = { name: string } & (
  | { kind: 'slices'; work: (...args: unknown[]) => Promise<unknown> }
  | { kind: Exclude<VerbKind, 'slices'>; work: (...args: unknown[]) => Steps<unknown> }
);

export function bindVerbs(driver: DriverVerbs, bind: (verb: DeclaredVerb) => Run): Verbs {
  const nouns = Object.entries(VERBS).map(([noun, kinds]) => {
    const works = driver[noun as Namespace] as unknown as Record<string, Run>;
    const bound = Object.entries(kinds as Record<string, VerbKind>).map(([name, kind]) => {
      return [name, bind({ name: `${noun}.${name}`, kind, work: works[name]! } as DeclaredVerb)];
    });
    return [noun, Object.fromEntries(bound)];
  });
  return Object.fromEntries(nouns) as Verbs;
}

/** By name, for callers in another thread. */
export function verbsByName(verbs: Verbs): Map<string, Run> {
  return new Map(
    Object.entries(VERBS).flatMap(([noun, kinds]) => {
      const bound = verbs[noun as Namespace] as unknown as Record<string, Run>;
      return Object.keys(kinds).map((name): [string, Run] => [`${noun}.${name}`, bound[name]!]);
    }),
  );
}

type All<Parts> = Parts extends readonly [infer First, ...infer Rest] ? First & All<Rest> : unknown;

/** One noun's verbs from several files. No name may appear twice. */
export function mergeVerbs<Parts extends readonly object[]>(...parts: Parts): All<Parts> {
  const all = new Map<string, unknown>();
  for (const [name, verb] of parts.flatMap((part) => Object.entries(part))) {
    if (all.has(name)) throw new Error(`the verb ${name} is there twice`);
    all.set(name, verb);
  }
  return Object.fromEntries(all) as All<Parts>;
}
