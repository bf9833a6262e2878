import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newSigningKey, signerOf, splitNotes } from '../src/transparency/note';
import { Report } from '../src/transparency/verify/verify';
import { Exit, Product } from './support/process';
import { anotherId, makeSealedScene, receivedAt, SealedScene } from './support/sealed-scene';

let scene: SealedScene;

beforeAll(async () => {
  scene = await makeSealedScene();
});
afterAll(() => scene.close());

function run(...args: string[]): Promise<Exit> {
  const env = { DATABASE_URL: scene.database.url, CHECKPOINT_FILE: scene.checkpointFile };
  return new Product('cli/main.js', ['audit', 'verify', ...args], env, scene.dir).exit;
}

async function verify(...args: string[]): Promise<{ code: number | null; report: Report }> {
  const { code, stdout, stderr } = await run('--json', '--key', scene.signer.verifierKey, ...args);
  expect(stderr).toBe('');
  return { code, report: JSON.parse(stdout) as Report };
}

describe('audit verify', () => {
  it('is content with a sealed history, and says what it has done', async () => {
    const keyFile = join(scene.dir, 'log.pub');
    writeFileSync(keyFile, `${scene.signer.verifierKey}\n`);
    const { code, stdout, stderr } = await run('--key', keyFile);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^as it was sealed\n\nverified +\d+ records in [\d.]+ s, [\d,]+\/s\ncheckpoints +\d+, and \d+ copies of a witness\n/,
    );
    expect(stdout).toMatch(/\nnot yet sealed 0\n/);
  });

  it('needs to know whose signatures it looks for, and the files that it is given', async () => {
    expect(await run()).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^which key signs the log\? Give --key/),
    });
    expect(await run('--key', 'x')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^--key cannot be used: /),
    });
    const key = ['--key', scene.signer.verifierKey];
    expect(await run(...key, '--checkpoint', '/none')).toMatchObject({ code: 1, stderr: 'there is no file /none\n' });
    const other = signerOf(newSigningKey('test')).verifierKey;
    expect(await run('--key', other)).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(/^NOT as it was sealed\n/),
    });
  });

  it('tells by the copies alone that the newest were taken away', async () => {
    const longer = join(scene.dir, 'longer');
    const [note = ''] = splitNotes(readFileSync(scene.checkpointFile, 'utf8'));
    writeFileSync(longer, `${note}\n`);
    expect((await verify('--checkpoint', longer)).report).toMatchObject({ ok: true, witnessed: 1 });
    writeFileSync(longer, note.replace(/^test\n\d+/, 'test\n999'));
    const { code, report } = await verify('--checkpoint', longer);
    expect(code).toBe(1);
    expect(report.fault?.code).toBe('not_signed');
  });

  it('names what was put in the past, though the proxy has sealed it since', async () => {
    const id = anotherId(scene.calls[0]!);
    await scene.database.query(
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code, detail, faults, fault_count, received_at, recorded_at)
       SELECT $1, client_id, key_id, operation, request_id, client_address, status, code, 'never happened', faults, fault_count,
         received_at - interval '1 day', recorded_at - interval '1 day' FROM refusal LIMIT 1`,
      [id],
    );
    await scene.withProxy(() => Promise.resolve());
    const { code, report } = await verify();
    expect(code).toBe(1);
    expect(report.fault).toMatchObject({
      ...{ code: 'record_in_the_past', kind: 'refusal', record_id: id, received_at: receivedAt(id) },
      leaf: expect.any(Number),
    });
    const { stdout } = await run('--key', scene.signer.verifierKey);
    expect(stdout).toMatch(
      /^NOT as it was sealed\nat leaf \d+, refusal [0-9a-f-]{36}, received 20\S+Z:\nThe record says that it was written at/,
    );
  });
});
