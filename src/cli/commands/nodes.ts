// nodes list | drain | resume | forget: the daemons that share a PostgreSQL.
import { SECOND_MS, toTimestamp } from '../../base/clock.ts';
import { type Answer, done, failed } from '../../operator/answer.ts';
import { forgetNode } from '../../operator/forget-node.ts';
import {
  describeFreeSlots,
  describeStanding,
  isAway,
  type NodeState,
  statesOfNodes,
} from '../../operator/node-states.ts';
import type { OperatorServices } from '../../operator/operator-services.ts';
import { storeCommand } from '../command.ts';
import { positional, remark, required, text } from '../option.ts';
import { suggestion } from '../parse-arguments.ts';
import { recordAct } from '../record-act.ts';
import { renderTable } from '../table.ts';

export const nodesList = storeCommand({
  name: 'nodes list',
  summary: 'Lists the daemons that share the database: who lives, what each works on, and how late its mail is.',
  options: {},
  async run({ store }) {
    const { nodes, free, stuck } = await statesOfNodes(store);
    return done({ nodes: nodes.map(shownNode), free_slots: free, stuck_slots: stuck });
  },
  render: ({ nodes, free_slots: free, stuck_slots: stuck }) =>
    [
      renderTable(
        nodes,
        [
          { title: 'NODE', value: ({ node }) => node },
          { title: 'STATE', value: ({ state, drained }) => describeStanding({ standing: state, isDrained: drained }) },
          { title: 'SLOTS', value: ({ slots }) => slots.length },
          { title: 'OLDEST DUE', value: ({ late_s: late }) => (late === 0 ? null : `${late} s`) },
          { title: 'LAST SEEN', value: ({ seen_at: seen }) => seen },
          { title: 'SINCE', value: ({ started_at: started }) => started },
          { title: 'VERSION', value: ({ version }) => version },
        ],
        'One daemon works alone here: several share a PostgreSQL, which store.url names.',
      ),
      describeFreeSlots({ free, stuck }),
    ]
      .filter((part) => part !== null)
      .join('\n'),
});

export const nodesDrain = storeCommand({
  name: 'nodes drain',
  summary:
    'Lets a daemon hand all its mail over to the others, for example before its machine is stopped. It still answers calls.',
  options: {
    node: required(positional(text('NODE', 'its name in nodes list'))),
    reason: remark('TEXT', 'the reason, for the audit log'),
  },
  async run(services, { node, reason }) {
    const { nodes } = await statesOfNodes(services.store);
    const others = nodes.filter((one) => one.node !== node && one.standing === 'alive');
    if (nodes.some((one) => one.node === node) && others.length === 0) {
      return failed(
        `no other node is alive, so nobody would send the mail of ${node}: to stop sending, stop the daemon`,
      );
    }
    return await drain(services, { node, isDraining: true, reason });
  },
  render: ({ node, state }) =>
    isAway(state)
      ? `${node} is ${state} and has no slots to hand over. When it is back, it takes none until you run: postrider nodes resume ${node}`
      : `${node} begins nothing new and hands its slots over within a minute; postrider nodes list shows when it has none. It takes none again until you run: postrider nodes resume ${node}`,
});

export const nodesResume = storeCommand({
  name: 'nodes resume',
  summary: 'Lets a daemon that was drained take its share of the mail again.',
  options: {
    node: required(positional(text('NODE', 'its name in nodes list'))),
    reason: remark('TEXT', 'the reason, for the audit log'),
  },
  run: (services, { node, reason }) => drain(services, { node, isDraining: false, reason }),
  render: ({ node, state }) =>
    isAway(state)
      ? `${node} is ${state}. When it is back, it takes its share of the mail.`
      : `${node} takes its share within some seconds.`,
});

export const nodesForget = storeCommand({
  name: 'nodes forget',
  summary: 'Takes a daemon that is gone for good off the list. One that is alive stays on it.',
  options: {
    node: required(positional(text('NODE', 'its name in nodes list'))),
    reason: remark('TEXT', 'the reason, for the audit log'),
  },
  async run(services, { node, reason }) {
    const outcome = await forgetNode(services.store, node);
    switch (outcome.kind) {
      case 'unknown':
        return unknownNode(node, outcome.names);
      case 'alive':
        return failed(
          `${node} is alive, and would be listed again within some seconds. Stop its daemon first: systemctl stop postrider, on its machine`,
        );
      case 'forgotten':
        await recordAct(services, null, 'node.forgotten', { node, reason });
        return done({ node });
    }
  },
  render: ({ node }) => `${node} is forgotten. If its daemon starts again, it is listed again and takes its share.`,
});

async function drain(
  services: OperatorServices,
  { node, isDraining, reason }: { node: string; isDraining: boolean; reason: string | undefined },
) {
  const { nodes } = await statesOfNodes(services.store);
  const known = nodes.find((one) => one.node === node);
  if (!known || !(await services.store.owners.drainNode(node, isDraining))) {
    return unknownNode(
      node,
      nodes.map((one) => one.node),
    );
  }
  await recordAct(services, null, isDraining ? 'node.drained' : 'node.resumed', { node, reason });
  return done({ node, state: known.standing });
}

function unknownNode(node: string, names: readonly string[]): Answer<never> {
  const known = names.length === 0 ? 'there is none' : `there are: ${names.join(', ')}`;
  return failed(`no node is called ${node}${suggestion(node, names)}; ${known}`);
}

function shownNode({ node, version, standing, isDrained, startedAt, seenAt, slots, lateMs }: NodeState) {
  return {
    node,
    state: standing,
    drained: isDrained,
    slots,
    late_s: Math.round(lateMs / SECOND_MS),
    seen_at: seenAt === null ? null : toTimestamp(seenAt),
    started_at: toTimestamp(startedAt),
    version,
  };
}
