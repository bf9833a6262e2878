import { newId } from '../../../src/platform/database/ids';
import supertest from '../http/supertest';
import type { TestProxy } from '../processes/proxy';

/** Settles a call in doubt by a person, for example as the second witness of a rejection. */
export async function settleByHand(
  proxy: TestProxy,
  { headers }: { headers: Record<string, string> },
  outcome: 'confirmed' | 'not_executed' = 'not_executed',
): Promise<void> {
  const { key } = await proxy.client(`settler-${newId().slice(-8)}`, 'approve');
  await supertest(proxy.url)
    .post(`/v1/calls/${headers['x-call-id']}/resolution`)
    .set('X-API-Key', key)
    .send({ outcome, reason: 'the provider says so' })
    .expect(200);
}

/** Ends the doubt about the rejections of operations with a false one, which lasts a day. */
export async function forgetFalseRejections({ database }: Pick<TestProxy, 'database'>): Promise<void> {
  await database.query('ALTER TABLE activity DISABLE TRIGGER ALL');
  await database.query(`DELETE FROM activity WHERE action = 'false_rejection'`);
  await database.query('ALTER TABLE activity ENABLE TRIGGER ALL');
}
