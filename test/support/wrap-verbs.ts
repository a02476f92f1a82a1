// A store whose verbs all go through `through`: to write down which are called, or to make them fail.
import type { Namespace, Store } from '../../src/store/store.ts';
import { VERBS } from '../../src/store/verbs.ts';

type Verb = (...args: unknown[]) => unknown;

export const VERB_NAMES = Object.entries(VERBS).flatMap(([noun, verbs]) =>
  Object.keys(verbs).map((name) => `${noun}.${name}`),
);

export function wrapVerbs(store: Store, through: (name: string, verb: Verb) => Verb): Store {
  const wrapped = Object.keys(VERBS).map((noun) => {
    const verbs = Object.entries(store[noun as Namespace]);
    return [noun, Object.fromEntries(verbs.map(([name, verb]) => [name, through(`${noun}.${name}`, verb)]))];
  });
  return { ...store, ...Object.fromEntries(wrapped) };
}
