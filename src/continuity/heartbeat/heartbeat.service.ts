import { Inject, Injectable, OnApplicationShutdown } from '@nestjs/common';
import { Client } from 'pg';
import { SETTINGS } from '../../platform/config/config';
import { connectionOf, DatabaseSettings, isPooled } from '../../platform/database/pools/pools';
import { requireReplication } from '../../platform/database/pools/replication';
import { waitAtMost } from '../../platform/database/pools/timeouts';
import { ServerClient } from '../../platform/database/servers/server-client';
import { BEAT, Beat, BeatRow, toBeat } from './beat';
import { ageOf, now } from './instant';

const EVERY_MS = 1_000;

/** Timeout of a beat's commit, in ms. A missing synchronous standby makes it wait that long. */
const BEAT_TIMEOUT_MS = 15_000;

/** How long the start waits for the first beat, in ms. Without it, the instance starts unready. */
const START_TIMEOUT_MS = 5_000;

/** How long `isConfirmed` waits for a beat, in ms. */
const PROOF_TIMEOUT_MS = 2_000;

/**
 * Proves every second, with a durable write on a connection of its own, that the database takes commits.
 * Notifies observers of durability, clocks and the age of the database.
 */
@Injectable()
export class HeartbeatService implements OnApplicationShutdown {
  /** ID of the instance, from EpochService. */
  private id = '';
  private readonly listeners: ((beat: Beat) => void)[] = [];
  private readonly failureListeners: ((error: unknown) => void)[] = [];
  private readonly checks: ((client: Client) => Promise<void>)[] = [];
  private readonly stopped = new AbortController();
  private client: Client | undefined;
  /** The server of the first beat on this connection. */
  private server: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private beating: Promise<void> | undefined;
  private last: Beat | undefined;
  /** The largest number that the database has confirmed. */
  private seen = 0n;
  private isPaying = false;
  /** Whether the database lacks commits that this instance has seen. */
  isBehind = false;

  constructor(@Inject(SETTINGS) private readonly settings: DatabaseSettings) {}

  /** Starts the beats. Resolves after the first one, or after a limited wait. */
  async start(): Promise<void> {
    await waitAtMost(this.beat(), START_TIMEOUT_MS);
    this.timer = setInterval(() => void this.beat(), EVERY_MS).unref();
  }

  /** Continues as an instance that has seen this number. */
  resume(id: string, seen: bigint): void {
    this.id = id;
    this.seen = seen;
  }

  /** Marks the instance as paying, unlike a worker. Others then know until when it may have paid. */
  pays(): void {
    this.isPaying = true;
  }

  /** Calls a listener after each confirmed beat, in the same turn. */
  observe(listener: (beat: Beat) => void): void {
    this.listeners.push(listener);
  }

  /** Calls a listener after each beat that was not confirmed. */
  observeFailures(listener: (error: unknown) => void): void {
    this.failureListeners.push(listener);
  }

  /** Checks each new connection before the first beat on it. If the check fails, so does the beat. */
  checkConnections(check: (client: Client) => Promise<void>): void {
    this.checks.push(check);
  }

  /** Returns whether the database confirms durable writes, by a write of the last second or a new one. */
  async isConfirmed(): Promise<boolean> {
    if (this.client && this.age < EVERY_MS) return true;
    await waitAtMost(this.beat(), PROOF_TIMEOUT_MS);
    return this.client !== undefined && this.age < PROOF_TIMEOUT_MS;
  }

  /** Milliseconds since the last confirmed write. Infinite before the first. */
  get age(): number {
    return this.last === undefined ? Infinity : ageOf(this.last.confirmedAt);
  }

  /** Beats now, unless a beat is in flight. Never rejects. */
  beat(): Promise<void> {
    this.beating ??= this.tryToBeat().finally(() => (this.beating = undefined));
    return this.beating;
  }

  /** Makes the next beat use a new connection. Ignores the result of a beat in flight. */
  giveUpConnection(): void {
    void this.disconnect();
  }

  /** Beats on a new connection as soon as possible. Never rejects. */
  reconnect(): void {
    this.giveUpConnection();
    void (this.beating ?? Promise.resolve()).then(() => this.beat());
  }

  async onApplicationShutdown(): Promise<void> {
    this.stopped.abort();
    clearInterval(this.timer);
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
    await this.beating;
  }

  private async tryToBeat(): Promise<void> {
    if (this.stopped.signal.aborted) return;
    try {
      const client = await this.connected();
      const beat = await this.write(client);
      if (client !== this.client) throw new Error('the connection was given up');
      this.requireSameServer(beat);
      this.last = beat;
      if (beat.number !== null) this.seen = beat.number;
      for (const listener of this.listeners) listener(beat);
    } catch (error) {
      if (!this.stopped.signal.aborted) for (const listener of this.failureListeners) listener(error);
      await this.disconnect();
    }
  }

  /**
   * Makes the next beat use a new connection after a pooler has moved to another server. A new connection is
   * compared with the evidence before its first beat, while the notification of a beat drops evidence.
   */
  private requireSameServer({ systemIdentifier, timeline }: Beat): void {
    const server = `${systemIdentifier}/${timeline}`;
    this.server ??= server;
    if (server !== this.server) throw new Error('the connection leads to another server than before');
  }

  private async write(client: Client): Promise<Beat> {
    const sentAt = now();
    const { rows } = await client.query<BeatRow>({
      ...(!isPooled(this.settings) && { name: 'beat' }),
      text: BEAT,
      values: [this.id, String(this.seen), this.isPaying, this.isBehind],
    });
    const confirmedAt = now();
    const [row] = rows;
    if (!row) throw new Error('the database did not answer');
    return toBeat(row, sentAt, confirmedAt);
  }

  private async connected(): Promise<Client> {
    if (this.client) return this.client;
    const client = new ServerClient({
      ...connectionOf(this.settings),
      ...(!isPooled(this.settings) && { statement_timeout: BEAT_TIMEOUT_MS }),
      query_timeout: BEAT_TIMEOUT_MS,
      keepAlive: true,
      application_name: 'payout-proxy heartbeat',
    });
    requireReplication(client);
    client.once('end', () => {
      if (this.client === client) this.client = undefined;
    });
    await client.connect();
    this.client = client;
    this.server = undefined;
    for (const check of this.checks) await check(client);
    if (this.stopped.signal.aborted) await this.disconnect();
    return client;
  }

  private async disconnect(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    await client?.end().catch(() => undefined);
  }
}
