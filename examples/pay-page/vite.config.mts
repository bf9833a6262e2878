import { defineConfig } from 'vite';

/** Static files, for any web server. The settings of README are built in. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: {
    target: 'es2022',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
});
