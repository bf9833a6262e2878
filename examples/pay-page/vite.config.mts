import { defineConfig } from 'vite';

/** Static files, for any web server. VITE_PROXY_URL, VITE_ISSUER, VITE_CLIENT_ID and VITE_RESOURCE are built in. */
export default defineConfig({
  root: import.meta.dirname,
  base: './',
  build: { target: 'es2022', emptyOutDir: true, modulePreload: { polyfill: false }, reportCompressedSize: false },
});
