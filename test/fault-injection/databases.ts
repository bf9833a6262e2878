import { chmodSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { databaseAt, onPort, PostgresPair } from '../support/databases/postgres-pair';
import { makeCluster, PostgresServer } from '../support/databases/postgres-server';
import { TestDatabase } from '../support/databases/test-database';
import { Gate } from '../support/payments/gate';
import { removeDataDir } from '../support/processes/data-dir';

/** The database of a scenario: its addresses, and its shutdown. */
export type Database = Pick<TestDatabase, 'url' | 'ownerUrl' | 'query' | 'close'>;

/** A server that can be frozen and killed, as durable as in production. */
export interface OneServer extends Database {
  server: PostgresServer;
  restart: () => Promise<void>;
}

/** @param settings of the server, in addition to the defaults of Postgres. */
export async function oneServer(settings: string[] = []): Promise<OneServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'payout-proxy-trust-'));
  chmodSync(dataDir, 0o755);
  const { home, urls } = await makeCluster(dataDir, []);
  const server = new PostgresServer(home, home.cluster, Number(new URL(urls.owner).port));
  const restart = () => server.start(settings);
  await restart();
  const close = async () => {
    await server.kill();
    removeDataDir(dataDir);
  };
  return { ...databaseAt(urls, server.port), close, server, restart };
}

/** A pair of servers behind one address, which leads to the primary. A failover moves it. */
export interface TwoServers extends Database {
  pair: PostgresPair;
  /** Ends all connections, and routes new ones to the current primary. */
  move: () => void;
}

export async function twoServers(): Promise<TwoServers> {
  const pair = await PostgresPair.start('*', []);
  const gate = await Gate.start(() => pair.database.url);
  const port = Number(new URL(gate.url).port);
  return {
    pair,
    url: onPort(pair.database.url, port),
    ownerUrl: onPort(pair.database.ownerUrl, port),
    query: (sql, parameters) => pair.database.query(sql, parameters),
    move: () => gate.cut(),
    close: async () => {
      await gate.stop();
      await pair.close();
    },
  };
}
