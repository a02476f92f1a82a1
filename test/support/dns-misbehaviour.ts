// Ways in which a DNS server goes wrong, for the test server: each makes the messages that are sent for one
// question out of the request and the answer that a sound server would give.
import { Packet, type Resource } from 'dns2';

/** What a name does instead of answering properly. */
export type Behaviour =
  | 'servfail'
  | 'refused'
  | 'nxdomain'
  /** No answer at all. */
  | 'silent'
  /** An empty answer with TC over UDP, the whole one over TCP. */
  | 'truncate'
  /** TC over UDP, no answer over TCP. */
  | 'truncate_silent'
  /** Only an answer whose id is wrong. */
  | 'wrong_id'
  /** Only an answer that repeats another question. */
  | 'wrong_question'
  /** Two forged datagrams (wrong id, wrong question), then the true answer. */
  | 'forged_first'
  /** The right id, then bytes that are no DNS message. */
  | 'garbage'
  /** The true answer, but cut in the middle without TC. */
  | 'cut'
  /** FORMERR to everything with EDNS. */
  | 'no_edns'
  /** The true answer without the AA bit. */
  | 'not_authoritative'
  /** A referral to the root, as a lame server gives it. */
  | 'upward_referral'
  /** The alias only, without the records that it leads to. */
  | 'bare_alias';

export interface Reply {
  request: Packet;
  /** What a sound server answers. */
  response: Packet;
  transport: 'udp' | 'tcp';
}

const { TYPE, CLASS, RCODE } = Packet;

/** The messages that are sent for one question. */
export const MISBEHAVIOUR: Record<Behaviour, (reply: Reply) => (Packet | Buffer)[]> = {
  silent: () => [],
  servfail: ({ request }) => [bare(request, { rcode: RCODE.SERVFAIL })],
  refused: ({ request }) => [bare(request, { rcode: RCODE.REFUSED })],
  nxdomain: ({ request }) => [bare(request, { rcode: RCODE.NXDOMAIN, aa: 1 })],
  truncate: ({ request, response, transport }) => [transport === 'udp' ? bare(request, { tc: 1, aa: 1 }) : response],
  truncate_silent: ({ request, transport }) => (transport === 'udp' ? [bare(request, { tc: 1, aa: 1 })] : []),
  wrong_id: ({ request }) => [withWrongId(request)],
  wrong_question: ({ request }) => [withWrongQuestion(request)],
  forged_first: ({ request, response }) => [withWrongId(request), withWrongQuestion(request), response],
  garbage: ({ response }) => [Buffer.concat([response.toBuffer().subarray(0, 12), Buffer.from('no dns message')])],
  cut: ({ response }) => [response.toBuffer().subarray(0, -20)],
  no_edns: ({ request, response }) => {
    const hasEdns = request.additionals.some((record) => record.type === TYPE.EDNS);
    return [hasEdns ? bare(request, { rcode: RCODE.FORMERR }) : response];
  },
  not_authoritative: ({ response }) => {
    response.header.aa = 0;
    return [response];
  },
  upward_referral: ({ request }) => {
    const referral = bare(request, {});
    referral.authorities.push({ name: '', type: TYPE.NS, class: CLASS.IN, ttl: 300, ns: 'a.root' } as Resource);
    return [referral];
  },
  bare_alias: ({ response }) => {
    response.answers.splice(1);
    response.authorities = [];
    response.header.rcode = RCODE.NOERROR;
    return [response];
  },
};

function bare(request: Packet, header: Partial<Packet['header']>): Packet {
  const packet = Packet.createResponseFromRequest(request);
  Object.assign(packet.header, header);
  return packet;
}

function withWrongId(request: Packet): Packet {
  return bare(request, { id: request.header.id ^ 1, rcode: RCODE.NXDOMAIN, aa: 1 });
}

function withWrongQuestion(request: Packet): Packet {
  const packet = bare(request, { rcode: RCODE.NXDOMAIN, aa: 1 });
  packet.questions = [{ ...request.questions[0]!, name: 'another.invalid' }];
  return packet;
}
