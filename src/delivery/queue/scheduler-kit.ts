// What the scheduler works with.
import type { Clock } from '../../base/clock.ts';
import type { Logger } from '../../observe/log.ts';
import type { SecondLooks } from '../../protocol/dns/second-look.ts';
import type { Notices } from '../../store/notices.ts';
import type { Ownership } from '../../store/ownership.ts';
import type { StoreVerbs } from '../../store/store.ts';
import type { EndWatch } from '../outcome/doubted-bounce.ts';
import type { Recorder } from '../outcome/recorder.ts';
import type { NoRouteRules } from '../route/no-route.ts';
import type { Routes } from '../route/routes.ts';
import type { Interfaces, SourceAddresses } from '../route/source-addresses.ts';
import type { CourierPool } from '../session/courier-pool.ts';
import type { SessionKit } from '../session/session-host.ts';
import type { Shaping } from '../shaping/shaping-state.ts';
import type { ClaimsKit } from './claims.ts';
import type { MessagesInFlight } from './orphans.ts';

export interface SchedulerKit {
  store: ClaimsKit['store'] & StoreVerbs<{ queue: 'dueLanes' | 'getMessage'; sources: 'peekDue' }>;
  notices: Notices;
  /** It sends the mail of these slots. */
  ownership: Ownership;
  inFlight: Pick<MessagesInFlight, 'hold' | 'size'>;
  routes: Routes;
  pool: CourierPool;
  recorder: Pick<Recorder, 'record'>;
  results: ClaimsKit['results'];
  shaping: Shaping;
  /** Our source addresses; null: the system picks. */
  sources: SourceAddresses | null;
  /** The network interfaces of this machine. */
  readInterfaces?: (() => Interfaces) | undefined;
  secondLooks: SecondLooks;
  noRoute: NoRouteRules;
  endWatch?: EndWatch | undefined;
  clock: Clock;
  judge: SessionKit['judge'];
  random: () => number;
  log: Logger;
  limits: { sessions: number; lingerMs: number };
  /** The pause after each attempt, from the first; a claim stores the next one in case the attempt vanishes. */
  pausesMs(): number[];
}
