import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzipSync } from 'node:zlib';
import { defineConfig, type Plugin } from 'vite';

/** Writes the compressed forms of each file, so that the proxy serves them without compressing. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    async writeBundle({ dir = '' }, bundle) {
      const names = Object.keys(bundle).filter((name) => /\.(js|css|svg)$/.test(name));
      const compress = async (name: string) => {
        const file = join(dir, name);
        const content = await readFile(file);
        await writeFile(`${file}.br`, await promisify(brotliCompress)(content));
        await writeFile(`${file}.gz`, gzipSync(content, { level: constants.Z_BEST_COMPRESSION }));
      };
      await Promise.all(names.map(compress));
    },
  };
}

/**
 * The page, built into dist/console/page. The proxy serves it below /console (src/app/console-page.ts).
 */
export default defineConfig({
  root: import.meta.dirname,
  base: '/console/',
  html: { cspNonce: 'CSP_NONCE' },
  plugins: [compressed()],
  build: {
    outDir: '../dist/console/page',
    emptyOutDir: true,
    target: 'es2023',
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 600, // kB, for the component library, which every page needs
    // Each file of the component library has "use client".
    rolldownOptions: { checks: { moduleLevelDirective: false } },
  },
  server: { proxy: { '/v1': 'http://localhost:3000' } },
});
