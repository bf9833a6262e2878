import { setDefaultAutoSelectFamilyAttemptTimeout } from 'node:net';
import { Client, ClientConfig, Connection, QueryConfig, QueryResult, Submittable } from 'pg';
import { DatabaseUrl, readDatabaseUrl, urlOfServer, ConnectionUse } from '../../config/database/database-url';
import { chooseServer, requireTarget } from './server-choice';

/** Time limit of each address of a host but the last. Node.js has 250 ms, too short between continents. */
const ADDRESS_ATTEMPT_MS = 1_000;

// pg has no such option. The default of the process also applies to requests to identity providers.
setDefaultAutoSelectFamilyAttemptTimeout(ADDRESS_ATTEMPT_MS);

interface ServerClientConfig extends ClientConfig {
  /** The use of the connection. Default: `writing`. */
  use?: ConnectionUse;
}

/**
 * A connection to one server of an address. pg supports neither several hosts nor `target_session_attrs`.
 * Each connection chooses its server, and checks the state of the server before its first use.
 */
export class ServerClient extends Client {
  private readonly address: DatabaseUrl;
  /** Time limit of a statement, after which its connection is closed. Undefined is unlimited. */
  readonly answerWithinMs: number | undefined;
  private isGivenUp = false;

  constructor({ query_timeout: answerWithinMs, ...config }: ServerClientConfig) {
    const address = readDatabaseUrl(config.connectionString ?? '', config.use);
    const [first, second] = address.servers;
    // The options of the connection come last, so they win: the role is one of them.
    const options = [address.options, config.options].filter((text) => text !== undefined).join(' ');
    super({
      ...config,
      connectionString: urlOfServer(address, second && first),
      ...(options !== '' && { options }),
    });
    this.address = address;
    this.answerWithinMs = answerWithinMs;
    // Otherwise, a server that ends the connection between two statements would end the process. A pool
    // begins to listen only once it has the connection. Statements have their own errors.
    this.on('error', () => undefined);
  }

  /** @throws NoServerFits */
  override connect(): Promise<Client>;
  override connect(callback: (error: Error | null) => void): void;
  override connect(callback?: (error: Error | null) => void): Promise<Client> | void {
    const connected = this.reach();
    if (!callback) return connected;
    connected.then(
      () => callback(null),
      (error: unknown) => callback(error as Error),
    );
  }

  override end(): Promise<void>;
  override end(callback: (error: Error) => void): void;
  override end(callback?: (error: Error) => void): Promise<void> | void {
    this.isGivenUp = true;
    return callback ? super.end(callback) : super.end();
  }

  private async reach(): Promise<Client> {
    const { address } = this;
    if (address.servers.length > 1) {
      const { host, port } = await chooseServer(address);
      if (this.isGivenUp) throw new Error('Connection terminated');
      Object.assign(this, { host, port });
    }
    await super.connect();
    if (address.target === 'any') return this;
    try {
      await requireTarget(this, address);
    } catch (error) {
      void super.end().catch(() => undefined);
      throw error;
    }
    return this;
  }
}

// Not a method, because pg's types of `query` have a dozen overloads.
ServerClient.prototype.query = askWithCallbacks as unknown as Client['query'];

type QueryCallback = (error: Error | null, result: QueryResult) => void;
type QueryInput = string | QueryConfig | Submittable;

/** A connection that runs statements with `askWithCallbacks`. */
interface QueryingClient extends Client {
  /** Unlimited if undefined. */
  readonly answerWithinMs: number | undefined;
}

/**
 * Runs `query` of pg's client with callbacks. Closes the connection if a statement is not answered in time.
 *
 * pg has promises and a `query_timeout` of its own. For both, it assigns a new function to the query:
 * `query.callback = …`. V8 takes a function that is assigned to a property for a method, and creates it in
 * its old generation. There, it keeps the query and its rows until the next full collection (decision 0042).
 */
function askWithCallbacks(
  this: QueryingClient,
  question: QueryInput,
  values?: unknown[] | QueryCallback,
  answer?: QueryCallback,
) {
  if (typeof values === 'function') return ask(this, question, undefined, inTime(this, values));
  if (answer) return ask(this, question, values, inTime(this, answer));
  if (typeof question === 'object' && 'submit' in question) return ask(this, question); // a COPY
  return new Promise((resolve, reject) => {
    const settle: QueryCallback = (error, result) => (error ? reject(error) : resolve(result));
    ask(this, question, values, inTime(this, settle));
  });
}

/** Calls pg's own `query`, whose types have one overload for each form of its input. */
function ask(
  client: Client,
  ...given: [question: QueryInput, values?: unknown[], answer?: QueryCallback]
): unknown {
  const { query } = Client.prototype as unknown as { query: (this: Client, ...given: unknown[]) => unknown };
  return query.apply(client, given);
}

function inTime(client: QueryingClient, answer: QueryCallback): QueryCallback {
  if (client.answerWithinMs === undefined) return answer;
  const { connection } = client as unknown as { connection: Connection }; // not in the types of pg
  const end = () => connection.stream.destroy(new Error('Query read timeout'));
  const timer = setTimeout(end, client.answerWithinMs);
  return (error, result) => {
    clearTimeout(timer);
    answer(error, result);
  };
}
