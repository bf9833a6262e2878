import { toJson } from './amounts.ts';
import { Attempts, type StoredPayment } from './attempts.ts';
import { Calls } from './calls.ts';
import { Payment } from './payment.ts';
import { randomId } from './random-id.ts';
import { Reader } from './reader.ts';
import { providerError } from './results.ts';
import { authorizing, type Credentials } from './sessions/credential.ts';
import { EphemeralKeys } from './sessions/ephemeral-keys.ts';
import { SessionTransport } from './sessions/session-transport.ts';
import { Session } from './sessions/session.ts';
import { type Outgoing, type Sender, Transport } from './transport.ts';
import type {
  AnswerOf,
  BodyOf,
  InputOf,
  Limits,
  PaymentOperation,
  PayoutRecord,
  Preview,
  ReadOperation,
} from './types.ts';
import { type Retries, USUAL_RETRIES } from './waiting.ts';

export interface ClientOptions extends Credentials {
  /** The address of the proxy, such as `https://payouts.example.com`, with a path if it has one. */
  baseUrl: string;
  /** Stores each payment before its first byte is sent. If it fails, nothing is sent. */
  store?: (payment: StoredPayment) => void | Promise<void>;
  /** How often and how soon a request is tried again. */
  retries?: Partial<Retries>;
  /** How long one attempt may take, in milliseconds. The proxy itself waits 30 seconds for the provider. */
  timeoutMs?: number;
  /** `fetch`, if the runtime has another one. */
  fetch?: typeof fetch;
  /**
   * Returns a new unique ID each time, for runtimes without Web Crypto. It must not be guessable, nor repeat
   * itself.
   */
  randomId?: () => string;
}

export interface PaymentOptions {
  /**
   * The key of a payment that you continue, or an ID of your own, such as that of the order. Leave it out for
   * a new one.
   */
  idempotencyKey?: string;
  /** The call that this payment duplicates on purpose: the `firstCallId` of a `suspected_duplicate`. */
  allowDuplicateOf?: string;
  /** The person on whose behalf your server pays. */
  actor?: string;
  /** Whose payment you continue, as it was stored. Nothing is sent for anybody else. */
  payer?: string | undefined;
}

export interface ReadOptions {
  signal?: AbortSignal;
}

const USUAL_TIMEOUT_MS = 45_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

/** A client of payout-proxy. Make one for each key, and share it. */
export class PayoutProxy {
  /** Your own calls. */
  readonly calls: Calls;
  /** Keys that your server makes for pages and apps. */
  readonly ephemeralKeys: EphemeralKeys;
  private readonly transport: Sender;
  private readonly reader: Reader;
  private readonly retries: Retries;
  private readonly newId: () => string;
  private readonly store: ClientOptions['store'];
  private readonly ofPage: Session | undefined;

  /** @throws TypeError for an address or a credential that cannot be right. */
  constructor(options: ClientOptions) {
    const { session, timeoutMs = USUAL_TIMEOUT_MS } = options;
    const baseUrl = baseUrlOf(options);
    const { authorize, refresh } = authorizing(options);
    // A page's own fetch must be called on the page.
    const send = options.fetch ?? ((...given: Parameters<typeof fetch>) => fetch(...given));
    this.retries = { ...USUAL_RETRIES, ...options.retries };
    const credentials = session ? 'include' : 'omit';
    const transport = new Transport({ baseUrl, authorize, refresh, credentials, timeoutMs, fetch: send });
    const bySession = session && new SessionTransport(transport, session.client);
    this.ofPage = bySession && new Session(session, baseUrl, bySession, this.retries);
    this.transport = bySession ?? transport;
    this.reader = new Reader(this.transport, this.retries);
    this.calls = new Calls(this.reader);
    this.ephemeralKeys = new EphemeralKeys(this.reader);
    this.newId = options.randomId ?? randomId;
    this.store = options.store;
  }

  /**
   * The session of the page.
   * @throws TypeError unless the client was made with `session`.
   */
  get session(): Session {
    if (!this.ofPage) throw new TypeError('This client has no session. Pass "session" when you make it.');
    return this.ofPage;
  }

  /** Payouts to people. */
  readonly payouts = {
    /** Pays out airtime to phone numbers. */
    airtime: (body: BodyOf<'POST /payouts/airtime'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/airtime', body, options),
    /** Pays out mobile money. `client.read('GET /info/mobile-money-codes')` lists the networks. */
    mobileMoney: (body: BodyOf<'POST /payouts/mobile-money'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/mobile-money', body, options),
    /** Pays out credits to email addresses and handles. */
    credit: (body: BodyOf<'POST /payouts/credit'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/credit', body, options),
    /** Makes a link to pay for a payout of credits. */
    initiateCredit: (body: BodyOf<'POST /payouts/initiate-credit'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/initiate-credit', body, options),
    /**
     * Reads the state of a payout.
     * @param id its `payout_id`, or the ID of a call with one payout.
     */
    get: async (id: string, { signal }: ReadOptions = {}): Promise<PayoutRecord> => {
      const path = `/v1/payouts/${encodeURIComponent(id)}`;
      return (await this.reader.read({ method: 'GET', path, signal })).body as PayoutRecord;
    },
  };

  /**
   * Prepares a payment: any operation that pays, creates or removes something. Nothing is sent before you
   * call `send` or `settled` of the payment.
   * @throws TypeError for a key or an amount that the proxy would not take.
   */
  pay<Operation extends PaymentOperation>(
    operation: Operation,
    body: BodyOf<Operation>,
    options: PaymentOptions = {},
  ): Payment<AnswerOf<Operation>> {
    const { idempotencyKey, allowDuplicateOf, actor, payer } = options;
    // Whoever continues a payment and has lost its key would make another one.
    const isGiven = 'idempotencyKey' in options;
    const key: unknown = isGiven ? idempotencyKey : this.newId();
    if (typeof key !== 'string' || !KEY.test(key))
      throw new TypeError('An idempotency key has 1 to 255 printable ASCII characters without spaces.');
    const request = {
      operation,
      path: `/api/v0.1${pathOf(operation)}`,
      idempotencyKey: key,
      body: toJson(body),
      payer,
      headers: { 'Allow-Duplicate-Of': allowDuplicateOf, 'X-Actor': actor },
      mayBeRepeated: isGiven,
    };
    const { transport, calls, retries, store } = this;
    const attempts = new Attempts<AnswerOf<Operation>>(request, { transport, calls, retries, store });
    return new Payment(key, operation, attempts, calls, retries);
  }

  /**
   * Tells whose payments this client makes now. Store it with a payment, and pass it when you continue the
   * payment.
   * @returns undefined if nobody is signed in, and for keys, which do not tell.
   * @throws NetworkError if the session cannot be read.
   */
  payer({ signal }: ReadOptions = {}): Promise<string | undefined> {
    return this.transport.payer(signal);
  }

  /** Says what would happen if the payment was sent now. Nothing is sent, reserved or promised. */
  async preview<Operation extends PaymentOperation>(
    operation: Operation,
    body: BodyOf<Operation>,
    { idempotencyKey, signal }: ReadOptions & { idempotencyKey?: string } = {},
  ): Promise<Preview> {
    const path = `/v1/preview${pathOf(operation)}`;
    const headers = { 'Idempotency-Key': idempotencyKey };
    return (await this.reader.read({ method: 'POST', path, body: toJson(body), headers, signal }))
      .body as Preview;
  }

  /**
   * Sends an operation of the interface that only reads, such as `GET /info/airtime-countries`.
   * @throws ProviderError if the provider rejects it.
   */
  async read<Operation extends ReadOperation>(
    operation: Operation,
    ...[input]: object extends InputOf<Operation> ? [input?: InputOf<Operation>] : [input: InputOf<Operation>]
  ): Promise<AnswerOf<Operation>> {
    const { query, body, signal }: Pick<Outgoing, 'query' | 'signal'> & { body?: unknown } = input ?? {};
    const method = operation.startsWith('GET ') ? 'GET' : 'POST';
    const path = `/api/v0.1${pathOf(operation)}`;
    const sent = body === undefined ? undefined : toJson(body);
    // Nobody needs it, but a payment that is sent like this by mistake is not made twice.
    const headers = method === 'POST' ? { 'Idempotency-Key': this.newId() } : {};
    const answer = await this.reader.read({ method, path, query, body: sent, headers, signal });
    const { status } = answer.body as { status?: unknown };
    if (status !== 'success') throw providerError(answer.body);
    return answer.body as AnswerOf<Operation>;
  }

  /** Returns the limits of your client, and what is left of them. */
  async limits({ signal }: ReadOptions = {}): Promise<Limits> {
    return (await this.reader.read({ method: 'GET', path: '/v1/limits', signal })).body as Limits;
  }
}

/** Not `URL`, whose parts React Native cannot read. */
const BASE_URL = /^https?:\/\/([^\s/?#@:[\]\\]+|\[[\da-f:.]+\])(:\d{1,5})?(\/[^\s?#\\]*)?$/i;

function baseUrlOf({ baseUrl }: Pick<ClientOptions, 'baseUrl'>): string {
  if (typeof baseUrl === 'string' && BASE_URL.test(baseUrl)) return baseUrl.replace(/\/+$/, '');
  throw new TypeError('"baseUrl" must be the address of the proxy, such as "https://payouts.example.com".');
}

const pathOf = (operation: string) => operation.replace(/^\w+ /, '');
