import { ClientBase } from 'pg';
import { KindName } from '../kinds';
import { HASH_BYTES, leafHash } from '../merkle';
import { contradictionsOf } from './contradictions';
import { Excuses } from './excuses';
import { apartOf, CLOCKS_APART_SECONDS, LogFault, FaultPosition, placeOf, timeOfId } from './fault';
import { Leaves, leavesOf, RecordRow, recordsOf } from './record-rows';

/** Kinds whose ID is created with the record. */
const OWN_ID: ReadonlySet<KindName> = new Set([
  'intent',
  'refusal',
  'stop',
  'answer_shape',
  'access',
  'erasure',
  'pruning',
]);

/** Result of a walk. */
export interface WalkResult {
  /** Number of leaves. */
  leaves: number;
  /** Number of related rows of records. */
  related: number;
  /** Number of missing records that prunings explain. */
  pruned: number;
  unsealed: number;
  /** Time of the oldest unsealed record, in seconds. Infinity if none. */
  oldest: number;
  /** An unsealed record that should be sealed. */
  hidden: FaultPosition | undefined;
}

/** Compares the records of one kind with their leaves, both by ID. */
export class RecordWalk {
  readonly found: WalkResult = {
    leaves: 0,
    related: 0,
    pruned: 0,
    unsealed: 0,
    oldest: Infinity,
    hidden: undefined,
  };
  /** Rows of leaves with records to come. Few overlap. */
  private rows: Leaves[] = [];
  /** The next row of leaves. */
  private coming: Leaves | undefined;
  private previous = '';
  private readonly apart: number;

  /** @param sealed minimum time of unsealed records, in seconds. */
  constructor(
    private readonly kind: KindName,
    private readonly excuses: Excuses,
    private readonly unsealedTime: { from: number; to: number },
  ) {
    this.apart = apartOf(kind);
  }

  /** @throws LogFault at the first fault. */
  async walk(client: ClientBase, size: number, onPage: (records: number) => void): Promise<void> {
    const records = await recordsOf(client, this.kind);
    const leaves = leavesOf(client, this.kind, size);
    try {
      this.coming = (await leaves.next()).value;
      for (let page = await records.next(); page.length > 0; page = await records.next()) {
        await this.open(leaves, timeOfId(page.at(-1)![0]), page[0]![0]);
        records.prefetch();
        for (const [place, row] of page.entries()) this.add(row, page[place + 1]?.[0]);
        onPage(page.length);
      }
      await this.open(leaves, Infinity, undefined);
    } finally {
      await records.close();
      await leaves.return(undefined);
    }
  }

  /** Reads the leaves up to a time. `next` is the next record, if any. */
  private async open(
    leaves: AsyncGenerator<Leaves, undefined>,
    time: number,
    next: string | undefined,
  ): Promise<void> {
    while (this.coming && this.coming.from <= time) {
      this.found.leaves += this.coming.ids.length;
      this.rows.push(this.coming);
      this.pass(next);
      this.coming = (await leaves.next()).value;
    }
    this.pass(next);
  }

  private pass(next: string | undefined): void {
    for (const row of this.rows) this.skip(row, next);
    this.rows = this.rows.filter(({ done, ids }) => done < ids.length);
  }

  /** Skips leaves whose records are missing. */
  private skip(row: Leaves, next: string | undefined): void {
    for (; row.done < row.ids.length; row.done += 1) {
      const id = row.ids[row.done]!;
      if (next !== undefined && id >= next) return;
      if (!this.excuses.excusesRecord(this.kind, id)) {
        const meaning = 'A sealed record is missing, and no signed pruning covers it. It was deleted.';
        throw new LogFault('record_missing', meaning, placeOf(this.kind, id, row.first + row.done));
      }
      this.found.pruned += 1;
    }
  }

  /** @param next ID of the next record, if known. */
  private add(record: RecordRow, next: string | undefined): void {
    const id = record[0];
    if (id === this.previous || id === next) {
      const meaning =
        'The record, its body, or its filters exist twice, but only one was sealed. The other was added.';
      throw new LogFault('record_twice', meaning, placeOf(this.kind, id));
    }
    this.previous = id;
    if (record[3] === '1') this.found.related += 1;
    let isSealed = false;
    for (const row of this.rows) {
      this.skip(row, id);
      if (row.ids[row.done] !== id) continue;
      const place = () => placeOf(this.kind, id, row.first + row.done);
      if (isSealed) throw new LogFault('leaf_twice', 'The record has two leaves. One was added.', place());
      this.check(record, row, place);
      row.done += 1;
      isSealed = true;
    }
    if (!isSealed) this.addUnsealed(record);
  }

  private check(record: RecordRow, row: Leaves, place: () => FaultPosition): void {
    const [id, at, leaf] = record;
    if (!row.hashes.startsWith(leafHash(leaf), row.done * 2 * HASH_BYTES)) {
      throw new LogFault(
        'record_changed',
        'The record differs from the one that was sealed. The record or one of its items was changed.',
        place(),
      );
    }
    this.checkTime(id, at === null ? NaN : Number(at), row, place);
    for (const { where, state } of contradictionsOf(this.kind, id, record)) {
      if (state === 'column_changed') {
        const meaning = `The column ${where} does not match the sealed text of its row. It was changed.`;
        throw new LogFault('record_changed', meaning, place());
      }
      const isErasedPerson = where.startsWith('person/') && this.excuses.excusesPerson(where, Number(at));
      if (!isErasedPerson) this.checkPeople(where, state, id, place);
    }
  }

  private checkTime(
    id: string,
    at: number,
    { completeUntil, sealedAt }: Leaves,
    place: () => FaultPosition,
  ): void {
    if (!(at >= completeUntil - this.apart)) {
      const sealed = `all records from before ${iso(completeUntil)} had been sealed before it`;
      const meaning = `The time of the record is ${iso(at)}, but ${sealed}. It was inserted later.`;
      throw new LogFault('record_in_the_past', meaning, place());
    }
    if (OWN_ID.has(this.kind) && !(Math.abs(timeOfId(id) / 1_000 - at) <= CLOCKS_APART_SECONDS)) {
      const meaning = `The record has the time ${iso(at)}, but its ID has another. It was inserted later.`;
      throw new LogFault('record_in_the_past', meaning, place());
    }
    if (at - this.apart > sealedAt) {
      const meaning = `The time of the record is ${iso(at)}, which is after it was sealed.`;
      throw new LogFault('record_in_the_future', meaning, place());
    }
  }

  private checkPeople(where: string, state: string, id: string, place: () => FaultPosition): void {
    if (state === 'missing') {
      if (this.excuses.excusesPeople(where, id)) return;
      const meaning = `The content of ${where} was deleted. No signed erasure or pruning covers it.`;
      throw new LogFault('people_missing', meaning, place());
    }
    const meaning =
      state === 'changed'
        ? `The content of ${where} does not match the record's commitment. It was changed.`
        : `The record has no commitment for ${where}. Its content was inserted.`;
    throw new LogFault(state === 'changed' ? 'people_changed' : 'people_added', meaning, place());
  }

  /** Counts a record without a leaf. It is new, or was hidden from the sealer. */
  private addUnsealed([id, at]: RecordRow): void {
    const written = at === null ? NaN : Number(at);
    const { from, to } = this.unsealedTime;
    if (!(written >= from - this.apart && written <= to + this.apart))
      this.found.hidden ??= placeOf(this.kind, id);
    this.found.unsealed += 1;
    this.found.oldest = Math.min(this.found.oldest, written);
  }
}

const iso = (seconds: number) =>
  Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : 'no time at all';
