import { ClientBase } from 'pg';
import { Head, signHead } from '../head';
import { KIND_NAMES, KindName } from '../kinds';
import { CompactRange } from '../merkle';
import { KeyRing, Signer } from '../note';
import { QueryRunner, queryRunner, STORED_LEVEL_INTERVAL } from '../tree-store';
import { Batch, positionsAt, Progress, readBatch } from './batch';
import { CheckpointFile } from './checkpoint-file';
import { checkHead, isSmaller, ownHead } from './head-check';
import * as SQL from './sealing-sql';
import { Positions } from './sealing-sql';

/** Maximum number of leaves per transaction, which takes some hundred milliseconds. */
const BATCH = 5_000;

/** The result of one pass. */
interface PassResult {
  /** Number of added leaves. */
  sealed: number;
  /** Number of leaves in the log. */
  size: number;
  /** Whether more can be sealed now. */
  more: boolean;
}

interface LogState {
  now: string;
  horizon: string;
  next: string;
  /** System identifier of the server, which numbers the transactions. */
  server: string;
  size: number | null;
  note: string | null;
  /** Positions, with the server of their numbers. Null without a checkpoint. */
  positions: (Partial<Positions> & { server: string }) | null;
}

/** Appends committed records to the log. Of several sealers at once, one works and the others return. */
export class Sealing {
  /** Largest verified head. The log must never shrink or differ below it. */
  private trusted: Head | undefined;
  private progress: Progress = { positions: positionsAt('0'), foreign: positionsAt('0') };
  /** Size of the checkpoint that the positions belong to. */
  private positionsSize: number | undefined;
  /** Server that numbered the transactions of the positions. */
  private positionsServer: string | undefined;
  /** Times of past reads, each with the first transaction that had not begun, to compute `completeUntil`. */
  private passes: { at: string; next: bigint }[] = [];
  private waitsFrom: number | undefined;

  constructor(
    private readonly ring: KeyRing<Signer>,
    private readonly file: CheckpointFile | undefined,
    private readonly batchSize = BATCH,
  ) {
    this.trusted = file?.last;
  }

  /**
   * Seals one batch.
   * @throws LogRefusal, or an error of the database.
   */
  async pass(client: ClientBase): Promise<PassResult> {
    const state = await this.readState(client);
    const size = state.size ?? 0;
    const positions = KIND_NAMES.map((name) => this.progress.positions[name]);
    const { rows: news } = await client.query<{ name: KindName; waits: number }>({
      ...SQL.NEWS,
      values: [positions.map(([tx]) => tx), positions.map(([, id]) => id)],
    });
    this.waitsFrom =
      news.length > 0 ? performance.now() - 1_000 * Math.max(...news.map((one) => one.waits)) : undefined;
    if (this.trusted && size < this.trusted.size) throw isSmaller(size, this.trusted.size);
    let sealed = 0;
    let more = false;
    if (news.length > 0 || this.progress.foreign) {
      await client.query('BEGIN');
      try {
        const done = await this.seal(client, state, new Set(news.map(({ name }) => name)));
        await client.query('COMMIT');
        if (done) {
          this.trusted = done.head ?? this.trusted;
          this.progress = done.batch;
          this.positionsSize = done.head?.size;
          [sealed, more] = [done.added, !done.batch.drained];
        }
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined); // The server rolls back a lost connection.
        throw error;
      }
    } else if (size !== (this.trusted?.size ?? 0)) {
      await this.check(queryRunner(client), state);
    }
    if (sealed > 0 && !more) this.waitsFrom = undefined;
    return { sealed, more, size: size + sealed };
  }

  /** Age of the oldest unsealed record of the last pass, in seconds. 0 if all are sealed. */
  get waits(): number {
    return this.waitsFrom === undefined ? 0 : (performance.now() - this.waitsFrom) / 1_000;
  }

  /** Reads the newest checkpoint. Continues from there if another instance created it. */
  private async readState(client: ClientBase): Promise<LogState> {
    const { rows } = await client.query<LogState>(SQL.LOOK);
    const state = rows[0]!;
    this.remember(state);
    if (state.size !== (this.positionsSize ?? null)) {
      this.progress = { ...this.progress, positions: { ...positionsAt('0'), ...state.positions } };
      this.positionsSize = state.size ?? undefined;
      this.positionsServer = state.positions?.server;
    }
    const horizon = BigInt(state.horizon);
    const isAhead = KIND_NAMES.some((name) => BigInt(this.progress.positions[name][0]) > horizon);
    // Another server (a restored backup) numbers transactions anew, and can have records below the positions.
    if (isAhead || state.server !== (this.positionsServer ?? state.server)) {
      this.progress = { ...this.progress, positions: positionsAt('0') };
    }
    this.positionsServer = state.server;
    return state;
  }

  /**
   * Seals within a transaction.
   * @returns undefined if another sealer is at work.
   */
  private async seal(
    client: ClientBase,
    state: LogState,
    names: Set<KindName>,
  ): Promise<SealedBatch | undefined> {
    const lock = await client.query<{ locked: boolean }>(SQL.TRY_LOCK);
    if (!lock.rows[0]?.locked) return undefined;
    const now = await client.query<LogState>(SQL.LOOK);
    // Another sealer was faster: the next pass continues from there.
    if (now.rows[0]?.size !== state.size) return undefined;
    const { head, range } = await this.check(queryRunner(client), state);
    const batch = await readBatch(client, this.progress, state, names, this.batchSize);
    const { rows } = batch;
    if (rows.length === 0) return { head, batch, added: 0 };

    const firsts: number[] = [];
    const nodes: { level: number; index: number; hash: Buffer }[] = [];
    for (const { records } of rows) {
      firsts.push(range.size);
      for (const { hash } of records) {
        range.append(hash, (level, index, node) => {
          if (level % STORED_LEVEL_INTERVAL === 0) nodes.push({ level, index, hash: node });
        });
      }
    }
    const newest = { size: range.size, root: range.root(), sealedAt: state.now };
    const signed: Head = { ...newest, completeUntil: this.completeUntil(state, batch.drained, head) };
    await client.query({
      ...SQL.INSERT_LEAVES,
      values: [
        firsts,
        rows.map(({ kind }) => kind),
        rows.map(({ from }) => from),
        rows.map(({ to }) => to),
        rows.map(({ records }) => `{${records.map(({ id }) => id).join(',')}}`),
        rows.map(({ records }) => Buffer.concat(records.map(({ hash }) => hash))),
      ],
    });
    if (nodes.length > 0) {
      const hex = nodes.map(({ hash }) => hash.toString('hex'));
      await client.query(SQL.INSERT_NODES, [
        nodes.map(({ level }) => level),
        nodes.map(({ index }) => index),
        hex,
      ]);
    }
    const note = signHead(signed, this.ring);
    const values = [
      signed.size,
      signed.root,
      note,
      JSON.stringify({ ...batch.positions, server: state.server }),
    ];
    await client.query(SQL.INSERT_CHECKPOINT, [...values, signed.sealedAt, signed.completeUntil]);
    return { head: signed, batch, added: signed.size - firsts[0]! };
  }

  /** Keeps the last read whose unbegun transactions have all ended by now, and all later reads. */
  private remember({ now, horizon, next }: LogState): void {
    this.passes.push({ at: now, next: BigInt(next) });
    const ended = this.passes.findLastIndex((pass) => pass.next <= BigInt(horizon));
    this.passes.splice(0, ended);
  }

  /** Returns the time of a read whose records are all below the horizon, and therefore in the tree. */
  private completeUntil({ horizon }: LogState, drained: boolean, before: Head | undefined): string | null {
    const [first] = this.passes;
    const ended = drained && first && first.next <= BigInt(horizon) ? first.at : null;
    const known = before?.completeUntil ?? null;
    // The time never goes back, even if a clock does.
    return ended === null || (known !== null && known > ended) ? known : ended;
  }

  private async check(
    query: QueryRunner,
    { size, note }: LogState,
  ): Promise<{ head: Head | undefined; range: CompactRange }> {
    if (size === null || note === null) return { head: undefined, range: CompactRange.of(0, []) };
    const checked = await checkHead(query, { size, note, ring: this.ring, trusted: this.trusted });
    this.trusted = checked.head;
    return checked;
  }

  /** Appends missing notes to the checkpoint file, including those of other instances and before a crash. */
  async appendNotes(client: ClientBase): Promise<void> {
    const { file, trusted } = this;
    if (!file || !trusted || trusted.size <= (file.last?.size ?? 0)) return;
    const from = file.last?.size ?? trusted.size - 1; // A new file begins with the newest note.
    const rows = await queryRunner(client)<{ note: string }>(SQL.NOTES_AFTER, [from]);
    await file.append(rows.map(({ note }) => ({ note, head: ownHead(note, this.ring) })));
  }
}

interface SealedBatch {
  head: Head | undefined;
  batch: Batch;
  added: number;
}
