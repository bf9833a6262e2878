import { toJson } from './amounts.ts';
import { Attempts, type StoredPayment } from './attempts.ts';
import { Calls } from './calls.ts';
import { Payment } from './payment.ts';
import { randomId } from './random-id.ts';
import { providerError } from './results.ts';
import { authorizing, type Credentials } from './sessions/credential.ts';
import { EphemeralKeys } from './sessions/ephemeral-keys.ts';
import { SessionTransport } from './sessions/session-transport.ts';
import { Session } from './sessions/session.ts';
import { Reader, type ReadOptions } from './transport/reader.ts';
import { type OutgoingRequest, type Sender, Transport } from './transport/transport.ts';
import { type Retries, DEFAULT_RETRIES } from './transport/waiting.ts';
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

/** Options of a {@link PayoutProxy}: an address, exactly one credential, and limits. */
export interface ClientOptions extends Credentials {
  /** Address of the proxy, such as `https://payouts.example.com`, with its path if it has one. */
  baseUrl: string;
  /** Stores each payment before its first byte is sent. If it fails, nothing is sent. */
  store?: (payment: StoredPayment) => void | Promise<void>;
  /** Number and pauses of retries. Default: 4 retries after 0.5, 1, 2 and 4 seconds, and while it is busy. */
  retries?: Partial<Retries>;
  /** Timeout of one attempt, in milliseconds. Default: 60,000, above the proxy's wait and answer (50 s). */
  timeoutMs?: number;
  /** Replacement of the runtime's `fetch`. */
  fetch?: typeof fetch;
  /** Generator of unique, unguessable IDs, for runtimes without Web Crypto. Default: random UUIDs. */
  randomId?: () => string;
}

/** Options of a new or a continued payment. */
export interface PaymentOptions {
  /** Key of a payment to continue, or your own ID, such as that of the order. Default: a new random key. */
  idempotencyKey?: string;
  /** Call that this payment duplicates on purpose: the `firstCallId` of a `suspected_duplicate`. */
  allowDuplicateOf?: string;
  /** Name of the person on whose behalf your server pays. */
  actor?: string;
  /**
   * Whether the proxy may accept the payment first, and send it in its turn (`Prefer: respond-async`).
   * `send()` then returns `queued` at once. `settled()` and `follow()` wait for the outcome.
   */
  respondAsync?: boolean;
  /** Stored `payer` of a payment to continue. For another person, nothing is sent. */
  payer?: string | undefined;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * A client of payout-proxy. Make one for each credential, and share it.
 * @example
 * const client = new PayoutProxy({ baseUrl: 'https://payouts.example.com', apiKey: 'pp_shop_…' });
 * const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: '2.50' }];
 * const result = await client.payouts.airtime({ airtimes }).settled();
 */
export class PayoutProxy {
  /** Your own calls. */
  readonly calls: Calls;
  /** Ephemeral keys of your server for pages and apps. */
  readonly ephemeralKeys: EphemeralKeys;
  private readonly transport: Sender;
  private readonly reader: Reader;
  private readonly retries: Retries;
  private readonly newId: () => string;
  private readonly store: ClientOptions['store'];
  private readonly pageSession: Session | undefined;

  /** @throws TypeError for an invalid address, or without exactly one valid credential. */
  constructor(options: ClientOptions) {
    const { session, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
    const baseUrl = baseUrlOf(options);
    const { authorize, refresh } = authorizing(options);
    // A browser's fetch throws "Illegal invocation" as a method of another object.
    const send = options.fetch ?? ((...request: Parameters<typeof fetch>) => fetch(...request));
    this.retries = { ...DEFAULT_RETRIES, ...options.retries };
    const credentials = session ? 'include' : 'omit';
    const transport = new Transport({ baseUrl, authorize, refresh, credentials, timeoutMs, fetch: send });
    const bySession = session && new SessionTransport(transport, session.client);
    this.pageSession = bySession && new Session(session, baseUrl, bySession, this.retries);
    this.transport = bySession ?? transport;
    this.reader = new Reader(this.transport, this.retries);
    this.calls = new Calls(this.reader);
    this.ephemeralKeys = new EphemeralKeys(this.reader);
    this.newId = options.randomId ?? randomId;
    this.store = options.store;
  }

  /**
   * Page session of a client with the option `session`.
   * @throws TypeError for clients with another credential.
   */
  get session(): Session {
    if (!this.pageSession)
      throw new TypeError('This client has no session. Pass "session" to its constructor.');
    return this.pageSession;
  }

  /** Payouts. Each function prepares a payment, like {@link pay}. */
  readonly payouts = {
    /**
     * Prepares a payout of airtime to phone numbers.
     * @example
     * const airtimes = [{ countryToSend: 'Kenya', phoneNumber: '+254712345678', valueInUSD: '2.50' }];
     * const payment = client.payouts.airtime({ airtimes });
     */
    airtime: (body: BodyOf<'POST /payouts/airtime'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/airtime', body, options),
    /** Prepares a payout of mobile money. `read('GET /info/mobile-money-codes')` lists the networks. */
    mobileMoney: (body: BodyOf<'POST /payouts/mobile-money'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/mobile-money', body, options),
    /** Prepares a payout of credits to email addresses and handles. */
    credit: (body: BodyOf<'POST /payouts/credit'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/credit', body, options),
    /** Prepares a payout of credits that is paid by a link in its answer. */
    initiateCredit: (body: BodyOf<'POST /payouts/initiate-credit'>, options?: PaymentOptions) =>
      this.pay('POST /payouts/initiate-credit', body, options),
    /**
     * Reads the state of a payout.
     * @param id `payout_id`, or the ID of a call with one payout.
     * @throws ApiError for an unknown payout.
     */
    get: async (id: string, { signal }: ReadOptions = {}): Promise<PayoutRecord> => {
      const path = `/v1/payouts/${encodeURIComponent(id)}`;
      return (await this.reader.read({ method: 'GET', path, signal })).body as PayoutRecord;
    },
  };

  /**
   * Prepares a payment: any operation that pays, creates or removes something. `send`, `settled` or `follow`
   * of the payment send it.
   * @throws TypeError for an invalid key or amount.
   * @example
   * const payment = client.pay('POST /sub-account/create', { name: 'East', email: 'east@example.com' });
   * const result = await payment.send();
   */
  pay<Operation extends PaymentOperation>(
    operation: Operation,
    body: BodyOf<Operation>,
    options: PaymentOptions = {},
  ): Payment<AnswerOf<Operation>> {
    const { idempotencyKey, allowDuplicateOf, actor, payer, respondAsync = false } = options;
    // An undefined key is an error: it may be the lost key of a payment to continue.
    const isChosen = 'idempotencyKey' in options;
    const key: unknown = isChosen ? idempotencyKey : this.newId();
    if (typeof key !== 'string' || !KEY.test(key))
      throw new TypeError('An idempotency key has 1 to 255 printable ASCII characters without spaces.');
    const request = {
      operation,
      path: `/api/v0.1${pathOf(operation)}`,
      idempotencyKey: key,
      body: toJson(body),
      payer,
      headers: {
        'Allow-Duplicate-Of': allowDuplicateOf,
        'X-Actor': actor,
        Prefer: respondAsync ? 'respond-async' : undefined,
      },
      mayBeRepeated: isChosen,
    };
    const { transport, calls, retries, store } = this;
    const attempts = new Attempts<AnswerOf<Operation>>(request, { transport, calls, retries, store });
    return new Payment(key, operation, attempts, calls, retries);
  }

  /**
   * Returns the person of the current credential. Store it with a payment, and continue with it as `payer`.
   * @returns undefined for keys, and without a signed-in person.
   * @throws NetworkError if the session cannot be read.
   */
  payer({ signal }: ReadOptions = {}): Promise<string | undefined> {
    return this.transport.payer(signal);
  }

  /**
   * Returns the outcome that a payment would have now, without sending or reserving anything.
   * @throws ApiError for an invalid request.
   * @example
   * const { would, total_usd } = await client.preview('POST /payouts/airtime', { airtimes });
   */
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
   * Sends an operation that only reads.
   * @throws ProviderError if the provider rejects it, and ApiError if the proxy does.
   * @example
   * const { data: countries } = await client.read('GET /info/airtime-countries');
   */
  async read<Operation extends ReadOperation>(
    operation: Operation,
    ...[input]: object extends InputOf<Operation> ? [input?: InputOf<Operation>] : [input: InputOf<Operation>]
  ): Promise<AnswerOf<Operation>> {
    const { query, body, signal }: Pick<OutgoingRequest, 'query' | 'signal'> & { body?: unknown } =
      input ?? {};
    const method = operation.startsWith('GET ') ? 'GET' : 'POST';
    const path = `/api/v0.1${pathOf(operation)}`;
    const sent = body === undefined ? undefined : toJson(body);
    // Reads need no key, but a payment that is sent as a read by mistake must not be made twice.
    const headers = method === 'POST' ? { 'Idempotency-Key': this.newId() } : {};
    const answer = await this.reader.read({ method, path, query, body: sent, headers, signal });
    const { status } = answer.body as { status?: unknown };
    if (status !== 'success') throw providerError(answer.body);
    return answer.body as AnswerOf<Operation>;
  }

  /** Returns the limits of your client, and the rest of each. */
  async limits({ signal }: ReadOptions = {}): Promise<Limits> {
    return (await this.reader.read({ method: 'GET', path: '/v1/limits', signal })).body as Limits;
  }
}

/** Pattern of an address. React Native does not implement the parts of `URL`. */
const BASE_URL = /^https?:\/\/([^\s/?#@:[\]\\]+|\[[\da-f:.]+\])(:\d{1,5})?(\/[^\s?#\\]*)?$/i;

function baseUrlOf({ baseUrl }: Pick<ClientOptions, 'baseUrl'>): string {
  if (typeof baseUrl === 'string' && BASE_URL.test(baseUrl)) return baseUrl.replace(/\/+$/, '');
  throw new TypeError('"baseUrl" must be the address of the proxy, such as "https://payouts.example.com".');
}

const pathOf = (operation: string) => operation.replace(/^\w+ /, '');
