import { readHead, SignedHead } from '../head';
import { KeyRing, Verifier, verifierOf } from '../note';

/**
 * Follows the keys of the log from one checkpoint to the next. A key joins when a checkpoint of a trusted key names it.
 * It leaves when a checkpoint is signed without it. A key that has left can neither sign a checkpoint alone nor return by
 * itself, so a stolen old key is of no use for anything newer.
 */
export class KeyTrust {
  private readonly known: Map<string, Verifier>;
  /** The keys of which one must sign the next checkpoint. */
  private trusted: ReadonlySet<string>;
  /** The size of the first checkpoint that a key did not sign any more. */
  private readonly leftAt = new Map<string, number>();

  constructor(private readonly ring: KeyRing) {
    this.known = new Map(ring.all.map((key) => [key.verifierKey, key]));
    this.trusted = new Set(this.known.keys());
  }

  /** All keys of the ring, and those that checkpoints have named so far. */
  get keys(): readonly Verifier[] {
    return [...this.known.values()];
  }

  /** Reads a checkpoint that any known key signed. @throws Error */
  read(note: string): SignedHead {
    return readHead(note, { name: this.ring.name, all: this.keys });
  }

  /** Reads the next checkpoint of the log, and follows its keys. @throws Error if no trusted key signed it. */
  follow(note: string): SignedHead {
    const head = this.read(note);
    const signers = head.signers.map(({ verifierKey }) => verifierKey);
    if (!signers.some((key) => this.trusted.has(key))) {
      throw new Error(`Only ${signers.join(' and ')} signed it, which no longer signed the checkpoints before it.`);
    }
    // Whoever has an old key can add its signature to any text. The text says which keys have signed it.
    if (head.keys.length === 0 && signers.length > 1) {
      throw new Error('Several keys signed it, but its text does not name them. Somebody added a signature.');
    }
    for (const key of head.keys) this.learn(key);
    const all = head.keys.length > 0 ? this.read(note).signers.map(({ verifierKey }) => verifierKey) : signers;
    if (!head.keys.every((key) => all.includes(key))) throw new Error('Its text names a key that did not sign it.');
    const next = new Set(head.keys.length > 0 ? head.keys : signers);
    for (const key of this.trusted) if (!next.has(key)) this.leftAt.set(key, head.size);
    for (const key of next) this.leftAt.delete(key);
    this.trusted = next;
    return head;
  }

  /**
   * Returns whether a key still signed the log when it got a leaf.
   * @param index of the leaf. Undefined if it has none yet.
   */
  hasSigned({ verifierKey }: Verifier, index: number | undefined): boolean {
    const left = this.leftAt.get(verifierKey);
    return left === undefined || (index !== undefined && index < left);
  }

  private learn(verifierKey: string): void {
    const key = verifierOf(verifierKey);
    if (key.name !== this.ring.name) throw new Error(`It names a key of another log, ${key.name}.`);
    this.known.set(verifierKey, key);
  }
}
