import { ClientBase } from 'pg';
import { Head, SignedHead } from '../head';
import { utcSql } from '../kinds';
import { CompactRange, HASH_BYTES } from '../merkle';
import { hashesIn, STORED_LEVEL_INTERVAL } from '../tree-store';
import { rowsOf } from './cursor';
import { leavesChanged, LogFault, FaultPosition } from './fault';
import { KeyTrust } from './key-trust';

/** A checkpoint from outside the database, whose own list may lack it. */
export interface WitnessNote {
  note: string;
  /** Source of the note for people: `note 3 of checkpoints`. */
  source: string;
  place?: FaultPosition;
}

type CheckpointRow = [
  size: string,
  root: string,
  note: string,
  sealedAt: string,
  completeUntil: string | null,
];
type NodeRow = [level: string, index: string, hash: string];

const LEAVES = (size: number) =>
  `SELECT l.first, encode(l.hashes, 'hex') FROM public.log_leaves l WHERE l.first < ${size} ORDER BY l.first`;

const CHECKPOINTS = `
  SELECT c.size, encode(c.root, 'hex'), c.note, ${utcSql('c.sealed_at')}, ${utcSql('c.complete_until')}
  FROM public.checkpoint c ORDER BY c.size`;

/** Nodes in the order of their completion by leaves. */
const NODES = `
  SELECT n.level, n.index, encode(n.hash, 'hex') FROM public.log_node n
  ORDER BY (n.index + 1) << n.level, n.level`;

/** Rebuilds the tree from the stored hashes of its leaves, and compares it with all signed data. */
export class TreeWalk {
  private readonly range = CompactRange.of(0, []);
  /** Newest verified checkpoint. */
  head: Head | undefined;
  checkpoints = 0;

  /** @param witnessed checkpoints by size. */
  constructor(
    private readonly trust: KeyTrust,
    private readonly witnessed: ReadonlyMap<number, WitnessNote[]>,
  ) {}

  get size(): number {
    return this.range.size;
  }

  /**
   * @param size the size of the newest checkpoint.
   * @throws LogFault at the first fault.
   */
  async walk(client: ClientBase, size: number): Promise<void> {
    const checkpoints = rowsOf<CheckpointRow>(client, 'checkpoints', CHECKPOINTS, 256);
    const nodes = rowsOf<NodeRow>(client, 'nodes', NODES, 256);
    try {
      let checkpoint = (await checkpoints.next()).value;
      for await (const [first, hashes] of rowsOf<[string, string]>(client, 'leaves', LEAVES(size), 64)) {
        const sizeOf = Number(checkpoint?.[0]);
        const built = this.addLeaves(Number(first), hashesIn(Buffer.from(hashes, 'hex')), sizeOf);
        for (const node of built) requireStored(node, (await nodes.next()).value);
        if (!checkpoint || sizeOf > this.size) continue;
        this.checkCheckpoint(checkpoint);
        checkpoint = (await checkpoints.next()).value;
      }
      if (this.size < size) throw leafMissing(this.size);
      if (checkpoint) throw otherSize();
      if (!(await nodes.next()).done) {
        const meaning = 'The log contains nodes of subtrees that do not exist.';
        throw new LogFault('node_differs', meaning, { kind: 'log_node' });
      }
    } finally {
      await checkpoints.return(undefined);
      await nodes.return(undefined);
    }
  }

  /**
   * @param checkpoint size of the next checkpoint, whose own check includes the witness's copies.
   * @returns the nodes that the leaves complete.
   */
  private addLeaves(first: number, hashes: Buffer[], checkpoint: number): string[][] {
    if (first > this.size) throw leafMissing(this.size);
    if (first < this.size) {
      const meaning = 'The log has two leaves at the same index. One was added.';
      throw new LogFault('leaf_twice', meaning, { leaf: first });
    }
    const built: string[][] = [];
    for (const leaf of hashes) {
      if (leaf.length !== HASH_BYTES) throw leavesChanged(first);
      this.range.append(leaf, (level, index, node) => {
        if (level % STORED_LEVEL_INTERVAL === 0)
          built.push([String(level), String(index), node.toString('hex')]);
      });
      if (this.size !== checkpoint) this.checkWitnessed(undefined);
    }
    return built;
  }

  private checkCheckpoint([size, root, note, sealedAt, completeUntil]: CheckpointRow): void {
    if (Number(size) !== this.size) throw otherSize();
    const source = `the checkpoint of ${size} leaves`;
    const head = this.checkRoot(
      readOwn(() => this.trust.follow(note), source, this.unsigned()),
      source,
      this.unsigned(),
    );
    const isSame =
      head.root.toString('hex') === root &&
      head.sealedAt === sealedAt &&
      head.completeUntil === completeUntil;
    if (!isSame)
      throw new LogFault(
        'checkpoint_changed',
        'The checkpoint does not match its signed note.',
        this.unsigned(),
      );
    const before = this.head?.completeUntil ?? '';
    if ((completeUntil ?? '') < before) {
      const meaning = `The log is complete until ${completeUntil}, but earlier it was until ${before}.`;
      throw new LogFault('checkpoint_changed', meaning, this.unsigned());
    }
    this.checkWitnessed(note);
    this.checkpoints += 1;
    this.head = head;
  }

  /** Checks the witness's copies for this size, unless they are the same as our checkpoint. */
  private checkWitnessed(own: string | undefined): void {
    for (const { note, source, place } of this.witnessed.get(this.size) ?? []) {
      if (note === own) continue;
      const at = { ...this.unsigned(), ...place };
      this.checkRoot(
        readOwn(() => this.trust.read(note), source, at),
        source,
        at,
      );
    }
  }

  /** The leaves since the last checkpoint. */
  private unsigned(): FaultPosition {
    return { leaf: this.head?.size ?? 0, to_leaf: this.size - 1 };
  }

  private checkRoot(head: Head, source: string, place: FaultPosition): Head {
    if (head.size !== this.size || !head.root.equals(this.range.root())) {
      throw new LogFault(
        'root_differs',
        `The leaves of the log do not match ${source}. These or earlier leaves were changed, swapped, ` +
          'added, or removed, and the log was rewritten to hide it.',
        place,
      );
    }
    return head;
  }
}

/** @throws LogFault if no key of the log signed the note. */
export function readOwn(read: () => SignedHead, source: string, place: FaultPosition = {}): SignedHead {
  try {
    return read();
  } catch (error) {
    throw new LogFault(
      'not_signed',
      `The note for ${source} is not signed by the log's key. ${(error as Error).message}`,
      place,
    );
  }
}

function requireStored(built: string[], stored: NodeRow | undefined): void {
  if (built.every((value, place) => value === stored?.[place])) return;
  const [level, index] = built.map(Number) as [number, number];
  const place = { leaf: index * 2 ** level, to_leaf: (index + 1) * 2 ** level - 1 };
  throw new LogFault(
    'node_differs',
    `The stored node ${level}/${index} of the log does not match its leaves.`,
    place,
  );
}

function leafMissing(leaf: number): LogFault {
  return new LogFault('leaf_missing', 'A leaf of the log itself was deleted.', { leaf });
}

function otherSize(): LogFault {
  const meaning = 'A checkpoint has a size that the log does not have.';
  return new LogFault('checkpoint_changed', meaning, { kind: 'checkpoint' });
}
