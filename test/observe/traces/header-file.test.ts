// The file with header fields for the receiver of traces: what is wrong is named by its line, never quoted.
import fs from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { readHeaderFile } from '../../../src/daemon/header-file.ts';
import { testFolder } from '../../support/test-folder.ts';

t.test('the file with header fields', async (t) => {
  const file = path.join(testFolder(t), 'headers');
  const read = (text: string) => {
    fs.writeFileSync(file, text);
    return readHeaderFile(file);
  };
  t.same(read('# a comment\r\nAuthorization: Basic eDp5\r\n\r\nx-scope:\tmail \n'), {
    authorization: 'Basic eDp5',
    'x-scope': 'mail',
  });
  t.same(read(''), {});
  for (const [line, problem] of [
    ['secret', /line 2 of \S+ is not "Name: value"/],
    ['secret:', /line 2/],
    ['a secret: x', /line 2/],
    ['x: secret\u0000secret', /line 2/],
    ['x: sécret', /line 2/],
    ['Content-Type: secret', /line 2 of \S+: Content-Type is set by Postrider/],
    ['host: secret', /line 2/],
    [`x: ${'s'.repeat(70_000)}`, /more than 64 KiB/],
  ] as const) {
    t.throws(() => read(`a: b\n${line}\n`), { message: problem }, line.slice(0, 30));
    t.throws(() => read(`a: b\n${line}\n`), { message: /^(?!.*secret)traces\.headers_file: / }, 'it is not quoted');
  }
});
