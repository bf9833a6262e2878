import { ClientsService } from '../src/access/clients/clients.service';
import { Approving, startApproving } from './support/approving';
import { AIRTIME } from './support/paying';

/** Four eyes are two people's: by their clients, their keys, and their names where these are known. */
describe('an approval by another person', () => {
  let approving: Approving;
  beforeAll(async () => (approving = await startApproving()));
  afterAll(() => approving.close());

  it.each(['approve', 'reject'] as const)(
    'is required, with their own key, to %s what a person requested',
    async (decision) => {
      const clients = approving.proxy.app.get(ClientsService, { strict: false });
      const [ada, grace] = await Promise.all(
        ['ada.l', 'grace'].map(async (person) => (await clients.issueKey('approver', { person })).key),
      );
      const asked = await approving.hold({ actor: 'Ada.L' });
      const refused = async (key: string | undefined, actor: string) => {
        const { body } = await approving.decide(decision, asked, {}, key).set('X-Actor', actor).expect(403);
        expect(body.code).toBe('own_approval');
        return body.detail;
      };
      for (const actor of ['ada.l', 'ADA.L']) await refused(undefined, actor);
      for (const actor of ['grace', '']) {
        expect(await refused(undefined, actor)).toContain('keys issue --client approver --person');
      }
      for (const actor of ['', 'grace']) await refused(ada, actor);
      const { body } = await approving.decide(decision, asked, {}, grace).set('X-Actor', 'alan').expect(200);
      expect(body.approval?.decided_by?.actor).toBe('grace');
    },
  );

  it('is impossible once the requesting key was revoked, but a rejection is not', async () => {
    const [asked, kept] = [await approving.hold(), await approving.hold()];
    const key = await approving.query(
      "UPDATE api_key SET revoked_at = now() WHERE id = (SELECT (record::json ->> 'key_id')::uuid FROM intent WHERE id = $1) RETURNING id",
      [asked],
    );
    const { body } = await approving.decide('approve', asked).expect(409);
    expect(body.code).toBe('key_revoked');
    await approving.decide('reject', asked).expect(200);
    await approving.query('UPDATE api_key SET revoked_at = NULL WHERE id = $1', [key[0]?.id]);
    await approving.decide('approve', kept).expect(200);
  });

  it('is not replaced by an invalid X-Actor, which is rejected and not recorded', async () => {
    for (const actor of ['bob@corp.example', 'bob smith', '+2348012345678', 'b'.repeat(129)]) {
      const { body } = await approving.proxy
        .post(approving.app, '/payouts/airtime', AIRTIME)
        .set('X-Actor', actor)
        .expect(400);
      expect(body.code).toBe('invalid_actor');
    }
    const rows = await approving.query("SELECT DISTINCT actor FROM refusal WHERE code = 'invalid_actor'");
    expect(rows).toEqual([{ actor: null }]);
  });

  it.each(['approve', 'reject'] as const)('never takes the person who decides from X-Actor: %s', async (decision) => {
    const { body } = await approving
      .decide(decision, await approving.hold())
      .set('X-Actor', 'grace')
      .expect(200);
    expect(body.approval?.decided_by).toMatchObject({ client: { name: 'approver' }, actor: null });
  });
});
