import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { formatCheckpoint } from '../src/transparency/checkpoint';
import { CompactRange, leafHash } from '../src/transparency/merkle';
import { newSigningKey, signerOf, signNote } from '../src/transparency/note';
import { inclusionProof } from '../src/transparency/proofs';

const ORIGIN = 'payouts.example/log';
const CALL = '0193a6f0-0000-7000-8000-000000000001';
const signer = signerOf(newSigningKey(ORIGIN));
const forger = signerOf(newSigningKey(ORIGIN));
const SALT = '000102030405060708090a0b0c0d0e0f';
const BODY = '{"email":"ada@example.com"}';
const commit = (value: string) => createHash('sha256').update(Buffer.from(SALT, 'hex')).update(value).digest('hex');
const other = (id: number) => ({
  kind: 'intent',
  id: `0193a6f0-0000-7000-8000-0000000000${id + 10}`,
  note: 'zażółć 😂',
});
const LOG: Record<string, unknown>[] = [
  ...[other(0), other(1), other(2)],
  {
    ...{ kind: 'intent', id: CALL, operation: 'POST /payouts/airtime', total_usd: '12.500000' },
    ...{ recorded_at: '2026-11-21T14:00:00.000001Z', body_commitment: commit(BODY), attempts: 1, held: null },
    items: [{ amount_usd: '12.500000', email_commitment: commit('ada@example.com') }, { amount_usd: '0.1' }],
  },
  ...[other(3), { kind: 'decision', intent_id: CALL, verdict: 'approved', id: other(4).id }, other(5), other(6)],
  { kind: 'outcome', intent_id: CALL, outcome: 'succeeded', upstream_status: 200 },
  ...[other(7), other(8)],
];

/** A receipt over the leaves that are listed, of a log of these records; all loose ends are for the tests to pull. */
async function receiptOf(log = LOG, places = [3, 5, 8], by = signer) {
  const nodes = new Map<string, Buffer>();
  const tree = CompactRange.of(0, []);
  for (const [index, record] of log.entries()) {
    const hash = leafHash(canonicalize(record)!);
    nodes.set(`0/${index}`, hash);
    tree.append(hash, (level, at, node) => nodes.set(`${level}/${at}`, node));
  }
  const checkpoint = signNote(formatCheckpoint({ origin: ORIGIN, size: tree.size, root: tree.root() }), by);
  const records = places.map(async (index) => {
    const proof = await inclusionProof(index, log.length, (all) =>
      Promise.resolve(all.map((node) => nodes.get(`${node.level}/${node.index}`)!)),
    );
    return { kind: log[index]!.kind, index, record: log[index], proof: proof.map((hash) => hash.toString('base64')) };
  });
  const openings = [
    { commitment: 'body_commitment', salt: SALT, value: Buffer.from(BODY).toString('base64'), encoding: 'base64' },
    { commitment: 'items/0/email_commitment', salt: SALT, value: 'ada@example.com', encoding: 'utf8' },
  ];
  const receipt: any = {
    ...{ format: 'payout-proxy/receipt/1', call_id: CALL, log: { origin: ORIGIN, key: by.verifierKey }, checkpoint },
    records: await Promise.all(records),
  };
  if (log === LOG) receipt.records[0].openings = openings;
  return receipt;
}

/** Asks the tool's functions many questions in one process of its own; answers in the order of the questions. */
function askAll(questions: { receipts?: { text: string; keys?: string[] }[]; values?: unknown[] }) {
  const program = `
    import { canonical, verifyReceipt } from ${JSON.stringify(pathToFileURL(join('tools', 'verify-receipt.mjs')).href)};
    import { readFileSync } from 'node:fs';
    const attempt = (what) => { try { return what(); } catch (error) { return error.constructor.name + ': ' + error.message; } };
    const { receipts = [], values = [] } = JSON.parse(readFileSync(0, 'utf8'));
    process.stdout.write(JSON.stringify({
      receipts: receipts.map(({ text, keys }) => attempt(() => verifyReceipt(text, keys))),
      values: values.map((value) => attempt(() => canonical(value))),
    }));`;
  const input = JSON.stringify(questions);
  return JSON.parse(
    execFileSync(process.execPath, ['--input-type=module', '-e', program], { input, encoding: 'utf8', maxBuffer: 1e9 }),
  ) as { receipts: any[]; values: any[] };
}

const clone = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));
const flip = (base64: string) => {
  const bytes = Buffer.from(base64, 'base64');
  bytes[7]! ^= 16;
  return bytes.toString('base64');
};

/** What is done to a good receipt, and the fault that is named. Nobody without the log's key can do more than this. */
const BROKEN: [string, (receipt: any) => unknown, RegExp][] = [
  ['is of a later format', (it) => (it.format = 'payout-proxy/receipt/2'), /not a receipt of the format/],
  ['names no call', (it) => delete it.call_id, /call_id is missing/],
  ['names another call', (it) => (it.call_id = other(0).id), /records\[0\] \(intent\) is a record of another call/],
  ['names no log', (it) => delete it.log, /does not name its log/],
  ['names another log', (it) => (it.log.origin = 'other.example/log'), /checkpoint is of another log/],
  ['names another key', (it) => (it.log.key = forger.verifierKey), /not signed by the log's key/],
  ['names a damaged key', (it) => (it.log.key = it.log.key.replace('payouts', 'others')), /not a verifier key/],
  ['has no checkpoint', (it) => delete it.checkpoint, /no checkpoint/],
  [
    'has a checkpoint of another size',
    (it) => (it.checkpoint = it.checkpoint.replace('\n11\n', '\n12\n')),
    /does not fit/,
  ],
  ['has an unsigned checkpoint', (it) => (it.checkpoint = it.checkpoint.replace(/\u2014.*\n/, '')), /no signature/],
  ['has a checkpoint cut short', (it) => (it.checkpoint = it.checkpoint.slice(0, -1)), /not a signed note/],
  ['has a note for a checkpoint', (it) => (it.checkpoint = signNote('hello\n', signer)), /signed, but not one/],
  ['has a checkpoint before its records', (it) => (it.checkpoint = EARLIER), /\(outcome\) claims a leaf|is not proved/],
  ['has no records', (it) => (it.records = []), /proves nothing/],
  ['has nothing for a record', (it) => (it.records[1] = null), /records\[1\] has no kind/],
  ['lists a record twice', (it) => it.records.push(clone(it.records[0])), /same leaf twice/],
  [
    'has a record of another call',
    (it) => (it.records[1].record.intent_id = other(4).id),
    /\(decision\) is a record of another/,
  ],
  [
    'hides whose record it is',
    (it) => delete it.records[1].record.intent_id,
    /\(decision\) is a record of another call/,
  ],
  ['labels a record otherwise', (it) => (it.records[2].kind = 'resolution'), /records\[2\] \(resolution\) is labelled/],
  [
    'has another kind of record',
    (it) => (it.records[2].kind = it.records[2].record.kind = 'resolution'),
    /is not proved/,
  ],
  [
    'has another amount',
    (it) => (it.records[0].record.total_usd = '12.500001'),
    /records\[0\] \(intent\) is not proved/,
  ],
  ['has a number for a text', (it) => (it.records[0].record.total_usd = 12.5), /is not proved/],
  ['has a text for nothing', (it) => (it.records[0].record.held = ''), /is not proved/],
  ['has a field more', (it) => (it.records[2].record.outcome2 = 'rejected'), /\(outcome\) is not proved/],
  ['has a field less', (it) => delete it.records[2].record.outcome, /\(outcome\) is not proved/],
  ['has items in another order', (it) => it.records[0].record.items.reverse(), /is not proved/],
  ['has another index', (it) => (it.records[0].index = 2), /is not proved/],
  ['has an index beyond the log', (it) => (it.records[0].index = 11), /claims a leaf/],
  ['has a fraction of an index', (it) => (it.records[0].index = 3.5), /claims a leaf/],
  ['has a hash changed', (it) => (it.records[0].proof[1] = flip(it.records[0].proof[1])), /is not proved/],
  ['has a hash less', (it) => it.records[0].proof.pop(), /is not proved/],
  ['has a hash more', (it) => it.records[0].proof.push(it.records[0].proof[0]), /is not proved/],
  ['has hashes swapped', (it) => it.records[0].proof.reverse(), /is not proved/],
  ['has a short hash', (it) => (it.records[0].proof[0] = 'AAAA'), /proof that is not a list of hashes/],
  ['has no proof', (it) => delete it.records[0].proof, /proof that is not a list of hashes/],
  ['has openings of no form', (it) => (it.records[0].openings = 'none'), /openings that are not a list/],
  [
    'opens another value',
    (it) => (it.records[0].openings[1].value = 'bob@example.com'),
    /openings\[1\] shows another value/,
  ],
  [
    'opens with another salt',
    (it) => (it.records[0].openings[1].salt = SALT.replace('00', '10')),
    /shows another value/,
  ],
  ['opens what is no commitment', (it) => (it.records[0].openings[0].commitment = 'total_usd'), /no commitment/],
  [
    'opens what is not there',
    (it) => (it.records[0].openings[0].commitment = 'items/7/email_commitment'),
    /no commitment/,
  ],
  ['opens what all objects have', (it) => (it.records[0].openings[0].commitment = 'constructor/name'), /no commitment/],
  ['opens in an unknown encoding', (it) => (it.records[0].openings[0].encoding = 'hex'), /no value that can be read/],
  ['opens with half a character', (it) => (it.records[0].openings[1].value = '\ud800'), /no value that can be read/],
  [
    'passes the first letters of a value off as salt', // SHA-256(salt || value) is the same: only the length tells
    (it) => Object.assign(it.records[0].openings[1], { salt: `${SALT}616461`, value: '@example.com' }),
    /salt that is not 16 bytes/,
  ],
];
let EARLIER = '';

describe('the verifier of receipts', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'receipt-'));
    EARLIER = (await receiptOf(LOG.slice(0, 8), [3])).checkpoint;
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('accepts a good receipt, and names each way in which one can be broken', async () => {
    const good = await receiptOf();
    const texts = BROKEN.map(([, change]) => {
      const receipt = clone(good);
      change(receipt);
      return JSON.stringify(receipt);
    });
    const keys = [forger.verifierKey, signer.verifierKey];
    const { receipts } = askAll({ receipts: [JSON.stringify(good), ...texts].map((text) => ({ text })) });
    expect(receipts[0]).toMatchObject({
      ...{ call_id: CALL, log: { origin: ORIGIN, size: 11, key: signer.verifierKey } },
      records: [{ opened: ['body_commitment', 'items/0/email_commitment'] }, { opened: [] }, { kind: 'outcome' }],
    });
    const wrong = BROKEN.filter(
      ([, , fault], at) => !/^Fault: /.test(receipts[at + 1]) || !fault.test(receipts[at + 1]),
    );
    expect(wrong.map(([how]) => `${how}: ${receipts[1 + BROKEN.findIndex(([name]) => name === how)]}`)).toEqual([]);
    expect(
      askAll({ receipts: texts.map((text) => ({ text, keys })) }).receipts.every((fault) => typeof fault === 'string'),
    ).toBe(true);
  });

  it('believes the key it is given, not that of the receipt', async () => {
    const [good, forged] = [await receiptOf(), await receiptOf(LOG, [3, 5, 8], forger)].map((it) => JSON.stringify(it));
    const mixed = JSON.stringify({ ...JSON.parse(forged!), log: JSON.parse(good!).log });
    const keys = [signer.verifierKey];
    const { receipts } = askAll({
      receipts: [
        ...[{ text: good!, keys }, { text: good! }, { text: forged! }],
        ...[{ text: forged!, keys }, { text: mixed, keys }, { text: mixed }],
      ],
    });
    expect(receipts[0].warning).toBeUndefined();
    expect([receipts[1].warning, receipts[2].warning]).toEqual(
      Array(2).fill(expect.stringContaining('Nothing shows who')),
    );
    expect(receipts[3]).toMatch(/names another key/);
    expect([receipts[4], receipts[5]]).toEqual(Array(2).fill(expect.stringContaining("not signed by the log's key")));
  });

  it('reads what a reader reads: no name twice, however it is spelt', async () => {
    const text = JSON.stringify(await receiptOf());
    const twice = ['"total_usd":"99"', '"\\u0074otal_usd" : "99"'].map((first) =>
      text.replace('"total_usd"', `${first},$&`),
    );
    const { receipts } = askAll({ receipts: twice.map((each) => ({ text: each })) });
    expect(JSON.parse(twice[1]!).records[0].record.total_usd).toBe('12.500000'); // JSON.parse shows nothing of it
    expect(receipts).toEqual(Array(2).fill('Fault: The receipt has total_usd twice in one object.'));
  });

  it('agrees with the proxy about every leaf of logs of every size to 40', async () => {
    const logOf = (size: number) => Array.from({ length: size }, (_, n) => ({ kind: 'access', intent_id: CALL, n }));
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, at) => receiptOf(logOf(at + 1), [...Array(at + 1).keys()])),
    );
    const moved = all.slice(1).map((receipt, at) => {
      const [one, two] = [at % receipt.records.length, (at * 7 + 1) % receipt.records.length];
      const [from, to] = one === two ? [0, 1] : [one, two];
      return { ...receipt, records: [{ ...receipt.records[from], index: to }] };
    });
    const { receipts } = askAll({ receipts: [...all, ...moved].map((it) => ({ text: JSON.stringify(it) })) });
    expect(receipts.slice(0, 40).map(({ records }) => records?.length)).toEqual(
      all.map(({ records }) => records.length),
    );
    expect(receipts.slice(40)).toEqual(Array(39).fill(expect.stringContaining('is not proved')));
  });
});

describe("the verifier's canonical JSON", () => {
  /** https://github.com/cyberphone/json-canonicalization, testdata: the author's of RFC 8785. */
  const PUBLISHED: [string, string][] = [
    [
      '{"numbers":[1E30,4.50,333333333.33333329,2e-3,0.000000000000000000000000001],"escaping":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      '{"escaping":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/","literals":[null,true,false],"numbers":[1e+30,4.5,333333333.3333333,0.002,1e-27]}',
    ],
    [
      '{"\\u20ac":"Euro Sign","1":"One","\\u0080":"Control\\u007f","\\ud83d\\ude02":"Smiley","\\u00f6":"Latin Small Letter O With Diaeresis","\\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}',
      '{"1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","\u00f6":"Latin Small Letter O With Diaeresis","\u20ac":"Euro Sign","\ud83d\ude02":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
    ],
    [
      '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{}],"A":{}}',
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{}],"A":{},"a":{}}',
    ],
  ];

  it('is that of RFC 8785, and that of the proxy for whatever a record may hold', () => {
    const text = fc.string({ unit: 'binary', maxLength: 12 });
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof(
        { depthSize: 'small' },
        text,
        fc.maxSafeInteger(),
        fc.boolean(),
        fc.constant(null),
        tie('list'),
        tie('object'),
      ),
      list: fc.array(tie('value'), { maxLength: 4 }),
      object: fc.dictionary(fc.oneof(text, fc.constantFrom('1', '10', 'a', 'A', '__proto__', 'toJSON')), tie('value'), {
        maxKeys: 5,
      }),
    }));
    const records = fc.sample(fc.dictionary(text, value, { maxKeys: 8 }), 400).map(clone);
    const { values } = askAll({ values: [...PUBLISHED.map(([input]) => JSON.parse(input)), ...records, '\ud800'] });
    expect(values.slice(0, PUBLISHED.length)).toEqual(PUBLISHED.map(([, output]) => output));
    expect(values.slice(PUBLISHED.length, -1)).toEqual(records.map((record) => canonicalize(record)));
    expect(values.at(-1)).toMatch(/half a character/);
  });
});

describe('verify-receipt.mjs', () => {
  const PROGRAM = join('tools', 'verify-receipt.mjs');
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'receipt-'));
    copyFileSync(PROGRAM, join(folder, 'verify.mjs')); // nothing of the project is near
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (args: string[], input = '') =>
    spawnSync(process.execPath, ['verify.mjs', ...args], { cwd: folder, input, encoding: 'utf8' });

  it('stands alone: it imports modules of Node, and nothing else', () => {
    const imported = [...readFileSync(PROGRAM, 'utf8').matchAll(/(?:from|import\(|require\()\s*'([^']*)'/g)].map(
      ([, name]) => name,
    );
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.filter((name) => !name!.startsWith('node:'))).toEqual([]);
  });

  it('says what a good receipt proves, and what not', async () => {
    writeFileSync(join(folder, 'receipt.json'), JSON.stringify(await receiptOf()));
    writeFileSync(join(folder, 'log.pub'), `${forger.verifierKey}\n${signer.verifierKey}\n`);
    const { status, stdout, stderr } = run(['--key', 'log.pub', 'receipt.json']);
    expect([status, stderr]).toEqual([0, '']);
    expect(stdout)
      .toContain(`The receipt holds. The log signed that these, of call ${CALL}, are among its first 11 records:
- intent, leaf 3: operation POST /payouts/airtime, total_usd 12.500000, recorded_at 2026-11-21T14:00:00.000001Z
    opened, and as committed to: body
    opened, and as committed to: items/0/email
- decision, leaf 5: verdict approved
- outcome, leaf 8: outcome succeeded, upstream_status 200
Log: ${ORIGIN}. Key: ${signer.verifierKey}.`);
    expect(stdout).toContain('tamper-evident, not tamper-proof');
    expect(stdout).not.toContain('WARNING');
    expect(stdout).not.toContain('ada@example.com'); // it is in the file for who wants it
  });
});
