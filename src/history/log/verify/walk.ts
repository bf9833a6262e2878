import { Head, readHead } from '../head';
import { CompactRange, leafHash } from '../merkle';
import { Verifier } from '../note';
import { KEPT_EVERY } from '../tree-store';
import { KindName } from '../kinds';
import { Chunk, LeafRow, RecordRow } from './chunks';
import { contradictionsOf } from './contradictions';
import { Excuses } from './excuses';
import { apartOf, CLOCKS_APART_SECONDS, LogFault, Place, placeOf, timeOfId } from './fault';
import { countRecord, newSeen } from './seen';

/** Kinds whose ID was made when they were written. */
const OWN_ID: ReadonlySet<KindName> = new Set([
  'intent',
  'refusal',
  'stop',
  'answer_shape',
  'access',
  'erasure',
  'pruning',
]);

/** A checkpoint from outside the database, whose own list may lack it. */
export interface Witnessed {
  note: string;
  /** The source of the note, for people: `note 3 of checkpoints`. */
  source: string;
  place: Place;
}

/** Walks through the log once, leaf by leaf, and rebuilds the tree. */
export class Walk {
  readonly seen = newSeen();
  private readonly range = CompactRange.of(0, []);
  /** The newest checkpoint that was verified. */
  private newest: Head | undefined;
  private completeUntil = -Infinity;
  /** The latest of the leaves since the last checkpoint. */
  private latest: { at: number; soonest: number; place: () => Place } | undefined;
  private readonly nodes = new Map<string, string>();

  /** @param witnessed checkpoints by size. */
  constructor(
    private readonly verifier: Verifier,
    private readonly excuses: Excuses,
    private readonly witnessed: ReadonlyMap<number, Witnessed[]>,
  ) {}

  get head(): Head | undefined {
    return this.newest;
  }

  get size(): number {
    return this.range.size;
  }

  /** @throws LogFault at the first fault. */
  add(chunk: Chunk, to: number): void {
    const checkpoints = new Map(chunk.checkpoints.map((checkpoint) => [checkpoint.size, checkpoint]));
    for (let index = chunk.from; index < to; index += 1) {
      const leaf = chunk.leaves[index - chunk.from];
      if (leaf === undefined || Number(leaf[0]) !== index) {
        throw new LogFault('leaf_missing', 'A leaf of the log itself was deleted.', { leaf: index });
      }
      this.addLeaf(index, leaf, chunk.records.get(leaf[0]));
      const size = index + 1;
      const checkpoint = checkpoints.get(size);
      const witnessed = this.witnessed.get(size);
      if (checkpoint || witnessed) this.checkNotes(checkpoint, witnessed ?? []);
    }
    this.checkNodes(chunk);
  }

  private addLeaf(index: number, [, kind, id, hash]: LeafRow, record: RecordRow | undefined): void {
    const stored = Buffer.from(hash, 'hex');
    if (record) this.checkRecord(index, kind, id, stored, record);
    else if (this.excuses.excusesRecord(kind, id)) this.seen.pruned += 1;
    else {
      throw new LogFault(
        'record_missing',
        'A sealed record is missing, and no signed pruning covers it. Somebody deleted it.',
        placeOf(kind, id, index),
      );
    }
    this.range.append(stored, (level, nodeIndex, node) => {
      if (level % KEPT_EVERY === 0) this.nodes.set(`${level}/${nodeIndex}`, node.toString('hex'));
    });
  }

  private checkRecord(index: number, kind: KindName, id: string, stored: Buffer, row: RecordRow): void {
    const [, at, leaf] = row;
    const place = () => placeOf(kind, id, index);
    if (!leafHash(leaf).equals(stored)) {
      throw new LogFault(
        'record_changed',
        'The record differs from the one that was sealed. The record or one of its items was changed.',
        place(),
      );
    }
    this.checkTime(kind, id, Number(at), place);
    for (const { where, state } of contradictionsOf(kind, id, row)) {
      if (state === 'column_changed') {
        const meaning = `The column ${where} does not match the sealed text beside it. It was changed.`;
        throw new LogFault('record_changed', meaning, place());
      }
      this.checkPeople(where, state, id, place);
    }
    countRecord(this.seen, kind, row);
  }

  private checkTime(kind: KindName, id: string, at: number, place: () => Place): void {
    const apart = apartOf(kind);
    if (at < this.completeUntil - apart) {
      throw new LogFault(
        'record_in_the_past',
        `The record says that it was written at ${iso(at)}, but all records from before ${iso(this.completeUntil)} had been ` +
          'sealed before it. Somebody inserted it later.',
        place(),
      );
    }
    if (OWN_ID.has(kind) && !(Math.abs(timeOfId(id) / 1_000 - at) <= CLOCKS_APART_SECONDS)) {
      throw new LogFault(
        'record_in_the_past',
        `The record was written at ${iso(at)}, but its ID is from another time. Somebody inserted it.`,
        place(),
      );
    }
    const soonest = at - apart; // the record was written at this time or later
    if (!this.latest || soonest > this.latest.soonest) this.latest = { at, soonest, place };
  }

  private checkPeople(where: string, state: string, id: string, place: () => Place): void {
    if (state === 'missing') {
      if (this.excuses.excusesPeople(where, id)) return;
      const meaning = `The content of ${where} is missing, and no signed erasure or pruning covers it. Somebody deleted it.`;
      throw new LogFault('people_missing', meaning, place());
    }
    const meaning =
      state === 'changed'
        ? `The content of ${where} does not match the record's commitment. It was changed.`
        : `The record has no commitment for ${where}. Somebody inserted its content.`;
    throw new LogFault(state === 'changed' ? 'people_changed' : 'people_added', meaning, place());
  }

  private checkNotes(checkpoint: Chunk['checkpoints'][number] | undefined, witnessed: Witnessed[]): void {
    const range = { leaf: this.newest?.size ?? 0, to_leaf: this.size - 1 };
    if (checkpoint) {
      const head = this.checkNote(checkpoint.note, `the checkpoint of ${this.size} leaves`, range);
      const { root, sealedAt, completeUntil } = checkpoint;
      if (head.root.toString('hex') !== root || head.sealedAt !== sealedAt || head.completeUntil !== completeUntil) {
        throw new LogFault('checkpoint_changed', 'The checkpoint does not match its signed note.', range);
      }
      this.seen.checkpoints += 1;
      this.adopt(head);
    }
    for (const { note, source, place } of witnessed) {
      if (note !== checkpoint?.note) this.checkNote(note, source, { ...range, ...place });
    }
  }

  private checkNote(note: string, source: string, place: Place): Head {
    const head = readOwn(note, this.verifier, source, place);
    if (head.size !== this.size || !head.root.equals(this.range.root())) {
      throw new LogFault(
        'root_differs',
        `The leaves of the log do not match ${source}. Among these leaves, or before them, some were changed, swapped, ` +
          'added, or removed, and the log was rewritten to hide it.',
        place,
      );
    }
    return head;
  }

  private adopt(head: Head): void {
    const { latest } = this;
    if (latest && latest.soonest > Date.parse(head.sealedAt) / 1_000) {
      const meaning = `The record says that it was written at ${iso(latest.at)}, which is after it was sealed.`;
      throw new LogFault('record_in_the_future', meaning, latest.place());
    }
    this.latest = undefined;
    this.newest = head;
    if (head.completeUntil !== null) {
      this.completeUntil = Math.max(this.completeUntil, Date.parse(head.completeUntil) / 1_000);
    }
  }

  private checkNodes({ nodes }: Chunk): void {
    for (const [name, hash] of this.nodes) {
      if (nodes.get(name) === hash) continue;
      const [level = 0, index = 0] = name.split('/').map(Number);
      const place = { leaf: index * 2 ** level, to_leaf: (index + 1) * 2 ** level - 1 };
      throw new LogFault('node_differs', `The stored node ${name} of the log does not match its leaves.`, place);
    }
    this.seen.nodes += this.nodes.size;
    this.nodes.clear();
  }
}

/** @throws LogFault if the key did not sign the note. */
export function readOwn(note: string, verifier: Verifier, source: string, place: Place): Head {
  try {
    return readHead(note, verifier);
  } catch (error) {
    throw new LogFault(
      'not_signed',
      `The note for ${source} is not signed by the log's key. ${(error as Error).message}`,
      place,
    );
  }
}

const iso = (seconds: number) =>
  Math.abs(seconds) < 8.64e12 ? new Date(seconds * 1_000).toISOString() : 'no time at all';
