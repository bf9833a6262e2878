import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { extname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { Page } from 'playwright-core';
import { PASSWORD } from '../access/provider';
import { askSandbox } from '../sandbox/sandbox-answers';

const ROOT = resolve(__dirname, '..', '..', '..');
const CONTROL = { 'X-Sandbox-Control-Key': 'sandbox-control' };
const TYPES: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript' };

/** The sandbox pays this number and loses the response. */
export const ANSWER_IS_LOST = '+254799990204';

/** The page of examples/pay-page, on a web server. */
export interface PayPage {
  /** Folder of its files. */
  folder: string;
  origin: string;
  /** Builds the page with settings, such as `VITE_PROXY_URL`. */
  build(settings: Record<string, string>): Promise<void>;
  /** Returns all files of the page, as one text. */
  text(): string;
  close(): void;
}

/** Serves the folder for the built page, like any web server. */
export async function servePayPage(host: '127.0.0.1' | 'localhost'): Promise<PayPage> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-pay-page-'));
  const server = createServer((request, response) => {
    const path = new URL(request.url ?? '/', 'http://page').pathname;
    const name = path === '/' ? '/index.html' : path;
    try {
      const content = readFileSync(join(folder, name));
      response.writeHead(200, { 'content-type': TYPES[extname(name)] ?? 'text/plain' }).end(content);
    } catch {
      response.writeHead(404).end();
    }
  }).listen(0, '127.0.0.1');
  await new Promise((done) => server.once('listening', done));
  return {
    folder,
    origin: `http://${host}:${(server.address() as AddressInfo).port}`,
    build: async (settings) => {
      const given = [
        'build',
        '-c',
        'examples/pay-page/vite.config.mts',
        '--outDir',
        folder,
        '--logLevel',
        'warn',
      ];
      const env = { ...process.env, ...settings };
      await promisify(execFile)(join(ROOT, 'node_modules/.bin/vite'), given, { cwd: ROOT, env });
    },
    text: () => {
      const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
        name.includes('.'),
      );
      return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n');
    },
    close: () => {
      server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Signs in from the page with a password at the provider. */
export async function signInOn(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Name').fill(name);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export async function payOn(page: Page, phone: string, usd: string): Promise<void> {
  await page.getByLabel('Phone number').fill(phone);
  await page.getByLabel('US dollars').fill(usd);
  await page.getByRole('button', { name: 'Pay' }).click();
}

/** Waits until the page shows a result. @returns its text. */
export async function resultOn(page: Page, status: string, settled: boolean): Promise<string | null> {
  await page.locator(`#status[data-status="${status}"][data-settled="${settled}"]`).waitFor();
  return page.locator('#status').textContent();
}

/** Returns the number of payments to a number that arrived at the sandbox. */
export async function arrivalsOf(phone: string, sandboxUrl: string): Promise<number> {
  const { body } = await askSandbox(sandboxUrl).get('/_sandbox/requests').set(CONTROL).expect(200);
  return body.filter((one) => JSON.stringify(one.body).includes(phone)).length;
}

/** Returns the texts in which a visitor could find a secret: the page's files, storage and text. */
export async function readableOn(page: Page, site: PayPage): Promise<string[]> {
  const storage = await page.evaluate<string>('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])');
  return [site.text(), storage, await page.content()];
}

/** Fails if a text contains one of the secrets, or a similar string. */
export function expectNoSecrets(places: string[], secrets: string[]): void {
  for (const place of places) {
    expect(secrets.filter((secret) => place.includes(secret))).toEqual([]);
    expect(place).not.toMatch(/client_secret|\bpp_[a-z0-9-]+_[A-Za-z0-9]{16}/);
  }
}
