import { ApiDocument, operationsIn } from '../support/http/api-document';
import supertest from '../support/http/supertest';
import { answer } from '../support/network/fake-upstream';
import { airtime, PHONE, phones, startPaying, PaymentScene } from '../support/payments/paying';
import { ProxyAccess, reconcile } from '../support/reconciliation/reconciliation-scene';

/** A key without access to people cannot learn by guesses whether a person was paid. */
describe('a reader without access to people', () => {
  let paying: PaymentScene;
  let auditor: string;
  let reconciler: string;
  let seeing: string;

  beforeAll(async () => {
    paying = await startPaying();
    await paying.proxy.startWorker();
    paying.upstream.behaviour = answer(200, { status: 'success', data: { data: [{ chiRef: 'chi-known' }] } });
    auditor = (await paying.proxy.client('masked-auditor', 'audit')).key;
    reconciler = (await paying.proxy.client('guessing', 'reconcile', 'audit')).key;
    seeing = (await paying.proxy.client('seeing', 'reconcile', 'audit', 'audit:pii')).key;
    await paying.proxy.post(paying.app, '/payouts/airtime', airtime(PHONE)).expect(200);
  });
  afterAll(() => paying.close());

  it('cannot search by recipient on any route', async () => {
    const document = (await supertest(paying.proxy.url).get('/openapi.staff.json').expect(200))
      .body as ApiDocument;
    const searching = operationsIn(document).flatMap(({ path, operation }) =>
      operation.parameters.flatMap(({ name }) => (/^recipient/.test(name) ? [`${path}?${name}=`] : [])),
    );
    expect(searching.sort()).toEqual([
      '/v1/audit/calls?recipient=',
      '/v1/audit/calls?recipient_prefix=',
      '/v1/audit/export?recipient=',
      '/v1/audit/export?recipient_prefix=',
      '/v1/audit/items?recipient=',
      '/v1/audit/items?recipient_prefix=',
      '/v1/audit/summary?recipient=',
      '/v1/audit/summary?recipient_prefix=',
    ]);
    for (const path of searching) {
      const format = path.includes('export') ? '&format=csv' : '';
      const guesses = [PHONE, '+254', '+999', 'ada@example.com', '@ada'].map(encodeURIComponent);
      const answers = await Promise.all(
        guesses.map((guess) => paying.proxy.get(auditor, `${path}${guess}${format}`)),
      );
      const detail: unknown = expect.stringMatching(/recipient.*audit:pii/);
      for (const { status, body } of answers) {
        expect([path, status, body]).toEqual([
          path,
          403,
          expect.objectContaining({ code: 'scope_missing', detail }),
        ]);
      }
      const refused = answers.map(({ headers }) => headers['x-call-id'] as string);
      const recorded = await paying.proxy.database.query('SELECT * FROM refusal WHERE id = ANY ($1)', [
        refused,
      ]);
      expect(recorded.map(({ code }) => code)).toEqual(guesses.map(() => 'scope_missing'));
      expect(JSON.stringify(recorded)).not.toContain(PHONE.slice(1));
      await paying.proxy.get(seeing, `${path}${guesses[0]}${format}`).expect(200);
    }
  });

  describe('with a statement of guesses', () => {
    const HEADER = 'upstream_ref,amount_usd,issued_at,recipient';
    const mapping = 'fields';

    const hand = (lines: string[], key: string, as: string = mapping) =>
      supertest(paying.proxy.url)
        .post('/v1/reconciliation/statements')
        .query({ mapping: as })
        .set({ 'X-API-Key': key, 'Content-Type': 'text/csv' })
        .send(lines.join('\n'));
    const guess = (chiRef: string, phone: string) => `${chiRef},2.5,${new Date().toISOString()},${phone}`;
    const compared = async (lines: string[], key: string) => {
      const { body: statement } = await hand([HEADER, ...lines], key).expect(201);
      const reader: ProxyAccess = { url: paying.proxy.url, key };
      const period = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
      const run = await reconcile(reader, { ...period, statement_id: statement.read_id });
      const query = `run_id=${run.id}&state=any&page_size=200`;
      const { body } = await paying.proxy
        .get(key, `/v1/reconciliation/findings?${query}&category=recipient`)
        .expect(200);
      return { statement, totals: run.totals, ofRecipients: body.findings as object[] };
    };

    it('gets the same result from 1,000 numbers with the right one as from 1,000 wrong ones', async () => {
      const wrong = phones(1_000).map((phone, index) => guess(`guess-${index}`, phone));
      const right = wrong.with(417, guess('guess-417', PHONE));
      const [withoutIt, withIt] = [await compared(wrong, reconciler), await compared(right, reconciler)];
      expect(withIt.totals).toEqual(withoutIt.totals);
      expect(withIt.statement).toMatchObject({ ignored_fields: ['recipient'], kept: 1_000 });
      expect(withIt.statement.mapping.columns).not.toHaveProperty('recipient');
      const [kept] = await paying.proxy.database.query(
        `SELECT count(*)::int AS people FROM upstream_transaction
         WHERE read_id = $1 AND num_nonnulls(email, phone, handle, receiver) > 0`,
        [withIt.statement.read_id],
      );
      expect(kept).toEqual({ people: 0 });
      const seen = await compared(right, seeing);
      expect(seen.statement).toMatchObject({ ignored_fields: [], already_imported: false });
      expect(seen.totals).not.toEqual(withoutIt.totals);
    });

    it('is recorded as learning recipients if recipients are compared', async () => {
      for (const [key, revealed] of [
        [seeing, true],
        [reconciler, false],
      ] as const) {
        const { statement } = await compared([guess(`recorded-${revealed}`, PHONE)], key);
        const { body } = await paying.proxy.get(key, '/v1/reconciliation/runs?page_size=1').expect(200);
        const [run] = body.runs;
        expect(run?.statement_id).toBe(statement.read_id);
        await paying.proxy.get(key, `/v1/reconciliation/runs/${run?.id}/report`).expect(200);
        const recorded = await paying.proxy.database.query(
          `SELECT DISTINCT route, revealed FROM access WHERE route LIKE '%/reconciliation/runs%'
             AND key_id = (SELECT id FROM api_key WHERE sha256 = sha256($1::bytea)) ORDER BY route`,
          [Buffer.from(key)],
        );
        const routes = [
          'GET /v1/reconciliation/runs',
          'GET /v1/reconciliation/runs/:id',
          'GET /v1/reconciliation/runs/:id/report',
          'POST /v1/reconciliation/runs',
        ];
        expect(recorded).toEqual(routes.map((route) => ({ route, revealed })));
      }
    });

    describe('when another person compares recipients', () => {
      const FINDINGS = '/v1/reconciliation/findings';
      let run: string;
      let statement: string;
      let finding: string;

      beforeAll(async () => {
        const made = await compared([guess('chi-known', '+254700000003')], seeing);
        statement = made.statement.read_id;
        const { body } = await paying.proxy.get(seeing, '/v1/reconciliation/runs?page_size=1').expect(200);
        run = body.runs[0]?.id as string;
        finding = (made.ofRecipients[0] as { id: string }).id;
      });

      const readAll = (key: string) => [
        paying.proxy.get(key, `${FINDINGS}?state=any&page_size=200`),
        paying.proxy.get(key, `${FINDINGS}?state=any&run_id=${run}`),
        paying.proxy.get(key, `${FINDINGS}?state=any&run_id=${run}&category=fee`),
        paying.proxy.get(key, `${FINDINGS}.csv?state=any`),
        paying.proxy.get(key, `${FINDINGS}/${finding}`),
      ];
      const recorded = async (answers: { headers: Record<string, string> }[]) => {
        const ids = answers.map(({ headers }) => headers['x-call-id'] as string);
        const rows = await paying.proxy.database.query(
          'SELECT id, revealed FROM access WHERE id = ANY ($1)',
          [ids],
        );
        return ids.map((id) => rows.find((row) => row.id === id)?.revealed as boolean | undefined);
      };

      it('learns nothing from its findings', async () => {
        const answers = await Promise.all(readAll(reconciler));
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404]);
        expect(answers.map(({ text }) => text).join()).not.toContain(finding);
        expect(answers.slice(1, 3).map(({ body }) => (body as { findings: object[] }).findings)).toEqual([
          [],
          [],
        ]);
        expect(await recorded(answers)).toEqual([false, false, false, false, undefined]);
      });

      it('neither sees nor starts a run, and reads no report', async () => {
        const { body: listed } = await paying.proxy.get(reconciler, '/v1/reconciliation/runs').expect(200);
        expect(listed.runs.map(({ id }) => id)).not.toContain(run);
        const period = { from: new Date(Date.now() - 3_600_000).toISOString(), to: new Date().toISOString() };
        const refused = await Promise.all([
          paying.proxy.get(reconciler, `/v1/reconciliation/runs/${run}`),
          paying.proxy.get(reconciler, `/v1/reconciliation/runs/${run}/report`),
          supertest(paying.proxy.url)
            .post('/v1/reconciliation/runs')
            .set('X-API-Key', reconciler)
            .send({ ...period, statement_id: statement }),
        ]);
        for (const { status, body } of refused) {
          expect([status, body]).toEqual([403, expect.objectContaining({ code: 'scope_missing' })]);
        }
      });

      it('sees no finding of it in the timeline of a call', async () => {
        const { body } = await paying.proxy.get(seeing, `${FINDINGS}/${finding}`).expect(200);
        const timeline = async (key: string) =>
          (await paying.proxy.get(key, `/v1/audit/calls/${body.call_id}`).expect(200)).body
            .reconciliation_findings;
        expect((await timeline(seeing)).map(({ id }) => id)).toContain(finding);
        expect((await timeline(reconciler)).map(({ id }) => id)).not.toContain(finding);
      });

      it('is recorded differently from readers with access to people', async () => {
        const answers = await Promise.all(readAll(seeing));
        expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
        expect(answers[4]?.text).toContain(finding);
        expect(await recorded(answers)).toEqual([true, true, true, true, true]);
        const plain = await paying.proxy.get(seeing, `${FINDINGS}?category=fee`).expect(200);
        expect(await recorded([plain])).toEqual([false]);
      });
    });

    it('learns nothing from guesses about a known transaction', async () => {
      for (const phone of [PHONE, '+254700000001']) {
        const { ofRecipients } = await compared([guess('chi-known', phone)], reconciler);
        expect(ofRecipients).toEqual([]);
      }
      expect((await compared([guess('chi-known', '+254700000002')], seeing)).ofRecipients).toHaveLength(1);
    });

    it('gets an error that recipients alone cannot be compared', async () => {
      const ofPeople = JSON.stringify({ amount_usd: 'amount_usd', phone: 'recipient' });
      const { body } = await hand([HEADER, guess('x', PHONE)], reconciler, ofPeople).expect(400);
      expect(body.errors?.[0]?.detail).toMatch(
        /at least one of upstream_ref, upstream_id, batch_ref, reference: .*audit:pii/,
      );
      await hand(['amount_usd,phoneNumber', `1,${PHONE}`], reconciler, 'upstream').expect(400);
      await hand([HEADER, guess('x', PHONE)], seeing, ofPeople).expect(201);
    });
  });
});
