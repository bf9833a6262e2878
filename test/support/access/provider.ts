import { ChildProcess, fork } from 'node:child_process';
import { join } from 'node:path';
import { obtainTokens, Tokens, TokenRequest } from './provider/flow';

const SERVER = join(__dirname, 'provider', 'server.mjs');

/** The password of every account. */
export const PASSWORD = 'correct horse battery staple';

/** Authentication by password alone, or with an additional code. */
export const PASSWORD_ACR = 'urn:test:password';
export const SECOND_FACTOR_ACR = 'urn:test:second-factor';

/** A client as in OpenID Connect Dynamic Client Registration. */
export interface ProviderClient {
  client_id: string;
  /** For confidential clients. */
  client_secret?: string;
  redirect_uris: string[];
  [metadata: string]: unknown;
}

interface Account {
  /** Claims of the ID token, such as `email` and `groups`. Their scopes must be requested. */
  claims?: Record<string, unknown>;
  /** Further claims of access tokens. */
  accessTokenClaims?: Record<string, unknown>;
}

export interface ProviderOptions {
  /** To a browser, `localhost` is another site than 127.0.0.1. */
  host?: '127.0.0.1' | 'localhost';
  port?: number;
  clients?: ProviderClient[];
  /** By subject, which is also the user name. */
  accounts?: Record<string, Account>;
  /** Scopes of every resource, in addition to those of OpenID Connect. */
  scopes?: string[];
  /** Audience of access tokens without `resource`. If unset, they are not JWTs. */
  defaultResource?: string;
  accessTokenAlgorithm?: 'RS256' | 'ES256';
  accessTokenSeconds?: number;
}

/** Redirect URI of `publicClient` without a server, for tokens without a browser. */
const TEST_REDIRECT_URI = 'http://127.0.0.1/callback';

/** Returns an app's client without a secret. */
export function publicClient(clientId: string, ...redirectUris: string[]): ProviderClient {
  return {
    client_id: clientId,
    redirect_uris: [TEST_REDIRECT_URI, ...redirectUris],
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    application_type: 'web',
  };
}

/** Returns a server's client with a secret. */
export function confidentialClient(
  clientId: string,
  secret: string,
  ...redirectUris: string[]
): ProviderClient {
  const client = publicClient(clientId, ...redirectUris);
  return { ...client, client_secret: secret, token_endpoint_auth_method: 'client_secret_basic' };
}

const ACCOUNTS: Record<string, Account> = Object.fromEntries(
  ['alice', 'bob', 'carol', 'dora'].map((name) => [
    name,
    { claims: { name, email: `${name}@example.com`, email_verified: true, groups: [] } },
  ]),
);

const DEFAULTS = {
  host: '127.0.0.1',
  port: 0,
  clients: [publicClient('app')],
  accounts: ACCOUNTS,
  scopes: ['pay', 'write', 'read'],
  accessTokenAlgorithm: 'RS256',
  accessTokenSeconds: 300,
  password: PASSWORD,
};

type Command = 'addClient' | 'rotateKeys' | 'goDown' | 'goUp' | 'requests';

interface Message {
  issuer?: string;
  id?: number;
  answer?: unknown;
  error?: string;
}

const running = new Set<ChildProcess>();

/** Stops providers left by a failed test. */
afterAll(() => {
  for (const child of running) child.kill('SIGKILL');
});

/** A real OpenID provider (oidc-provider) in a separate process, with everything in memory. */
export class TestProvider {
  private readonly waiting = new Map<number, (message: Message) => void>();
  private lastId = 0;

  constructor(
    readonly issuer: string,
    private readonly child: ChildProcess,
    private readonly options: Pick<ProviderOptions, 'defaultResource'> & { clients: ProviderClient[] },
  ) {
    child.on('message', (message: Message) => this.waiting.get(message.id ?? 0)?.(message));
  }

  get jwksUri(): string {
    return `${this.issuer}/jwks`;
  }

  /** Signs in, and obtains tokens by Authorization Code with PKCE. Follows redirects. */
  token(request: Omit<TokenRequest, 'client'> & { clientId?: string }): Promise<Tokens> {
    const { clientId = 'app', ...rest } = request;
    const client = this.options.clients.find(({ client_id: id }) => id === clientId);
    if (client === undefined) throw new Error(`the provider has no client ${clientId}`);
    const resource = this.options.defaultResource;
    return obtainTokens(
      this.issuer,
      { ...(resource !== undefined && { resource }), ...rest, client },
      PASSWORD,
    );
  }

  /** Adds a client, for example one with a redirect URI unknown at the start. */
  async addClient(client: ProviderClient): Promise<void> {
    this.options.clients.push(client);
    await this.command('addClient', client);
  }

  /** Replaces all signing keys. Tokens of the old ones can no longer be verified. */
  async rotateKeys(): Promise<void> {
    await this.command('rotateKeys');
  }

  /** Refuses all connections until `goUp`. Keeps keys and sign-ins. */
  async goDown(): Promise<void> {
    await this.command('goDown');
  }

  async goUp(): Promise<void> {
    await this.command('goUp');
  }

  /** Accepts connections without answering until `thaw`. */
  freeze(): void {
    this.child.kill('SIGSTOP');
  }

  thaw(): void {
    this.child.kill('SIGCONT');
  }

  /** Returns the number of requests of a path. */
  async requests(path: string): Promise<number> {
    const counts = (await this.command('requests')) as Record<string, number>;
    return counts[path] ?? 0;
  }

  async stop(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    this.child.kill('SIGKILL');
    await ended;
  }

  private command(command: Command, given?: unknown): Promise<unknown> {
    const id = ++this.lastId;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, ({ answer, error }) => {
        this.waiting.delete(id);
        if (error === undefined) resolve(answer);
        else reject(new Error(error));
      });
      this.child.send({ id, command, given });
    });
  }
}

/** Starts a provider. It stops with the test at the latest. */
export async function startProvider(options: ProviderOptions = {}): Promise<TestProvider> {
  const all = { ...DEFAULTS, ...options };
  all.clients = [...all.clients];
  const child = fork(SERVER, [JSON.stringify(all)], {
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  child.once('close', () => running.delete(child));
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaints += chunk.toString()));
  const issuer = await new Promise<string>((resolve, reject) => {
    child.once('message', (message: Message) => resolve(message.issuer ?? ''));
    child.once('close', (code) => reject(new Error(`the provider ended with ${code}: ${complaints}`)));
  });
  return new TestProvider(issuer, child, all);
}
