import { leafHash } from '../../../test/support/records/leaf-hash';
import {
  C2SP_KEY,
  C2SP_NOTE,
  CONSISTENCIES,
  GO_KEY,
  GO_NOTE,
  GO_OTHER_KEY,
  GO_OTHER_SIGNATURE,
  GO_SIGNING_KEY,
  GO_TEXT,
  INCLUSIONS,
  ROOTS,
  SUMDB_CHECKPOINT,
  SUMDB_INDEX,
  SUMDB_KEY,
  SUMDB_LEAF,
  SUMDB_PROOF,
} from '../../../test/support/records/published-vectors';
import { verifyConsistency, verifyInclusion } from '../../../test/support/records/verified-proofs';
import { parseCheckpoint } from './head';
import { openNote, signerOf, signNote, verifierOf } from './note';

/** Compares the verification with published data, byte for byte. */
describe('our verification of published data', () => {
  it.each(INCLUSIONS)('proves leaf $index of $size', (claim) => {
    expect(verifyInclusion(claim)).toBe(true);
    expect(verifyInclusion({ ...claim, index: claim.index ^ 2 })).toBe(false);
  });

  it.each(CONSISTENCIES)('proves the tree of $from consistent with that of $to', (claim) => {
    const toRoot = ROOTS[claim.to]!;
    expect(verifyConsistency({ ...claim, toRoot })).toBe(true);
    expect(verifyConsistency({ ...claim, toRoot, to: claim.to * 2 })).toBe(false);
  });

  it("finds a module's line in Go's checksum database of 58 million", () => {
    const { origin, size, root } = parseCheckpoint(openNote(SUMDB_CHECKPOINT, verifierOf(SUMDB_KEY)).text);
    expect([origin, size]).toEqual(['go.sum database tree', 58_253_265]);
    const claim = { index: SUMDB_INDEX, size, root, proof: SUMDB_PROOF, leafHash: leafHash(SUMDB_LEAF) };
    expect(verifyInclusion(claim)).toBe(true);
    expect(verifyInclusion({ ...claim, leafHash: leafHash(SUMDB_LEAF.replace('v1.0.0', 'v1.0.1')) })).toBe(
      false,
    );
  });

  it("signs the example text with Go's example key as Go does", () => {
    const signer = signerOf(GO_SIGNING_KEY);
    expect([signer.name, signer.verifierKey]).toEqual(['PeterNeumann', GO_KEY]);
    expect(signNote(GO_TEXT, signer)).toBe(GO_NOTE);
  });

  it("opens Go's and C2SP's example notes, also with two signatures", () => {
    const [go, other, c2sp] = [GO_KEY, GO_OTHER_KEY, C2SP_KEY].map(verifierOf);
    expect(openNote(GO_NOTE, go!).text).toBe(GO_TEXT);
    for (const key of [go!, other!]) expect(openNote(GO_NOTE + GO_OTHER_SIGNATURE, key).text).toBe(GO_TEXT);
    expect(openNote(C2SP_NOTE, c2sp!).text).toBe('This is an example message.\n');
  });
});
