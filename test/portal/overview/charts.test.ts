// Charts as pure functions: numbers in, markup out; and the steps of time that they are drawn over.
import { parseFragment } from 'parse5';
import t from 'tap';
import { type BarChart, barChart } from '../../../src/portal/overview/bar-chart.ts';
import {
  chosenRange,
  everyStep,
  fittingRange,
  RANGES,
  spanOf,
  stepName,
} from '../../../src/portal/overview/chart-range.ts';
import { complaintRate, judgeRate, percentText } from '../../../src/portal/overview/complaint-rate.ts';
import { figuresView } from '../../../src/portal/overview/figures-view.ts';
import { type LineChart, lineChart, roundTop } from '../../../src/portal/overview/line-chart.ts';
import { tagsView } from '../../../src/portal/overview/tags-view.ts';
import { type Figures, noFigures, type TagFigures } from '../../../src/store/figures.ts';

const NOW = Date.UTC(2026, 10, 22, 13, 45);
const HOUR_MS = 3_600_000;

function drawn(change: Partial<LineChart>): string {
  const chart: LineChart = {
    ...{ id: 'c', title: 'Mail', summary: 'What it shows.', stepLabels: ['a', 'b', 'c', 'd'], top: 10 },
    series: [{ label: 'Sent', values: [0, 10, 5, 20], style: 1 }],
    format: String,
    ...change,
  };
  return lineChart(chart).text;
}

const pathsIn = (markup: string) => [...markup.matchAll(/<path d="([^"]*)"/g)].map(([, path]) => path);

t.test('a line goes through its values; what is above the top is cut', async (t) => {
  t.same(pathsIn(drawn({})), ['M125 100 L375 0 L625 50 L875 0']);
});

t.test('a line is broken where nothing can be said, and a lonely value is seen', async (t) => {
  const values = [5, null, 10, 0];
  const paths = pathsIn(drawn({ series: [{ label: 'Rate', values, style: 2 }] }));
  t.same(paths, ['M121 50 L129 50', 'M625 0 L875 100']);
  t.same(pathsIn(drawn({ series: [{ label: 'Rate', values: [null, null], style: 2 }] })), []);
});

t.test('it has a name, a summary, a key, and texts at its scale and its steps', async (t) => {
  const thresholds = [
    { value: 4, label: 'careful', style: 'warn' as const },
    { value: 40, label: 'beyond', style: 'bad' as const },
  ];
  const markup = drawn({ thresholds, format: (value) => `${value} mails`, hints: ['one', 'two'] });
  t.match(markup, '<figcaption id="c-name">Mail</figcaption>');
  t.match(markup, 'role="img" aria-labelledby="c-name c-summary"');
  t.match(markup, '<title id="c-summary">What it shows.</title>');
  t.match(markup, /<ul class="legend"><li><svg .*class="series-1".*<\/svg>Sent<\/li>/s);
  for (const text of ['10 mails', '5 mails', '0 mails', 'careful', 'a', 'd']) t.match(markup, `>${text}</text>`);
  t.notMatch(markup, 'beyond', 'a threshold above the scale is not drawn');
  t.match(markup, 'viewBox="0 0 2 1"');
  t.match(markup, '<rect x="1"><title>two</title></rect>');
  t.ok(markup.indexOf('<text') > markup.indexOf('<path'), 'texts lie above the lines');
  t.notMatch(markup, /style=/, 'the policy forbids inline styles');
});

t.test('labels are texts, whatever is in them', async (t) => {
  const series = [{ label: '<b onx=1>"', values: [1], style: 1 }];
  const fragment = JSON.stringify(
    parseFragment(drawn({ title: '</title><b>', summary: '</title><b>', series, hints: ['</title><b>'] })),
    (key, value) => (key === 'parentNode' ? undefined : value),
  );
  t.notMatch(fragment, '"tagName":"b"');
  t.match(fragment, '</title><b>');
});

function bars(change: Partial<BarChart>): string {
  const chart: BarChart = {
    ...{ id: 'b', title: 'Outcomes', summary: 'All of it.', stepLabels: ['1', '2', '3', '4'] },
    stepNames: ['one', 'two', 'three', 'four'],
    parts: [
      { label: 'Good', values: [5, 0, 8, 0], style: 2 },
      { label: 'Bad', values: [5, 2, 0, 0], style: 4 },
    ],
    format: String,
    ...change,
  };
  return barChart(chart).text;
}

t.test('bars lie on each other, and say their values to pointer, keyboard and ear', async (t) => {
  const markup = bars({});
  const parts = [...markup.matchAll(/<rect y="([\d.]+)%" height="([\d.]+)%" class="part-(\d)"/g)];
  t.same(
    parts.map(([, ...place]) => place.map(Number)),
    [
      [54, 34, 2],
      [20, 34, 4],
      [74.4, 13.6, 4],
      [33.6, 54.4, 2],
    ],
    'each from where the one below it ends',
  );
  t.match(markup, '<svg x="50%" width="25%">', 'three is beyond the middle');
  const said = ['one: Good 5, Bad 5', 'two: Bad 2', 'three: Good 8'];
  const spoken = /<g tabindex="0" role="img" aria-labelledby="(b-\d)">.*?<p id="\1">([^<]*)<\/p>/g;
  t.same(
    [...markup.matchAll(spoken)].map(([, , words]) => words),
    said,
    'four has nothing to say',
  );
  t.match(markup, '<desc id="b-summary">All of it.</desc>');
  t.match(markup, 'role="group" aria-labelledby="b-name b-summary"');
  t.notMatch(markup, /style=/, 'the policy forbids inline styles');
  t.notMatch(bars({ stepNames: ['<b>', 'two', 'three', 'four'] }), '<b>');
});

t.test('a tenant sees a day by the hour until there are two of them', async (t) => {
  const hour = Math.floor(NOW / HOUR_MS);
  const rangeFor = (...ago: number[]) =>
    fittingRange(
      null,
      ago.map((hours) => ({ hour: hour - hours })),
      NOW,
    ).name;
  t.equal(rangeFor(), '7d', 'says that there was nothing in a week');
  t.equal(rangeFor(0), '24h');
  t.equal(rangeFor(47, 3), '24h');
  t.equal(rangeFor(48, 3), '7d');
  t.equal(fittingRange('30d', [{ hour }], NOW).name, '30d', 'what was asked for is shown');
  t.equal(fittingRange('7d', [{ hour }], NOW).name, '7d');
  t.equal(fittingRange('nonsense', [{ hour }], NOW).name, '24h');
});

t.test('the top of a scale is round, and so is its half', async (t) => {
  const tops = [0, 1, 2, 3, 5, 7, 9, 10, 11, 23, 65, 99, 100, 101, 4001, 999_999].map(roundTop);
  t.same(tops, [2, 2, 2, 4, 6, 8, 10, 10, 20, 40, 80, 100, 100, 200, 6000, 1_000_000]);
  for (const top of tops) t.ok(Number.isInteger(top / 2));
});

t.test('ranges end with the step that is under way, and have a point for each step', async (t) => {
  for (const range of RANGES) {
    const span = spanOf(range, NOW);
    const hour = Math.floor(NOW / HOUR_MS);
    t.equal((span.untilHour - span.fromHour) / range.stepHours, range.hours / range.stepHours);
    t.ok(span.untilHour > hour && span.untilHour - range.stepHours <= hour, range.name);
    t.equal(span.fromHour % range.stepHours, 0, 'as the sums are grouped');
    const point = { hour: span.fromHour + range.stepHours, figures: { ...noFigures(), accepted: 7 } };
    const steps = everyStep([point], span);
    t.same(
      steps.map(({ figures }) => figures.accepted),
      steps.map((_, at) => (at === 1 ? 7 : 0)),
    );
  }
  t.equal(chosenRange('90d').hours, 2160);
  for (const unknown of [null, '', '7D', '__proto__']) t.equal(chosenRange(unknown).name, '7d');
  const hour = Math.floor(NOW / HOUR_MS);
  t.equal(stepName(hour, chosenRange('24h'), 'short'), '13:00');
  t.equal(stepName(hour, chosenRange('24h'), 'long'), 'Nov 22, 13:00 UTC');
  t.equal(stepName(hour, chosenRange('7d'), 'short'), 'Nov 22');
  t.equal(stepName(hour, chosenRange('30d'), 'long'), 'Nov 22');
});

t.test('a share of complaints is judged at 0.1 and 0.3 %', async (t) => {
  const of = (complained: number, delivered: number) => judgeRate(complaintRate({ complained, delivered })).tone;
  t.same(
    [of(0, 0), of(0, 1000), of(99, 100_000), of(1, 1000), of(299, 100_000), of(3, 1000)],
    [...['quiet', 'good', 'good', 'warn', 'warn', 'bad']],
  );
  t.same([null, 0, 0.00035, 0.00095, 0.001, 0.0123, 0.5, 0.994, 0.9999, 1].map(percentText), [
    ...['–', '0 %', '0.035 %', '0.095 %', '0.1 %', '1.2 %', '50 %', '99.4 %', '99.9 %', '100 %'],
  ]);
});

const FIGURES: Figures = {
  ...{ accepted: 1200, delivered: 1000, deferred: 4, bouncedHard: 3, bouncedSoft: 2, bouncedBlock: 1, failed: 0 },
  bouncedLater: 0,
  ...{ canceled: 0, complained: 2, opened: 300, openedByMachine: 100, clicked: 50 },
};

t.test('figures are there as sums, charts, a table, and by provider', async (t) => {
  const range = chosenRange('24h');
  const points = everyStep([{ hour: spanOf(range, NOW).fromHour, figures: FIGURES }], spanOf(range, NOW));
  const hostile = 'mx.<b>.test,"x';
  const providers = [
    { provider: 'google', figures: FIGURES },
    { provider: hostile, figures: { ...FIGURES, complained: 9 } },
    { provider: '', figures: { ...noFigures(), accepted: 7, failed: 1 } },
  ];
  const markup = figuresView({ range, points, providers, tracking: true }).text;
  t.equal(markup.match(/<figure class="chart/g)?.length, 3);
  t.ok(markup.indexOf('Delivery rate') < markup.indexOf('Bounced'), 'it is the first thing to be seen');
  t.match(markup, '1,200');
  t.match(markup, '3 hard, 2 soft, 1 blocked');
  t.match(markup, 'keep below 0.1 %');
  t.match(markup, '0.3 % limit');
  t.match(markup, /<th scope="row">Nov 21, 14:00 UTC<\/th><td>1,200<\/td><td>1,000<\/td><td>4<\/td><td>6<\/td>/);
  t.match(markup, 'mx.&lt;b&gt;.test, &quot;x');
  t.match(markup, '>unknown<');
  t.match(markup, '30 % of delivered; 100 by machines');
  t.match(figuresView({ range, points, providers, tracking: false }).text, 'Tracking is off');
  t.notMatch(markup.slice(markup.indexOf('By receiving provider')), 'Accepted');
  const onlyAccepted = [{ provider: '', figures: { ...noFigures(), accepted: 7 } }];
  const early = figuresView({ range, points, providers: onlyAccepted, tracking: true }).text;
  t.notMatch(early, '>unknown<');
  t.match(early, 'No delivery results yet.');
  const empty = everyStep([], spanOf(range, NOW));
  t.match(figuresView({ range, points: empty, providers: [], tracking: true }).text, 'No mail in the last 24 hours');
});

t.test('figures by tag, the first fifty of them', async (t) => {
  const view = (tags: TagFigures) => tagsView(tags, chosenRange('7d')).text;
  t.match(view({ tags: [], complete: true }), 'No messages with tags in the last 7 days');
  const some = (count: number) => Array.from({ length: count }, (_, n) => ({ tag: `run:r${n}`, figures: FIGURES }));
  const part = view({ tags: [{ tag: `id:${'x'.repeat(256)}`, figures: FIGURES }, ...some(49)], complete: true });
  t.match(part, '<a class="roomy" href="/portal/messages?tag=run%3Ar48">run:r48</a>');
  t.match(part, `id:${'x'.repeat(56)}…<`);
  t.match(part, '1,200');
  t.match(part, '2 (0.2 %)');
  t.notMatch(part, /the most messages|There were more/);
  const full = view({ tags: some(51), complete: false });
  t.match(full, 'These are the 50 tags with the most messages. There were more tags than are counted: of each day');
  t.notMatch(full, 'run:r50<');
});

t.test('what came back after it was taken has ended once, and not as delivered', async (t) => {
  const range = chosenRange('24h');
  const cardsOf = (some: Partial<Figures>) => {
    const { fromHour: hour } = spanOf(range, NOW);
    const points = everyStep([{ hour, figures: { ...noFigures(), ...some } }], spanOf(range, NOW));
    return figuresView({ range, points, providers: [], tracking: false }).text;
  };
  const back = cardsOf({ accepted: 10, delivered: 8, bouncedHard: 4, bouncedLater: 3, failed: 1 });
  const rate = (big: string, words: string) =>
    `<h3>Delivery rate</h3><p class="big">${big}</p><p class="quiet">${words}</p>`;
  t.match(back, rate('50 %', '5 of 10 delivered (3 bounced later)'));
  t.match(cardsOf({ delivered: 3, failed: 1 }), rate('75 %', '3 of 4 delivered'));
  t.match(cardsOf({ accepted: 3 }), rate('–', '0 of 0 delivered'));
  const ofBefore = cardsOf({ delivered: 1, bouncedHard: 2, bouncedLater: 2 });
  t.match(ofBefore, rate('0 %', '0 of 2 delivered (2 bounced later)'), 'one was delivered before what is shown');
  t.match(
    cardsOf({ delivered: 5, complained: 2, bouncedHard: 1, deferred: 4 }),
    '14:00 UTC: Delivered 3, Complaints 2, Bounced 1, Deferred attempts 4<',
  );
});

t.test('the largest page of figures is small', async (t) => {
  const range = chosenRange('90d');
  const big = Object.fromEntries(Object.keys(FIGURES).map((name) => [name, 9_876_543])) as Figures;
  const points = everyStep([], spanOf(range, NOW)).map(({ hour }) => ({ hour, figures: big }));
  const providers = Array.from({ length: 22 }, (_, n) => ({ provider: `mx${n}.${'x'.repeat(90)}`, figures: big }));
  const bytes = figuresView({ range, points, providers, tracking: true }).text.length;
  t.comment(`${bytes} bytes`);
  t.ok(bytes < 112_000, 'with the rest of the page it stays below 128 KiB');
});
