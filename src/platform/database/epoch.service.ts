import { Injectable, Logger, OnApplicationShutdown } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ClientBase } from 'pg';
import { Loaded } from '../config/config.module';
import { FenceService } from '../fencing/fence.service';
import { EpochFile, Seen } from './epoch-file';
import { Beat, HeartbeatService } from './heartbeat.service';
import { PrismaService } from './prisma.service';

/** A commit that was acknowledged to this process. */
interface Committed {
  kind: 'admitted' | 'answered';
  callId: string;
  /** When it was remembered, by the monotonic clock. */
  at: number;
}

/** What the database has of what was seen. */
interface Comparison {
  epoch: number;
  beat: string;
  missing: number;
  sealed: string;
}

const COMPARE = `
  SELECT (SELECT max(number) FROM epoch) AS epoch, coalesce((SELECT beat FROM instance WHERE id = $1::uuid), 0)::text AS beat,
    ((SELECT count(*) FROM unnest($2::uuid[]) AS c(id) WHERE NOT EXISTS (SELECT FROM intent i WHERE i.id = c.id))
      + (SELECT count(*) FROM unnest($3::uuid[]) AS c(id) WHERE NOT EXISTS (SELECT FROM outcome o WHERE o.intent_id = c.id)))::integer
      AS missing,
    (SELECT coalesce(max(size), 0) FROM checkpoint)::text AS sealed`;

/** SQLSTATEs of a statement that the schema does not allow: class 42, such as a missing table or right. */
const NO_SUCH_TABLE = /^42/;

/**
 * Notices a database that has come back from the past: a restored backup, or a standby that lagged behind when it was
 * promoted. It lacks calls that were paid, so the same keys could be paid again.
 *
 * A heartbeat comes after every commit that was acknowledged to this process before it was sent, in the order of the
 * write-ahead log and in every consistent snapshot. A database that has the heartbeat has them all. This process
 * remembers the number of the last one, and the commits since. It compares them with the database at the start, on
 * every new connection before it is used, and with each heartbeat. A file keeps them, so that a restart forgets nothing
 * that is older than a second.
 *
 * An instance whose database is behind is fenced until the next epoch begins. Its file stays as it is.
 */
@Injectable()
export class EpochService implements OnApplicationShutdown {
  private readonly logger = new Logger('Epoch');
  private readonly path: string;
  private file: EpochFile | undefined;
  private seen: Seen | undefined;
  private instance: string = randomUUID();
  /** The commits since the last confirmed heartbeat was sent. */
  private committed: Committed[] = [];
  private readonly listeners: ((detail: string) => void)[] = [];
  private isBehind = false;
  private isWriteFailing = false;
  private writing: Promise<void> | undefined;

  constructor(
    prisma: PrismaService,
    private readonly heartbeat: HeartbeatService,
    private readonly fence: FenceService,
    config: ConfigService<Loaded, true>,
  ) {
    this.path = join(config.get('settings', { infer: true }).dataDir, 'epoch.json');
    heartbeat.resume(this.instance, 0n);
    heartbeat.observe((beat) => this.hear(beat));
    prisma.checkConnections((client) => this.check(client));
  }

  /**
   * Reads the file. Await it before the first heartbeat. A worker has none, because its proxy keeps it.
   * @throws StartError if the file is damaged.
   */
  load(): void {
    this.file = new EpochFile(this.path);
    this.seen = this.file.read();
    if (!this.seen) return;
    this.instance = this.seen.instance;
    this.heartbeat.resume(this.instance, BigInt(this.seen.beat));
    const at = performance.now();
    for (const callId of this.seen.admitted) this.committed.push({ kind: 'admitted', callId, at });
    for (const callId of this.seen.answered) this.committed.push({ kind: 'answered', callId, at });
  }

  /** Remembers a call of a batch whose commit was acknowledged. One for each batch is enough. */
  remember(kind: Committed['kind'], callId: string): void {
    this.committed.push({ kind, callId, at: performance.now() });
  }

  /** Calls a listener with each heartbeat while the database is behind. */
  whileBehind(listener: (detail: string) => void): void {
    this.listeners.push(listener);
  }

  async onApplicationShutdown(): Promise<void> {
    await this.writing;
  }

  /** Compares the database behind a new connection, before anything else uses it. */
  private async check(client: ClientBase): Promise<void> {
    const of = (kind: Committed['kind']) =>
      this.committed.filter((one) => one.kind === kind).map(({ callId }) => callId);
    const { rows } = await client
      .query<Comparison>(COMPARE, [this.instance, of('admitted'), of('answered')])
      .catch((error: { code?: string }) => {
        if (NO_SUCH_TABLE.test(error.code ?? '')) return { rows: [] }; // nothing can be admitted either
        throw error;
      });
    const [found] = rows;
    if (!found || !this.seen || found.epoch > this.seen.epoch) return; // the next heartbeat adopts the epoch
    if (BigInt(found.beat) < BigInt(this.seen.beat)) {
      this.findBehind(`it has heartbeat ${found.beat} of this instance, which has seen ${this.seen.beat}`);
    } else if (found.missing > 0) {
      this.findBehind(`it lacks ${found.missing} commits that this instance has seen in the last second`);
    } else if (Number(found.sealed) < this.seen.sealed_size) {
      this.findBehind(`it has ${found.sealed} sealed leaves, and this instance has seen ${this.seen.sealed_size}`);
    }
  }

  private hear(beat: Beat): void {
    if (this.seen && beat.epoch > this.seen.epoch) return this.adopt(beat);
    if (this.isBehind || beat.number === null) {
      this.findBehind('it lacks the last heartbeat that this instance has seen');
      const detail = this.fence.reasons.find(({ reason }) => reason === 'database_behind')?.detail ?? '';
      for (const listener of this.listeners) listener(detail);
      return;
    }
    this.tellOfMove(beat);
    this.committed = this.committed.filter(({ at }) => at >= beat.sentAt.monotonicMs);
    this.keep(beat, beat.number);
  }

  /**
   * Commits were lost, and a person has had them restored. What the database has now is what it must have. The next
   * heartbeat takes up the number that it has.
   */
  private adopt({ epoch }: Beat): void {
    this.logger.warn({ epoch }, 'a new epoch of the database has begun');
    this.seen = undefined;
    this.committed = [];
    this.heartbeat.resume(this.instance, 0n);
    this.isBehind = false;
    this.fence.lower('database_behind');
  }

  private findBehind(found: string): void {
    if (this.isBehind) return;
    this.isBehind = true;
    this.fence.raise(
      'database_behind',
      `The database is older than it was: ${found}. Payments may be missing that were made. Connect the newest database, or run database recover.`,
    );
  }

  /** A planned switchover changes these, and nothing is missing. */
  private tellOfMove({ systemIdentifier, timeline }: Beat): void {
    const { seen } = this;
    if (!seen || (seen.system_identifier === systemIdentifier && seen.timeline === timeline)) return;
    const moved = { system_identifier: systemIdentifier, timeline };
    this.logger.warn(moved, 'the database is on another server or timeline, and nothing is missing');
  }

  private keep(beat: Beat, number: bigint): void {
    const of = (kind: Committed['kind']) =>
      this.committed.filter((one) => one.kind === kind).map(({ callId }) => callId);
    this.seen = {
      instance: this.instance,
      epoch: beat.epoch,
      beat: String(number),
      admitted: of('admitted'),
      answered: of('answered'),
      sealed_size: beat.sealedSize,
      system_identifier: beat.systemIdentifier,
      timeline: beat.timeline,
      seen_at: new Date(beat.databaseMs).toISOString(),
    };
    if (this.file && !this.writing)
      this.writing = this.write(this.file, this.seen).finally(() => (this.writing = undefined));
  }

  /** Never rejects. Without the file, a restart forgets, but this process does not. */
  private async write(file: EpochFile, seen: Seen): Promise<void> {
    try {
      await file.write(seen);
      if (this.isWriteFailing) this.logger.log('epoch.json is written again');
      this.isWriteFailing = false;
    } catch (error) {
      const { code } = error as { code?: string };
      if (!this.isWriteFailing)
        this.logger.warn({ code }, 'epoch.json cannot be written. After a restart, an old database may go unnoticed');
      this.isWriteFailing = true;
    }
  }
}
