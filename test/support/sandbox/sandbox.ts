import { connect } from 'node:net';
import { createSandbox, Sandbox } from '../../../src/sandbox/app';
import { Behaviour, defaultBehaviour } from '../../../src/sandbox/behaviour/behaviour';
import { Settings } from '../../../src/sandbox/behaviour/settings';
import { connectDatabase, Database } from '../../../src/sandbox/database';
import { createTestDatabase, TestDatabase } from '../databases/test-database';
import type { Method, Request } from '../http/request';
import { SandboxRequest, askSandbox, ControlBody } from './sandbox-answers';

/** The demo account, and one of its sub-accounts. */
export const DEMO = '00000000-0000-4000-8000-000000000001';
export const SUB_ACCOUNT = '00000000-0000-4000-8000-000000000002';

export const API_KEY = 'sandbox-key';
export const CONTROL_KEY = 'control-key';
export const AIRTIME = 'POST /payouts/airtime';

/** Bytes of a connection until its end. */
interface ConnectionResult {
  text: string;
  /** An error such as ECONNRESET. Undefined after a normal end. */
  error: string | undefined;
}

export interface TestSandbox {
  url: string;
  sandbox: Sandbox;
  /** The behaviour of this sandbox. Tests may change it at runtime. */
  behaviour: Behaviour;
  /** Its database. Another sandbox may continue with it. */
  own: TestDatabase;
  /** A separate connection to the data. */
  database: Database;
  /** Sends a POST below /api/v0.1. */
  post<const Path extends string>(
    path: Path,
    body?: object | string,
  ): SandboxRequest<'post', `/api/v0.1${Path}`>;
  get<const Path extends string>(path: Path): SandboxRequest<'get', `/api/v0.1${Path}`>;
  /** Reads a page by its link. */
  page(link: string): Request;
  /** Sends a form to a page. */
  submit(path: string, fields: Record<string, string>): Request;
  /** Sends a request of the control interface with its key. */
  control<Verb extends Method, const Path extends string>(
    method: Verb,
    path: Path,
    body?: object,
  ): SandboxRequest<Verb, `/_sandbox${Path}`>;
  /** Requests a fault, and returns it as stored. */
  fault(request: object): Promise<ControlBody<'/faults', 'post'>>;
  /** Returns the ground truth of an operation, or of all. */
  requests(operation?: string): Promise<ControlBody<'/requests', 'get'>>;
  /** Returns the balance of the demo account's wallet in US dollars. */
  balance(type: string): Promise<number>;
  /** Sends a POST on a separate connection. Returns all received bytes. */
  hear(path: string, body: object): Promise<ConnectionResult>;
  close(): Promise<void>;
}

/** Starts a sandbox with a new database, or with `given`. */
export async function startSandbox(
  settings: Partial<Settings> = {},
  given?: TestDatabase,
): Promise<TestSandbox> {
  const own = given ?? (await createTestDatabase());
  const behaviour = defaultBehaviour();
  const keys = { apiKey: API_KEY, controlKey: CONTROL_KEY };
  const sandbox = await createSandbox({
    databaseUrl: own.sandboxUrl,
    port: 0,
    behaviour,
    ...keys,
    ...settings,
  });
  const database = await connectDatabase(own.sandboxUrl);
  const { url } = sandbox;
  const get: TestSandbox['get'] = (path) => askSandbox(url).get(`/api/v0.1${path}`).set('X-API-Key', API_KEY);
  const control: TestSandbox['control'] = (method, path, body) =>
    askSandbox(url)[method](`/_sandbox${path}`).set('X-Sandbox-Control-Key', CONTROL_KEY).send(body);
  return {
    url,
    sandbox,
    behaviour,
    own,
    database,
    get,
    control,
    post: (path, body = {}) =>
      askSandbox(url)
        .post(`/api/v0.1${path}`)
        .set({ 'X-API-Key': API_KEY, 'Content-Type': 'application/json' })
        .send(body),
    page: (link) => askSandbox(url).get(link.replace(url, '')),
    submit: (path, fields) => askSandbox(url).post(path).type('form').send(fields),
    fault: async (request) => (await control('post', '/faults', request).expect(201)).body,
    requests: async (operation) => {
      const query = operation ? `operation=${encodeURIComponent(operation)}` : '';
      return (await control('get', `/requests?${query}`).expect(200)).body;
    },
    balance: async (type) => {
      const { body } = await get('/wallets/list').expect(200);
      return body.data.find((wallet) => wallet.type === type)?.balance ?? NaN;
    },
    hear: (path, body) => hear(url, path, JSON.stringify(body)),
    close: async () => {
      await sandbox.close();
      await database.$disconnect();
      if (!given) await own.close();
    },
  };
}

/** Returns an airtime payout of one item. */
export function airtime(valueInUSD = 1, phoneNumber = '+254712345678') {
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] };
}

function hear(url: string, path: string, body: string): Promise<ConnectionResult> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const heard: ConnectionResult = { text: '', error: undefined };
    const socket = connect(Number(port), hostname);
    socket.on('data', (chunk) => (heard.text += chunk.toString()));
    socket.on('error', (error: NodeJS.ErrnoException) => (heard.error = error.code));
    socket.on('close', () => resolve(heard));
    socket.write(
      `POST /api/v0.1${path} HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\nX-API-Key: ${API_KEY}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  });
}
