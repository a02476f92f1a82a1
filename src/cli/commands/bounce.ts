// bounce reply: what the bounce rules make of a reply of a receiving server, and which rule decided.
import { classifyReply } from '../../classify/classify-reply.ts';
import { loadBounceRules, SHIPPED_RULES } from '../../classify/load-rules.ts';
import { readReply } from '../../classify/read-reply.ts';
import { done, localCommand } from '../command.ts';
import { positional, required, text } from '../option.ts';
import { renderFacts } from '../table.ts';

export const bounceReply = localCommand({
  name: 'bounce reply',
  summary: 'Says what a reply of a receiving server means, and which rule decides.',
  options: {
    reply: required(positional(text('REPLY', 'the reply in quotes, with its codes: "550 5.1.1 User unknown"'))),
    mx: text('HOST', 'the server that said it, for rules about one provider'),
  },
  run: async (_, { reply, mx }) => done(explain(reply, mx ?? null)),
  render: ({ class: bounce, label, action, rule, reason, suspend }) =>
    renderFacts([
      ['class', bounce],
      ['label', label],
      ['action', action],
      ['rule', rule],
      ['reason', reason],
      ['pause', suspend === null ? null : `${suspend.for_secs} s, of the ${suspend.scope}`],
    ]),
});

function explain(reply: string, mx: string | null) {
  const { suspend, ...verdict } = classifyReply({ ...readReply(reply), mx }, loadBounceRules(SHIPPED_RULES));
  return { ...verdict, suspend: suspend && { for_secs: suspend.forMs / 1000, scope: suspend.scope } };
}
