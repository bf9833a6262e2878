import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiDocument } from '../support/http/api-document';

const TOOL = join(__dirname, '..', '..', 'tools', 'breaking-changes.mjs');
const PUBLISHED = readFileSync(join(__dirname, '..', '..', 'openapi.json'), 'utf8');
const STAFF_UNCHANGED = 'openapi.staff.json: no change since the last release breaks an app.';

const folder = mkdtempSync(join(tmpdir(), 'breaking-changes-'));
const released = join(folder, 'released');
const current = join(folder, 'current');
afterAll(() => rmSync(folder, { recursive: true }));

function run(document: string) {
  for (const directory of [released, current]) {
    mkdirSync(directory, { recursive: true });
    writeFileSync(join(directory, 'openapi.staff.json'), PUBLISHED);
  }
  writeFileSync(join(released, 'openapi.json'), PUBLISHED);
  writeFileSync(join(current, 'openapi.json'), document);
  const args = [TOOL, '--released', released, '--current', current];
  return spawnSync(process.execPath, args, { encoding: 'utf8' });
}

/** Compares the document of apps with a changed one. Returns the lines about it. */
function compare(change: (document: ApiDocument) => void): { status: number | null; lines: string[] } {
  const document = JSON.parse(PUBLISHED) as ApiDocument;
  change(document);
  const { status, stdout, stderr } = run(JSON.stringify(document));
  expect(stderr).toBe('');
  const lines = stdout.trim().split('\n');
  expect(lines.pop()).toBe(STAFF_UNCHANGED);
  return { status, lines: lines.map((line) => line.replace('openapi.json: ', '')) };
}

/** Returns the schema of a name, with its properties. */
const schemaOf = ({ components }: ApiDocument, name: string) => {
  const { properties = {}, required = [] } = components.schemas[name] ?? {};
  return { properties, required };
};

describe('a change since the last release', () => {
  it.each<[change: string, (document: ApiDocument) => void, report: string]>([
    [
      'removes a route',
      ({ paths }) => void delete paths['/v1/limits']?.get,
      'GET /v1/limits removed the route',
    ],
    [
      'removes a field of an answer',
      (document) => void delete schemaOf(document, 'LimitsDto').properties.max_item_usd,
      'GET /v1/limits response 200: removed the field max_item_usd',
    ],
    [
      'adds a required field to a request',
      (document) => {
        const { properties, required } = schemaOf(document, 'AirtimeItem');
        properties.operator = { type: 'string' };
        required.push('operator');
      },
      'POST /api/v0.1/payouts/airtime request.airtimes[]: requires the field operator',
    ],
    [
      'changes the type of a field of a request',
      (document) => void (schemaOf(document, 'AirtimeItem').properties.phoneNumber = { type: 'number' }),
      'POST /api/v0.1/payouts/airtime request.airtimes[].phoneNumber: changed the type to number',
    ],
    [
      'lowers a limit of a request',
      (document) =>
        void Object.assign(schemaOf(document, 'AirtimePayoutDto').properties.airtimes!, { maxItems: 1 }),
      'POST /api/v0.1/payouts/airtime request.airtimes: narrowed maxItems',
    ],
    [
      'removes a parameter',
      ({ paths }) => void (paths['/api/v0.1/sub-account/get']!.get!.parameters = []),
      'GET /api/v0.1/sub-account/get removed the query parameter id',
    ],
    [
      'refuses a value of a request',
      (document) => void (schemaOf(document, 'AirtimeItem').properties.phoneNumber!.enum = ['+254712345678']),
      'POST /api/v0.1/payouts/airtime request.airtimes[].phoneNumber: allows only listed values',
    ],
    [
      'adds null to a field of an answer',
      (document) =>
        void (schemaOf(document, 'LimitsDto').properties.beneficiaries_only!.type = ['boolean', 'null']),
      'GET /v1/limits response 200.beneficiaries_only: changed the type to boolean or null',
    ],
  ])('is reported if it %s', (_change, change, report) => {
    const { status, lines } = compare(change);
    expect(lines).toContainEqual(expect.stringContaining(report));
    expect(status).toBe(1);
  });

  it.each<[change: string, (document: ApiDocument) => void]>([
    [
      'adds an optional field to a request',
      (document) => void (schemaOf(document, 'AirtimeItem').properties.operator = { type: 'string' }),
    ],
    [
      'adds a field to an answer',
      (document) => void (schemaOf(document, 'LimitsDto').properties.newest = { type: 'string' }),
    ],
    [
      'allows null in a field of a request',
      (document) =>
        void (schemaOf(document, 'AirtimeItem').properties.phoneNumber!.type = ['string', 'null']),
    ],
    [
      'removes a pattern of a field of a request',
      ({ paths }) => {
        const amount = '/api/v0.1/info/usd-amount-in-local';
        for (const { schema } of paths[amount]?.get?.parameters ?? []) delete schema?.pattern;
      },
    ],
    [
      'adds a route',
      ({ paths }) => void (paths['/v1/limits/newest'] = structuredClone(paths['/v1/limits']!)),
    ],
  ])('is not reported if it %s', (_change, change) => {
    expect(compare(change)).toEqual({
      status: 0,
      lines: ['no change since the last release breaks an app.'],
    });
  });

  it('is not reported once it is accepted', () => {
    const change = ({ paths }: ApiDocument) => void delete paths['/v1/limits'];
    writeFileSync(join(released, 'accepted-changes.txt'), compare(change).lines.join('\n'));
    expect(compare(change).status).toBe(0);
    rmSync(join(released, 'accepted-changes.txt'));
  });

  it('fails if a document cannot be read', () => {
    const { status, stderr } = run('{');
    expect(stderr).toContain('openapi.json cannot be compared: ');
    expect(status).toBe(1);
  });
});
