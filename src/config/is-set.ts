// Where a value of the configuration comes from, for those who add to it only what it lacks.
import { isDeepStrictEqual } from 'node:util';
import { ALL_KEYS, type KeyName } from './keys.ts';
import type { LoadedConfig } from './load.ts';

/** Whether file or environment have it. */
export function isSet({ source }: Pick<LoadedConfig, 'source'>, name: KeyName): boolean {
  const origin = source.origins.get(name);
  return origin === 'file' || origin === 'environment';
}

/** Whether somebody has chosen the value: with the documented file, only if it is another one than the default. */
export function isChosen(loaded: LoadedConfig, name: KeyName): boolean {
  if (!isSet(loaded, name)) return false;
  if (!isDocumentedFile((one) => loaded.source.origins.get(one) === 'file')) return true;
  const { section, key, spec } = ALL_KEYS.find((one) => one.name === name)!;
  const value = (loaded.config as Record<string, Record<string, unknown>>)[section]![key];
  return !isDeepStrictEqual(value, spec.default);
}

/** The documented file has every key with its default. Nobody writes most of them by hand. */
export function isDocumentedFile(has: (name: KeyName) => boolean): boolean {
  return ALL_KEYS.filter(({ name }) => has(name)).length > ALL_KEYS.length / 2;
}
