// Where a value of the configuration comes from, for those who add to it only what it lacks.
import { isDeepStrictEqual } from 'node:util';
import { ALL_KEYS, type KeyName } from './keys.ts';
import type { LoadedConfig } from './load.ts';

/** Whether file or environment have it. */
export function isSet({ source }: Pick<LoadedConfig, 'source'>, name: KeyName): boolean {
  const origin = source.origins.get(name);
  return origin === 'file' || origin === 'environment';
}

/** Whether somebody wants something else than the default, which a documented file has, too. */
export function isChanged(loaded: LoadedConfig, name: KeyName): boolean {
  const { section, key, spec } = ALL_KEYS.find((one) => one.name === name)!;
  const value = (loaded.config as Record<string, Record<string, unknown>>)[section]![key];
  return isSet(loaded, name) && !isDeepStrictEqual(value, spec.default);
}
