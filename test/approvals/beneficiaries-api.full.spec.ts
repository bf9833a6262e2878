import { clientsCommands } from '../../src/cli/clients/clients';
import { RegisterScene, startRegistering } from '../support/access/registering';
import supertest from '../support/http/supertest';
import { ApprovalScene } from '../support/payments/approving';
import { cliOf } from '../support/processes/cli';

describe('the recipient registers API', () => {
  let api: RegisterScene;
  let approving: ApprovalScene;

  beforeAll(async () => {
    api = await startRegistering();
    approving = api.approving;
  });
  afterAll(() => approving.close());

  it('shows only masked names, in pages, and records each change with its author and reason', async () => {
    const { name } = await api.client();
    const add = ['+254712345678', 'ada@example.com', '@ada', 'receiver:sub-account-1'];
    const first = (await api.change(name, { list: 'allowed', add, reason: 'Case 17' }).expect(200)).body;
    const masked = ['+254••••5678', 'a••@example.com', '@a••', 'sub-account-1'];
    expect(first.added.map(({ recipient }) => recipient)).toEqual(masked);
    const again = (
      await api.change(name, { list: 'allowed', add: ['+254 712 345678', 'b@example.com'] }).expect(200)
    ).body;
    expect(again.added).toEqual([first.added[0], expect.objectContaining({ recipient: '••@example.com' })]);
    const list = async (query: string) => {
      const path = `/v1/clients/${name}/beneficiaries?page_size=3${query}` as const;
      return (await supertest(approving.proxy.url).get(path).set('X-API-Key', api.admin).expect(200)).body;
    };
    const page = await list('');
    expect(page.beneficiaries).toEqual(first.added.slice(0, 3));
    const { beneficiaries, next_page_token: end } = await list(`&page_token=${page.next_page_token}`);
    expect([beneficiaries.map(({ recipient }) => recipient), end]).toEqual([
      ['sub-account-1', '••@example.com'],
      null,
    ]);
    expect((await list('&list=blocked')).beneficiaries).toEqual([]);
    const remove = ['@ADA', first.added[3]?.id ?? '', 'nobody@example.com'];
    const { removed } = (await api.change(name, { list: 'allowed', remove, reason: 'Case 18' }).expect(200))
      .body;
    expect(removed).toEqual([first.added[2], first.added[3]]);

    const recorded = await api.acts(name);
    expect(recorded.map(({ action, reason }) => [action, reason])).toEqual([
      ...Array.from({ length: 2 }, () => ['beneficiary_removed', 'Case 18']),
      ['beneficiary_added', null],
      ...Array.from({ length: 4 }, () => ['beneficiary_added', 'Case 17']),
    ]);
    const { id } = first.added[2]!;
    const state = { beneficiary_id: id, list: 'allowed', recipient: '@a••' };
    expect(recorded.find(({ before }) => before?.beneficiary_id === id)).toMatchObject({
      before: state,
      via: 'api',
    });
    expect(recorded.find(({ after, before }) => !before && after?.beneficiary_id === id)?.after).toEqual(
      state,
    );
    const [{ text } = { text: '' }] = await approving.query(
      `SELECT string_agg(t, ' ') AS text
       FROM (SELECT b::text AS t FROM beneficiary b UNION ALL SELECT a::text FROM activity a) AS x`,
    );
    for (const secret of ['712345678', 'ada@example.com', '@ada']) expect(text).not.toContain(secret);
  });

  it('reports every unreadable recipient, and changes nothing', async () => {
    const { name } = await api.client();
    const add = ['+254712345678', '0712345678', 'ada', 'receiver:', '@', '+254', '(0) 712'];
    const { body } = await api.change(name, { list: 'allowed', add, remove: ['x'] }).expect(400);
    const wrong = [1, 2, 3, 4, 5, 6].map((index) => `/add/${index}`);
    expect(body.errors?.map(({ pointer }) => pointer)).toEqual([...wrong, '/remove/0']);
    expect(await api.acts(name)).toEqual([]);
    await api.change(name, { list: 'somewhere', add: ['a@b.example'] }).expect(400);
    await api.change('no-such-client', { list: 'allowed', add: ['a@b.example'] }).expect(404);
    await api.change(name, { list: 'allowed', add: ['a@b.example'] }, approving.app).expect(403);
  });

  it('adds and removes in one request without dual control', async () => {
    const { name } = await api.client();
    await api.allow(name, '@ada');
    const { body } = await api.change(name, { list: 'allowed', add: ['@bob'], remove: ['@ada'] }).expect(200);
    expect([body.added, body.removed]).toMatchObject([[{ recipient: '@b••' }], [{ recipient: '@a••' }]]);
  });

  it('changes nothing that cannot be recorded', async () => {
    const { name, key } = await api.client();
    const phone = api.newPhone();
    await approving.query(
      "ALTER TABLE activity ADD CONSTRAINT nothing CHECK (action <> 'beneficiary_added') NOT VALID",
    );
    await api.change(name, { list: 'blocked', add: [phone] }).expect(500);
    await approving.query('ALTER TABLE activity DROP CONSTRAINT nothing');
    await api.pay(key, [phone]).expect(200);
  });

  it('has an equivalent command', async () => {
    const { name, key } = await api.client();
    const phone = api.newPhone();
    const { url, ownerUrl } = approving.proxy.database;
    Object.assign(process.env, { DATABASE_URL: url, DATABASE_OWNER_URL: ownerUrl, DUAL_CONTROL: 'false' });
    const clients = cliOf(clientsCommands);
    const cli = async (action: string, ...args: string[]) => {
      const options = ['--name', name, '--list', 'blocked', '--json', ...args];
      const { stdout } = await clients('beneficiaries', action, ...options);
      return JSON.parse(stdout) as { list: string; recipient: string }[];
    };
    try {
      const recipients = ['--recipients', `${phone}, ada@example.com`];
      const added = await cli('add', ...recipients, '--reason', 'Case 17');
      const masked = [`+254••••${phone.slice(-4)}`, 'a••@example.com'];
      expect(added.map(({ list, recipient }) => [list, recipient])).toEqual(
        masked.map((recipient) => ['blocked', recipient]),
      );
      await api.pay(key, [phone]).expect(403);
      expect(await cli('list')).toEqual(added);
      await expect(cli('add', '--recipients', `${phone},0712345678`)).rejects.toThrow(
        '--recipients: number 2 must be',
      );
      expect(await cli('remove', ...recipients)).toEqual(added);
    } finally {
      delete process.env.DUAL_CONTROL;
    }
    await api.pay(key, [phone]).expect(200);
    const [act] = await api.acts(name);
    expect([act?.action, act?.via, act?.by.client]).toEqual(['beneficiary_removed', 'cli', null]);
  });
});
