// What the machine has left: free disk below a folder, and the memory that this process may take.
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';

/** As `df` counts it, without the blocks that are reserved for root; null when it cannot be told. */
export async function diskFreeShare(folder: string): Promise<number | null> {
  try {
    const { blocks, bfree, bavail } = await statfs(folder);
    const usable = blocks - bfree + bavail;
    return usable > 0 ? bavail / usable : null;
  } catch {
    return null;
  }
}

/** So many bytes as a part of what `diskFreeShare` counts; 0 when that cannot be told. */
export async function shareOfDisk(folder: string, bytes: number): Promise<number> {
  try {
    const { bsize, blocks, bfree, bavail } = await statfs(folder);
    const usable = (blocks - bfree + bavail) * bsize;
    return usable > 0 ? bytes / usable : 0;
  } catch {
    return 0;
  }
}

/** The machine's memory, or less where a cgroup (a container, MemoryMax of systemd) says so. */
export function memoryBytes(): number {
  const constrained = process.constrainedMemory();
  // Without a limit the kernel answers 0 or a number beyond all memory.
  return constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
}

/**
 * The memory that this process has in use. Linux tells it by a file, which cannot be opened while file descriptors
 * run out: then it is what it was last. Whoever asks decides about new mail, and must not fail for that.
 */
export function residentMemory(read: () => number = () => process.memoryUsage.rss()): () => number {
  let last = 0;
  return () => {
    try {
      last = read();
    } catch {
      // The fault of the descriptors is told by what needs them; here there is nothing to add.
    }
    return last;
  };
}
