import { formatCheckpoint } from '../../../src/history/log/head';
import { newSigningKey, type Signer, signerOf, signNote } from '../../../src/history/log/note';
import { isKnown, keyStep, memoryOf, type LogMemory, parseMemory } from './memory';
import { signersOf } from './verify';

const [old, renewed, stranger] = Array.from({ length: 3 }, () => signerOf(newSigningKey('log'))) as [
  Signer,
  Signer,
  Signer,
];
const keysOf = (...signers: Signer[]) => signers.map(({ verifierKey }) => verifierKey);

/** Returns a checkpoint like the log's. Its text names the keys if there are several. */
function checkpointBy(...signers: [Signer, ...Signer[]]): string {
  const extensions = signers.length > 1 ? keysOf(...signers).map((key) => `key ${key}`) : [];
  return signNote(
    formatCheckpoint({ origin: 'log', size: 1, root: Buffer.alloc(32), extensions }),
    ...signers,
  );
}

describe("the browser's memory of the log's keys", () => {
  /** Verifies a checkpoint as the page does, with the keys that the proxy names. */
  async function verify(
    memory: LogMemory | undefined,
    note: string,
    ...named: Signer[]
  ): Promise<LogMemory | undefined> {
    const signers = await signersOf(note, [...keysOf(...named), ...(memory?.keys ?? [])]);
    const isRight = memory === undefined ? signers.length > 0 : isKnown(memory, signers);
    expect(keyStep(memory, signers).state).toBe(memory === undefined ? 'open' : isRight ? 'right' : 'wrong');
    return isRight ? memoryOf(note, signers, memory) : undefined;
  }

  it('accepts a change of the key that a known key has signed', async () => {
    const before = await verify(undefined, checkpointBy(old), old);
    expect(before?.keys).toEqual(keysOf(old));
    const during = await verify(before, checkpointBy(renewed, old), renewed, old);
    expect(during?.keys).toEqual(keysOf(renewed, old));
    const after = await verify(during, checkpointBy(renewed), renewed, old);
    expect(after?.keys).toEqual(keysOf(renewed));
    expect(parseMemory(JSON.stringify(after))).toEqual(after);
  });

  it('warns about a key that no known key announced, and about an old key that signs again', async () => {
    const before = await verify(undefined, checkpointBy(old), old);
    expect(await verify(before, checkpointBy(stranger), stranger)).toBeUndefined();
    const after = await verify(undefined, checkpointBy(renewed), renewed, old);
    expect(await verify(after, checkpointBy(old), renewed, old)).toBeUndefined();
  });

  it('learns no key from a signature alone', async () => {
    const note = checkpointBy(renewed);
    const added =
      signNote(note.slice(0, note.lastIndexOf('\n\n') + 1), old)
        .split('\n')
        .at(-2) ?? '';
    const both = `${note}${added}\n`;
    const during = await verify(undefined, checkpointBy(renewed, old), renewed, old);
    for (const memory of [undefined, during, await verify(during, note, renewed, old)]) {
      expect((await verify(memory, both, renewed, old))?.keys).toEqual(keysOf(renewed));
    }
  });
});
