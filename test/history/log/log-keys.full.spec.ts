import { readHead, signHead } from '../../../src/history/log/head';
import { requireLogKeys, signerAfter } from '../../../src/history/log/log-key-check';
import { ringOf, openNote, signNote, Verifier } from '../../../src/history/log/note';
import { LogRefusal } from '../../../src/history/log/sealing/head-check';
import { KeyRotation, keyRotation } from '../../support/access/key-rotation';
import { addStops, newest, rootOfRecords, sealAll, tamper } from '../../support/records/sealing';

let log: KeyRotation;
let keys: KeyRotation['keys'];
let rings: KeyRotation['rings'];

beforeEach(async () => {
  log = await keyRotation();
  ({ keys, rings } = log);
});
afterEach(() => log.close());

const signersIn = (notes: string[]) =>
  notes.map((note) =>
    readHead(note, rings.after)
      .signers.map((key) => (key.verifierKey === keys.old.verifierKey ? 'old' : 'new'))
      .join(),
  );
const lineOf = (note: string) => note.slice(note.lastIndexOf('\n\n') + 2);
const textOf = (note: string, key: Verifier) => openNote(note, key).text;

/** Replaces the newest note, as the owner of the database. */
async function replaceNewest(change: (note: string) => string): Promise<void> {
  const note = change((await log.notes()).at(-1) as string);
  await tamper(
    log.database,
    `UPDATE checkpoint SET note = '${note}' WHERE size = (SELECT max(size) FROM checkpoint)`,
  );
}

describe('a rotation of the log key', () => {
  it('runs during sealing, and each side verifies the log with the keys it has', async () => {
    await log.seal(rings.before);
    expect(await log.verify(rings.during)).toMatchObject({ ok: true });
    await log.seal(rings.during);
    await log.seal(rings.during);
    for (const key of [keys.old, keys.new]) {
      const [, crossSigned = ''] = await log.notes();
      const names = [keys.new, keys.old].map(({ verifierKey }) => `key ${verifierKey}`);
      expect(textOf(crossSigned, key).split('\n').slice(-3, -1)).toEqual(names);
    }
    expect(await log.verify(rings.before)).toMatchObject({ ok: true, records: 9 });
    await log.seal(rings.after);
    expect(signersIn(await log.notes())).toEqual(['old', 'new,old', 'new,old', 'new']);
    const verifiers = [rings.before, rings.during, rings.after, ringOf([keys.old, keys.new])];
    for (const ring of verifiers) expect(await log.verify(ring)).toMatchObject({ ok: true, checkpoints: 4 });
    const { fault } = await log.verify(ringOf([keys.stranger]));
    expect(fault).toMatchObject({ code: 'not_signed', leaf: 0 });
  });

  it('can be repeated, and the first key suffices to verify all', async () => {
    const third = keys.stranger;
    await log.seal(rings.before);
    await log.seal(rings.during);
    await log.seal(ringOf([third, keys.new], [keys.old]));
    await log.seal(ringOf([third], [keys.new, keys.old]));
    for (const ring of [rings.before, ringOf([third], [keys.old])]) {
      expect(await log.verify(ring)).toMatchObject({ ok: true, checkpoints: 4 });
    }
  });

  it.each<[string, keyof KeyRotation['rings'], keyof KeyRotation['rings']]>([
    ['first', 'before', 'during'],
    ['second', 'during', 'after'],
  ])(
    'requires no downtime: in its %s step, instances with old and new settings build one tree',
    async (_step, one, other) => {
      await log.seal(rings.before);
      if (one === 'during') await log.seal(rings.during);
      const sealers = [await log.sealer(rings[one]), await log.sealer(rings[other])];
      for (let turn = 0; turn < 6; turn += 1) {
        await addStops(log.database, 2);
        const { sealing, client } = sealers[turn % 2]!;
        await sealAll(sealing, client);
      }
      await addStops(log.database, 20);
      await Promise.all(sealers.map(({ sealing, client }) => sealAll(sealing, client)));
      expect(new Set(signersIn(await log.notes())).size).toBe(one === 'before' ? 2 : 3);
      expect((await newest(log.database, rings.after)).root).toEqual(await rootOfRecords(log.database));
      for (const ring of Object.values(rings)) expect(await log.verify(ring)).toMatchObject({ ok: true });
    },
  );

  it('is refused by the sealer and at the start until both keys have signed a checkpoint', async () => {
    const check = (ring = rings.after) => requireLogKeys(log.database.url, ring);
    await check(); // A new log may begin with any key.
    await log.seal(rings.before);
    await addStops(log.database, 1);
    const { sealing, client } = await log.sealer(rings.after);
    await expect(sealing.pass(client)).rejects.toThrow(LogRefusal);
    await expect(sealing.pass(client)).rejects.toThrow(/only a key in LOG_RETIRED_KEYS has signed it/);
    const advice =
      /signed only by a key in LOG_RETIRED_KEYS, .* Set LOG_SIGNING_KEY to <new key>,<previous key> on all/;
    await expect(check()).rejects.toThrow(advice);
    await expect(check(ringOf([keys.new]))).rejects.toThrow(
      /signed by none of its keys, .*<new key>,<previous key>/,
    );
    await check(rings.during);
    await log.seal(rings.during);
    await check();
    await expect(check(ringOf([keys.new]))).rejects.toThrow(/the first checkpoint .* LOG_RETIRED_KEYS\.$/);
    await sealAll(sealing, client);
  });

  it('lets removals be signed with the newest key of the newest checkpoint', async () => {
    await log.seal(rings.before);
    const signer = async (ring = rings.during) => signerAfter((await log.notes()).at(-1), ring)?.verifierKey;
    expect(signerAfter(undefined, rings.during)).toBe(keys.new);
    expect([await signer(), await signer(rings.after)]).toEqual([keys.old.verifierKey, undefined]);
    await log.erase(keys.old);
    await log.seal(rings.during);
    expect(await signer()).toBe(keys.new.verifierKey);
    await log.erase(keys.new);
    await log.seal(rings.after);
    for (const ring of Object.values(rings))
      expect(await log.verify(ring)).toMatchObject({ ok: true, erasures: 2 });
  });
});

describe('a note with several signatures', () => {
  beforeEach(async () => {
    await log.seal(rings.before);
    await log.seal(rings.during);
  });

  it('is rejected if one signature is forged, although the other is valid', async () => {
    const [, note = ''] = await log.notes();
    const forged = lineOf(signNote('another text\n', keys.new)).trimEnd();
    await replaceNewest((both) => both.replace(lineOf(both).split('\n')[0] as string, forged));
    const [, changed = ''] = await log.notes();
    expect(changed).not.toBe(note);
    expect(() => openNote(changed, keys.new, keys.old)).toThrow('The signature of test does not match');
    await addStops(log.database, 1);
    const { sealing, client } = await log.sealer(rings.during);
    await expect(sealing.pass(client)).rejects.toThrow(/The signature of test does not match/);
    for (const ring of Object.values(rings)) {
      expect((await log.verify(ring)).fault).toMatchObject({ code: 'not_signed' });
    }
  });

  it('is rejected without the signature of a key that its text names', async () => {
    await replaceNewest((note) =>
      note.replace(lineOf(note).split('\n')[0] as string, '').replace('\n\n\n', '\n\n'),
    );
    expect(signersIn(await log.notes())).toEqual(['old', 'old']);
    for (const ring of Object.values(rings)) {
      expect((await log.verify(ring)).fault).toMatchObject({ code: 'not_signed' });
    }
  });

  it('gives no trust to keys that its text does not name', async () => {
    await replaceNewest((note) => `${note}${lineOf(signNote(textOf(note, keys.old), keys.stranger))}`);
    expect(await log.verify(rings.before)).toMatchObject({ ok: true });
    await log.seal(rings.during);
    const head = await newest(log.database, rings.after);
    await replaceNewest(() => signHead(head, ringOf([keys.stranger])));
    for (const ring of Object.values(rings)) {
      expect((await log.verify(ring)).fault).toMatchObject({ code: 'not_signed' });
    }
  });
});

describe('a stolen old key', () => {
  beforeEach(async () => {
    await log.seal(rings.before);
    await log.erase(keys.old);
    await log.seal(rings.during);
    await log.seal(rings.after);
    await log.seal(rings.after);
  });

  const faultFor = async (ring = rings.after) => (await log.verify(ring)).fault;

  it('cannot sign a checkpoint after the change', async () => {
    const head = await newest(log.database, rings.after);
    await replaceNewest(() => signHead(head, rings.before));
    const expected = { code: 'not_signed', meaning: expect.stringContaining('no longer signed') };
    for (const ring of Object.values(rings)) expect(await faultFor(ring)).toMatchObject(expected);
  });

  it('cannot name other keys of the log after the change', async () => {
    const head = await newest(log.database, rings.after);
    await replaceNewest(() => signHead(head, ringOf([keys.stranger, keys.old])));
    expect(await faultFor()).toMatchObject({ code: 'not_signed' });
  });

  it('cannot be reused as a second signature next to the new key', async () => {
    await replaceNewest((note) => `${note}${lineOf(signNote(textOf(note, keys.new), keys.old))}`);
    const expected = { code: 'not_signed', meaning: expect.stringContaining('A signature was added') };
    for (const ring of [rings.before, rings.after]) expect(await faultFor(ring)).toMatchObject(expected);
  });

  it('cannot excuse deletions after the change', async () => {
    expect(await faultFor()).toBeNull(); // Earlier signatures stay valid.
    await log.erase(keys.old);
    expect(await faultFor()).toMatchObject({ code: 'not_signed', kind: 'erasure' });
    await log.seal(rings.after);
    for (const ring of Object.values(rings)) {
      expect(await faultFor(ring)).toMatchObject({ code: 'not_signed', kind: 'erasure' });
    }
  });
});
