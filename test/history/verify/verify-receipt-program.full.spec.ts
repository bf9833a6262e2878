import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { runs } from '../../support/examples/runs';
import {
  documentedProgram,
  verifyAsDocumented,
  withDocumentedProgram,
} from '../../support/records/documented-verifier';
import { askAll, CALL, clone, forger, LOG, ORIGIN, receiptOf, signer } from '../../support/records/receipts';

describe('the proofs of the verifier', () => {
  it('agree with the proxy on every leaf of logs of up to 40 leaves', async () => {
    const logOf = (size: number) =>
      Array.from({ length: size }, (_, n) => ({ table: 'access', intent_id: CALL, n }));
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, at) => receiptOf(logOf(at + 1), [...Array(at + 1).keys()])),
    );
    const moved = all.slice(1).map((receipt, at) => {
      const [one, two] = [at % receipt.records.length, (at * 7 + 1) % receipt.records.length];
      const [from, to] = one === two ? [0, 1] : [one, two];
      return { ...receipt, records: [{ ...receipt.records[from], index: to }] };
    });
    const { receipts } = askAll({ receipts: [...all, ...moved].map((it) => ({ text: JSON.stringify(it) })) });
    expect(
      receipts.slice(0, 40).map((verdict) => typeof verdict === 'object' && verdict.records.length),
    ).toEqual(all.map(({ records }) => records.length));
    expect(receipts.slice(40)).toEqual(Array(39).fill(expect.stringContaining('is not proved')));
  });
});

describe('the canonical JSON of the verifier', () => {
  /** Test data of the author of RFC 8785: https://github.com/cyberphone/json-canonicalization, testdata. */
  const PUBLISHED: [string, string][] = [
    [
      '{"numbers":[1E30,4.50,333333333.33333329,2e-3,0.000000000000000000000000001],"escaping":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
      '{"escaping":"\u20ac$\\u000f\\nA\'B\\"\\\\\\\\\\"/","literals":[null,true,false],"numbers":[1e+30,4.5,333333333.3333333,0.002,1e-27]}',
    ],
    [
      '{"\\u20ac":"Euro ' +
        'Sign","1":"One","\\u0080":"Control\\u007f","\\ud83d\\ude02":"Smiley","\\u00f6":"Latin Small ' +
        'Letter O With Diaeresis","\\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser ' +
        'Challenge"}',
      '{"1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","\u00f6":"Latin Small Letter ' +
        'O With Diaeresis","\u20ac":"Euro Sign","\ud83d\ude02":"Smiley","\ufb33":"Hebrew Letter Dalet ' +
        'With Dagesh"}',
    ],
    [
      '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{}],"A":{}}',
      '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{}],"A":{},"a":{}}',
    ],
  ];

  it('equals RFC 8785 and the JSON of the proxy for any record', () => {
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
      object: fc.dictionary(
        fc.oneof(text, fc.constantFrom('1', '10', 'a', 'A', '__proto__', 'toJSON')),
        tie('value'),
        {
          maxKeys: 5,
        },
      ),
    }));
    const records = fc.sample(fc.dictionary(text, value, { maxKeys: 8 }), 200).map(clone);
    const { values } = askAll({
      values: [...PUBLISHED.map(([input]) => JSON.parse(input) as unknown), ...records, '\ud800'],
    });
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
    copyFileSync(PROGRAM, join(folder, 'verify.mjs')); // A folder without other files of the project.
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const run = (args: string[], input: string | Buffer = '') =>
    spawnSync(process.execPath, ['verify.mjs', ...args], { cwd: folder, input, encoding: 'utf8' });

  it('imports only Node modules', () => {
    const imported = [
      ...readFileSync(PROGRAM, 'utf8').matchAll(/(?:from|import\(|require\()\s*'([^']*)'/g),
    ].map(([, name]) => name);
    expect(imported.length).toBeGreaterThan(3);
    expect(imported.filter((name) => !name!.startsWith('node:'))).toEqual([]);
  });

  it('states what a valid receipt proves and what it does not', async () => {
    writeFileSync(join(folder, 'receipt.json'), JSON.stringify(await receiptOf()));
    writeFileSync(join(folder, 'log.pub'), `${forger.verifierKey}\n${signer.verifierKey}\n`);
    const { status, stdout, stderr } = run(['--key', 'log.pub', 'receipt.json']);
    expect([status, stderr]).toEqual([0, '']);
    const time = '2026-11-21T14:00:00.000001Z';
    const claim = `these, of call ${CALL}, are among its first 11 records`;
    expect(stdout).toContain(`The receipt holds. The log signed that ${claim}:
- intent, leaf 3: operation POST /payouts/airtime, total_usd 12.500000, recorded_at ${time}
    opened, and as committed to: recipients
    opened, and as committed to: recipients/0/email
    opened, and as committed to: body
- decision, leaf 5: kind approved
- outcome, leaf 8: kind succeeded, upstream_status 200
Log: ${ORIGIN}. Key: ${signer.verifierKey}.`);
    expect(stdout).toContain('tamper-evident, not tamper-proof');
    expect(stdout).not.toContain('WARNING');
    expect(stdout).not.toContain('ada@example.com'); // Only the file contains people.
  });

  it('warns without a key, and blocks control characters of a receipt', async () => {
    const table = 'intent\u001b[2K\u202e\nThe receipt holds.';
    const receipt = await receiptOf([{ ...LOG[3], table, operation: 'x\r\u009b1A' }], [0], forger);
    const { status, stdout } = run(['-'], JSON.stringify(receipt));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^The receipt agrees with itself\. By its own word, the log signed/);
    expect(stdout).toContain('\n\nWARNING: Nothing shows who made this receipt');
    expect(stdout).toContain(
      '- intent\\u{1b}[2K\\u{202e}\\u{a}The receipt holds., leaf 0: operation x\\u{d}\\u{9b}1A',
    );
    expect(stdout).not.toMatch(/[^\n\P{C}]/u);
  });

  it('reports the first fault as text and JSON, and exits with 1', async () => {
    const receipt = await receiptOf();
    receipt.records[2]!.record.outcome = 'rejected';
    const fault =
      'records[2] (outcome) is not proved: the record, its index, its proof or the checkpoint was changed.';
    const shown = run(['-'], JSON.stringify(receipt));
    expect([shown.status, shown.stdout]).toEqual([1, `The receipt does NOT hold. ${fault}\n`]);
    const told = run(['--key', signer.verifierKey, '--json', '-'], JSON.stringify(receipt));
    expect([told.status, JSON.parse(told.stdout)]).toEqual([1, { holds: false, fault }]);
  });

  it.each([
    ['no JSON', 'hello', 'It is no JSON'],
    ['no UTF-8', Buffer.of(0x22, 0xff, 0x22), 'It is no JSON'],
    ['nothing', 'null', 'This is not a receipt'],
  ])('exits with 1 for %s', (_what, input, fault) => {
    const { status, stdout } = run(['-'], input);
    expect([status, stdout]).toEqual([1, expect.stringContaining(`The receipt does NOT hold. ${fault}`)]);
  });

  it('exits with 1 for a record that is nested too deeply', async () => {
    const text = JSON.stringify(await receiptOf());
    const { status, stdout } = run(
      ['-'],
      text.replace('"held":null', `"held":${'['.repeat(1e5)}${']'.repeat(1e5)}`),
    );
    expect([status, stdout]).toEqual([1, expect.stringContaining('It is no JSON that could be checked.')]);
  });

  it.each([
    ['without a receipt', []],
    ['of a receipt that is not there', ['nowhere.json']],
    ['with a key that is not there', ['--key', 'nowhere.pub', '-']],
    ['with a file of no keys', ['--key', 'empty.pub', '-']],
    ['with an option it does not have', ['--force', '-']],
  ])('exits with 2 for %s', (_how, args) => {
    writeFileSync(join(folder, 'empty.pub'), '\n');
    const { status, stdout, stderr } = run(args);
    expect([status, stdout, stderr]).toEqual([
      2,
      '',
      expect.stringMatching(/^verify-receipt: .*\nTry --help\.\n$/s),
    ]);
  });

  it('prints help', () => {
    const { status, stdout } = run(['--help']);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/Exit code: 0 .*Example: node verify-receipt\.mjs --key/s),
    ]);
  });
});

describe('the program in docs/auditors/receipts.md', () => {
  it('imports only Node modules', () => {
    const imported = [...documentedProgram().matchAll(/(?:from|import\(|require\()\s*'([^']*)'/g)].map(
      ([, name]) => name,
    );
    expect(imported).toEqual(['node:crypto', 'node:fs']);
  });

  it('accepts a valid receipt, and detects a flipped bit in every byte', async () => {
    const good = JSON.stringify(await receiptOf(LOG, [3]));
    const { faults, unnoticed } = verifyAsDocumented([good], signer.verifierKey, runs(1) > 1 ? 1 : 7);
    expect({ faults, unnoticed }).toEqual({ faults: [null], unnoticed: [] });
  });

  it('agrees with the log on trees of every size to 40', async () => {
    const logOf = (size: number) =>
      Array.from({ length: size }, (_, n) => ({ table: 'access', intent_id: CALL, n }));
    const receipts = Array.from({ length: 40 }, (_, at) =>
      receiptOf(logOf(at + 1), [...Array(at + 1).keys()]),
    );
    const texts = (await Promise.all(receipts)).map((receipt) => JSON.stringify(receipt));
    expect(verifyAsDocumented(texts, signer.verifierKey).faults).toEqual(Array(40).fill(null));
  });

  it('rejects a receipt signed by another key, whatever key the receipt names', async () => {
    const forged = await receiptOf(LOG, [3, 5, 8], forger);
    const relabelled = { ...forged, log: { origin: ORIGIN, key: signer.verifierKey } };
    const texts = [forged, relabelled].map((receipt) => JSON.stringify(receipt));
    expect(verifyAsDocumented(texts, signer.verifierKey).faults).toEqual([
      expect.stringContaining('not signed by the key'),
      expect.stringContaining('not signed by the key'),
    ]);
  });

  it('runs from the command line, and exits with 1 for an invalid receipt', async () => {
    const receipt = await receiptOf();
    withDocumentedProgram((cwd) => {
      const verify = () => spawnSync(process.execPath, ['verify.mjs', 'receipt.json', 'log.pub'], { cwd });
      writeFileSync(join(cwd, 'log.pub'), `${signer.verifierKey}\n`);
      writeFileSync(join(cwd, 'receipt.json'), JSON.stringify(receipt));
      const { status, stdout } = verify();
      expect([status, stdout.toString()]).toEqual([0, expect.stringContaining(CALL)]);
      receipt.records[0]!.record.total_usd = '99.000000';
      writeFileSync(join(cwd, 'receipt.json'), JSON.stringify(receipt));
      expect(verify().status).toBe(1);
    });
  });
});
