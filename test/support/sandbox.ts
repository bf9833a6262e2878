import { connect } from 'node:net';
import { createSandbox, Sandbox } from '../../src/sandbox/app';
import { Behaviour, defaultBehaviour } from '../../src/sandbox/behaviour';
import { connectDatabase, Database } from '../../src/sandbox/database';
import { Settings } from '../../src/sandbox/settings';
import { createTestDatabase, TestDatabase } from './test-database';
import type { Method, Request } from './request';
import { AskedSandbox, askSandbox, ControlBody } from './sandbox-answers';

/** The demo account, and one of its sub-accounts. */
export const DEMO = '00000000-0000-4000-8000-000000000001';
export const SUB_ACCOUNT = '00000000-0000-4000-8000-000000000002';

export const API_KEY = 'sandbox-key';
export const CONTROL_KEY = 'control-key';
export const AIRTIME = 'POST /payouts/airtime';

/** What came back on a connection until it ended. */
export interface Heard {
  text: string;
  /** Such as ECONNRESET; undefined when the other side ended it in order. */
  error: string | undefined;
}

export interface TestSandbox {
  url: string;
  sandbox: Sandbox;
  /** Its own, to be changed while it runs. */
  behaviour: Behaviour;
  /** Where its data are; another sandbox may go on with them. */
  own: TestDatabase;
  /** A connection of our own to them. */
  database: Database;
  /** POST below /api/v0.1. */
  post<const Path extends string>(path: Path, body?: object | string): AskedSandbox<'post', `/api/v0.1${Path}`>;
  get<const Path extends string>(path: Path): AskedSandbox<'get', `/api/v0.1${Path}`>;
  /** GET of a page, by its link. */
  page(link: string): Request;
  /** Sends a form to a page. */
  submit(path: string, fields: Record<string, string>): Request;
  /** A request of the control interface with its key. */
  control<Verb extends Method, const Path extends string>(
    method: Verb,
    path: Path,
    body?: object,
  ): AskedSandbox<Verb, `/_sandbox${Path}`>;
  /** Asks for a fault, and gives it as it is stored. */
  fault(asked: object): Promise<ControlBody<'/faults', 'post'>>;
  /** The ground truth of an operation; of all without one. */
  requests(operation?: string): Promise<ControlBody<'/requests', 'get'>>;
  /** What is in the demo account's wallet, in USD. */
  balance(type: string): Promise<number>;
  /** Sends a POST on a connection of its own and hears all that comes back. */
  hear(path: string, body: object): Promise<Heard>;
  close(): Promise<void>;
}

/** A sandbox with a database of its own (or with `given`), listening. */
export async function startSandbox(settings: Partial<Settings> = {}, given?: TestDatabase): Promise<TestSandbox> {
  const own = given ?? (await createTestDatabase());
  const behaviour = defaultBehaviour();
  const keys = { apiKey: API_KEY, controlKey: CONTROL_KEY };
  const sandbox = await createSandbox({ databaseUrl: own.sandboxUrl, port: 0, behaviour, ...keys, ...settings });
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
    fault: async (asked) => (await control('post', '/faults', asked).expect(201)).body,
    requests: async (operation) =>
      (await control('get', `/requests?${operation ? `operation=${encodeURIComponent(operation)}` : ''}`).expect(200))
        .body,
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

/** An airtime payout of one item. */
export function airtime(valueInUSD = 1, phoneNumber = '+254712345678') {
  return { airtimes: [{ countryToSend: 'Kenya', phoneNumber, valueInUSD }] };
}

function hear(url: string, path: string, body: string): Promise<Heard> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const heard: Heard = { text: '', error: undefined };
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
