import { parse } from 'csv-parse/sync';
import { ClientsService } from '../../../src/access/clients/clients.service';
import supertest from '../../support/http/supertest';
import { ApprovalScene, startApproving } from '../../support/payments/approving';
import { FindingsScene, NewFinding } from '../../support/reconciliation/findings-scene';

const CSV = '/v1/reconciliation/findings.csv';
const BOM = '\ufeff';

describe('a spreadsheet of findings', () => {
  let approving: ApprovalScene;
  let scene: FindingsScene;
  let key: string;

  beforeAll(async () => {
    approving = await startApproving();
    scene = new FindingsScene(approving.proxy.database);
    await approving.proxy.client('reconciler', 'reconcile');
    const clients = approving.proxy.app.get(ClientsService, { strict: false });
    ({ key } = await clients.issueKey('reconciler', { person: 'grace' }));
  });
  afterAll(() => approving.close());

  const download = async (query: string) =>
    (await approving.proxy.get(key, `${CSV}?${query}`).expect(200)).text;
  const send = (file: string | Buffer, type = 'text/csv') =>
    supertest(approving.proxy.url)
      .post('/v1/reconciliation/findings/decisions.csv')
      .set('X-API-Key', key)
      .set('X-Actor', 'somebody')
      .set('Content-Type', type)
      .send(file);
  const faults = async (file: string | Buffer, status = 400) =>
    ((await send(file).expect(status)).body.errors as { pointer: string; detail: string }[]).map(
      ({ pointer, detail }) => `${pointer} ${detail}`,
    );
  /** Creates a separate run with its own findings. */
  const made = async (...findings: NewFinding[]) => {
    const run = await scene.run();
    return { run, ids: await scene.findings(run, findings) };
  };
  const rowsOf = (csv: string, delimiter = ',') =>
    parse<Record<string, string>>(csv, { columns: true, bom: true, delimiter });
  const last = async (id: string) => (await scene.steps(id)).at(-1);

  it('contains everything needed for decisions, and no formulas', async () => {
    const { run, ids } = await made(
      { category: 'amount_under', usd: '-45.10', callId: approving.model, position: 0, daysAgo: 2 },
      {
        category: 'missing_local',
        upstreamRef: '=HYPERLINK("x")',
        usd: '12345678901234567890.5',
        fields: [
          { field: 'status', ours: null, theirs: '=paid; "so"' },
          { field: 'amount_usd', ours: null, theirs: '-1' },
        ],
      },
    );
    const text = await download(`run_id=${run}`);
    expect(text.startsWith(`${BOM}finding_id,decision,reason,state,severity,category,impact_usd,`)).toBe(
      true,
    );
    expect(text.endsWith('\r\n')).toBe(true);
    const rows = rowsOf(text);
    expect(rows).toEqual([
      expect.objectContaining({
        finding_id: ids[1],
        decision: '',
        reason: '',
        severity: 'critical',
        impact_usd: '12345678901234567890.5',
        field: 'status; amount_usd',
        ours: '(none); (none)',
        theirs: '\'=paid; "so"; -1',
        upstream_ref: '\'=HYPERLINK("x")',
      }),
      expect.objectContaining({
        finding_id: ids[0],
        impact_usd: '-45.1',
        call_id: approving.model,
        position: '0',
        age_days: '2',
        suggested_action: expect.stringContaining('Do not send the rest'),
      }),
    ]);
    const semicolons = rowsOf(await download(`run_id=${run}&delimiter=semicolon`), ';');
    expect(semicolons.map(({ version: _, ...row }) => row)).toEqual(
      rows.map(({ version: _, ...row }) => row),
    );
    await approving.proxy.get(key, `${CSV}?delimiter=tab`).expect(400);
  });

  it('lists all findings, and its download is recorded', async () => {
    const { run, ids } = await made(...Array.from({ length: 2_345 }, () => ({})));
    const got = await approving.proxy.get(key, `${CSV}?run_id=${run}`).expect(200);
    expect(rowsOf(got.text).map((row) => row.finding_id)).toEqual(ids.reverse());
    const [access] = await approving.query('SELECT * FROM access WHERE id = $1', [got.headers['x-call-id']]);
    expect(access).toMatchObject({
      rows: 2_345,
      route: 'GET /v1/reconciliation/findings.csv',
      revealed: false,
    });
  });

  describe('as an upload', () => {
    /** Fills in the exported file. */
    const filled = async (run: string, decisions: Record<string, [string, string]>, delimiter = ',') => {
      const query = delimiter === ';' ? '&delimiter=semicolon' : '';
      let text = await download(`run_id=${run}${query}`);
      for (const [id, [decision, reason]] of Object.entries(decisions)) {
        text = text.replace(
          `${id}${delimiter}${delimiter}${delimiter}`,
          [id, decision, reason, ''].join(delimiter),
        );
      }
      return text;
    };

    it('decides the completed rows', async () => {
      const { run, ids } = await made({}, {}, {});
      const [one = '', two = '', three = ''] = ids;
      const text = await filled(run, {
        [one]: ['explained', '"a rate, agreed"'],
        [three]: ['resolved', 'reversed'],
      });
      const { body } = await send(text).expect(200);
      expect(body).toMatchObject({ decided: 2, ignored: 1 });
      expect(await last(one)).toMatchObject({ state: 'explained', reason: 'a rate, agreed', actor: 'grace' });
      expect(await last(three)).toMatchObject({ state: 'resolved', reason: 'reversed' });
      expect(await scene.steps(two)).toEqual([]);
    });

    it.each<[string, (text: string) => string | Buffer]>([
      ['unchanged', (text) => text],
      ['without its byte order mark', (text) => text.slice(1)],
      ['with LF', (text) => text.replaceAll('\r\n', '\n')],
      ['with CR', (text) => text.replaceAll('\r\n', '\r')],
      ['without the final line end', (text) => text.trimEnd()],
      ['with blank lines', (text) => text.replace('\r\n', '\r\n\r\n') + '\r\n,,,\r\n'],
      ['with a sep= line', (text) => `${BOM}sep=,\r\n${text.slice(1)}`],
      ['in UTF-16', (text) => Buffer.from(text, 'utf16le')],
      [
        'in Windows-1252',
        (text) => Buffer.from(text.slice(1).replaceAll('•', '\x95').replaceAll('’', "'"), 'latin1'),
      ],
    ])('is read %s', async (_how, change) => {
      const { run, ids } = await made({
        fields: [{ field: 'recipient', ours: 'a••@example.com', theirs: null }],
      });
      const [id = ''] = ids;
      await send(change(await filled(run, { [id]: [' Explained ', '"as usual, geprüft"'] }))).expect(200);
      expect(await last(id)).toMatchObject({ state: 'explained', reason: 'as usual, geprüft' });
    });

    it.each([';', '\t'])('is read with %j between cells', async (delimiter) => {
      const { run, ids } = await made({});
      const [id = ''] = ids;
      const text = await filled(run, { [id]: ['explained', '"a rate, agreed; so"'] }, ';');
      await send(delimiter === ';' ? text : text.replace(/;(?! so")/g, delimiter)).expect(200);
      expect(await last(id)).toMatchObject({ reason: 'a rate, agreed; so' });
    });

    it('is read with moved, added and removed columns, in any case', async () => {
      const { ids } = await made({}, {});
      const [one = '', two = ''] = ids;
      const text =
        `Comment,REASON, Decision ,Finding ID\r\n"so\r\nmuch","over ` +
        `two\r\nlines",RESOLVED,${one.toUpperCase()}\r\n,'=sum,accepted,${two},extra\r\n`;
      await send(text).expect(200);
      expect(await last(one)).toMatchObject({ state: 'resolved', reason: 'over two lines' });
      expect(await last(two)).toMatchObject({ state: 'accepted', reason: '=sum' });
    });

    it('is rejected if a finding has changed since', async () => {
      const { run, ids } = await made({}, {});
      const [one = '', two = ''] = ids;
      const text = await filled(run, { [one]: ['explained', 'a rate'], [two]: ['explained', 'a rate'] });
      await scene.observeAgain(one, await scene.run(), '99');
      expect(await faults(text, 409)).toEqual([
        '/3/version row 3: the finding has changed since you read it: it is now open with an impact of ' +
          '99 US dollars; read it again',
      ]);
      expect(await scene.steps(two)).toEqual([]);
    });

    it('reports every fault with its row, and changes nothing', async () => {
      const { ids } = await made({}, {});
      const [one = '', two = ''] = ids;
      const none = '01a1fb98-53b1-7069-a17f-af1e8cacb634';
      const lines = [
        'finding_id,decision,reason',
        `${one},explained,fine`,
        `${two},closed,why`,
        `x,explained,why`,
        `${two},,a reason`,
        `${two},explained,`,
        `${none},explained,why`,
        `${one},resolved,again`,
        ',,',
      ];
      expect(await faults(lines.join('\r\n'))).toEqual([
        '/3/decision row 3: decision must be one of explained, resolved, accepted, reopened',
        '/4/finding_id row 4: finding_id must be the ID of a finding, a UUID',
        '/5/decision row 5: has a reason but no decision; give both or none',
        '/6/reason row 6: reason must be text of 1 to 1000 characters without control characters',
        '/8/finding_id row 8: the finding is already decided at /2; decide it once',
        '/7/finding_id row 7: there is no finding with this ID',
      ]);
      expect(await scene.steps(one)).toEqual([]);
    });

    it.each<[string, string, RegExp]>([
      [
        'nothing',
        '',
        /^ the file has no column finding_id, decision, reason; its first row must be that of GET/,
      ],
      ['another table', 'a,b\r\n1,2\r\n', /no column finding_id, decision, reason/],
      ['all columns in one cell', '"finding_id,decision,reason"\r\n"x,y,z"\r\n', /no column/],
      ['a column twice', 'finding_id,decision,reason,Decision\r\n', /has the column decision more than once/],
      ['no decision', 'finding_id,decision,reason\r\nx,,\r\n', /has no decision; write explained/],
      [
        'an open quote',
        'finding_id,decision,reason\r\nx,explained,"why\r\n',
        /is not valid CSV from line \d+/,
      ],
    ])('is rejected with %s', async (_what, file, words) => {
      expect(await faults(file)).toEqual([expect.stringMatching(words)]);
    });

    it('is rejected with too many decisions before any of them is read', async () => {
      const file = `finding_id,decision,reason\n${'no id,no decision,\n'.repeat(10_001)}`;
      expect(await faults(file)).toEqual([' the file has 10001 decisions; at most 10000 fit in one request']);
    });

    it('is rejected with another type, and above the length limit', async () => {
      await send('{}', 'application/json').expect(400);
      const { body } = await send('x', 'text/plain').expect(400);
      expect(body.errors?.[0]?.detail).toMatch(/must be JSON, sent with Content-Type: application\/json/);
      expect(await faults(`finding_id,decision,reason\r\n${'x'.repeat(8 * 1_048_576)}`)).toEqual([
        expect.stringMatching(/must not exceed 8388608 bytes; send it in parts/),
      ]);
      const other = await supertest(approving.proxy.url)
        .post('/v1/reconciliation/findings/decisions')
        .set({ 'X-API-Key': key, 'Content-Type': 'text/csv' })
        .send('finding_id,decision,reason\r\n');
      expect(other.status).toBe(400); // no other route accepts CSV
    });
  });
});
