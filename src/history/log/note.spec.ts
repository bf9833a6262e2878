import { inspect } from 'node:util';
import {
  newSigningKey,
  openNote,
  signBytes,
  Signer,
  signerOf,
  signNote,
  splitNotes,
  verifierOf,
  verifyBytes,
} from './note';

const LOG = 'payouts.example/log';
const signer = signerOf(newSigningKey(LOG));
const verifier = verifierOf(signer.verifierKey);
const stranger = signerOf(newSigningKey('stranger.example'));
const TEXT = 'first line\n\nafter an empty one: zażółć\n';
const NOTE = signNote(TEXT, signer);
/** Text of a key that messages must not contain. */
const KEY = newSigningKey(LOG);
const lineOf = (note: string) => note.slice(note.lastIndexOf('\n\n') + 2);

function messageOf(what: () => unknown): string {
  try {
    what();
  } catch (error) {
    return (error as Error).message;
  }
  return 'nothing was thrown';
}

describe('a key', () => {
  it('is new each time, and contains its name', () => {
    const [one, other] = [newSigningKey(LOG), newSigningKey(LOG)];
    expect(one).not.toBe(other);
    expect(one).toMatch(/^PRIVATE\+KEY\+payouts\.example\/log\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}$/);
    expect(signerOf(one).name).toBe(LOG);
    expect(verifier).toMatchObject({ name: LOG, verifierKey: signer.verifierKey });
  });

  it.each(['', 'a b', 'a,b', 'a+b', 'a\nb', 'a\u00a0b', 'a\u0085b', 'a\u0001b'])(
    'cannot be named %j',
    (name) => {
      expect(() => newSigningKey(name)).toThrow('must not be empty and must not contain spaces');
    },
  );

  it.each([
    ['nothing', () => ''],
    ['the verifier key', () => signer.verifierKey],
    ['a key cut short', (key: string) => key.slice(0, -4)],
    ['a key with more', (key: string) => `${key}AAAA`],
    ['a key of another type', (key: string) => key.replace(/A(.{43})$/, 'B$1')],
    ['a key renamed', (key: string) => key.replace('payouts', 'others')],
    ['a key with another id', (key: string) => key.replace(/\+[0-9a-f]{8}\+/, '+00000000+')],
    ['a key in quotes', (key: string) => `"${key}"`],
    ['a key of two lines', (key: string) => `${key}\n`],
  ])('is rejected for signing, without quoting it, if it is %s', (_what, change) => {
    const message = messageOf(() => signerOf(change(KEY)));
    expect(message).toMatch(/^The signing key is (malformed|damaged)/);
    expect(message).not.toContain(KEY.slice(-40, -10));
  });

  it.each([
    ['a signing key', newSigningKey(LOG)],
    ['cut short', signer.verifierKey.slice(0, -4)],
    ['renamed', signer.verifierKey.replace('payouts', 'others')],
    [
      'of another key',
      signer.verifierKey.slice(0, -3) +
        (signer.verifierKey.at(-3) === 'A' ? 'B' : 'A') +
        signer.verifierKey.slice(-2),
    ],
    ['without a name', signer.verifierKey.slice(LOG.length)],
    ['of a witness (type 4)', 'remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2'],
  ])('is rejected for verification if it is %s', (_what, key) => {
    expect(messageOf(() => verifierOf(key))).toMatch(/^The verifier key is (malformed|damaged)/);
  });

  it('is hidden when a signer is printed or serialized', () => {
    const key = newSigningKey(LOG);
    const holder = signerOf(key);
    const seed = Buffer.from(key.split('+').slice(4).join('+'), 'base64').subarray(1);
    // The secret part.
    expect(holder.privateKey.export({ format: 'jwk' }).d).toBe(seed.toString('base64url'));
    const shown = JSON.stringify(holder) + inspect(holder, { depth: 9, showHidden: true });
    for (const form of ['base64', 'base64url', 'hex'] as const)
      expect(shown).not.toContain(seed.toString(form).slice(4, -4));
  });
});

describe('a note', () => {
  it('returns its text', () => {
    expect(openNote(NOTE, verifier).text).toBe(TEXT);
    expect(NOTE).toBe(`${TEXT}\n\u2014 ${LOG} ${lineOf(NOTE).split(' ')[2]}`);
  });

  it('may have other signatures', () => {
    const both = NOTE + lineOf(signNote(TEXT, stranger));
    expect(openNote(both, verifier).text).toBe(TEXT);
    expect(openNote(both, verifierOf(stranger.verifierKey)).text).toBe(TEXT);
    expect(openNote(NOTE + lineOf(NOTE), verifier).text).toBe(TEXT);
  });

  it('of several keys names its signers, and is rejected if one of their signatures is wrong', () => {
    const both = signNote(TEXT, signer, stranger);
    const strange = verifierOf(stranger.verifierKey);
    const unknown = verifierOf(signerOf(newSigningKey(LOG)).verifierKey);
    expect(openNote(both, strange, unknown, verifier)).toEqual({ text: TEXT, signers: [strange, verifier] });
    expect(openNote(NOTE, strange, verifier).signers).toEqual([verifier]);
    expect(() => openNote(NOTE, strange, unknown)).toThrow(/not signed by stranger.* or /);
    const forged = NOTE + lineOf(signNote('other text\n', stranger));
    expect(openNote(forged, verifier).signers).toEqual([verifier]);
    expect(() => openNote(forged, verifier, strange)).toThrow(
      'The signature of stranger.example does not match',
    );
    expect(splitNotes(`${both}\n${both}\n`)).toEqual([both, both]);
  });

  it('is rejected if the key did not sign it', () => {
    expect(() => openNote(NOTE, verifierOf(stranger.verifierKey))).toThrow('not signed by stranger.example+');
    const namesake = signerOf(newSigningKey(LOG));
    expect(() => openNote(NOTE, verifierOf(namesake.verifierKey))).toThrow('not signed');
    const renamed = NOTE.replace(`\u2014 ${LOG}`, '\u2014 other.example');
    expect(() => openNote(renamed, verifier)).toThrow('not signed');
  });

  it('is rejected after a change of any character', () => {
    for (let at = 0; at < TEXT.length - 1; at++) {
      const changed = `${NOTE.slice(0, at)}${NOTE[at] === 'x' ? 'y' : 'x'}${NOTE.slice(at + 1)}`;
      expect(() => openNote(changed, verifier)).toThrow('does not match');
    }
  });

  it('is rejected for a wrong signature of the key, despite a right one', () => {
    const wrong = lineOf(signNote('other text\n', signer));
    expect(() => openNote(NOTE + wrong, verifier)).toThrow(`The signature of ${LOG} does not match`);
    expect(() => openNote(signNote('other text\n', signer) + lineOf(NOTE), verifier)).toThrow(
      'does not match',
    );
  });

  it.each([
    ['empty', ''],
    ['without a signature', `${TEXT}\n`],
    ['without a blank line', NOTE.replace(/\n\n\u2014/, '\n\u2014').replace('\n\n', '\n')],
    ['without its last newline', NOTE.slice(0, -1)],
    ['with a line of text among the signatures', `${NOTE}text\n`],
    ['followed by a blank line', `${NOTE}\n`],
    ['with another dash', NOTE.replace('\n\u2014 ', '\n- ')],
    ['with two spaces', NOTE.replace('\u2014 ', '\u2014  ')],
    ['with a comment after the signature', NOTE.replace(/\n$/, ' x\n')],
    ['with a carriage return', NOTE.replace('\n', '\r\n')],
    ['with a tab', NOTE.replace('first ', 'first\t')],
    ['with half a character', NOTE.replace('first', '\ud800')],
    ['signed by a key id without a signature', NOTE.replace(/[^ ]+\n$/, 'AAAAAA==\n')],
    ['with base64 of another spelling', NOTE.replace(/=\n$/, '\n')],
    ['with a plus in a name', NOTE.replace(`\u2014 ${LOG}`, `\u2014 a+b`)],
    ['of a thousand signatures', NOTE + lineOf(NOTE).repeat(1000)],
    ['of a megabyte', 'x'.repeat(1_000_000) + NOTE],
  ])('is rejected if it is %s', (_what, note) => {
    expect(note).not.toBe(NOTE);
    expect(messageOf(() => openNote(note, verifier))).toMatch(/not a signed note|malformed|at most 100/);
  });

  it('accepts the sixteen signatures that the specification requires', () => {
    expect(openNote(NOTE + lineOf(signNote(TEXT, stranger)).repeat(15), verifier).text).toBe(TEXT);
  });

  it.each(['', 'no newline', 'carriage\r\n', 'half \udc00\n'])('cannot be made of the text %j', (text) => {
    expect(() => signNote(text, signer)).toThrow('must end with a newline');
  });
});

describe('notes in a file', () => {
  const notes = ['one\n', TEXT, 'three\n'].map((text) => signNote(text, signer));

  it('are returned one by one, with all their signatures', () => {
    notes[1] += lineOf(signNote(TEXT, stranger));
    const file = notes.map((note) => `${note}\n`).join('');
    expect(splitNotes(file)).toEqual(notes);
    expect(splitNotes(file.slice(0, -1))).toEqual(notes);
    expect(splitNotes('')).toEqual([]);
  });

  it('include an incomplete note unchanged', () => {
    const cut = notes[2]!.slice(0, -20);
    const [first, second] = splitNotes(`${notes[0]}\n${cut}`);
    expect([first, second]).toEqual([notes[0], cut]);
    expect(() => openNote(second!, verifier)).toThrow('not a signed note');
  });
});

describe('raw signatures', () => {
  const bytes = Buffer.from('purpose: 1234');
  const check = (by: Signer, what: Buffer, signature: Uint8Array) => verifyBytes(by, what, signature);

  it('have 64 bytes, and match only these bytes and this key', () => {
    const signature = signBytes(signer, bytes);
    expect(signature).toHaveLength(64);
    expect(check(signer, bytes, signature)).toBe(true);
    expect(check(signer, Buffer.from('purpose: 1235'), signature)).toBe(false);
    expect(check(stranger, bytes, signature)).toBe(false);
    expect(check(signer, bytes, signature.subarray(1))).toBe(false);
    expect(check(signer, bytes, Buffer.alloc(0))).toBe(false);
  });
});
