import { createTestDatabase } from './support/test-database';

describe('the caps of a payment', () => {
  it('are looked up, however many people there are', async () => {
    const database = await createTestDatabase();
    await database.query("INSERT INTO client (id, name, scopes) VALUES (gen_random_uuid(), 'app', '{pay}')");
    await database.query(
      `INSERT INTO person (id, client_id, sha256, name, salt)
       SELECT gen_random_uuid(), c.id, sha256(n::text::bytea), n, 'salt' FROM client c CROSS JOIN generate_series(1, 5000) AS n`,
    );
    await database.query('BEGIN');
    const [checked] = await database.query(
      "SELECT payers_within_caps(ARRAY(SELECT id FROM person LIMIT 1), '{1}', current_date) AS ok",
    );
    const [read] = await database.query(
      "SELECT (seq_tup_read + idx_tup_fetch)::int AS rows FROM pg_stat_xact_user_tables WHERE relname = 'person'",
    );
    await database.query('ROLLBACK');
    expect(checked).toEqual({ ok: true });
    expect(read?.rows).toBeLessThan(10);
    await database.close();
  });
});
