// docs/monitoring and the registry of metrics are of one mind: no panel and no alert asks for what does
// not exist, and nothing is measured that nobody looks at.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { METRICS, type MetricSpec } from '../../src/observe/metric-table.ts';

const FOLDER = path.join(import.meta.dirname, '../../docs/monitoring');
const dashboardText = readFileSync(path.join(FOLDER, 'dashboard.json'), 'utf8');
const alerts = readFileSync(path.join(FOLDER, 'alerts.yaml'), 'utf8');
const known = new Map<string, MetricSpec>(Object.entries(METRICS));
const SERIES_OF_HISTOGRAMS = /_(bucket|sum|count)$/;

interface Panel {
  title: string;
  targets: { expr: string }[];
}

const panels = (JSON.parse(dashboardText) as { panels: Panel[] }).panels;
const queries = panels.flatMap(({ title, targets }) => targets.map(({ expr }) => ({ where: title, expr })));
// Folded and plain scalars alike: from `expr:` to the next key of the rule.
const rules = [...alerts.matchAll(/- alert: (\w+)\n\s+expr: ([\s\S]*?)\n\s+for: \d+[mh]\n/g)].map((match) => {
  return { where: match[1]!, expr: match[2]! };
});

t.test('every panel and every alert asks for metrics and labels that exist', async (t) => {
  t.equal(rules.length, alerts.match(/- alert:/g)!.length, 'all alerts were read');
  for (const { where, expr } of [...queries, ...rules]) {
    const used = [...expr.matchAll(/postrider_[a-z_]+/g)].map(([name]) => name);
    t.ok(used.length > 0, `${where} asks for something`);
    for (const series of used) {
      const name = known.has(series) ? series : series.replace(SERIES_OF_HISTOGRAMS, '');
      const spec = known.get(name);
      t.ok(spec, `${where}: ${series}`);
      t.equal(
        spec?.kind === 'histogram',
        SERIES_OF_HISTOGRAMS.test(series) && !known.has(series),
        `${where}: its kind`,
      );
    }
    const labels = new Set(used.flatMap((series) => known.get(series.replace(SERIES_OF_HISTOGRAMS, ''))?.labels ?? []));
    for (const series of used) for (const label of known.get(series)?.labels ?? []) labels.add(label);
    const asked = [...expr.matchAll(/(?:by|without) \(([^)]*)\)|\{([^}]*)\}/g)].flatMap(([, grouping, matchers]) => {
      return grouping === undefined
        ? [...matchers!.matchAll(/(\w+)(?=[=!])/g)].map(([, label]) => label!)
        : grouping.split(/, */);
    });
    for (const label of asked)
      t.ok(labels.has(label) || label === 'le' || label === 'instance', `${where}: label ${label}`);
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
  for (const block of alerts.split('- alert: ').slice(1)) {
    t.match(block, /summary: \S/);
    t.match(block, /todo: ["']\S/);
  }
});
