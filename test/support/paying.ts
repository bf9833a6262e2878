import { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import supertest from 'supertest';
import { RunningConfig } from '../../src/platform/config/config';
import type { FullCallRecord } from './api';
import { FakeUpstream, Received } from './fake-upstream';
import { startProxy, TestProxy } from './proxy';

export const PHONE = '+254712345678';
export const AIRTIME = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: PHONE, valueInUSD: 2.5 }] };
export const SUCCESS = { status: 'success', data: { error: 'None' } };

/** A proxy in front of an upstream that behaves as told, a paying client and an auditor. */
export interface Paying {
  proxy: TestProxy;
  upstream: FakeUpstream;
  app: string;
  auditor: string;
  pay(phoneNumber?: string): supertest.Test;
  /** The auditor's record of an answer's call. */
  record(answer: { headers: Record<string, string> }): Promise<FullCallRecord>;
  /** The ids of the calls that are listed with this outcome. */
  listed(outcome: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startPaying(settings: Partial<RunningConfig> = {}): Promise<Paying> {
  const upstream = await FakeUpstream.start();
  const proxy = await startProxy({ upstreamBaseUrl: upstream.url, ...settings });
  const app = (await proxy.client('app', 'pay', 'write', 'read', 'account')).key;
  const auditor = (await proxy.client('auditor', 'audit', 'audit:pii')).key;
  return {
    proxy,
    upstream,
    app,
    auditor,
    pay: (phoneNumber = PHONE) => proxy.post(app, '/payouts/airtime', airtime(phoneNumber)),
    record: async ({ headers }) =>
      (await proxy.get(auditor, `/v1/audit/calls/${headers['x-call-id']}`).expect(200)).body,
    listed: async (outcome) => {
      const { body } = await proxy.get(auditor, `/v1/audit/calls?page_size=200&outcome=${outcome}`).expect(200);
      return body.calls.map(({ id }: { id: string }) => id);
    },
    close: async () => {
      await upstream.stop();
      await proxy.close();
    },
  };
}

export function airtime(phoneNumber: string) {
  return { airtimes: [{ ...AIRTIME.airtimes[0], phoneNumber }] };
}

/** The phone number of a one-item payout that arrived. */
export function phoneOf({ body }: Received): string {
  return JSON.parse(body).airtimes[0].phoneNumber;
}

/** Distinct phone numbers, valid and nobody's. */
export function phones(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+2547000${String(index).padStart(5, '0')}`);
}

/** Keeps supertest from reading the answer: `response.body` are its bytes. */
export function bytes(response: supertest.Response, done: (error: Error | null, body: Buffer) => void): void {
  const chunks: Buffer[] = [];
  const stream = response as unknown as IncomingMessage;
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
}

/** Between two questions: what is waited for needs the core that asking takes. */
const PAUSE_MS = 5;

/** Asks again until the answer is true. */
export async function eventually(ask: () => Promise<boolean>): Promise<void> {
  while (!(await ask())) await sleep(PAUSE_MS);
}
