// In which setting the daemons of a chaos run live, and what their tenant has beside a key and a domain.
import type { Daemon, Installation, Owner } from '../support/daemon-process.ts';
import type { TestDnsServer } from '../support/dns-server.ts';
import { publish, type Sender } from '../support/world.ts';
import { type FlakyEndpoint, startFlakyEndpoint } from './endpoints.ts';
import { randomFor } from './schedule.ts';

export const SETTINGS = {
  // One sender and one receiver make more calls than a peer may, and more bounces than a tenant should.
  smtp: { connections_per_minute: 1_000_000, mails_per_minute: 10_000_000 },
  limits: { review_hard_bounce_rate: 1, review_complaint_rate: 1 },
  suppression: { spike_hard_bounces: 1_000_000 },
  delivery: { retry_steps: ['100ms', '200ms'], connections_per_destination: 3 },
  domains: { recheck: false },
  webhooks: { allow_private: ['127.0.0.0/8'] },
};

const ENDPOINTS = 2;
const SERVICE_KEY = 'postrider._domainkey.bounces.mail.postrider.test';

/** Its own mails are signed, and receivers look for the key. */
export async function announceService(dns: TestDnsServer, daemon: Daemon): Promise<void> {
  const announced = await daemon.logged({ record: SERVICE_KEY });
  publish(dns, [{ name: SERVICE_KEY, type: 'TXT', value: String(announced.value) }]);
}

export interface EndpointKit {
  postrider: Installation;
  daemon: Daemon;
  sender: Sender;
  seed: number;
}

export async function addEndpoints(
  owner: Owner,
  { postrider, daemon, sender, seed }: EndpointKit,
): Promise<FlakyEndpoint[]> {
  const scopes = ['--name', 'hooks', '--scopes', 'webhooks:write'];
  const { key } = await postrider.json('key', 'create', '--tenant', sender.tenantId, ...scopes);
  const endpoints: FlakyEndpoint[] = [];
  for (let index = 0; index < ENDPOINTS; index++) {
    const endpoint = await startFlakyEndpoint(randomFor(seed, `endpoint${index}`));
    owner.teardown(() => endpoint.close());
    endpoints.push(endpoint);
    const answer = await daemon.call(String(key), 'POST /webhooks', { body: { url: endpoint.url } });
    if (answer.status !== 201) throw new Error(`webhook refused: ${answer.status} ${JSON.stringify(answer.body)}`);
  }
  return endpoints;
}
