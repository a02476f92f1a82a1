import t from 'tap';
import { type Column, renderFacts, renderTable } from '../../src/cli/table.ts';

t.test('columns are as wide as their widest cell, without blanks at the end', async (t) => {
  const columns: Column<[string, number | null]>[] = [
    { title: 'NAME', value: (row) => row[0] },
    { title: 'N', value: (row) => row[1] },
  ];
  t.equal(
    renderTable(
      [
        ['a', 1],
        ['longer', null],
      ],
      columns,
      '',
    ),
    'NAME    N\na       1\nlonger  -',
  );
  t.equal(renderTable([], columns, 'Nothing.'), 'Nothing.');
});

t.test('what servers say cannot steer the terminal', async (t) => {
  const text = renderFacts([['response', '550 \u001b[2Jgone\r\nfake: line\u202e']]);
  t.equal(text, 'response: 550 \ufffd[2Jgone\ufffd\ufffdfake: line\ufffd');
});
