import { randomUUID } from 'node:crypto';
import { Inject, Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ClientBase } from 'pg';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { codeOf } from '../../platform/errors/error-code';
import {
  compare,
  Comparison,
  isUnconfirmed,
  lackOf,
  Statement,
  UNCONFIRMED,
} from '../epoch/epoch-comparison';
import { EpochFile, epochFileIn, LastEpoch } from '../epoch/epoch-file';
import { CommitKind, RecentCommits } from '../epoch/recent-commits';
import { Beat } from '../heartbeat/beat';
import { HeartbeatService } from '../heartbeat/heartbeat.service';
import { ConnectionsService } from './connections.service';
import { FenceService } from './fence.service';

/**
 * Detects a database from the past: a restored backup, or a standby that lagged behind at its promotion. It
 * lacks paid calls, so their keys could be paid again.
 *
 * A heartbeat follows every commit that was acknowledged to this process before it was sent, in the order of
 * the write-ahead log and in every consistent snapshot. A database with the heartbeat has them all. This
 * process keeps the number of the last heartbeat and the commits since. It compares them with the database at
 * the start, on every new connection before its first use, and with each heartbeat. A file keeps this
 * evidence across restarts, except for the last second.
 *
 * An instance whose database is behind is fenced until the next epoch begins. Its file then keeps the
 * evidence, so the instance is fenced again after a restart.
 *
 * An instance without evidence, such as one with a new DATA_DIR, trusts a database only on the server where
 * it was last known to be complete. On another server, it is fenced until an instance with evidence confirms
 * that nothing is missing, or until the next epoch begins. Evidence is not enough once another instance has
 * worked with the database since. See docs/internals/decisions/operation/0036-a-durability-epoch.md.
 */
@Injectable()
export class EpochService implements OnApplicationShutdown {
  private readonly logger = new Logger('Epoch');
  private readonly path: string;
  private file: EpochFile | undefined;
  private seen: LastEpoch | undefined;
  private instance: string = randomUUID();
  /** Last known epoch of the database. Undefined before the first heartbeat without a file. */
  private epoch: number | undefined;
  /** The commits since the last confirmed heartbeat was sent. */
  private readonly commits = new RecentCommits();
  private readonly listeners: ((detail: string) => Promise<void>)[] = [];
  /** Explanation for operators while the database is behind. */
  private behind: string | undefined;
  /** Whether the evidence was reported from elsewhere, so a comparison does not show it. */
  private isReported = false;
  private telling: Promise<void> | undefined;
  private confirming: Promise<void> | undefined;

  constructor(
    private readonly prisma: PrismaService,
    private readonly heartbeat: HeartbeatService,
    private readonly fence: FenceService,
    connections: ConnectionsService, // It hears of each heartbeat first.
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    this.path = epochFileIn(settings.dataDir);
    heartbeat.resume(this.instance, 0n);
    heartbeat.observe((beat) => this.hear(beat));
    heartbeat.checkConnections(async (client) => void (await this.check(client)));
    prisma.checkConnections(async (client) => connections.judge(client, await this.check(client)));
  }

  /**
   * Reads the file. Await it before the first heartbeat. A worker has no file, because its proxy keeps it.
   * @throws StartError if the file is damaged.
   */
  load(): void {
    this.heartbeat.pays();
    this.file = new EpochFile(this.path);
    this.seen = this.file.read();
    if (!this.seen) return;
    this.instance = this.seen.instance;
    this.epoch = this.seen.epoch;
    this.heartbeat.resume(this.instance, BigInt(this.seen.beat));
    for (const kind of ['admitted', 'answered', 'approved'] as const)
      for (const callId of this.seen[kind]) this.commits.add(kind, callId);
  }

  /** Records a call of an acknowledged batch. One per batch is enough. */
  remember(kind: CommitKind, callId: string): void {
    this.commits.add(kind, callId);
  }

  /** Whether the last write of the file failed. */
  get isFileFailing(): boolean {
    return this.file?.isFailing === true;
  }

  /**
   * Stops this instance by evidence from elsewhere.
   * @param lack the missing records: `it has 2 sealed leaves, and the newest checkpoint has 3`.
   * @param epoch the database's epoch. The next one ends the stop.
   */
  report(lack: string, epoch: number): void {
    this.epoch ??= epoch;
    this.isReported = true;
    this.findBehind(lack);
  }

  /** Calls a listener with each heartbeat while the database is behind, unless it still runs. */
  whileBehind(listener: (detail: string) => Promise<void>): void {
    this.listeners.push(listener);
  }

  /** Runs after the last outcome was recorded. */
  async onApplicationShutdown(): Promise<void> {
    await this.heartbeat.onApplicationShutdown(); // Its last beat may start the notification of others.
    if (this.behind === undefined) this.save();
    await Promise.all([this.file?.settled(), this.telling, this.confirming]);
  }

  /** Compares the database behind a new connection, before anything else uses it. */
  private async check(client: ClientBase): Promise<Comparison | undefined> {
    const { seen, epoch } = this; // Before the query: a concurrent heartbeat may be newer than its snapshot.
    const query = async ({ text, values }: Statement) => (await client.query<Comparison>(text, values)).rows;
    const found = await compare(query, this.instance, this.commits);
    if (found && isUnconfirmed(found, seen)) this.doubt();
    // A new epoch needs no comparison with the previous one.
    if (!found || this.epoch !== epoch) return found;
    if (epoch !== undefined && found.epoch > epoch) return found; // The next heartbeat adopts it.
    const lack = lackOf(found, seen);
    if (lack !== undefined) this.findBehind(lack);
    return found;
  }

  private hear(beat: Beat): void {
    if (this.epoch !== undefined && beat.epoch > this.epoch) return this.adopt(beat);
    if (this.epoch !== undefined && beat.epoch < this.epoch)
      this.findBehind(`it is in epoch ${beat.epoch}, and this instance has seen ${this.epoch}`);
    else if (beat.number === null) this.findBehind('it lacks the last heartbeat that this instance has seen');
    if (this.behind === undefined && beat.number !== null) {
      if (isUnconfirmed(beat, this.seen)) return this.doubt();
      return this.keep(beat, beat.number);
    }
    if (this.isFileFailing) this.save();
    this.telling ??= this.tell().finally(() => (this.telling = undefined));
  }

  /**
   * Notifies the listeners, unless a newer database was connected since: a stop would be wrong there. Never
   * rejects. The next heartbeat retries.
   */
  private async tell(): Promise<void> {
    const query = ({ name, text, values }: Statement) => this.prisma.prepared<Comparison>(name, text, values);
    const found = await compare(query, this.instance, this.commits).catch(() => undefined);
    const detail = this.behind;
    if (!found || detail === undefined) return;
    if (!this.isReported && lackOf(found, this.seen) === undefined) return;
    await Promise.all(this.listeners.map((listener) => listener(detail)));
  }

  /**
   * Commits were lost, and a person has restored them. The database's current contents are the new reference.
   * The next heartbeat adopts its number.
   */
  private adopt({ epoch }: Beat): void {
    this.logger.warn({ epoch }, 'a new epoch of the database has begun');
    this.epoch = epoch;
    this.seen = undefined;
    this.commits.clear();
    this.heartbeat.resume(this.instance, 0n);
    this.behind = undefined;
    this.heartbeat.isBehind = false;
    this.isReported = false;
    this.fence.lower('database_behind');
  }

  private findBehind(lack: string): void {
    if (this.behind !== undefined) return;
    this.heartbeat.isBehind = true;
    this.behind =
      `The database is older than before: ${lack}. It may lack payments that were made. Connect the ` +
      'newest database and restart, or run database recover.';
    this.fence.raise('database_behind', this.behind);
    this.save(); // Only this process knows the commits of the last second.
  }

  private doubt(): void {
    this.fence.raise('database_unconfirmed', UNCONFIRMED);
  }

  /** Confirms to instances without evidence that a switchover lost nothing. The next heartbeat retries. */
  private async confirmMove({ epoch, systemIdentifier, timeline }: Beat): Promise<void> {
    try {
      await this.prisma.$executeRaw`UPDATE epoch SET server = database_server(), moved_at = clock_timestamp()
          WHERE number = ${epoch} AND server <> database_server()`;
      const moved = { system_identifier: systemIdentifier, timeline };
      this.logger.warn(moved, 'the database is on another server or timeline, and nothing is missing');
    } catch (error) {
      const code = codeOf(error);
      this.logger.warn({ code }, 'the move of the database to another server cannot be recorded, will retry');
    }
  }

  private keep(beat: Beat, number: bigint): void {
    this.fence.lower('database_unconfirmed');
    if (beat.isElsewhere)
      this.confirming ??= this.confirmMove(beat).finally(() => (this.confirming = undefined));
    this.commits.forgetBefore(beat.sentAt.monotonicMs);
    this.epoch = beat.epoch;
    this.seen = {
      instance: this.instance,
      epoch: beat.epoch,
      beat: String(number),
      admitted: [],
      answered: [],
      approved: [],
      sealed_size: beat.sealedSize,
      system_identifier: beat.systemIdentifier,
      timeline: beat.timeline,
      seen_at: new Date(beat.databaseMs).toISOString(),
    };
    this.save();
  }

  /** Writes the evidence and the commits since. */
  private save(): void {
    const { file, seen, commits } = this;
    if (!file || !seen) return;
    file.save({
      ...seen,
      admitted: commits.idsOf('admitted'),
      answered: commits.idsOf('answered'),
      approved: commits.idsOf('approved'),
    });
  }
}
