// The settings for shaping, from the configuration, for the daemon and for commands that run without one.
import type { Config } from '../config/keys.ts';
import { loadProviderLimits, Providers } from '../delivery/shaping/provider-limits.ts';
import type { ShapingLimits } from '../delivery/shaping/shaping-memory.ts';
import type { Tier } from '../store/tenants.ts';

export interface ShapingSettings {
  limits: ShapingLimits;
  providers: Providers;
  retryStepsMs: readonly number[];
}

/** Throws a Fault with the problems of the provider file. */
export function shapingSettings({ delivery, limits }: Config): ShapingSettings {
  const [first, second, third] = limits.messages_per_hour;
  const perHour: Record<Tier, number> = { '1k': first, '10k': second, uncapped: third };
  return {
    limits: {
      sessions: delivery.connections,
      sessionsPerGroup: delivery.connections_per_destination,
      messagesPerSession: delivery.messages_per_connection,
      messagesPerMinute: delivery.messages_per_minute || null,
      messagesPerHour: (tier) => perHour[tier] || null,
    },
    providers: new Providers(loadProviderLimits(delivery.provider_limits_file)),
    retryStepsMs: delivery.retry_steps,
  };
}
