import { Client } from 'pg';
import { ringOf, newSigningKey, signerOf } from '../../../src/history/log/note';
import { Sealing } from '../../../src/history/log/sealing/sealing';
import { createTestDatabase, TestDatabase } from '../../support/databases/test-database';
import {
  addStops,
  newest,
  rootOfRecords,
  sealAll,
  sealerClient,
  tamper,
} from '../../support/records/sealing';

const signer = signerOf(newSigningKey('test'));
const ring = ringOf([signer]);
let database: TestDatabase;
let client: Client;

beforeEach(async () => {
  database = await createTestDatabase();
  client = await sealerClient(database);
});
afterEach(async () => {
  await client.end();
  await database.close();
});

describe('sealing records of other servers and clocks', () => {
  it('continues after a restore to another server, whatever its transaction numbers', async () => {
    await addStops(database, 2);
    await sealAll(new Sealing(ring, undefined), client);
    await tamper(
      database,
      `UPDATE checkpoint SET positions = jsonb_build_object('stop',
        jsonb_build_array('9999999999', gen_random_uuid()))`,
    );
    await database.query(
      `INSERT INTO stop (id, reason, tx) VALUES (gen_random_uuid(), 'before the backup', '8888888888')`,
    );
    await addStops(database, 1);
    await sealAll(new Sealing(ring, undefined), client);
    expect(await newest(database, ring)).toMatchObject({ size: 4, root: await rootOfRecords(database) });
  });

  it('seals records with transaction numbers below those of the backed-up server', async () => {
    await addStops(database, 2);
    const running = new Sealing(ring, undefined);
    await sealAll(running, client);
    await tamper(database, `UPDATE checkpoint SET positions = jsonb_set(positions, '{server}', '"1"')`);
    await database.query(
      `INSERT INTO stop (id, reason, tx) VALUES (gen_random_uuid(), 'before the first pass', '5')`,
    );
    await sealAll(new Sealing(ring, undefined), client);
    expect(await newest(database, ring)).toMatchObject({ size: 3, root: await rootOfRecords(database) });
    await addStops(database, 1);
    await sealAll(running, client); // Another instance has sealed more.
    expect(await newest(database, ring)).toMatchObject({ size: 4, root: await rootOfRecords(database) });
  });

  it('seals records of another server once, in any number of batches and restarts', async () => {
    await addStops(database, 30);
    await sealAll(new Sealing(ring, undefined, 10), client);
    await tamper(database, `UPDATE stop SET tx = '8888888888'`);
    await tamper(
      database,
      `UPDATE checkpoint SET positions = jsonb_build_object('stop',
        jsonb_build_array('9999999999', gen_random_uuid()))`,
    );
    await addStops(database, 25);
    await tamper(database, `UPDATE stop SET tx = '8888888889' WHERE tx <> '8888888888'`);
    for (let restart = 0; restart < 3; restart += 1) {
      const sealing = new Sealing(ring, undefined, 10);
      for (let more = true; more;) ({ more } = await sealing.pass(client));
      expect(await newest(database, ring)).toMatchObject({ size: 55, root: await rootOfRecords(database) });
    }
  });

  it('finds the leaf of each record, whatever the time in its ID', async () => {
    await addStops(database, 200);
    await database.query(
      `INSERT INTO stop (id, reason) SELECT gen_random_uuid(), 'x' FROM generate_series(1, 200)`,
    );
    await database.query(
      `INSERT INTO stop (id, reason)
       SELECT uuid_floor(now() - n * interval '1 hour'), 'x' FROM generate_series(1, 200) n`,
    );
    await sealAll(new Sealing(ring, undefined, 150), client);
    const found = await database.query(
      `SELECT l.kind, l.hash = a.hash AND l.index = a.index AS right FROM stop s
       CROSS JOIN LATERAL leaves_of(s.id) l JOIN audit.leaves a ON a.record_id = s.id`,
    );
    expect(found).toHaveLength(600);
    expect(found.every(({ kind, right }) => kind === 'stop' && right)).toBe(true);
    expect((await newest(database, ring)).root).toEqual(await rootOfRecords(database));
  });
});
