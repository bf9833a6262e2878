import { IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { RunningConfig } from '../../../src/platform/config/config';
import { first } from '../examples/first';
import type { FullCallRecord } from '../http/api';
import type { Parser } from '../http/request';
import type { TypedApiRequest } from '../http/supertest';
import { FakeUpstream, ReceivedRequest } from '../network/fake-upstream';
import { startProxy, TestProxy } from '../processes/proxy';

export const PHONE = '+254712345678';
export const AIRTIME = { airtimes: [{ countryToSend: 'Kenya', phoneNumber: PHONE, valueInUSD: 2.5 }] };

/** A proxy in front of an upstream with configurable behaviour, a paying client and an auditor. */
export interface PaymentScene {
  proxy: TestProxy;
  upstream: FakeUpstream;
  app: string;
  auditor: string;
  pay(phoneNumber?: string): TypedApiRequest<'post', '/api/v0.1/payouts/airtime'>;
  /** Returns the auditor's record of a response's call. */
  record(answer: { headers: Record<string, string> }): Promise<FullCallRecord>;
  /** Returns the IDs of the listed calls with this outcome. */
  listed(outcome: string): Promise<string[]>;
  close(): Promise<void>;
}

export async function startPaying(settings: Partial<RunningConfig> = {}): Promise<PaymentScene> {
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
      const { body } = await proxy
        .get(auditor, `/v1/audit/calls?page_size=200&outcome=${outcome}`)
        .expect(200);
      return body.calls.map(({ id }) => id);
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

/** Returns the phone number of a one-item payout that arrived. */
export function phoneOf({ body }: ReceivedRequest): string {
  return first((JSON.parse(body) as typeof AIRTIME).airtimes).phoneNumber;
}

/** Generates distinct valid phone numbers without owners. */
export function phones(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `+2547000${String(index).padStart(5, '0')}`);
}

/** Keeps supertest from parsing the response, so that `response.body` contains its bytes. */
export const bytes: Parser<Buffer> = (response, done) => {
  const chunks: Buffer[] = [];
  const stream = response as unknown as IncomingMessage;
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  stream.on('end', () => done(null, Buffer.concat(chunks)));
};

/** First pause between attempts in ms. Pauses grow, because the awaited work needs the same core. */
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 100;

/** Far above any duration on a busy machine, and below the time limit of a test. */
const DEADLINE_MS = 240_000;

/**
 * Repeats until the condition is true. Fails after the deadline, and quotes the condition.
 * @param deadlineMs the deadline.
 */
export async function eventually(
  ask: () => boolean | Promise<boolean>,
  deadlineMs = DEADLINE_MS,
): Promise<void> {
  const ends = performance.now() + deadlineMs;
  for (let pause = FIRST_PAUSE_MS; !(await ask()); pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
    if (performance.now() > ends) throw new Error(`waited ${deadlineMs / 1_000} s for ${String(ask)}`);
    await sleep(pause);
  }
}
