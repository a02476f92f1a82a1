// A process that answers each click by a redirect and does nothing else: what 10,000 clicks per second
// cost the mail beside them on these cores, whoever takes them.
import HyperExpress from 'hyper-express';
import { answerParent } from './processes.ts';

export interface BareRedirectAnswer {
  httpPort: number;
}

async function serve(): Promise<BareRedirectAnswer> {
  const server = new HyperExpress.Server();
  server.get('/*', (_request, response) => {
    response.status(302).header('location', 'https://shop.test/orders').send();
  });
  await server.listen(0, '127.0.0.1');
  return { httpPort: server.port as number };
}

answerParent<null, BareRedirectAnswer>(serve);
