import fc from 'fast-check';
import { formatCheckpoint } from '../../../../src/history/log/head.ts';
import { newSigningKey, signerOf, signNote } from '../../../../src/history/log/note.ts';
import * as published from '../../../../test/support/records/published-vectors.ts';
import { missingCryptoOf, openNote, parseCheckpoint, verifierOf } from './note.ts';

const signer = signerOf(newSigningKey('payouts.example/log'));
const root = Buffer.alloc(32, 7);
const note = signNote(formatCheckpoint({ origin: signer.name, size: 2 ** 40, root }), signer);
const open = async (text: string, key = signer.verifierKey) =>
  (await openNote(text, await verifierOf(key))).text;

/** Returns the text with one flipped bit. */
function withFlip(text: string, position: number, bit: number): string {
  const at = position % text.length;
  return text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) ^ (1 << bit)) + text.slice(at + 1);
}

describe('openNote and parseCheckpoint', () => {
  it("read a checkpoint that the log's key signed", async () => {
    const { origin, size, root: read } = parseCheckpoint(await open(note));
    expect([origin, size, Buffer.from(read)]).toEqual([signer.name, 2 ** 40, root]);
  });

  it('reject a checkpoint or a key with a flipped bit', async () => {
    const rejected = (opened: Promise<string>) =>
      opened.then(
        () => false,
        () => true,
      );
    const property = fc.asyncProperty(fc.nat(10_000), fc.nat(15), async (at, bit) => {
      expect(await rejected(open(withFlip(note, at, bit)))).toBe(true);
      expect(await rejected(open(note, withFlip(signer.verifierKey, at, bit)))).toBe(true);
    });
    await fc.assert(property, { numRuns: 300 });
  });

  it('open published notes, also with two signatures', async () => {
    const { GO_NOTE, GO_OTHER_SIGNATURE, GO_KEY, GO_OTHER_KEY, GO_TEXT, C2SP_KEY, C2SP_NOTE } = published;
    expect(await open(GO_NOTE, GO_KEY)).toBe(GO_TEXT);
    expect(await open(GO_NOTE + GO_OTHER_SIGNATURE, GO_KEY)).toBe(GO_TEXT);
    expect(await open(GO_NOTE + GO_OTHER_SIGNATURE, GO_OTHER_KEY)).toBe(GO_TEXT);
    expect(await open(C2SP_NOTE, C2SP_KEY)).toBe('This is an example message.\n');
    const checkpoint = parseCheckpoint(await open(published.SUMDB_CHECKPOINT, published.SUMDB_KEY));
    expect([checkpoint.size, Buffer.from(checkpoint.root)]).toEqual([58_253_265, published.SUMDB_ROOT]);
  });

  it.each([
    ['another key', signNote('a\n1\nx\n', signerOf(newSigningKey('other'))), 'not signed by'],
    ['no signature', `${note.slice(0, note.indexOf('\u2014'))}`, 'not a signature|not a signed note'],
    ['a cut-off end', note.slice(0, -1), 'not a signed note'],
    ['a carriage return', note.replace('\n', '\r\n'), 'not a signed note'],
  ])('reject a note with %s', async (_case, text, fault) => {
    await expect(open(text)).rejects.toThrow(new RegExp(fault));
  });

  it.each(['', 'hello\n', 'log\n01\nAAAA\n', `log\n-1\n${root.toString('base64')}\n`, 'log\n1\nAAAA\n'])(
    'reject signed text that is not a checkpoint: %j',
    (text) => {
      expect(() => parseCheckpoint(text)).toThrow('not a checkpoint');
    },
  );
});

describe('missingCryptoOf', () => {
  it('returns undefined for Node', async () => {
    expect(await missingCryptoOf()).toBeUndefined();
  });
});
