import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Browser, chromium } from 'playwright-core';

/** Unpacks the Chromium of its package into TMPDIR. */
const UNPACK = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;

/** Makes the package also unpack the libraries of its Chromium, which a bare machine lacks. */
const WITH_LIBRARIES = { AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };

/** Another program may have changed the package's /tmp/fonts. Without a font, text has no size. */
const FONT_CONFIG = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`;

/**
 * Chromium's own sandbox needs permissions that root in a container lacks. A process per tab and site costs a
 * fifth of the time of the console's specs.
 */
const ARGUMENTS = [
  '--no-sandbox',
  '--no-zygote',
  '--disable-gpu',
  '--headless=shell',
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
];

export interface TestBrowser {
  browser: Browser;
  close(): Promise<void>;
}

/**
 * A real browser from an npm package, unpacked into a separate folder. It has no system dependencies, but
 * runs on Linux only. Elsewhere, set CHROMIUM_PATH.
 */
export async function startBrowser(): Promise<TestBrowser> {
  const folder = mkdtempSync(join(tmpdir(), 'payout-proxy-browser-'));
  const env = { PATH: process.env.PATH ?? '', HOME: folder, TMPDIR: folder };
  const unpacked =
    process.env.CHROMIUM_PATH === undefined ? unpack(process.env.TEST_CHROMIUM ?? folder) : folder;
  const executablePath = process.env.CHROMIUM_PATH ?? join(unpacked, 'chromium');
  const fontConfig = join(folder, 'fonts.conf');
  writeFileSync(fontConfig, FONT_CONFIG(unpacked));
  const browser = await chromium.launch({
    executablePath,
    args: ARGUMENTS,
    env: { ...env, LD_LIBRARY_PATH: join(unpacked, 'al2023', 'lib'), FONTCONFIG_FILE: fontConfig },
  });
  return {
    browser,
    close: async () => {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Unpacks once for all files of a run (path from global-setup.ts), because it takes two seconds of a core.
 * @returns the folder.
 */
function unpack(shared: string): string {
  if (existsSync(join(shared, 'chromium', 'chromium'))) return join(shared, 'chromium');
  const own = mkdtempSync(join(shared, 'unpacking-'));
  const env = { PATH: process.env.PATH ?? '', HOME: own, TMPDIR: own };
  execFileSync(process.execPath, ['-e', UNPACK], { env: { ...env, ...WITH_LIBRARIES } });
  try {
    renameSync(own, join(shared, 'chromium'));
  } catch {
    rmSync(own, { recursive: true, force: true }); // another worker was faster
  }
  return join(shared, 'chromium');
}
