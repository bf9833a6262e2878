import { formatCheckpoint } from '../../../src/history/log/head';
import { newSigningKey, type Signer, signerOf, signNote } from '../../../src/history/log/note';
import { isKnown, keyStep, memoryOf, type Seen, seenIn } from './memory';
import { signersOf } from './verify';

const [old, renewed, stranger] = Array.from({ length: 3 }, () => signerOf(newSigningKey('log'))) as [
  Signer,
  Signer,
  Signer,
];
const keysOf = (...signers: Signer[]) => signers.map(({ verifierKey }) => verifierKey);

/** A checkpoint as the log makes it: its text names the keys if there are several. */
function checkpointBy(...signers: [Signer, ...Signer[]]): string {
  const extensions = signers.length > 1 ? keysOf(...signers).map((key) => `key ${key}`) : [];
  return signNote(
    formatCheckpoint({ origin: 'log', size: 1, root: Buffer.alloc(32), extensions }),
    ...signers,
  );
}

describe("the browser's memory of the log's keys", () => {
  /** Verifies a checkpoint as the page does, with the keys that the proxy names. */
  async function verify(seen: Seen | undefined, note: string, ...named: Signer[]): Promise<Seen | undefined> {
    const signers = await signersOf(note, [...keysOf(...named), ...(seen?.keys ?? [])]);
    const isRight = seen === undefined ? signers.length > 0 : isKnown(seen, signers);
    expect(keyStep(seen, signers).state).toBe(seen === undefined ? 'open' : isRight ? 'right' : 'wrong');
    return isRight ? memoryOf(note, signers, seen) : undefined;
  }

  it('follows a change of the key that a known key has signed', async () => {
    const before = await verify(undefined, checkpointBy(old), old);
    expect(before?.keys).toEqual(keysOf(old));
    const during = await verify(before, checkpointBy(renewed, old), renewed, old);
    expect(during?.keys).toEqual(keysOf(renewed, old));
    const after = await verify(during, checkpointBy(renewed), renewed, old);
    expect(after?.keys).toEqual(keysOf(renewed));
    expect(seenIn(JSON.stringify(after))).toEqual(after);
  });

  it('warns of a key that no known key announced, and of an old key that signs again', async () => {
    const before = await verify(undefined, checkpointBy(old), old);
    expect(await verify(before, checkpointBy(stranger), stranger)).toBeUndefined();
    const after = await verify(undefined, checkpointBy(renewed), renewed, old);
    expect(await verify(after, checkpointBy(old), renewed, old)).toBeUndefined();
  });

  it('learns no key from a signature alone, because anyone can add one', async () => {
    const note = checkpointBy(renewed);
    const added =
      signNote(note.slice(0, note.lastIndexOf('\n\n') + 1), old)
        .split('\n')
        .at(-2) ?? '';
    const both = `${note}${added}\n`;
    const during = await verify(undefined, checkpointBy(renewed, old), renewed, old);
    for (const seen of [undefined, during, await verify(during, note, renewed, old)]) {
      expect((await verify(seen, both, renewed, old))?.keys).toEqual(keysOf(renewed));
    }
  });
});
