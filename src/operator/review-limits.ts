// The limits for bounces and complaints, from the configuration, for the daemon, the portal and commands.
import type { Config } from '../config/keys.ts';
import { loadProviderLimits, Providers } from '../delivery/shaping/provider-limits.ts';
import type { ReviewLimits } from '../suppression/brake.ts';

/** Throws a Fault with the problems of the provider file. */
export function reviewLimitsOf({ limits, delivery }: Config): ReviewLimits {
  const providers = new Providers(loadProviderLimits(delivery.provider_limits_file));
  return {
    hardBounceRate: limits.review_hard_bounce_rate,
    complaintRate: limits.review_complaint_rate,
    window: limits.review_window,
    // By the domain alone: anyone can point their own domain at a provider's MX hosts.
    mailboxesAt(domain) {
      const provider = providers.ofOwnDomain(domain);
      if (provider === null) return null;
      const { sameMailboxes, ownDomains, ignoredInNames: ignored, aliasSeparator } = provider;
      return { domain: sameMailboxes ? ownDomains[0]! : domain, ignored, aliasSeparator };
    },
  };
}
