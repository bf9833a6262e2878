import { Injectable, OnModuleInit } from '@nestjs/common';
import { ConfigService } from '@nestjs/config';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { Loaded } from '../../platform/config/config.module';
import { Secret } from '../../platform/config/secret';
import { Problem } from '../../platform/errors/problem';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { Signed, verify } from '../../gateway/upstream/event-signature';

const EVENTS_PATH = '/hooks/upstream';

/** The most bytes that are read before the signature is checked. Events are small. */
const MAX_BYTES = 65_536;

/** Checks the signature of each event over its bytes, before they are parsed and before the database is used. */
@Injectable()
export class SignedEventsService implements OnModuleInit {
  private readonly secret: Secret | undefined;
  private readonly signed = new WeakMap<FastifyRequest, Signed>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly upstream: UpstreamService,
    config: ConfigService<Loaded, true>,
  ) {
    this.secret = config.get('settings', { infer: true }).upstreamWebhookSecret;
  }

  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preParsing', async (request, _reply, payload: Readable) => {
      if (request.routeOptions.url !== EVENTS_PATH) return payload;
      const { secret } = this;
      if (!secret) throw new Problem('not_found');
      const bytes = await collect(payload);
      this.signed.set(request, check(request, bytes, secret));
      // Fastify compares the length with the announced one.
      return Object.assign(Readable.from([this.upstream.withoutKey(bytes)]), { receivedEncodedLength: bytes.length });
    });
  }

  /** Returns the signed bytes of an event. */
  of(request: FastifyRequest): Signed {
    const signed = this.signed.get(request);
    if (!signed) throw new Problem('invalid_signature'); // An event without a body.
    return signed;
  }
}

function check({ headers }: FastifyRequest, bytes: Buffer, secret: Secret): Signed {
  const signed = verify(headers, bytes, secret.reveal());
  if (signed === 'unsigned') throw new Problem('invalid_signature');
  if (signed === 'stale') throw new Problem('stale_event');
  return signed;
}

function collect(payload: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    payload.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= MAX_BYTES) chunks.push(chunk);
      else reject(new Problem('invalid_request', { faults: [TOO_LARGE] }));
    });
    payload.once('end', () => resolve(Buffer.concat(chunks)));
    payload.once('error', reject);
  });
}

const TOO_LARGE = { pointer: '', detail: `the body is larger than ${MAX_BYTES} bytes` };
