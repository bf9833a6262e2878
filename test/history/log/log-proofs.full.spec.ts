import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import canonicalize from 'canonicalize';
import { ClientsService } from '../../../src/access/clients/clients.service';
import { parseCheckpoint } from '../../../src/history/log/head';
import { openNote, verifierOf } from '../../../src/history/log/note';
import type { Receipt } from '../../support/http/api';
import { eventually } from '../../support/payments/paying';
import { TestProxy } from '../../support/processes/proxy';
import { verifyAsDocumented } from '../../support/records/documented-verifier';
import { removeBody, removePerson } from '../../support/records/documents';
import { leafHash } from '../../support/records/leaf-hash';
import { anotherId, makeSealedScene, SealedScene } from '../../support/records/sealed-scene';
import { verifyConsistency, verifyInclusion } from '../../support/records/verified-proofs';

const TOOL = join(__dirname, '..', '..', '..', 'tools', 'verify-receipt.mjs');

let scene: SealedScene;
let proxy: TestProxy;
let auditor: string;
let app: string;
let call: string;
let done: () => void;
let running: Promise<void>;

beforeAll(async () => {
  scene = await makeSealedScene();
  await new Promise<void>((started) => {
    running = scene.withProxy(async (ours, newKey) => {
      proxy = ours;
      auditor = await newKey('audit');
      ({ key: app } = await proxy.client('payer', 'pay', 'read'));
      const credits = [
        { email: 'ada@example.com', twitter: '@Ada', valueInUSD: 2.5 },
        { email: 'bob@example.com', valueInUSD: 1 },
      ];
      const answer = await proxy.post(app, '/payouts/credit', { credits }).expect(200);
      call = answer.headers['x-call-id'] as string;
      started();
      await new Promise<void>((resolve) => (done = resolve));
    });
  });
});
afterAll(async () => {
  done();
  await running;
  await scene.close();
});

const get = <const Path extends string>(path: Path, key = auditor) => proxy.get(key, `/v1/audit/log/${path}`);

async function head() {
  const key = (await get('key').expect(200)).text.trim();
  const { text: note } = await get('checkpoint')
    .expect(200)
    .expect('content-type', 'text/plain; charset=utf-8');
  return { key, note, ...parseCheckpoint(openNote(note, verifierOf(key)).text) };
}

/** Requests the receipt until the call is sealed. */
async function receipt(id = call, key = app): Promise<Receipt> {
  let receipt!: Receipt;
  await eventually(async () => {
    const { status, body, headers } = await proxy.get(key, `/v1/calls/${id}/receipt`);
    if (status === 200) receipt = body as Receipt;
    else expect([status, body.code, headers['retry-after']]).toEqual([409, 'not_sealed', '1']);
    return status === 200;
  });
  return receipt;
}

/** Output of the program with `--json`. */
interface CheckResult {
  holds: boolean;
  fault?: string;
  records: { kind: string; opened: string[] }[];
}

/** Runs the program as a child process. */
function check(content: object, ...options: string[]) {
  const file = join(scene.dir, 'receipt.json');
  writeFileSync(file, JSON.stringify(content));
  try {
    const args = [TOOL, '--json', ...options, file];
    const stdout = execFileSync(process.execPath, args, { encoding: 'utf8' });
    return { code: 0, result: JSON.parse(stdout) as CheckResult };
  } catch (error) {
    const { status, stdout } = error as { status: number; stdout: string };
    return { code: status, result: JSON.parse(stdout) as CheckResult };
  }
}

describe('the log over HTTP', () => {
  it('proves every record of a call against the newest checkpoint, which the key has signed', async () => {
    await receipt();
    const { body } = await get(`proof?call=${call}`).expect(200);
    const { size, root, note, key } = await head();
    expect(body).toMatchObject({
      id: call,
      unsealed: [],
      checkpoint: expect.stringContaining(key.split('+')[0]!),
    });
    expect(body.records.map(({ kind }) => kind).sort()).toEqual(['intent', 'outcome']);
    expect(
      body.checkpoint === note ||
        size > parseCheckpoint(openNote(body.checkpoint, verifierOf(key)).text).size,
    ).toBe(true);
    const at = parseCheckpoint(openNote(body.checkpoint, verifierOf(key)).text);
    for (const { index, leaf_hash, record, proof } of body.records) {
      const hash = leafHash(canonicalize(record)!);
      expect(hash.toString('base64')).toBe(leaf_hash);
      const hashes = proof.map((node) => Buffer.from(node, 'base64'));
      expect(verifyInclusion({ index, size: at.size, leafHash: hash, proof: hashes, root: at.root })).toBe(
        true,
      );
    }
    expect(JSON.stringify(body)).not.toMatch(/ada@example|bob@example|@Ada/);
    expect(root).toHaveLength(32);
  });

  it('proves append-only growth between any two checkpoints', async () => {
    const rows = await scene.database.query<{ note: string }>('SELECT note FROM checkpoint ORDER BY size');
    const { key } = await head();
    const heads = rows.map(({ note }) => parseCheckpoint(openNote(note, verifierOf(key)).text));
    const last = heads.at(-1)!;
    expect(heads.length).toBeGreaterThan(1);
    for (const { size, root } of heads) {
      const { body } = await get(`consistency?from=${size}&to=${last.size}`).expect(200);
      const proof = body.proof.map((node) => Buffer.from(node, 'base64'));
      const claim = { from: size, to: last.size, fromRoot: root, toRoot: last.root, proof };
      expect(verifyConsistency(claim)).toBe(true);
      expect(verifyConsistency({ ...claim, fromRoot: last.root })).toBe(size === last.size);
    }
  });

  it('reports invalid parameters', async () => {
    const faults = async <const Path extends `proof${string}` | `consistency${string}`>(path: Path) =>
      (await get(path).expect(400)).body;
    expect(await faults('consistency?from=5&to=2')).toMatchObject({
      errors: [{ pointer: '/from', detail: 'must not be larger than to' }],
    });
    expect(await faults('consistency?from=1&to=999999')).toMatchObject({ errors: [{ pointer: '/to' }] });
    expect(await faults('consistency?from=x')).toMatchObject({
      errors: [{ pointer: '/from' }, { pointer: '/to' }],
    });
    const detail = 'must be the ID of a call, unless record is given. Give exactly one of the two';
    expect(await faults('proof')).toMatchObject({ errors: [{ pointer: '/call', detail }] });
    expect((await get(`proof?record=${anotherId(call)}`).expect(404)).body.code).toBe('record_not_found');
    await get('checkpoint', app).expect(403);
  });

  it('records reads of proofs like any other', async () => {
    const answer = await get(`proof?call=${call}`).expect(200);
    const [access] = await scene.database.query('SELECT call_id, rows, revealed FROM access WHERE id = $1', [
      answer.headers['x-call-id'],
    ]);
    expect(access).toEqual({ call_id: call, rows: 2, revealed: false });
  });
});

describe('a receipt', () => {
  it('is verified offline, by an independent program', async () => {
    const [body, { key }] = [await receipt(), await head()];
    const { code, result } = check(body, '--key', key);
    expect(result).toMatchObject({ holds: true, call_id: call });
    expect(code).toBe(0);
    // The log's order: after a start, an outcome may be sealed before its request.
    expect(result.records.map(({ kind, opened }) => [kind, opened]).sort()).toEqual([
      [
        'intent',
        [
          'body_commitment',
          'recipients_commitment',
          'recipients/0/email_commitment',
          'recipients/0/handle_commitment',
          'recipients/1/email_commitment',
        ],
      ],
      ['outcome', ['body_commitment']],
    ]);
    const changed = structuredClone(body);
    changed.records.find(({ kind }) => kind === 'intent')!.record.total_usd = '35.000000';
    expect(check(changed, '--key', key)).toMatchObject({ code: 1, result: { holds: false } });
    const texts = [body, changed].map((each) => JSON.stringify(each));
    expect(verifyAsDocumented(texts, key).faults).toEqual([
      null,
      expect.stringContaining('intent: not proved'),
    ]);
  });

  it('is available only to the client of the call', async () => {
    const { key: stranger } = await proxy.client('stranger', 'pay');
    for (const [id, by] of [
      [call, stranger],
      [anotherId(call), app],
      ['x', app],
    ] as const) {
      expect((await proxy.get(by, `/v1/calls/${id}/receipt`).expect(404)).body.code).toBe('call_not_found');
    }
  });

  it('is available to auditors for any call, opened with access to people, and recorded', async () => {
    const { key: seeing } = await proxy.client('seeing', 'audit', 'audit:pii');
    const own = await receipt();
    const openedBy = async (key: string, headers: Record<string, string> = {}) => {
      const answer = await proxy.get(key, `/v1/audit/calls/${call}/receipt`).set(headers).expect(200);
      const [access] = await scene.database.query(
        'SELECT call_id, route, rows, revealed FROM access WHERE id = $1',
        [answer.headers['x-call-id']],
      );
      expect(access).toMatchObject({ call_id: call, route: 'GET /v1/audit/calls/:id/receipt', rows: 2 });
      expect(check(answer.body, '--key', own.log.key)).toMatchObject({ code: 0, result: { holds: true } });
      return [answer.body.records.map(({ openings }) => openings), access?.revealed];
    };
    const none = own.records.map(() => []);
    expect(await openedBy(seeing)).toEqual([own.records.map(({ openings }) => openings), true]);
    expect(await openedBy(seeing, { 'X-People': 'masked' })).toEqual([none, false]);
    expect(await openedBy(auditor)).toEqual([none, false]);
    await proxy.get(app, `/v1/audit/calls/${call}/receipt`).expect(403);
    for (const id of [anotherId(call), 'x']) {
      const { body } = await proxy.get(auditor, `/v1/audit/calls/${id}/receipt`).expect(404);
      expect(body.code).toBe('call_not_found');
    }
  });

  it('proves the refusal of a refused call', async () => {
    const refused = await proxy.post(app, '/payouts/credit', { credits: [{ valueInUSD: -1 }] }).expect(400);
    const body = await receipt(refused.headers['x-call-id']);
    expect(body.records).toMatchObject([
      { kind: 'refusal', record: { table: 'refusal', code: 'invalid_request' } },
    ]);
    expect(check(body, '--key', body.log.key)).toMatchObject({ code: 0 });
  });

  it('does not open erased values', async () => {
    const id = scene.calls[0]!;
    const sql = 'SELECT c.name FROM client c JOIN intent i ON i.client_id = c.id WHERE i.id = $1';
    const [client] = await scene.database.query<{ name: string }>(sql, [id]);
    const { key } = await proxy.app.get(ClientsService, { strict: false }).issueKey(client!.name);
    await scene.database.query(...(await removePerson(scene.database, id, 0)));
    await scene.database.query(removeBody(id));
    const body = await receipt(id, key);
    expect(body.records[0]!.openings.map(({ commitment }) => commitment)).toEqual([
      'recipients_commitment',
      'recipients/1/email_commitment',
    ]);
    expect(check(body)).toMatchObject({ code: 0, result: { holds: true } });
  });
});
