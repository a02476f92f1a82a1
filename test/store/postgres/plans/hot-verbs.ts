// The verbs that run for every message, every few seconds, or for a page that somebody opens, asked of a database that was
// filled (filled.ts). Many run side by side, as in a group of mail: then they are sent as statements over arrays.
import type { Asked, HotVerbs } from './asked.ts';
import { acceptVerbs, claimVerbs, queueVerbs } from './mail-verbs.ts';
import { pageVerbs, portalVerbs, webhookVerbs } from './reader-verbs.ts';
import { accountVerbs, inboundVerbs, suppressionVerbs, upkeepVerbs } from './upkeep-verbs.ts';

export function hotVerbs(asked: Asked): HotVerbs {
  return {
    ...acceptVerbs(asked),
    ...claimVerbs(asked),
    ...queueVerbs(asked),
    ...webhookVerbs(asked),
    ...pageVerbs(asked),
    ...suppressionVerbs(asked),
    ...inboundVerbs(asked),
    ...accountVerbs(asked),
    ...upkeepVerbs(asked),
    ...portalVerbs(asked),
  };
}
