import { Readable } from 'node:stream';
import {
  Inject,
  Injectable,
  OnModuleInit,
  applyDecorators,
  Controller,
  HttpCode,
  Post,
  Req,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { ApiBody, ApiHeader, ApiParam, ApiResponse, ApiTags } from '@nestjs/swagger';
import { FastifyInstance, FastifyRequest } from 'fastify';
import { Allow } from '../../access/auth/route-access';
import { readEvent, SignedParts, TOLERANCE_MS, verifyEvent } from '../../gateway/upstream/events/event';
import { UpstreamService } from '../../gateway/upstream/upstream.service';
import { UnknownStatuses } from '../../journal/outcomes/unknown-statuses';
import { insertUpstreamEvent } from '../../journal/reconciliation/worker-tasks';
import { readBounded } from '../../platform/bounded-body';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { Secret } from '../../platform/config/secrets/secret';
import { SecretReloadService } from '../../platform/config/secrets/secret-reload.service';
import { accountsOf, accountVariable, MAIN_ACCOUNT } from '../../platform/config/upstream/upstream-accounts';
import { newId } from '../../platform/database/ids';
import { PrismaService } from '../../platform/database/pools/prisma.service';
import { ApiProblems } from '../../platform/errors/api-problems';
import { Problem } from '../../platform/errors/problem';
import { described } from '../../platform/schema/fields';
import { ApiSummary } from '../../platform/schema/routes';

/** Routes of events: of the account `main`, and of each account. */
const EVENTS_PATHS = ['/hooks/upstream', '/hooks/upstream/:account'];

/** Maximum number of bytes read before the signature is checked. Events are small. */
const MAX_BYTES = 65_536;

/** A signed event, and its bytes without our keys. */
interface SignedEvent extends SignedParts {
  body: Buffer;
}

/**
 * Checks the signature of each event over its bytes, before they are parsed and before the database is used.
 */
@Injectable()
export class SignedEventsService implements OnModuleInit {
  private readonly accounts = new Map<string, AccountSecrets>();
  private readonly signed = new WeakMap<FastifyRequest, SignedEvent>();

  constructor(
    private readonly host: HttpAdapterHost,
    private readonly upstream: UpstreamService,
    reload: SecretReloadService,
    @Inject(SETTINGS) settings: RunningConfig,
  ) {
    for (const { name, webhookSecret } of accountsOf(settings)) {
      const secrets = new AccountSecrets(webhookSecret);
      this.accounts.set(name, secrets);
      reload.watch(accountVariable(name, 'WEBHOOK_SECRET'), webhookSecret, (secret) =>
        secrets.replace(secret),
      );
    }
  }

  onModuleInit(): void {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    server.addHook('preParsing', async (request, _reply, payload: Readable) => {
      if (!EVENTS_PATHS.includes(request.routeOptions.url ?? '')) return payload;
      const accepted = this.accounts.get(accountIn(request))?.accepted() ?? [];
      if (accepted.length === 0) throw new Problem('not_found');
      const bytes = await readBounded(payload.iterator({ destroyOnReturn: false }), MAX_BYTES);
      if (!bytes) throw new Problem('invalid_request', { faults: [TOO_LARGE] });
      const body = this.upstream.withoutKeys(bytes);
      this.signed.set(request, { ...check(request, bytes, accepted), body });
      // Fastify compares this with Content-Length.
      return Object.assign(Readable.from([body]), { receivedEncodedLength: bytes.length });
    });
  }

  /** Returns a signed event. */
  of(request: FastifyRequest): SignedEvent {
    const signed = this.signed.get(request);
    if (!signed) throw new Problem('invalid_signature'); // An event without a body.
    return signed;
  }
}

/** Returns the account of a request's events. */
function accountIn({ params }: FastifyRequest): string {
  return (params as { account?: string }).account ?? MAIN_ACCOUNT;
}

/** Secrets that sign the events of one account. */
class AccountSecrets {
  /** Previous secret, until the events that it signed are stale. */
  private earlier: { secret: Secret; until: number } | undefined;

  constructor(private secret: Secret | undefined) {}

  /** Replaces the secret. The previous one stays valid for a while, because the upstream changes later. */
  replace(secret: Secret): void {
    if (this.secret) this.earlier = { secret: this.secret, until: performance.now() + TOLERANCE_MS };
    this.secret = secret;
  }

  accepted(): Secret[] {
    const { secret, earlier } = this;
    return [
      ...(secret ? [secret] : []),
      ...(earlier && performance.now() < earlier.until ? [earlier.secret] : []),
    ];
  }
}

/** Checks an event with each accepted secret. */
function check({ headers }: FastifyRequest, bytes: Buffer, secrets: Secret[]): SignedParts {
  const results = secrets.map((secret) => verifyEvent(headers, bytes, secret.reveal()));
  const signed = results.find((result) => result !== 'unsigned');
  if (signed === undefined) throw new Problem('invalid_signature');
  if (signed === 'stale') throw new Problem('stale_event');
  return signed;
}

const TOO_LARGE = { pointer: '', detail: `the body is larger than ${MAX_BYTES} bytes` };

class EventReceipt {
  @described({ enum: ['recorded', 'known'] }, '`known`: the event was received before. Nothing was done.')
  status!: 'recorded' | 'known';
}

/** Documents the common headers of every account's events. */
const EventHeaders = () =>
  applyDecorators(
    ApiHeader({
      name: 'webhook-id',
      required: true,
      description: "The event's ID. It is the same in each delivery.",
    }),
    ApiHeader({
      name: 'webhook-timestamp',
      required: true,
      description: 'Seconds since 1970, within five minutes.',
    }),
    ApiHeader({
      name: 'webhook-signature',
      required: true,
      description: '`v1,<base64>`. Several are separated by spaces.',
    }),
    ApiBody({ schema: { type: 'object', additionalProperties: true } }),
    ApiResponse({
      status: 200,
      type: EventReceipt,
      description: 'The event is recorded and will be checked with the upstream.',
    }),
    ApiProblems('invalid_request', 'stale_event', 'invalid_signature', 'not_found', 'database_unavailable'),
  );

/** Receives the upstream's events. A worker reads their subjects back, and trusts only that answer. */
@ApiTags('Reconciliation')
@Controller('hooks')
export class EventsController {
  constructor(
    private readonly signed: SignedEventsService,
    private readonly prisma: PrismaService,
    private readonly statuses: UnknownStatuses,
  ) {}

  @Post('upstream')
  @HttpCode(200)
  @Allow('everyone')
  @ApiSummary(
    'Receive an event of the upstream',
    "Available only with `UPSTREAM_WEBHOOK_SECRET`. The event's signature replaces the API key (Standard " +
      'Webhooks: `webhook-id`, `webhook-timestamp` and `webhook-signature`, or the same with `svix-`). At ' +
      'most 64 KiB.',
  )
  @EventHeaders()
  takeUpstreamEvent(@Req() request: FastifyRequest): Promise<EventReceipt> {
    return this.record(request);
  }

  @Post('upstream/:account')
  @HttpCode(200)
  @Allow('everyone')
  @ApiSummary(
    'Receive an event of one upstream account',
    'Like `POST /hooks/upstream`, which receives those of `main`. Each account has a secret of its own.',
  )
  @ApiParam({ name: 'account', schema: { type: 'string' }, description: 'The account.' })
  @EventHeaders()
  async takeAccountEvent(@Req() request: FastifyRequest): Promise<EventReceipt> {
    return this.record(request);
  }

  private async record(request: FastifyRequest): Promise<EventReceipt> {
    const { id: eventId, at: signedAt, body } = this.signed.of(request);
    const event = { ...readEvent(body), id: newId(), account: accountIn(request), eventId, signedAt };
    const isNew = await insertUpstreamEvent(this.prisma, event);
    if (isNew) this.statuses.note(event, null);
    return { status: isNew ? 'recorded' : 'known' };
  }
}
