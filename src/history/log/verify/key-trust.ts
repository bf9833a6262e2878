import { readHead, SignedHead } from '../head';
import { KeyRing, Verifier, verifierOf } from '../note';

/**
 * Follows the keys of the log from checkpoint to checkpoint. A key joins when a checkpoint of a trusted key
 * names it, and leaves when a checkpoint is signed without it. After that, it can neither sign a checkpoint
 * alone nor rejoin, so a stolen old key is useless for newer checkpoints.
 */
export class KeyTrust {
  private readonly known: Map<string, Verifier>;
  /** Keys of which at least one must sign the next checkpoint. */
  private trusted: ReadonlySet<string>;
  /** Size of the first checkpoint without the signature of a former key, by verifier key. */
  private readonly leftAt = new Map<string, number>();

  constructor(private readonly ring: KeyRing) {
    this.known = new Map(ring.all.map((key) => [key.verifierKey, key]));
    this.trusted = new Set(this.known.keys());
  }

  /** Keys of the ring, and those named by checkpoints so far. */
  get keys(): readonly Verifier[] {
    return [...this.known.values()];
  }

  /**
   * Reads a checkpoint that any known key signed.
   * @throws Error
   */
  read(note: string): SignedHead {
    return readHead(note, { name: this.ring.name, all: this.keys });
  }

  /**
   * Reads the next checkpoint of the log, and follows its keys.
   * @throws Error if no trusted key signed it.
   */
  follow(note: string): SignedHead {
    const head = this.read(note);
    const signers = head.signers.map(({ verifierKey }) => verifierKey);
    if (!signers.some((key) => this.trusted.has(key))) {
      throw new Error(
        `Only ${signers.join(' and ')} signed it, and no longer signed the checkpoints before it.`,
      );
    }
    // A holder of an old key can add its signature to any text. The text names the keys that signed it.
    if (head.keys.length === 0 && signers.length > 1) {
      throw new Error('Several keys signed it, but its text does not name them. A signature was added.');
    }
    for (const key of head.keys) this.learn(key);
    const all =
      head.keys.length > 0 ? this.read(note).signers.map(({ verifierKey }) => verifierKey) : signers;
    if (!head.keys.every((key) => all.includes(key)))
      throw new Error('Its text names a key that did not sign it.');
    const next = new Set(head.keys.length > 0 ? head.keys : signers);
    for (const key of this.trusted) if (!next.has(key)) this.leftAt.set(key, head.size);
    for (const key of next) this.leftAt.delete(key);
    this.trusted = next;
    return head;
  }

  /**
   * Returns whether a key still signed the log when it got a leaf.
   * @param index index of the leaf. Undefined before it is sealed.
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
