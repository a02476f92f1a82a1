// Contract: notices: what a commit has made due, told to those who work on it. A notice comes soon after the commit, may
// be about work that was rolled back, and may be lost: a listener also looks for itself from time to time.
// Verbs tell their caller which lanes its own mail is due in (`LaneNotice`). What the commits of another node make due can
// only come as a notice: a driver for several nodes tells it to the same listeners, lanes in a member of their own.

export interface NoticeListener {
  /** These webhooks have deliveries due. */
  webhooksDue?(webhookIds: string[]): void;
}

export interface Notices {
  /** From now on; other listeners stay. */
  listen(listener: NoticeListener): void;
}
