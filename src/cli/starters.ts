// What the command line needs of the program above it: the two commands that run until they
// are stopped. main.ts hands them in, because daemon and sandbox stand above this folder.
import type { LoadedConfig } from '../config/load.ts';

export interface Starters {
  /** Runs the daemon until a signal stops it; resolves to the exit code. */
  serve(loaded: LoadedConfig): Promise<number>;
  sandbox(options: SandboxOptions): Promise<number>;
}

export interface SandboxOptions {
  /** The sandbox's own data folder; null: what POSTRIDER_DATA_DIR says, or the usual one in the checkout. */
  dataDir: string | null;
  /** Listens at all addresses, not on loopback alone. */
  open: boolean;
  /** A configuration file over the sandbox's own defaults, or null. */
  configFile: string | null;
  /** Print key, login and addresses as one JSON value instead of words. */
  json: boolean;
}
