// The dashboard is one that Grafana takes: its schema, and what no schema can say.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { type GridPos, queriesOf, readDashboard } from './read-dashboard.ts';

const dashboard = readDashboard();
const { panels, templating, annotations } = dashboard;
const schema = JSON.parse(readFileSync(path.join(import.meta.dirname, 'dashboard-schema.json'), 'utf8')) as object;
const validate = new Ajv2020({ allErrors: true, strictTypes: false, strictTuples: false }).compile(schema);
const COLUMNS = 24;

function problemsOf(changed: unknown): (string | undefined)[] {
  validate(changed);
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

t.test("it holds to Grafana's schema", async (t) => {
  t.same(problemsOf(dashboard), []);
});

t.test('the schema finds what is wrong', async (t) => {
  const changed = (change: (panel: Record<string, unknown>) => void, at: number) => {
    const copy = structuredClone(dashboard) as unknown as { panels: Record<string, unknown>[] };
    change(copy.panels[at]!);
    return problemsOf(copy);
  };
  const stat = panels.findIndex(({ type }) => type === 'stat');
  const graph = panels.findIndex(({ type }) => type === 'timeseries');
  const wrong: [string, number, (panel: Record<string, unknown>) => void][] = [
    ['a panel type', graph, (panel) => (panel.type = 'timeserie')],
    ['a property of a panel', graph, (panel) => (panel.unit = 's')],
    ['a unit', graph, (panel) => (panel.fieldConfig = { defaults: { unit: 'seconds' }, overrides: [] })],
    ['a width', graph, (panel) => (panel.gridPos = { x: 0, y: 0, w: 25, h: 8 })],
    ['an option of another panel', graph, (panel) => (panel.options = { graphMode: 'area' })],
    ['a missing option', stat, (panel) => (panel.options = { graphMode: 'area' })],
    ['a first threshold', stat, (panel) => (panel.fieldConfig = thresholds({ value: 0, color: 'red' }))],
    ['a second threshold', stat, (panel) => (panel.fieldConfig = thresholds(...[null, null].map(red)))],
    ['no query', graph, (panel) => (panel.targets = [])],
  ];
  for (const [what, at, change] of wrong) t.not(changed(change, at).length, 0, what);
});

const red = (value: number | null) => ({ value, color: 'red' });

function thresholds(...steps: { value: number | null; color: string }[]) {
  return { defaults: { unit: 's', thresholds: { mode: 'absolute', steps } }, overrides: [] };
}

t.test('each panel has an id and a place of its own', async (t) => {
  t.equal(new Set(panels.map(({ id }) => id)).size, panels.length, 'ids');
  t.equal(new Set(panels.map(({ title }) => title)).size, panels.length, 'titles');
  const taken = new Map<string, string>();
  for (const { title, gridPos } of panels) {
    t.ok(gridPos.x + gridPos.w <= COLUMNS, `${title} ends within the grid`);
    const cells = cellsOf(gridPos);
    t.same(
      cells.filter((cell) => taken.has(cell)).map((cell) => taken.get(cell)),
      [],
      `nothing lies below ${title}`,
    );
    for (const cell of cells) taken.set(cell, title);
  }
});

function cellsOf({ x, y, w, h }: GridPos): string[] {
  return Array.from({ length: w * h }, (_, at) => `${x + (at % w)} ${y + Math.floor(at / w)}`);
}

t.test('it works with any data source and for any instance', async (t) => {
  const source = templating.list.find(({ type }) => type === 'datasource');
  t.match(source, { name: 'source', query: 'prometheus' });
  const uids = [
    ...panels.flatMap(({ datasource, targets = [] }) => [
      ...(datasource ? [datasource.uid] : []),
      ...targets.map((target) => target.datasource.uid),
    ]),
    ...annotations.list.map(({ datasource }) => datasource.uid),
    ...templating.list.flatMap(({ datasource }) => (datasource ? [datasource.uid] : [])),
  ];
  t.same([...new Set(uids)], [`\${${source!.name}}`], 'no uid of a Grafana of ours');
  for (const { where, expr } of queriesOf(dashboard)) {
    for (const [selector] of expr.matchAll(/postrider_\w+(?:\{[^}]*\})?/g))
      t.match(selector, 'instance=~"$instance"', where);
    const variables = [...expr.matchAll(/\$(\w+)/g)].map(([, name]) => name!);
    const known = ['__rate_interval', ...templating.list.map(({ name }) => name)];
    t.same(
      variables.filter((name) => !known.includes(name)),
      [],
      where,
    );
  }
});

t.test('the panels of a row have their queries in the order of their letters', async (t) => {
  for (const { title, type, targets = [] } of panels.filter((panel) => panel.type !== 'row')) {
    t.equal(targets.map(({ refId }) => refId).join(''), 'ABCDEFG'.slice(0, targets.length), `${type} ${title}`);
  }
});
