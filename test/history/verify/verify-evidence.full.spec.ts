import { Client } from 'pg';
import { ringOf, newSigningKey, Signer, signerOf } from '../../../src/history/log/note';
import { Fault } from '../../../src/history/log/verify/fault';
import { verifyLog } from '../../../src/history/log/verify/verify';
import { commitmentSql, RECEIVER, RECIPIENT, REFERENCE } from '../../../src/journal/reconciliation/evidence';
import { Secret } from '../../../src/platform/config/secrets/secret';
import { eventually } from '../../support/payments/paying';
import {
  reconcile,
  ReconciliationScene,
  startReconciling,
  untilNow,
} from '../../support/reconciliation/reconciliation-scene';
import { isSealed } from '../../support/records/sealed-scene';

/** Another value of each type. */
const OTHER: Record<string, (column: string) => string> = {
  uuid: (column) =>
    `overlay(coalesce(${column}::text, '00000000-0000-7000-8000-000000000000') PLACING '1234' FROM 33)::uuid`,
  text: (column) => `coalesce(${column}, '') || 'x'`,
  bigint: (column) => `${column} + 1000`,
  integer: (column) => `${column} + 1000`,
  numeric: (column) => `coalesce(${column}, 0) + 1`,
  bytea: (column) => `coalesce(${column}, '') || '\\x00'`,
  'timestamp with time zone': (column) => `coalesce(${column}, now()) + interval '1 microsecond'`,
};

const TABLES = [
  'upstream_transaction',
  'upstream_wallet',
  'upstream_wallet_entry',
  'statement_fault',
  'reconciliation_match',
];

describe('verification of reconciliation sources', () => {
  let scene: ReconciliationScene;
  let signer: Signer;
  let owner: Client;

  beforeAll(async () => {
    const key = newSigningKey('test');
    signer = signerOf(key);
    scene = await startReconciling({ logSigningKey: new Secret(key) });
    owner = new Client({ connectionString: scene.proxy.database.ownerUrl });
    await owner.connect();
    const { proxy, reconciler } = scene;
    await scene.pay('+254712345601').expect(200);
    await proxy
      .post(scene.app, '/payouts/credit', { credits: [{ email: 'ada@example.com', valueInUSD: 2 }] })
      .expect(200);
    await reconcile({ url: proxy.url, key: reconciler }, untilNow());
    const mapping = JSON.stringify({ upstream_ref: 'Ref', amount_usd: 'Amount', issued_at: 'Date' });
    const file = 'Ref,Amount,Date\nr1,2.00,2026-11-27T10:00:00Z\nr2,none,2026-11-27T10:00:00Z\n';
    const imported = await fetch(
      `${proxy.url}/v1/reconciliation/statements?mapping=${encodeURIComponent(mapping)}`,
      {
        method: 'POST',
        headers: { 'X-API-Key': reconciler, 'Content-Type': 'text/csv' },
        body: file,
      },
    );
    expect(imported.status).toBe(201);
    await eventually(() => isSealed(proxy.database));
  });
  afterAll(async () => {
    await owner.end();
    await scene.close();
  });

  /** Verifies after a change by the owner of the database, and then restores it. */
  async function faultAfter(...changes: string[]): Promise<Fault | null> {
    await owner.query('BEGIN; SET LOCAL session_replication_role = replica');
    try {
      for (const change of changes) await owner.query(change);
      return (await verifyLog([owner], { ring: ringOf([signer]), notes: [] })).fault;
    } finally {
      await owner.query('ROLLBACK');
    }
  }

  it('accepts unchanged sources', async () => {
    for (const table of TABLES) {
      const rows = await scene.proxy.database.query(`SELECT FROM ${table} LIMIT 1`);
      expect([table, rows.length]).toEqual([table, 1]);
    }
    expect(await faultAfter()).toBeNull();
  });

  it.each(TABLES)('detects a change of any column of %s', async (table) => {
    const columns = await scene.proxy.database.query<{ name: string; type: string }>(
      `SELECT attname AS name, format_type(atttypid, NULL) AS type FROM pg_attribute
       WHERE attrelid = $1::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum`,
      [table],
    );
    const missed: string[] = [];
    for (const { name, type } of columns) {
      const other =
        name === 'rule'
          ? `CASE rule WHEN 'batch_ref' THEN 'reference' ELSE 'batch_ref' END`
          : name === 'certainty'
            ? `CASE certainty WHEN 'possible' THEN 'probable' ELSE 'possible' END`
            : OTHER[type]?.(name);
      if (other === undefined) throw new Error(`no other value is known for ${type}`);
      const fault = await faultAfter(
        `UPDATE ${table} SET ${name} = ${other}
         WHERE ctid = (SELECT min(ctid) FROM ${table})
           AND tableoid = (SELECT min(tableoid::oid) FROM ${table})`,
      );
      if (fault?.code !== 'evidence_changed' && fault?.code !== 'people_missing')
        missed.push(`${name}: ${fault?.code}`);
    }
    expect(missed).toEqual([]);
  });

  it.each(TABLES)('detects removed or added rows of %s', async (table) => {
    expect(await faultAfter(`DELETE FROM ${table}`)).toMatchObject({ code: 'evidence_changed', kind: table });
    const place = {
      upstream_transaction: 'ordinal',
      upstream_wallet: 'wallet_id',
      upstream_wallet_entry: 'ordinal',
      statement_fault: 'line',
      reconciliation_match: 'position',
    }[table]!;
    const added = `INSERT INTO ${table} SELECT (jsonb_populate_record(NULL::${table},
      to_jsonb(t) || jsonb_build_object('${place}', '77'))).*
      FROM (SELECT * FROM ${table} LIMIT 1) AS t`;
    expect(await faultAfter(added)).toMatchObject({ code: 'evidence_changed', kind: table });
  });

  it('detects missing people of a transaction without a signed erasure', async () => {
    const changes = [RECIPIENT, RECEIVER, REFERENCE].map((group) => {
      const columns = [`${group.name}_salt`, ...group.columns];
      return `UPDATE upstream_transaction SET ${group.name}_commitment = ${commitmentSql(group)},
        ${columns.map((name) => `${name} = NULL`).join(', ')}`;
    });
    expect(await faultAfter(...changes)).toMatchObject({
      code: 'people_missing',
      kind: 'upstream_transaction',
    });
  });
});
