// The one table of every configuration key: type, default, range and reason. The Config type,
// the checks, the environment names and config/postrider.toml are derived from it.
import type { ConfigOf, Key } from './key-types.ts';
import { CERTIFICATE_KEYS } from './keys-of-certificates.ts';
import { DELIVERY_KEYS } from './keys-of-delivery.ts';
import { INBOUND_KEYS } from './keys-of-inbound.ts';
import { OBSERVATION_KEYS } from './keys-of-observation.ts';
import { SUBMISSION_KEYS } from './keys-of-submission.ts';
import { DOCTOR_KEYS } from './keys-of-the-doctor.ts';
import { HOST_KEYS } from './keys-of-the-host.ts';
import { SERVICE_KEYS } from './keys-of-the-service.ts';

export const TABLE = {
  ...HOST_KEYS,
  ...OBSERVATION_KEYS,
  ...CERTIFICATE_KEYS,
  ...SUBMISSION_KEYS,
  ...INBOUND_KEYS,
  ...DELIVERY_KEYS,
  ...SERVICE_KEYS,
  ...DOCTOR_KEYS,
} as const;

/** The configuration in use. Durations are milliseconds, paths are absolute. */
export type Config = ConfigOf<typeof TABLE>;

type Sections = typeof TABLE;

/** For example `http.port`. */
export type KeyName = { [S in keyof Sections]: `${S}.${keyof Sections[S]['keys'] & string}` }[keyof Sections];

/** A key with its section: `http.port`. */
export interface NamedKey {
  section: string;
  key: string;
  name: KeyName;
  variable: string;
  spec: Key;
}

export const ALL_KEYS: readonly NamedKey[] = Object.entries(TABLE).flatMap(([section, { keys }]) =>
  Object.entries<Key>(keys).map(([key, spec]) => ({
    section,
    key,
    name: `${section}.${key}` as KeyName,
    variable: `POSTRIDER_${section}_${key}`.toUpperCase(),
    spec,
  })),
);
