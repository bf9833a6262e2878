import { ClientBase } from 'pg';
import { CheckpointFile } from './checkpoint-file';
import { Head, signHead } from './head';
import { checkHead, isSmaller, ownHead } from './head-check';
import { KIND_NAMES, KindName } from './kinds';
import { CompactRange } from './merkle';
import { Signer } from './note';
import * as SQL from './sealing-sql';
import { NIL, Positions } from './sealing-sql';
import { Ask, KEPT_EVERY } from './tree-store';

/** The most leaves of one transaction: it takes some hundred milliseconds, so that none runs into a time-out. */
const BATCH = 5_000;

/** What one pass saw and did. */
export interface Pass {
  /** How many leaves it added. */
  sealed: number;
  /** Leaves of the log now. */
  size: number;
  /** Whether there is more to seal at once. */
  more: boolean;
}

interface LogState {
  now: string;
  horizon: string;
  next: string;
  size: number | null;
  note: string | null;
  positions: Partial<Positions> | null;
}

interface LeafRow {
  kind: KindName;
  id: string;
  tx: string;
  /** Of its leaf. */
  hash: Buffer;
}

/** Adds what has committed to the log; one for each process. Of several at once one works, the others pass. */
export class Sealing {
  /** The largest head that this process has seen to be right. The log never gets smaller, nor another below it. */
  private trusted: Head | undefined;
  private positions = positionsAt('0');
  /** The checkpoint that the positions are of. */
  private positionsSize: number | undefined;
  /** When this process read the state, and what had not begun by then: how far the log is complete follows from it. */
  private passes: { at: string; next: bigint }[] = [];
  private foreignDone = false;
  private waitsFrom: number | undefined;

  constructor(
    private readonly signer: Signer,
    private readonly file: CheckpointFile | undefined,
    private readonly batch = BATCH,
  ) {
    this.trusted = file?.last;
  }

  /** @throws LogRefusal, or an error of the database. */
  async pass(client: ClientBase): Promise<Pass> {
    const state = await this.readState(client);
    const size = state.size ?? 0;
    const { rows: news } = await client.query<{ name: KindName; waits: number }>({
      ...SQL.NEWS,
      values: [KIND_NAMES.map((name) => this.positions[name][0]), KIND_NAMES.map((name) => this.positions[name][1])],
    });
    this.waitsFrom =
      news.length > 0 ? performance.now() - 1_000 * Math.max(...news.map((one) => one.waits)) : undefined;
    if (this.trusted && size < this.trusted.size) throw isSmaller(size, this.trusted.size);
    let sealed = 0;
    let more = false;
    if (news.length > 0 || !this.foreignDone) {
      await client.query('BEGIN');
      try {
        const done = await this.seal(client, state, new Set(news.map(({ name }) => name)));
        await client.query('COMMIT');
        if (done) ({ sealed, more } = this.adopt(done));
      } catch (error) {
        await client.query('ROLLBACK').catch(() => undefined); // a lost connection rolled back by itself
        throw error;
      }
    } else if (size !== (this.trusted?.size ?? 0)) {
      await this.check(askWith(client), state);
    }
    if (sealed > 0 && !more) this.waitsFrom = undefined;
    return { sealed, more, size: size + sealed };
  }

  /** For how long the oldest record waits that is not sealed, as far as the last pass saw. Seconds; 0: there is none. */
  get waits(): number {
    return this.waitsFrom === undefined ? 0 : (performance.now() - this.waitsFrom) / 1_000;
  }

  /** Looks at the newest checkpoint; where another instance made it, goes on from where that one stopped. */
  private async readState(client: ClientBase): Promise<LogState> {
    const { rows } = await client.query<LogState>(SQL.LOOK);
    const state = rows[0]!;
    this.remember(state);
    if (state.size !== (this.positionsSize ?? null)) {
      this.positions = { ...positionsAt('0'), ...state.positions };
      this.positionsSize = state.size ?? undefined;
    }
    const horizon = BigInt(state.horizon);
    // Transactions are numbered from the beginning again: this is a backup, restored to a new server.
    if (KIND_NAMES.some((name) => BigInt(this.positions[name][0]) > horizon)) this.positions = positionsAt('0');
    return state;
  }

  /** Within a transaction. @returns undefined where another sealer is at work. */
  private async seal(client: ClientBase, state: LogState, names: Set<KindName>): Promise<Sealed | undefined> {
    const { rows } = await client.query<{ locked: boolean }>(SQL.TRY_LOCK);
    if (!rows[0]?.locked) return undefined;
    const { rows: now } = await client.query<LogState>(SQL.LOOK);
    if (now[0]?.size !== state.size) return undefined; // it has sealed since: the next pass begins where it stopped
    const { head, range } = await this.check(askWith(client), state);
    const read = await this.read(client, state, names);
    if (read.rows.length === 0) return { head, read, added: 0 };

    const first = range.size;
    const nodes: { level: number; index: number; hash: Buffer }[] = [];
    for (const { hash } of read.rows) {
      range.append(hash, (level, index, node) => {
        if (level % KEPT_EVERY === 0) nodes.push({ level, index, hash: node });
      });
    }
    const newest = { size: range.size, root: range.root(), sealedAt: state.now };
    const signed: Head = { ...newest, completeUntil: this.completeUntil(state, read.drained, head) };
    await client.query(SQL.INSERT_LEAVES, [
      first,
      arrayOf(read.rows.map(({ kind }) => kind)),
      arrayOf(read.rows.map(({ id }) => id)),
      Buffer.concat(read.rows.map(({ hash }) => hash)),
    ]);
    if (nodes.length > 0) {
      const hex = nodes.map(({ hash }) => hash.toString('hex'));
      await client.query(SQL.INSERT_NODES, [nodes.map(({ level }) => level), nodes.map(({ index }) => index), hex]);
    }
    const note = signHead(signed, this.signer);
    const values = [signed.size, signed.root, note, JSON.stringify(read.positions)];
    await client.query(SQL.INSERT_CHECKPOINT, [...values, signed.sealedAt, signed.completeUntil]);
    return { head: signed, read, added: read.rows.length };
  }

  /** What may be sealed now, up to one batch of it. */
  private async read(client: ClientBase, { horizon, next }: LogState, names: Set<KindName>): Promise<Read> {
    const rows: LeafRow[] = [];
    const positions = positionsAt(horizon);
    let drained = true;
    const take = async (kind: KindName, query: { name: string; text: string }, values: unknown[]) => {
      const left = this.batch - rows.length;
      const found = await client.query<Omit<LeafRow, 'kind'>>({ ...query, values: [...values, left] });
      for (const row of found.rows) rows.push({ ...row, kind });
      if (found.rows.length < left) return undefined;
      drained = false;
      return found.rows.at(-1);
    };
    for (const kind of KIND_NAMES.filter((name) => names.has(name))) {
      const [tx, id] = this.positions[kind];
      const last = await take(kind, SQL.unsealedSql(kind), [tx, id, horizon]);
      if (last) positions[kind] = [last.tx, last.id];
      else if (rows.length === this.batch) positions[kind] = this.positions[kind];
    }
    const withForeign = drained && !this.foreignDone;
    for (const kind of withForeign ? KIND_NAMES : []) await take(kind, SQL.foreignSql(kind), [next]);
    return { rows, positions, drained, foreignDone: withForeign && drained };
  }

  /** Keeps the last pass at which nothing had begun that has not ended by now, and those after it. */
  private remember({ now, horizon, next }: LogState): void {
    this.passes.push({ at: now, next: BigInt(next) });
    const ended = this.passes.findLastIndex((pass) => pass.next <= BigInt(horizon));
    this.passes.splice(0, ended);
  }

  /** All that was written before that pass is below the horizon, and with it in the tree. */
  private completeUntil({ horizon }: LogState, drained: boolean, before: Head | undefined): string | null {
    const [first] = this.passes;
    const ended = drained && first && first.next <= BigInt(horizon) ? first.at : undefined;
    return ended ?? before?.completeUntil ?? null;
  }

  /** After the commit. */
  private adopt({ head, read, added }: Sealed): { sealed: number; more: boolean } {
    this.trusted = head ?? this.trusted;
    this.positions = read.positions;
    this.positionsSize = head?.size;
    this.foreignDone ||= read.foreignDone;
    return { sealed: added, more: !read.drained };
  }

  private async check(ask: Ask, { size, note }: LogState): Promise<{ head: Head | undefined; range: CompactRange }> {
    if (size === null || note === null) return { head: undefined, range: CompactRange.of(0, []) };
    const checked = await checkHead(ask, { size, note, signer: this.signer, trusted: this.trusted });
    this.trusted = checked.head;
    return checked;
  }

  /** Adds to the checkpoint file what it does not have: also what another instance sealed, or this one before a crash. */
  async keepNotes(client: ClientBase): Promise<void> {
    const { file, trusted } = this;
    if (!file || !trusted || trusted.size <= (file.last?.size ?? 0)) return;
    const from = file.last?.size ?? trusted.size - 1; // a new file begins with the newest
    const rows = await askWith(client)<{ note: string }>(SQL.NOTES_AFTER, [from]);
    await file.append(rows.map(({ note }) => ({ note, head: ownHead(note, this.signer) })));
  }
}

interface Read {
  rows: LeafRow[];
  positions: Positions;
  drained: boolean;
  foreignDone: boolean;
}

interface Sealed {
  head: Head | undefined;
  read: Read;
  added: number;
}

/** All below a transaction. */
function positionsAt(tx: string): Positions {
  return Object.fromEntries(KIND_NAMES.map((name) => [name, [tx, NIL]])) as Positions;
}

/** As Postgres writes it, of words that need no quotes: pg would look at each of them for a long time. */
function arrayOf(words: string[]): string {
  return `{${words.join(',')}}`;
}

function askWith(client: ClientBase): Ask {
  return async <Row extends object>(sql: string, values: unknown[]) => (await client.query<Row>(sql, values)).rows;
}
