import fc from 'fast-check';
import { growthSince, growthStep, keyStep, parseMemory } from '../../../console/src/verify/memory';
import { Evidence, Step, verifyCall } from '../../../console/src/verify/verify';
import { newSigningKey, signerOf } from '../../../src/history/log/note';
import { all, copy, Damage, put, putList } from '../../support/databases/damage';
import { ADA, CallTimelines, callTimelines } from '../../support/reconciliation/call-timelines';

type Kind = keyof CallTimelines['calls'];

/** The verification of the page of a call, in Node with the Web Crypto of browsers. */
describe("the console's verification", () => {
  let scene: CallTimelines;
  let key: string;

  beforeAll(async () => {
    scene = await callTimelines();
    key = (await get('/v1/audit/log/key')).text.trim();
  });

  const get = <const Path extends string>(path: Path) => scene.proxy.get(scene.auditor, path);
  const evidences = new Map<string, Promise<Evidence>>();
  const ask = async (kind: Kind, revealed: boolean): Promise<Evidence> => {
    const id = scene.calls[kind];
    const receipt = (await get(`/v1/audit/calls/${id}/receipt`).expect(200)).body;
    return {
      timeline: await scene.timeline(id, revealed ? {} : { 'X-People': 'masked' }),
      proof: (await get(`/v1/audit/log/proof?call=${id}`).expect(200)).body,
      openings: revealed
        ? Object.fromEntries(receipt.records.map((one) => [one.kind, one.openings]))
        : undefined,
      keys: [key],
    };
  };
  /** Returns a copy of the response, to be changed. */
  const evidenceOf = async (kind: Kind, revealed = true) => {
    const name = `${kind} ${revealed}`;
    evidences.set(name, evidences.get(name) ?? ask(kind, revealed));
    return structuredClone(await (evidences.get(name) as Promise<Evidence>));
  };
  const states = (steps: Step[]) =>
    steps.map(({ state, explanation }) => (state === 'wrong' ? explanation : state));
  const isWrong = (evidence: Evidence) =>
    verifyCall(evidence).then(
      (steps) => steps.some(({ state }) => state === 'wrong'),
      () => true, // shown as a failure
    );

  it.each<[Kind]>([
    ['paid'],
    ['rejected'],
    ['refused'],
    ['repeated'],
    ['held'],
    ['approved'],
    ['declined'],
    ['doubtful'],
    ['settled'],
    ['followed'],
  ])('holds for a call that is %s, with people shown and masked', async (kind) => {
    const right = Array<string>(4).fill('right');
    expect(states(await verifyCall(await evidenceOf(kind)))).toEqual([...right, 'right']);
    expect(states(await verifyCall(await evidenceOf(kind, false)))).toEqual([...right, 'open']);
  });

  it('fails if any bit of a proof was flipped', async () => {
    const evidence = await evidenceOf('approved');
    const opened = Object.entries(evidence.openings ?? {}).filter(([, list = []]) => list.length > 0);
    const text = JSON.stringify([evidence.proof, Object.fromEntries(opened)]);
    let tried = 0;
    const property = fc.asyncProperty(fc.nat(text.length - 1), fc.nat(6), async (at, bit) => {
      const letter = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
      let changed: [Evidence['proof'], Evidence['openings']];
      try {
        changed = JSON.parse(text.slice(0, at) + letter + text.slice(at + 1)) as typeof changed;
      } catch {
        return; // the page rejects invalid JSON
      }
      tried += 1;
      expect(await isWrong({ ...evidence, proof: changed[0], openings: changed[1] })).toBe(true);
    });
    await fc.assert(property, { numRuns: 600 });
    expect(tried).toBeGreaterThan(300);
  });

  it.each<[string, Kind, Damage]>([
    ['total', 'paid', put('total_usd', '3.76')],
    ['operation', 'paid', put('operation', 'POST /payouts/airtime')],
    ['client', 'paid', copy('id', 'client/id')],
    ['outcome', 'rejected', put('outcome', 'succeeded')],
    ['time of receipt', 'paid', put('timings/received_at', (time: string) => time.replace(/\d\dZ/, '00Z'))],
    ['amount of an item', 'paid', put('items/1/amount_usd', '1.26')],
    ['reference', 'rejected', put('items/0/reference', 'order 18')],
    ['recipient', 'paid', put('items/0/recipient/email', 'eve@example.com')],
    ['recipient that was not named', 'paid', put('items/1/recipient/phone', ADA.phone)],
    ['order of the items', 'paid', putList('items', (items) => items.reverse())],
    ['number of items', 'paid', putList('items', (items) => items.slice(0, -1))],
    ["upstream's amount", 'paid', put('items/0/upstream/amount_usd', '2.4')],
    ['other transactions', 'paid', put('upstream/other_items', [])],
    ['body of the request', 'paid', put('request/body/credits/0/valueInUSD', 2)],
    ['body of the response', 'paid', put('response/body/data/data/0/chiRef', 'chi-9')],
    ['duration', 'paid', put('upstream/tries/0/ms', (ms: number) => ms + 1)],
    ['leaf', 'paid', copy('seals/1/leaf_hash', 'seals/0/leaf_hash')],
    ['decision', 'declined', put('approval/status', 'approved')],
    ['reason', 'approved', put('approval/reason', 'agreed')],
    ['decider', 'approved', put('approval/decided_by/actor', 'lovelace')],
    ['missing decision', 'approved', put('approval/decided_by', null)],
    ['resolution', 'settled', all(put('resolution/outcome', 'confirmed'), put('outcome', 'confirmed'))],
    ['missing outcome', 'doubtful', put('upstream', null)],
    ['made-up resolution', 'doubtful', put('resolution', { outcome: 'confirmed' })],
    ['missing settlement', 'settled', put('settlements', [])],
    ['entry', 'settled', put('settlements/0/entries/0/entry', 'paid')],
    ['state', 'followed', put('items/0/state', 'paid')],
    ['status word', 'followed', put('items/0/upstream/status', 'paid')],
    ['amount that counts', 'settled', put('settlements/0/counted_usd', '1')],
    ['refusal', 'refused', put('refusal/errors/0/detail', 'none')],
    ['idempotency key', 'paid', put('idempotency_key', 'order-18')],
    ['erased idempotency key', 'paid', put('idempotency_key', null)],
    ['idempotency key of a refusal', 'repeated', put('idempotency_key', 'order-18')],
    ['made-up idempotency key', 'rejected', put('idempotency_key', 'order-18')],
    ['person', 'paid', put('actor', 'ada')],
    ['erased person', 'paid', put('actor', null)],
    ['ID of the person', 'paid', copy('id', 'person_id')],
    ['source of the person', 'paid', put('actor_source', 'token')],
    ['ephemeral key', 'paid', copy('id', 'ephemeral_key_id')],
    ['person of a refusal', 'refused', put('actor', 'ada')],
    ['repeated call', 'repeated', copy('id', 'refusal/first_call_id')],
  ])('fails where the page shows another %s than the records have', async (_field, kind, change) => {
    const evidence = await evidenceOf(kind);
    change(evidence.timeline);
    expect(await isWrong(evidence)).toBe(true);
  });

  it('fails for records of another call, another key, and none', async () => {
    const [evidence, other] = [await evidenceOf('paid'), await evidenceOf('approved')];
    expect(await isWrong({ ...evidence, proof: { ...other.proof, id: evidence.proof.id } })).toBe(true);
    expect(await isWrong({ ...evidence, keys: [signerOf(newSigningKey('test')).verifierKey] })).toBe(true);
    expect(await isWrong({ ...evidence, proof: { ...evidence.proof, records: [] } })).toBe(true);
  });

  it('remembers the key and the log, and detects a change of either', async () => {
    const [before] = await scene.proxy.database.query('SELECT note FROM checkpoint ORDER BY size LIMIT 1');
    const seen = { keys: [key], checkpoint: String(before?.note), at: '2026-11-22T00:00:00Z' };
    const note = (await get('/v1/audit/log/checkpoint')).text;
    const growth = growthSince(seen, [key], note);
    const { body } = await get(`/v1/audit/log/consistency?from=${growth?.from}&to=${growth?.to}`).expect(200);
    const stateOf = async (...given: Parameters<typeof growthStep>) => (await growthStep(...given)).state;
    expect([keyStep(undefined, [key]).state, keyStep(seen, [key]).state]).toEqual(['open', 'right']);
    expect(await stateOf(seen, [key], note, body)).toBe('right');
    expect(await stateOf(undefined, [key], note, undefined)).toBe('open');
    expect(await stateOf(seen, [key], note, { ...body, proof: body.proof.slice(1) })).toBe('wrong');
    // it shrank
    expect(await stateOf({ ...seen, checkpoint: note }, [key], seen.checkpoint, body)).toBe('wrong');
    const other = signerOf(newSigningKey('test')).verifierKey;
    expect(keyStep(seen, [other])).toMatchObject({
      state: 'wrong',
      explanation: expect.stringContaining('CHANGED'),
    });
    expect(growthSince(seen, [other], note)).toBeUndefined();
    expect(parseMemory(JSON.stringify(seen))).toEqual(seen);
    for (const text of ['{', null, `{"keys":1}`, `{"keys":[1],"checkpoint":"","at":""}`])
      expect(parseMemory(text)).toBeUndefined();
  });
});
