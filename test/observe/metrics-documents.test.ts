// docs/monitoring and the registry of metrics are of one mind: no panel and no alert asks for what does
// not exist, and nothing is measured that nobody looks at.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { METRICS, type MetricSpec } from '../../src/observe/metric-table.ts';
import { ALERTS_FILE, queriesOf, readAlerts, readDashboard } from './read-dashboard.ts';

const known = new Map<string, MetricSpec>(Object.entries(METRICS));
const SERIES_OF_HISTOGRAMS = /_(bucket|sum|count)$/;
/** Those that Prometheus adds. */
const OWN_LABELS = ['instance', 'job'];

const queries = queriesOf(readDashboard());
const rules = readAlerts().map(({ alert, expr }) => ({ where: alert, expr }));

/** Null: there is no such metric, or not as that kind. */
function specOf(series: string): MetricSpec | null {
  const exact = known.get(series);
  if (exact) return exact.kind === 'histogram' ? null : exact;
  const histogram = known.get(series.replace(SERIES_OF_HISTOGRAMS, ''));
  return histogram?.kind === 'histogram' && SERIES_OF_HISTOGRAMS.test(series) ? histogram : null;
}

function labelsOf(series: string): string[] {
  const bucket = series.endsWith('_bucket') ? ['le'] : [];
  return [...(specOf(series)?.labels ?? []), ...bucket, ...OWN_LABELS];
}

t.test('every panel and every alert asks for metrics and labels that exist', async (t) => {
  t.equal(rules.length, readFileSync(ALERTS_FILE, 'utf8').match(/- alert:/g)!.length, 'all alerts were read');
  for (const { where, expr } of [...queries, ...rules]) {
    const selectors = [...expr.matchAll(/(postrider_[a-z_]+)(?:\{([^}]*)\})?/g)];
    t.ok(selectors.length > 0, `${where} asks for something`);
    for (const [, series = '', matchers = ''] of selectors) {
      t.ok(specOf(series), `${where}: ${series}`);
      for (const [, label] of matchers.matchAll(/(\w+)(?=[=!]~?")/g))
        t.ok(labelsOf(series).includes(label!), `${where}: ${series} has the label ${label}`);
    }
    const all = selectors.flatMap(([, series = '']) => labelsOf(series));
    for (const [, grouping = ''] of expr.matchAll(/(?:by|without) \(([^)]*)\)/g))
      for (const label of grouping.split(/, */)) t.ok(all.includes(label), `${where}: grouped by ${label}`);
  }
});

t.test('everything that is measured stands on the dashboard', async (t) => {
  for (const [name, spec] of known) {
    t.ok(
      queries.some(({ expr }) => expr.includes(name)),
      name,
    );
    t.match(spec.help, /^[A-Z0-9].*\.$/, `${name} says what it is`);
    if (spec.kind === 'counter') t.match(name, /_total$/);
    if (spec.kind === 'histogram')
      t.same(
        spec.buckets,
        [...(spec.buckets ?? [])].sort((a, b) => a - b),
        `${name}: ascending`,
      );
  }
});

t.test('no metric uses a label that Prometheus reserves', async (t) => {
  for (const [name, { labels }] of known) {
    for (const label of ['quantile', 'le', 'job', 'instance']) t.notOk(labels.includes(label), `${name}: ${label}`);
  }
});

t.test('every alert says what has happened and what to do', async (t) => {
  for (const { alert, labels, annotations } of readAlerts()) {
    t.ok(['page', 'ticket'].includes(labels.severity), `${alert}: ${labels.severity}`);
    t.match(annotations.summary, /^\S.*\.$/, alert);
    t.match(annotations.todo, /\S/, alert);
  }
});
