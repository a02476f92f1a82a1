// The pages of messages: the list, one message, its HTML for the frame, its source, its attachments.
import { isUuid } from '../../base/ids.ts';
import { action, missing, type PageResult, type PortalRoute, page, type VisitOf } from '../page.ts';
import { COMPOSE, COMPOSE_LIMIT_BYTES, sendComposed, showCompose } from './compose-page.ts';
import { showAttachment, showHtml, showSource } from './message-documents.ts';
import { showMessages } from './message-list.ts';
import { showMessage } from './message-page.ts';
import type { MessageServices } from './message-services.ts';
import { cancelCall, moveCall } from './schedule-form.ts';

type Run = (services: MessageServices, visit: VisitOf<'member'>) => Promise<PageResult>;
type Show = (services: MessageServices, visit: VisitOf<'viewer'>) => Promise<PageResult>;

export function messagePages(services: MessageServices): PortalRoute[] {
  const access = 'viewer';
  const ofMessage = (path: string, show: Show) =>
    page({ path, access, show: (visit) => (isUuid(visit.params.id!) ? show(services, visit) : missing()) });
  const withCall = (path: string, run: Run) =>
    action({
      path,
      access: 'member',
      run: (visit) => (isUuid(visit.params.id!) ? run(services, visit) : missing()),
    });
  return [
    page({ path: '/portal/messages', access, show: (visit) => showMessages(services, visit) }),
    page({ path: COMPOSE, access: 'member', show: (visit) => showCompose(services, visit) }),
    action({
      path: COMPOSE,
      access: 'member',
      limitBytes: COMPOSE_LIMIT_BYTES,
      run: (visit) => sendComposed(services, visit),
    }),
    ofMessage('/portal/messages/:id', showMessage),
    ofMessage('/portal/messages/:id/html', showHtml),
    ofMessage('/portal/messages/:id/source', showSource),
    ofMessage('/portal/messages/:id/attachments/:position', showAttachment),
    withCall('/portal/messages/:id/move', moveCall),
    withCall('/portal/messages/:id/cancel', cancelCall),
  ];
}
