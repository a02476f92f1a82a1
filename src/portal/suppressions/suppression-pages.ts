// The pages of the suppression list: search, add, remove, import, export.
import { action, type PortalRoute, page } from '../page.ts';
import { addAddress, removeAddress } from './change-list.ts';
import { exportList } from './export-list.ts';
import { IMPORT_LIMIT_BYTES, importList, showImport } from './import-list.ts';
import { showSuppressions } from './suppression-list.ts';
import { LIST, type SuppressionServices } from './suppression-services.ts';

export function suppressionPages(services: SuppressionServices): PortalRoute[] {
  return [
    page({ path: LIST, access: 'viewer', show: (visit) => showSuppressions(services, visit) }),
    action({ path: `${LIST}/add`, access: 'member', run: (visit) => addAddress(services, visit) }),
    action({ path: `${LIST}/remove`, access: 'member', run: (visit) => removeAddress(services, visit) }),
    page({ path: `${LIST}/import`, access: 'member', show: showImport }),
    action({
      path: `${LIST}/import`,
      access: 'member',
      limitBytes: IMPORT_LIMIT_BYTES,
      run: (visit) => importList(services, visit),
    }),
    page({ path: `${LIST}/export`, access: 'viewer', show: (visit) => exportList(services, visit) }),
  ];
}
