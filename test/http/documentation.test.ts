// docs/dependencies.md quotes what the engines answer by themselves: word for word what the suite tests.
import fs from 'node:fs';
import t from 'tap';
import { type AnswerShape, ENGINE_LIMITS, KERNEL_ANSWERS } from '../../src/http/engines/engine-limits.ts';

const DOCUMENT = fs.readFileSync(new URL('../../docs/dependencies.md', import.meta.url), 'utf8');

function inWords(shape: AnswerShape): string {
  if (shape.by === 'handler') return 'as any other request';
  if (shape.by === 'json') return `${KERNEL_ANSWERS[shape.code].status} \`${shape.code}\``;
  return shape.by === 'html' ? `${shape.status}, its own page` : 'closes without an answer';
}

t.test('every request that an engine answers by itself is documented', async (t) => {
  for (const { request, answers } of Object.values(ENGINE_LIMITS)) {
    const row = `| ${request} | ${inWords(answers.uws)} | ${inWords(answers.node)} |`;
    t.ok(DOCUMENT.includes(`\n${row}\n`), row);
  }
});
