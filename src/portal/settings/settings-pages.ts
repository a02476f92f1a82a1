// All pages of the settings, for whoever wires the portal.
import type { PortalRoute } from '../page.ts';
import { auditPage } from './audit-page.ts';
import { membersPage } from './members-page.ts';
import { settingsPage } from './settings-page.ts';
import type { SettingsServices } from './settings-services.ts';

export function settingsPages(services: SettingsServices): PortalRoute[] {
  return [...settingsPage(services), ...membersPage(services), auditPage(services)];
}
