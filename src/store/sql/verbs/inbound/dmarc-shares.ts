// How much of a bounded room the reports of one sender may take. Anyone can buy a domain and prove it in minutes, so
// each proven sender gets a share. Senders that report on very many domains are listed in the configuration; a part of
// each room is reserved for them.

/** What the reports of one organization take already; the empty name: without a proven sender. */
export interface Holding {
  organization: string;
  taken: number;
}

export interface Room {
  size: number;
  taken: number;
  /** Whose room it is, for messages. */
  of: string;
}

/** The rest of each room is for sums, which are small, so that late reports are not refused at once. */
const FOR_SINGLE_SOURCES = 7 / 8;
/** For all senders that are not listed as large. */
const FOR_STRANGERS = 3 / 4;

export interface Division {
  total: number;
  /** Of one proven sender. */
  share: number;
  /** Of all unproven senders; null: they have their own room, and these are its holdings. */
  unprovenShare: number | null;
  largeReporters: readonly string[];
}

/** The rooms that a report of this organization must fit in, all of them. */
export function roomsFor(organization: string, holdings: readonly Holding[], division: Division): Room[] {
  const { total, share, unprovenShare, largeReporters } = division;
  const takenBy = (matches: (name: string) => boolean) =>
    holdings.reduce((sum, { organization: name, taken }) => (matches(name) ? sum + taken : sum), 0);
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
  /** For rows of single sources, and reports that contain them. */
  single: number;
  /** For sums, and for everything together. */
  sums: number;
  /** The fullest room. */
  tightest: Room;
}

export function leftIn(rooms: readonly Room[]): Left {
  const left = (room: Room) => room.size - room.taken;
  const tightest = rooms.reduce((least, room) => (left(room) < left(least) ? room : least));
  const single = Math.min(...rooms.map(({ size, taken }) => Math.floor(size * FOR_SINGLE_SOURCES) - taken));
  return { single: Math.max(0, single), sums: Math.max(0, Math.floor(left(tightest))), tightest };
}
