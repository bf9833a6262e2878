import { setTimeout as sleep } from 'node:timers/promises';
import { Client, ClientBase } from 'pg';
import {
  DatabaseUrl,
  nameOfServer,
  Server,
  SessionTarget,
  urlOfServer,
} from '../../config/database/database-url';
import { codeOf } from '../../errors/error-code';
import { waitAtMost } from '../pools/timeouts';

/** Longest search for the server of a connection. It ends sooner if no server that answered can be used. */
const TIMEOUT_MS = 4_000;

/** Interval of questions to an unusable server, which may be promoted while another one does not answer. */
const AGAIN_MS = 250;

/** Wait for the answers of other servers after one fits, because one of them may be newer. */
const GRACE_MS = 100;

/** The state of a server. */
interface ServerState {
  isStandby: boolean;
  isReadOnly: boolean;
  /** The timeline, as eight hexadecimal digits. Null on a standby. A promotion raises it. */
  timeline: string | null;
}

const KIND = `SELECT pg_is_in_recovery() AS "isStandby",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  CASE WHEN NOT pg_is_in_recovery() THEN left(pg_walfile_name(pg_current_wal_lsn()), 8) END AS timeline`;

/** The answer of one server, or its error. */
interface ServerProbe {
  server: Server;
  kind?: ServerState;
  error?: Error;
}

/** No server of an address can be used. The message names each server with the reason. */
export class NoServerFits extends Error {
  readonly severity = 'FATAL'; // with a severity and a code, Prisma takes it for an error of the database

  /** @param code an SQLSTATE. */
  constructor(
    message: string,
    readonly code: string,
  ) {
    super(message);
  }
}

/** SQLSTATE sqlclient_unable_to_establish_sqlconnection. */
const NOT_CONNECTED = '08001';

/** The form of an SQLSTATE, such as that of a refused login. */
const SQLSTATE = /^[0-9A-Z]{5}$/;

const choices = new Map<string, Promise<Server>>();

/**
 * Asks all servers of an address at the same time, and returns the one for a new connection. Of several that
 * fit, it takes the one on the newest timeline, because an old primary may outlive its replacement.
 * Concurrent connections share the answer.
 * @throws NoServerFits
 */
export function chooseServer(address: DatabaseUrl): Promise<Server> {
  const known = choices.get(address.url);
  if (known) return known;
  const choice = choose(address).finally(() => choices.delete(address.url));
  choices.set(address.url, choice);
  return choice;
}

/**
 * Checks the state of a connection's server, which may have changed since its choice.
 * @throws NoServerFits
 */
export async function requireTarget(client: ClientBase, { target }: DatabaseUrl): Promise<void> {
  const { rows } = await client.query<ServerState>(KIND);
  const [kind] = rows;
  if (kind && fits(kind, target)) return;
  const { host, port } = client as Client;
  throw new NoServerFits(`${nameOfServer({ host, port })} is ${describe(kind)}`, NOT_CONNECTED);
}

async function choose(address: DatabaseUrl): Promise<Server> {
  const looks = new Map<Server, ServerProbe>();
  const over = new AbortController();
  const { promise: isBestKnown, resolve: tellOfBest } = signal();
  const { promise: haveAllAnswered, resolve: tellOfAll } = signal();
  const keepAsking = async (server: Server) => {
    while (!over.signal.aborted) {
      const look = await lookAt(address, server);
      looks.set(server, look);
      if (look.kind && isBest(look.kind, address.target)) return tellOfBest();
      if (looks.size === address.servers.length) return tellOfAll();
      await sleep(AGAIN_MS, undefined, { signal: over.signal }).catch(() => undefined); // the choice is made
    }
  };
  const all = Promise.all(address.servers.map(keepAsking));
  await waitAtMost(Promise.race([isBestKnown, haveAllAnswered]), TIMEOUT_MS);
  if ([...looks.values()].some(({ kind }) => kind && isBest(kind, address.target)))
    await waitAtMost(all, GRACE_MS);
  over.abort();
  const [best] = [...looks.values()]
    .filter(({ kind }) => kind && fits(kind, address.target))
    .sort((one, other) => rank(other, address).localeCompare(rank(one, address)));
  if (best) return best.server;
  throw noServer(address, looks);
}

function signal(): { promise: Promise<void>; resolve: () => void } {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((tell) => (resolve = tell));
  return { promise, resolve };
}

/** Returns the rank of a server: by fit, by timeline, and by its position in the address. */
function rank({ server, kind }: ServerProbe, { servers, target }: DatabaseUrl): string {
  const place = String(servers.length - servers.indexOf(server)).padStart(6, '0');
  return `${kind && isBest(kind, target) ? 1 : 0} ${kind?.timeline ?? '00000000'} ${place}`;
}

function fits({ isStandby, isReadOnly }: ServerState, target: SessionTarget): boolean {
  if (target === 'read-write') return !isStandby && !isReadOnly;
  return target === 'standby' ? isStandby || isReadOnly : true;
}

function isBest(kind: ServerState, target: SessionTarget): boolean {
  return target === 'prefer-standby' ? kind.isStandby : fits(kind, target);
}

/** Never rejects. */
async function lookAt(address: DatabaseUrl, server: Server): Promise<ServerProbe> {
  const client = new Client({
    connectionString: urlOfServer(address, server),
    connectionTimeoutMillis: TIMEOUT_MS + GRACE_MS, // after the end of the choice
    query_timeout: TIMEOUT_MS + GRACE_MS,
    application_name: 'payout-proxy server choice',
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<ServerState>(KIND);
    return { server, ...(rows[0] && { kind: rows[0] }) };
  } catch (error) {
    return { server, error: error as Error };
  } finally {
    void client.end().catch(() => undefined);
  }
}

function noServer({ servers, target }: DatabaseUrl, looks: Map<Server, ServerProbe>): NoServerFits {
  const reasons = servers.map((server) => {
    const { error, kind } = looks.get(server) ?? {};
    if (!error) return `${nameOfServer(server)} is ${describe(kind)}`;
    return `${nameOfServer(server)} (${codeOf(error) ?? error.message})`;
  });
  const codes = new Set([...looks.values()].map(({ error }) => codeOf(error)));
  const [code = ''] = codes.size === 1 && looks.size === servers.length ? codes : [];
  const wanted = {
    'read-write': 'takes writes',
    standby: 'is a standby',
    'prefer-standby': 'can be reached',
    any: 'can be reached',
  };
  return new NoServerFits(
    `no server ${wanted[target]}: ${reasons.join(', ')}`,
    SQLSTATE.test(code) ? code : NOT_CONNECTED,
  );
}

function describe(kind: ServerState | undefined): string {
  if (!kind) return 'not answering';
  if (kind.isStandby) return 'a standby';
  return kind.isReadOnly ? 'read-only' : 'a primary';
}
