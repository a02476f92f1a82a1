// Replies that are no samples of any rule, each as a server sends it: the bare lines of the corpus.
import t from 'tap';
import { classifyReply } from '../../src/classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../src/classify/load-rules.ts';
import { readReply } from '../../src/classify/read-reply.ts';
import { readReplies } from '../corpus/read-corpus.ts';

const rules = loadBounceRules(SHIPPED_RULES);

t.test('in many languages, and what only sounds like a missing mailbox or domain', async (t) => {
  for (const { kinds, reply } of readReplies('bare-replies')) {
    const { class: bounce, rule } = classifyReply(readReply(reply), rules);
    t.ok(kinds.includes(bounce), `${reply}: ${bounce} by ${rule}`);
  }
});
