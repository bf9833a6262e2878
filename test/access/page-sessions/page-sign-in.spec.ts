import { Cookies } from '../../support/access/provider/flow';
import { open } from '../../support/access/signing-in';
import {
  approachPageCallback,
  ofPage,
  PAGE,
  PAGE_ORIGIN,
  PageScene,
  readPageSession,
  signInToPage,
  startPageScene,
} from '../../support/console/page-scene';
import supertest from '../../support/http/supertest';

describe('a sign-in to a page', () => {
  let scene: PageScene;
  let url: string;

  beforeAll(async () => {
    scene = await startPageScene();
    url = scene.proxy.url;
  });
  afterAll(() => scene.close());

  const signInUrl = (client: string) =>
    `${url}/session/pages/${client}/sign-in?return_to=${encodeURIComponent(PAGE)}`;

  it('returns only to pages of its client', async () => {
    for (const to of [
      'https://evil.example/',
      `${PAGE_ORIGIN}.evil.example/`,
      PAGE_ORIGIN.replace('://', '://evil.example@'),
      PAGE_ORIGIN.replace('//', '//evil.example\\@'),
      `${PAGE_ORIGIN}.`,
      `${PAGE_ORIGIN}:81`,
      `//${new URL(PAGE).host}/`,
      `blob:${PAGE}`,
      '/console',
      'javascript:alert(1)',
      '',
      PAGE + 'x'.repeat(2_000),
    ]) {
      const { status, page, cookies } = await open(
        new Cookies(),
        `${url}/session/pages/wallet/sign-in?return_to=${encodeURIComponent(to)}`,
      );
      expect([status, cookies]).toEqual([400, []]);
      expect(page).toContain('This page may not sign you in');
    }
    const alice = await signInToPage(url, 'alice');
    const answer = await supertest(url)
      .delete('/v1/page-sessions/wallet?return_to=https://evil.example/')
      .set(ofPage(alice))
      .expect(400);
    expect(answer.body).toMatchObject({ errors: [{ pointer: '/return_to' }] });
    await readPageSession(url, alice.cookies).expect(200);
  });

  it.each(['mallory', 'UPPER', '..%2f..%2fconsole', '%3Cscript%3E'])(
    'returns 404 for the unknown client %s',
    async (client) => {
      const { status, page } = await open(new Cookies(), signInUrl(client));
      expect([client, status]).toEqual([client, 404]);
      for (const text of [client, decodeURIComponent(client)]) expect(page).not.toContain(text);
    },
  );

  it('shows instructions while the provider is down', async () => {
    const { cookies, callback } = await approachPageCallback(url, 'alice');
    await scene.provider.goDown();
    const answers = [await open(cookies, callback), await open(new Cookies(), signInUrl('wallet'))];
    await scene.provider.goUp();
    for (const { status, page } of answers) {
      expect(status).toBe(503);
      expect(page).toContain('The OpenID provider is unreachable');
    }
    expect(answers[0]?.page).toContain(
      `href="/session/pages/wallet/sign-in?return_to=${encodeURIComponent(PAGE)}"`,
    );
    await signInToPage(url, 'alice');
  });
});
