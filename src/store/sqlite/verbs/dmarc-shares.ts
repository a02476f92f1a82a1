// How much of a bounded room the reports of one sender may take. A domain that proves itself is bought in minutes: it gets
// a share. Those who report on very many domains are named in the configuration; a part of each room is theirs alone.

/** What the reports of one organization hold already; the empty one: without a proven sender. */
export interface Holding {
  organization: string;
  taken: number;
}

export interface Room {
  size: number;
  taken: number;
  /** Whose it is, in words for people. */
  of: string;
}

/** The rest of each room is for sums, which are small: so what comes late is not refused at once. */
const FOR_SINGLE_SOURCES = 7 / 8;
/** For all that are not named as large. */
const FOR_STRANGERS = 3 / 4;

export interface Division {
  total: number;
  /** Of one sender that is proven. */
  share: number;
  /** Of all that are not; null: they have a room of their own, of which these are the holdings. */
  unprovenShare: number | null;
  largeReporters: readonly string[];
}

/** The rooms that a report of this organization has to fit in, all of them. */
export function roomsFor(organization: string, holdings: readonly Holding[], division: Division): Room[] {
  const { total, share, unprovenShare, largeReporters } = division;
  const takenBy = (isMeant: (name: string) => boolean) =>
    holdings.reduce((sum, { organization: name, taken }) => (isMeant(name) ? sum + taken : sum), 0);
  const all = { size: total, taken: takenBy(() => true), of: 'all reports' };
  if (largeReporters.includes(organization)) return [all];
  const isUnproven = organization === '';
  const own = (part: number): Room => ({
    size: total * part,
    taken: takenBy((name) => name === organization),
    of: isUnproven ? 'reports without a proven sender' : `reports by ${organization}`,
  });
  if (isUnproven && unprovenShare === null) return [own(1)];
  const strangers = {
    size: total * FOR_STRANGERS,
    taken: takenBy((name) => !largeReporters.includes(name)),
    of: 'reports by senders that are not in dmarc.large_reporters',
  };
  return [all, strangers, own(isUnproven ? (unprovenShare ?? 1) : share)];
}

export interface Left {
  /** For rows of single sources, and reports that have them. */
  single: number;
  /** For sums, and for all together. */
  sums: number;
  /** The room that is the most full. */
  tightest: Room;
}

export function leftIn(rooms: readonly Room[]): Left {
  const left = (room: Room) => room.size - room.taken;
  const tightest = rooms.reduce((least, room) => (left(room) < left(least) ? room : least));
  const single = Math.min(...rooms.map(({ size, taken }) => Math.floor(size * FOR_SINGLE_SOURCES) - taken));
  return { single: Math.max(0, single), sums: Math.max(0, Math.floor(left(tightest))), tightest };
}
