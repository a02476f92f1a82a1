// Suppression lists as CSV: what is exported can be imported, and what others export, too.
import t from 'tap';
import {
  csvLine,
  type ImportDefaults,
  lineSentence,
  readSuppressionCsv,
  readSuppressionCsvInTurns,
  TENANT_COLUMNS,
  tenantCsvLine,
} from '../../src/suppression/csv.ts';

const NOW = Date.UTC(2026, 10, 22);
const read = (text: string, change: Partial<ImportDefaults> = {}) => {
  const found = readSuppressionCsv(text, { reason: 'manual', now: NOW, ...change });
  return { ...found, problems: found.problems.map(lineSentence) };
};

t.test('what is exported can be imported', async (t) => {
  const entries = [
    { address: 'jo@x.test', reason: 'complaint', createdAt: NOW - 5, messageId: null },
    {
      address: '"jo, the ""first"" smith"@x.test'.replaceAll('""', '\\"'),
      reason: 'manual',
      createdAt: NOW,
      messageId: null,
    },
    { address: '=1+1@x.test', reason: 'unsubscribe', createdAt: NOW, messageId: null },
    { address: 'jö@x.test', reason: 'hard_bounce', createdAt: NOW, messageId: null },
  ] as const;
  const csv = [csvLine(TENANT_COLUMNS), ...entries.map(tenantCsvLine)].join('');
  t.match(csv, 'address,reason,created_at,message_id\r\njo@x.test,complaint,2026-11-21T23:59:59.995Z,\r\n');
  t.strictSame(read(csv), { entries, problems: [], ignored: ['message_id'] });
});

t.test('what spreadsheets and others make of it', async (t) => {
  t.match(read('\ufeffEmail;Reason\nJO@X.test;Complaint\n\n;\n').entries, [
    { address: 'jo@x.test', reason: 'complaint', createdAt: NOW },
  ]);
  t.match(
    read('address,error,created_at\nbob@x.test,550 5.1.1; unknown user,2024-01-01T00:00:00Z').entries,
    [{ address: 'bob@x.test', createdAt: Date.UTC(2024, 0, 1) }],
    'a diagnostic has semicolons, and a file one separator',
  );
  t.match(read('error;address\n"550, no; such user";jo@x.test').entries, [{ address: 'jo@x.test' }]);
  t.match(read('"a;b",address\nx;y,jo@x.test').entries, [{ address: 'jo@x.test' }], 'nothing in quotes decides');
  t.match(read('name,address\r"Smith, Jo",jo@x.test\r').entries, [{ address: 'jo@x.test', reason: 'manual' }]);
  t.match(
    read('address,created_at\njo@x.test,2099-01-01T00:00:00Z').entries,
    [{ createdAt: NOW }],
    'not in the future',
  );
});

t.test('exports of other services: columns, reasons and times as they write them', async (t) => {
  const created = Date.UTC(2024, 0, 1);
  const cases: [csv: string, reasons: string[], ignored: string[]][] = [
    [
      'Recipient,SuppressionReason,CreatedAt\nA,HardBounce,2024-01-01\nB,SpamComplaint,2024-01-01\nC,ManualSuppression,2024-01-01\n',
      ['hard_bounce', 'complaint', 'manual'],
      [],
    ],
    [
      'EmailAddress,Reason,Last update time\nA,BOUNCE,2024-01-01\nB,COMPLAINT,2024-01-01',
      ['hard_bounce', 'complaint'],
      [],
    ],
    [`email,ip,created\nA,192.0.2.1,${created / 1000}`, ['unsubscribe'], ['ip']],
    [
      'address,code,error,created_at\nA,550,"No such user","Mon, 01 Jan 2024 00:00:00 UTC"',
      ['unsubscribe'],
      ['code', 'error'],
    ],
    [
      'email,reason,detail,created_at\nA,hard-bounce,x,2024-01-01\nB,spam,,2024-01-01\nC,unsub,,2024-01-01',
      ['hard_bounce', 'complaint', 'unsubscribe'],
      ['detail'],
    ],
  ];
  for (const [csv, reasons, ignored] of cases) {
    const text = csv.replace(/^([ABC]),/gm, '$1@x.test,');
    const found = read(text, { reason: 'unsubscribe' });
    const entries = reasons.map((reason, at) => {
      return { address: `${'abc'[at]}@x.test`, reason, messageId: null, createdAt: created };
    });
    t.same(found, { entries, problems: [], ignored }, csv);
  }
  t.match(read('address,reason\njo@x.test,soft-bounce').problems, ['line 2: "soft-bounce" must be one of hard_bounce']);
});

t.test('columns that are not understood are named', async (t) => {
  t.same(read('email,First Name,, Recipient ,note,note\njo@x.test').ignored, ['First Name', 'Recipient', 'note']);
  t.same(read('address\njo@x.test').ignored, []);
  t.same(read('jo@x.test', { allowBareList: true }).ignored, []);
  t.same(read(`address,${'n'.repeat(1000)}\n`).ignored, [`${'n'.repeat(100)}…`]);
});

t.test('what cannot be used is named by its line', async (t) => {
  t.same(read('jo@x.test\n').problems, ['line 1: there is no column "address"']);
  t.same(read('').problems, ['line 1: there is no column "address"']);
  const { entries, problems } = read(
    'address,reason,created_at\njo@x.test,,\nno address,,\na@x.test,bored,\nb@x.test,,soon\n',
  );
  t.equal(entries.length, 1);
  t.match(problems, [
    'line 3: "no address" is not an email address',
    'line 4: "bored" must be one of hard_bounce, complaint, unsubscribe, manual',
    'line 5: "soon" is not a time',
  ]);
});

t.test('a quote that nothing closes is told of by the line in which it opens', async (t) => {
  const said = (line: number) => `line ${line}: the quote opened here is never closed`;
  t.match(read('address,reason\njo@x.test,\n"a@x.test,complaint\nb@x.test,\n'), { broken: said(3) });
  t.match(read('"address\njo@x.test\n'), { broken: said(1) });
  t.match(read('address,note\na@x.test,"two\nlines ""and"" an end\nb@x.test,\n'), { broken: said(2) });
  t.match(read('address\na@x.test\n"'), { broken: said(3) });
  t.notOk('broken' in read('address,note\na@x.test,"two\nlines ""and"" an end"\nb@x.test,""\n'));
});

t.test('a pasted list of addresses needs no first line where that is wanted', async (t) => {
  const list = (text: string) => read(text, { allowBareList: true });
  t.match(list('jo@x.test\nAnn@Y.test\n'), {
    entries: [{ address: 'jo@x.test' }, { address: 'ann@y.test' }],
    problems: [],
  });
  t.match(list('email;reason\njo@x.test;complaint'), { entries: [{ address: 'jo@x.test', reason: 'complaint' }] });
  t.same(list('jo@x.test\nno address').problems.length, 1);
  const more = 'has more than one address; write one per line, or name the columns in the first line';
  t.match(list('jo@x.test\nann@y.test, bob@z.test\nc@x.test;complaint\n d@x.test ,\n'), {
    entries: [{ address: 'jo@x.test' }, { address: 'd@x.test' }],
    problems: [`line 2: ${more}`, /^line 3: "c@x\.test;complaint" is not an email address/],
  });
  t.match(list('jo@x.test\nc@x.test;complaint').problems, [`line 2: ${more}`]);
  t.same(list('nobody\n').problems, ['line 1: there is no column "address"']);
});

t.test('a long file is read in turns, up to a limit', async (t) => {
  const text = `address\n${Array.from({ length: 1000 }, (_, at) => `a${at}@x.test`).join('\n')}\nbad`;
  let turns = 0;
  const turn = async () => void turns++;
  const defaults = { reason: 'manual' as const, now: NOW };
  const all = await readSuppressionCsvInTurns(text, { ...defaults, maxLines: 1001 }, turn);
  t.same(all, readSuppressionCsv(text, defaults));
  t.ok(turns >= 2);
  t.equal(await readSuppressionCsvInTurns(text, { ...defaults, maxLines: 1000 }, turn), null);
});

t.test('what a spreadsheet would run is text to it, and the same again after an import', async (t) => {
  const addresses = [
    "=cmd|'/c calc'!a0@x.test",
    '+1@x.test',
    '-1@x.test',
    "'=1@x.test",
    "''+1@x.test",
    "'jo@x.test",
    '"@"@x.test',
  ];
  const entryOf = (address: string) => ({ address, reason: 'manual' as const, messageId: null, createdAt: NOW });
  const csv = [csvLine(TENANT_COLUMNS), ...addresses.map((address) => tenantCsvLine(entryOf(address)))].join('');
  const cells = csv.split('\r\n').slice(1, -1);
  t.same(
    cells.filter((cell) => /^"?[=+\-@]/.test(cell)),
    [],
  );
  t.match(csv, "\r\n'=cmd|'/c calc'!a0@x.test,", 'an apostrophe before it');
  t.match(csv, "\r\n'jo@x.test,", 'and none where there is no need');
  const imported = readSuppressionCsv(csv.replace("=cmd|'/c calc'!", "=cmd|'/c'!"), { reason: 'manual', now: NOW });
  t.same(imported.problems, []);
  t.same(
    imported.entries.map(({ address }) => address),
    addresses.map((address) => address.replace(' calc', '')),
  );
});

t.test('a file of one endless line, or of endless empty ones, keeps nobody waiting', async (t) => {
  const endless = [
    `address\n${'a'.repeat(1_000_000)}`,
    ','.repeat(1_000_000),
    '\n'.repeat(1_000_000),
    `address\n"${'""'.repeat(500_000)}`,
  ];
  for (const text of endless) {
    let turns = 0;
    const read = await readSuppressionCsvInTurns(
      text,
      { reason: 'manual', now: NOW, maxLines: 10 },
      async () => void turns++,
    );
    t.ok(turns >= 10, `${turns} turns`);
    t.ok(JSON.stringify(read).length < 1000);
  }
});
