// Contract: notices: what a commit has made due, told to those who work on it. A notice comes soon after the commit, may
// be about work that was rolled back, and may be lost: a listener also looks for itself from time to time.
// Verbs tell their caller which lanes its own mail is due in (`LaneNotice`). Where those are in slots of another node, the
// caller passes that on, and it comes there as a notice.

export interface NoticeListener {
  /** These webhooks have deliveries due. */
  webhooksDue?(webhookIds: string[]): void;
  /** Another node has made mail due in these slots. */
  lanesDue?(slots: number[]): void;
  /** Another node has kept inbound mail that is not its own, or has put some back. */
  inboundWaits?(): void;
  /** Some node has changed something that is not mail, such as a tenant, a pause or a doubt: once a second at most. */
  changed?(): void;
  /** Notices of other nodes may have been lost. */
  missed?(): void;
}

export interface Notices {
  /** From now on; other listeners stay. */
  listen(listener: NoticeListener): void;
  /** Mail is due in slots of other nodes. */
  tellLanes(slots: Iterable<number>): void;
  /** Inbound mail waits that another node may have to process. */
  tellInbound(): void;
}
