// The portal as people meet it: a real daemon with a tenant, a user and a verified domain, and visitors
// with cookies of their own who read pages and send forms, as a browser without script does.
import type { Test } from 'tap';
import type { Daemon } from './daemon-process.ts';
import { type Page, type PageForm, readPage } from './page-reader.ts';
import { registerSender, type Sender, startWorld, type World, type WorldOptions } from './world.ts';

export interface PortalWorld extends World {
  daemon: Daemon;
  sender: Sender;
  owner: Login;
  /** Somebody new, without cookies. */
  guest(): PortalVisitor;
  /** Signed in. */
  visitor(login?: Login): Promise<PortalVisitor>;
  /** Of the sender's tenant, or an operator. */
  addUser(role: 'owner' | 'member' | 'viewer' | 'operator', email?: string): Promise<Login>;
}

export interface Login {
  email: string;
  password: string;
}

export interface PortalOptions extends WorldOptions {
  tenantName?: string;
}

export async function startPortal(t: Test, options: PortalOptions = {}): Promise<PortalWorld> {
  const settings = {
    ...options.settings,
    service: { base_url: 'http://mail.postrider.test', ...options.settings?.service },
    // Operators sign in as they are; what is required of them has a test of its own.
    portal: { require_second_step: 'nobody', ...options.settings?.portal },
  };
  const world = await startWorld(t, { ...options, settings });
  const daemon = await world.postrider.serve();
  const { tenantName: name = 'Acme' } = options;
  const sender = await registerSender(world, daemon, { name, domain: 'acme.test' });
  const addUser: PortalWorld['addUser'] = async (role, email = `${role}@acme.test`) => {
    const whose = role === 'operator' ? ['--operator'] : ['--tenant', sender.tenantId, '--role', role];
    const { password } = await world.postrider.json('user', 'create', ...whose, '--email', email);
    return { email, password: String(password) };
  };
  const owner = await addUser('owner');
  const guest = () => new PortalVisitor(`http://127.0.0.1:${daemon.httpPort}`);
  const visitor = async (login = owner) => {
    const visitor = guest();
    await visitor.signIn(login);
    return visitor;
  };
  return { ...world, daemon, sender, owner, addUser, guest, visitor };
}

const MOST_REDIRECTS = 5;

export class PortalVisitor {
  readonly cookies = new Map<string, string>();
  /** What its program calls itself. */
  userAgent = 'Mozilla/5.0 (test)';
  readonly #origin: string;

  constructor(origin: string) {
    this.#origin = origin;
  }

  /** Follows redirects. */
  async get(path: string): Promise<Page> {
    return this.#follow(await this.raw('GET', path), path);
  }

  /** Sends a form of the page with its fields, changed as given; a list sends a field several times, null leaves it out. */
  async submit(
    page: Page,
    form: string | PageForm,
    changes: Record<string, string | readonly string[] | null> = {},
  ): Promise<Page> {
    const { action, method, fields } = typeof form === 'string' ? page.form(form) : form;
    const sent = new URLSearchParams(fields);
    for (const [name, value] of Object.entries(changes)) {
      sent.delete(name);
      for (const one of value === null ? [] : [value].flat()) sent.append(name, String(one));
    }
    if (method === 'get') return this.get(`${action.split('?')[0]}?${sent}`);
    return this.#follow(await this.raw('POST', action, { body: sent }), action);
  }

  async signIn({ email, password }: Login): Promise<Page> {
    const page = await this.get('/portal/sign-in');
    return this.submit(page, '/portal/sign-in', { email, password });
  }

  /** One request with the visitor's cookies; its redirect is not followed. */
  async raw(method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('User-Agent', this.userAgent);
    if (this.cookies.size > 0) headers.set('Cookie', [...this.cookies].map((pair) => pair.join('=')).join('; '));
    const response = await this.#fetch(new URL(path, this.#origin), { ...init, method, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) this.#keep(line);
    return response;
  }

  /**
   * A connection that was kept can be closed by the server just when it is used again, most of all after a test that
   * has computed for long. Browsers repeat such a GET (RFC 9110 section 9.2.2), `fetch` of Node doesn't.
   */
  async #fetch(url: URL, init: RequestInit): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (error) {
      const wasClosed = error instanceof Error && (error.cause as { code?: string })?.code === 'UND_ERR_SOCKET';
      if (init.method !== 'GET' || !wasClosed) throw error;
      return fetch(url, init);
    }
  }

  async #follow(response: Response, path: string): Promise<Page> {
    let [answer, at] = [response, path];
    for (let hops = 0; answer.status >= 300 && answer.status < 400; hops++) {
      if (hops === MOST_REDIRECTS) throw new Error(`${path} redirects without end`);
      await answer.body?.cancel();
      at = answer.headers.get('location') ?? '';
      answer = await this.raw('GET', at);
    }
    return readPage(await answer.text(), { status: answer.status, headers: answer.headers, path: at });
  }

  #keep(line: string): void {
    const [pair, ...attributes] = line.split(';').map((part) => part.trim());
    const [name, value] = [pair!.slice(0, pair!.indexOf('=')), pair!.slice(pair!.indexOf('=') + 1)];
    const gone = value === '' || attributes.some((attribute) => /^max-age=0$/i.test(attribute));
    if (gone) this.cookies.delete(name);
    else this.cookies.set(name, value);
  }
}
