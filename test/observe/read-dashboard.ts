// docs/monitoring as tests read it: the dashboard's panels and queries, and the alert rules.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';

const FOLDER = path.join(import.meta.dirname, '../../docs/monitoring');
export const ALERTS_FILE = path.join(FOLDER, 'alerts.yaml');

export interface GridPos {
  x: number;
  y: number;
  w: number;
  h: number;
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { type: string; uid: string };
  gridPos: GridPos;
  targets?: { refId: string; expr: string; datasource: { type: string; uid: string } }[];
}

export interface Dashboard {
  templating: { list: { name: string; type: string; query: string; datasource?: { uid: string } }[] };
  annotations: { list: { name: string; expr: string; datasource: { uid: string } }[] };
  panels: Panel[];
}

/** Something that Prometheus is asked. */
export interface Query {
  where: string;
  expr: string;
}

export interface AlertRule {
  alert: string;
  expr: string;
  for: string;
  labels: { severity: string };
  annotations: { summary: string; todo: string };
}

export function readDashboard(): Dashboard {
  return JSON.parse(readFileSync(path.join(FOLDER, 'dashboard.json'), 'utf8')) as Dashboard;
}

export function queriesOf({ panels, annotations }: Dashboard): Query[] {
  const shown = panels.flatMap(({ title, targets = [] }) =>
    targets.map(({ refId, expr }) => ({ where: `${title}, ${refId}`, expr })),
  );
  return [...shown, ...annotations.list.map(({ name, expr }) => ({ where: `${name}, annotation`, expr }))];
}

export function readAlerts(): AlertRule[] {
  const { groups } = parse(readFileSync(ALERTS_FILE, 'utf8')) as { groups: { rules: AlertRule[] }[] };
  return groups.flatMap(({ rules }) => rules);
}
