// The daemons that share a database: who lives, what each works on, and handing one's mail over to the others.
import { SECOND_MS } from '../../base/clock.ts';
import { type Html, html } from '../../http/html.ts';
import { forgetNode } from '../../operator/forget-node.ts';
import {
  describeFreeSlots,
  describeStanding,
  isAway,
  type NodeStanding,
  type NodeState,
  statesOfNodes,
} from '../../operator/node-states.ts';
import { badge, confirmed, emptyState, heading, table, time } from '../elements.ts';
import { action, type PageResult, type PortalRoute, page, redirect, type VisitOf, view } from '../page.ts';
import type { OperatorServices } from './operator-services.ts';

export const NODES_PATH = '/portal/operator/nodes';

type Services = Pick<OperatorServices, 'store'>;
type Operators = VisitOf<'operator'>;

export function nodesPages(services: Services): PortalRoute[] {
  const access = 'operator';
  return [
    page({ path: NODES_PATH, access, show: (visit) => show(services, visit) }),
    action({ path: `${NODES_PATH}/drain`, access, run: (visit) => drain(services, visit) }),
    action({ path: `${NODES_PATH}/resume`, access, run: (visit) => resume(services, visit) }),
    action({ path: `${NODES_PATH}/forget`, access, run: (visit) => forget(services, visit) }),
  ];
}

async function show({ store }: Services, visit: Operators): Promise<PageResult> {
  const states = await statesOfNodes(store);
  const { nodes } = states;
  const freeSlots = describeFreeSlots(states);
  const alone = emptyState(
    'One daemon works alone',
    'Its data is in SQLite. Several share a PostgreSQL, which store.url names.',
  );
  const body = html`${heading('Daemons')}
<p>Each daemon sends the mail of its slots, calls the webhooks there and takes back what returns. When one is silent for ten seconds, the others take its slots over.</p>
${nodes.length === 0 ? alone : nodesTable(nodes, (node) => actionOf(node, nodes, visit.formField))}
${freeSlots !== null && html`<p>${freeSlots}</p>`}`;
  return view({ title: 'Daemons', body });
}

export function nodesTable(
  nodes: readonly NodeState[],
  actionFor: (node: NodeState) => Html | null = () => null,
): Html {
  const rows = nodes.map((node) => [
    html`${node.node}<br><span class="quiet">${node.version}</span>`,
    badge(describeStanding(node), TONES[node.standing]),
    String(node.slots.length),
    node.lateMs < SECOND_MS ? '–' : `${Math.round(node.lateMs / SECOND_MS)} s`,
    html`<span class="whole">${node.seenAt === null ? '–' : time(node.seenAt)}</span>`,
    actionFor(node) ?? '',
  ]);
  const heads = ['Daemon', 'State', 'Slots', 'Oldest due', 'Last seen', 'Change'];
  return table({ caption: 'Daemons', heads }, rows);
}

const TONES: Record<NodeStanding, 'good' | 'busy' | 'bad' | 'quiet'> = {
  alive: 'good',
  draining: 'busy',
  drained: 'quiet',
  silent: 'bad',
  stopped: 'quiet',
};

function actionOf(node: NodeState, all: readonly NodeState[], formField: Html): Html {
  const name = node.node;
  const fields = html`${formField}<input type="hidden" name="node" value="${name}">`;
  const resume = html`<form method="post" action="${NODES_PATH}/resume">${fields}<button aria-label="Resume ${name}">Resume</button></form>`;
  const forms = html`${node.isDrained && resume}${isAway(node.standing) && forgetForm(name, fields)}${mayDrain(node, all) && drainForm(name, fields)}`;
  return html`<div class="row-actions">${forms}</div>`;
}

/** Not the last one that lives: nobody would send its mail. */
function mayDrain({ node, standing }: NodeState, all: readonly NodeState[]): boolean {
  return standing === 'alive' && all.some((one) => one.node !== node && one.standing === 'alive');
}

function drainForm(node: string, fields: Html): Html {
  return confirmed({
    label: 'Drain',
    button: 'Drain',
    action: `${NODES_PATH}/drain`,
    formField: fields,
    tone: 'neutral',
    question: `Hand all mail of ${node} over to the others? It still answers calls, and takes no slots before it is resumed.`,
  });
}

function forgetForm(node: string, fields: Html): Html {
  const question = `Is ${node} gone for good? Otherwise start it again on its machine. If a daemon of this name starts later, it is listed again.`;
  return confirmed({ label: 'Forget', button: 'Forget', action: `${NODES_PATH}/forget`, formField: fields, question });
}

async function drain({ store }: Services, visit: Operators): Promise<PageResult> {
  const node = visit.form.get('node') ?? '';
  const { nodes } = await statesOfNodes(store);
  if (!nodes.some((one) => one.node !== node && one.standing === 'alive')) {
    return redirect(NODES_PATH, 'No other daemon is alive: nobody would send its mail.', 'warn');
  }
  return setDraining({ store }, visit, { node, isDraining: true });
}

function resume(services: Services, visit: Operators): Promise<PageResult> {
  return setDraining(services, visit, { node: visit.form.get('node') ?? '', isDraining: false });
}

async function forget({ store }: Services, visit: Operators): Promise<PageResult> {
  const node = visit.form.get('node') ?? '';
  const { kind } = await forgetNode(store, node);
  if (kind === 'unknown') return redirect(NODES_PATH, 'There is no such daemon.', 'warn');
  if (kind === 'alive') return redirect(NODES_PATH, `${node} is alive: stop it first.`, 'warn');
  await visit.audit('node.forgotten', { node });
  return redirect(NODES_PATH, `${node} is forgotten.`);
}

async function setDraining(
  { store }: Services,
  visit: Operators,
  { node, isDraining }: { node: string; isDraining: boolean },
): Promise<PageResult> {
  const { nodes } = await statesOfNodes(store);
  const known = nodes.find((one) => one.node === node);
  if (!known || !(await store.owners.drainNode(node, isDraining)))
    return redirect(NODES_PATH, 'There is no such daemon.', 'warn');
  await visit.audit(isDraining ? 'node.drained' : 'node.resumed', { node });
  const away = isAway(known.standing) ? `${node} is ${known.standing}. When it is back, it takes` : null;
  if (isDraining)
    return redirect(
      NODES_PATH,
      away ? `${away} no slots before it is resumed.` : `${node} hands its slots over; within a minute it has none.`,
    );
  return redirect(NODES_PATH, away ? `${away} its share again.` : `${node} takes its share again within some seconds.`);
}
