// Operators' actions on the queue, and explaining it: over the daemon's own shaping, with a scheduler that is notified
// of due lanes, or through the store alone when no daemon runs.
import type { Clock } from '../base/clock.ts';
import type { IdSource } from '../base/ids.ts';
import type { BounceRules } from '../classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../classify/load-rules.ts';
import type { Config } from '../config/keys.ts';
import { Explainer } from '../delivery/actions/explain.ts';
import { QueueActions } from '../delivery/actions/queue-actions.ts';
import type { Delivery } from '../delivery/delivery.ts';
import { Shaping } from '../delivery/shaping/shaping-state.ts';
import { NOTHING_BEGUN } from '../events/end-waiting.ts';
import type { Logger } from '../observe/log.ts';
import type { Store } from '../store/store.ts';
import type { LaneNotice } from '../store/submissions.ts';
import type { QueueControl } from './operator-services.ts';
import { shapingSettings } from './shaping-settings.ts';

export interface QueueControlParts {
  store: Pick<Store, 'queue' | 'shaping' | 'tenants'>;
  clock: Clock;
  ids: IdSource;
  log: Logger;
  config: Config;
}

/** With the delivery of this process. */
export function liveQueueControl(
  parts: QueueControlParts,
  delivery: Pick<Delivery, 'shaping' | 'notice' | 'noticeScheduled' | 'endBegun' | 'load' | 'sourceAddresses'>,
  rules: BounceRules,
): QueueControl {
  const { store, clock, ids, log } = parts;
  const { shaping } = delivery;
  const onLanes = (lanes: LaneNotice[]) => delivery.notice(lanes);
  const onScheduled = (at: number) => delivery.noticeScheduled(at);
  const { endBegun } = delivery;
  const actions = new QueueActions({ store, clock, ids, log, shaping, endBegun, onLanes, onScheduled });
  const load = (group: string | null) => delivery.load(group);
  const control = controlOf(parts, { actions, shaping, load, rules: () => rules });
  return { ...control, sources: () => delivery.sourceAddresses() };
}

/** Through the store alone; the next daemon finds the changes. */
export async function storeQueueControl(
  parts: QueueControlParts,
  onLanes: (lanes: LaneNotice[]) => void = () => {},
): Promise<QueueControl> {
  const { store, clock, ids, log, config } = parts;
  const shaping = await Shaping.open({ store, clock, log, ...shapingSettings(config), random: Math.random });
  const nothing = { endBegun: NOTHING_BEGUN, onScheduled() {} };
  const actions = new QueueActions({ store, clock, ids, log, shaping, onLanes, ...nothing });
  // Reading the rules takes some time, and few commands need them.
  return controlOf(parts, { actions, shaping, load: null, rules: () => loadBounceRules(SHIPPED_RULES) });
}

type ControlParts = Pick<ConstructorParameters<typeof Explainer>[0], 'shaping' | 'load' | 'rules'> & {
  actions: QueueActions;
};

function controlOf(
  { store, clock, config }: QueueControlParts,
  { actions, ...explaining }: ControlParts,
): QueueControl {
  const sessions = config.delivery.connections;
  return {
    act: (action, target, word) => actions.act(action, target, word),
    release: (tenantId) => actions.release(tenantId),
    explain: new Explainer({ ...explaining, store, sessions, now: () => clock.now() }),
  };
}
