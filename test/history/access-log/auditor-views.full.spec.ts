import fc from 'fast-check';
import {
  maskContacts,
  maskEmail,
  maskHandle,
  maskPhone,
  maskProse,
} from '../../../src/platform/privacy/contacts';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import { insertIntent } from '../../support/records/documents';

describe('an auditor view', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  async function asAuditor(sql: string): Promise<object[]> {
    await database.query('SET ROLE payout_auditor');
    try {
      return await database.query(sql);
    } finally {
      await database.query('RESET ROLE');
    }
  }

  it('shows no contacts, wherever a caller wrote them', async () => {
    const id = '01a1fe80-0000-7000-8000-000000000001';
    const [who, all] = ['ada@example.com', 'to ada@example.com, +2348012345678 or @ada_l'];
    const item = {
      country: all,
      network_code: all,
      reference: all,
      receiver: all,
      wallet: all,
      upstream_ref: all,
    };
    await insertIntent(
      database,
      {
        id,
        request_id: who,
        person_id: id,
        query: 'email=ada%40example.com',
        items: [item],
      },
      { people: [{ position: 0, email: who, phone: '+2348012345678', handle: '@ada_l' }] },
    );
    await database.query(
      `UPDATE intent_body SET idempotency_key = $2, idempotency_key_salt = '\\x00' WHERE intent_id = $1`,
      [id, who],
    );
    await database.query("INSERT INTO person (id, sha256, name, salt) VALUES ($1, '', $2, '')", [id, who]);
    await database.query(
      `INSERT INTO refusal (id, client_id, key_id, operation, request_id, client_address, status, code,
         detail, faults, fault_count, received_at)
       VALUES ($1, $1, $1, 'x', 'x', 'x', 400, 'x', $2, jsonb_build_array($2::text), 1, now())`,
      [id, '\nada@example.com "+2348012345678"'],
    );
    await database.query(
      `INSERT INTO decision (intent_id, kind, reason, client_id, key_id, process)
       VALUES ($1, 'rejected', $2, $1, $1, 1)`,
      [id, 'ada@example.com called from 08012345678'],
    );
    const views = await database.query<{ name: string }>(
      `SELECT oid::regclass::text AS name FROM pg_class
       WHERE relnamespace = 'audit'::regnamespace AND relkind = 'v'`,
    );
    expect(views.length).toBeGreaterThan(10);
    for (const { name } of views) {
      const shown = JSON.stringify(await asAuditor(`SELECT * FROM ${name}`));
      expect([name, shown]).toEqual([name, expect.not.stringMatching(/ada@|ada%40|8012345|@ada/)]);
    }
    expect(await asAuditor('SELECT email, phone, handle, reference FROM audit.items')).toEqual([
      {
        email: 'a••@example.com',
        phone: '+234••••5678',
        handle: '@a••',
        reference: 'to a••@example.com, +234••••5678 or @a••',
      },
    ]);
  });

  it('masks contacts exactly like the proxy', async () => {
    const pieces = fc.constantFrom(
      'ada',
      '@',
      '@',
      '+',
      '+234',
      ' 801',
      '-234',
      '.5678',
      '2348012345678',
      'example.com',
      ' ',
      '"',
      '(',
      ')',
      ',',
      '•',
      '••',
      '\\',
      '/',
      '=',
      '_',
      '\n',
      '\u00a0',
      '\u3000',
      'é',
      '😀',
      '1',
      '7',
      'a',
      ':',
      '<',
      '[',
      ']',
      '%',
      'ß',
    );
    const texts = fc
      .sample(fc.array(pieces, { maxLength: 14 }), { numRuns: 3_000, seed: 7 })
      .map((parts) => parts.join(''));
    const rows = await database.query(
      `SELECT t, audit.mask_contacts(t) AS contacts, audit.mask_prose(t) AS prose
       FROM unnest($1::text[]) WITH ORDINALITY AS u(t, n) ORDER BY n`,
      [texts],
    );
    expect(rows).toEqual(texts.map((t) => ({ t, contacts: maskContacts(t), prose: maskProse(t) })));
    expect(rows.filter(({ t, contacts }) => t !== contacts).length).toBeGreaterThan(200);
    const people = [
      'a@b.c',
      'ab@b.c',
      '😀@b.c',
      '😀x@b.c',
      '+1234567',
      '+2348012345678',
      '@a',
      '@ada',
      '@adal',
    ];
    const [masked] = await database.query<Record<'emails' | 'phones' | 'handles', string[]>>(
      `SELECT array_agg(audit.mask_email(p)) AS emails, array_agg(audit.mask_phone(p)) AS phones,
         array_agg(audit.mask_handle(p)) AS handles FROM unnest($1::text[]) AS p`,
      [people],
    );
    expect(masked?.emails.slice(0, 4)).toEqual(people.slice(0, 4).map(maskEmail));
    expect(masked?.phones.slice(4, 6)).toEqual(people.slice(4, 6).map(maskPhone));
    expect(masked?.handles.slice(6)).toEqual(people.slice(6).map(maskHandle));
  });
});
