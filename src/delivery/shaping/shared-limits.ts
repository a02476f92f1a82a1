// Limits that hold over all nodes that share a store.
import { type ConnectionListener, SharedConnections, type SharedConnectionsKit } from './shared-connections.ts';
import { type RoomListener, SharedWindows, type SharedWindowsKit } from './shared-windows.ts';

export class SharedLimits {
  readonly windows: SharedWindows;
  readonly connections: SharedConnections;

  constructor(kit: SharedWindowsKit & SharedConnectionsKit) {
    this.windows = new SharedWindows(kit);
    this.connections = new SharedConnections(kit);
  }

  start(listener: RoomListener & ConnectionListener): void {
    this.windows.listen(listener);
    this.connections.start(listener);
  }

  tidy(): Promise<void> {
    return this.windows.tidy();
  }

  async close(): Promise<void> {
    await Promise.all([this.windows.close(), this.connections.close()]);
  }
}
