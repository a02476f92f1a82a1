// Keys that had another name before: a file or an environment that still has it is told the new one.

const RENAMED: Readonly<Record<string, string>> = {
  'suppression.leap_window': 'suppression.spike_window',
  'suppression.leap_hard_bounces': 'suppression.spike_hard_bounces',
  'suppression.leap_share': 'suppression.spike_share',
  'suppression.leap_factor': 'suppression.spike_factor',
};

export function newNameOf(name: string): string | null {
  return RENAMED[name] ?? null;
}
