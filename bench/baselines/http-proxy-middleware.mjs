import { Agent, createServer } from 'node:http';
/** Express and http-proxy-middleware pass everything on and record nothing. */
import express from 'express';
import { createProxyMiddleware } from 'http-proxy-middleware';
import { listen, settings } from './support/contestant.mjs';

const [target, upstreamKey] = settings('UPSTREAM_URL', 'UPSTREAM_API_KEY');

const app = express().disable('x-powered-by');
app.use(
  createProxyMiddleware({
    target,
    changeOrigin: true,
    agent: new Agent({ keepAlive: true }), // Without one, each request has a connection of its own.
    headers: { 'x-api-key': upstreamKey },
  }),
);
listen(createServer(app));
