import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Inject, Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { FastifyInstance } from 'fastify';
import { Call } from '../../access/auth/call';
import { KeyCallersService } from '../../access/callers/key-callers.service';
import { INTERFACE_PREFIX, pathOf } from '../../operations/catalogue/catalogue';
import { RunningConfig, SETTINGS } from '../../platform/config/config';
import { givenUpAfterMs } from '../../platform/config/upstream/upstream-timeouts';
import { Problem } from '../../platform/errors/problem';
import {
  FaultKind,
  MagicRecipient,
  SandboxAccount,
  SandboxControlService,
  SandboxFault,
} from './control.service';
import { toLies } from './lies.service';
import { samplesFor } from './samples';
import { NewFaultDto, NewSampleDto, SampleAnswerDto, SandboxDto, SandboxFaultDto } from './sandbox-api.dto';

const NO_DEMO_CLIENTS =
  'Demo clients exist only in the embedded database. Start the proxy without DATABASE_URL to send samples.';
const NO_ANSWER =
  'The proxy did not respond at its own address. GET /v1/audit/calls shows whether the sample was sent.';

/** Reads the state of the sandbox, controls its faults, and sends sample payouts as an app. */
@Injectable()
export class SandboxApiService {
  constructor(
    private readonly control: SandboxControlService,
    private readonly callers: KeyCallersService,
    private readonly host: HttpAdapterHost,
    @Inject(SETTINGS) private readonly settings: RunningConfig,
  ) {}

  async state(): Promise<SandboxDto> {
    const { url } = this.control.embedded;
    const [accounts, faults, kinds, recipients, settings] = await Promise.all([
      this.control.accounts(),
      this.control.faults(),
      this.control.faultKinds(),
      this.control.magicRecipients(),
      this.control.settings(),
    ]);
    const [ours] = accounts.filter(({ parent }) => parent === null);
    const subAccounts = accounts
      .filter(({ parent }) => parent !== null && parent === ours?.id)
      .map(({ id }) => id);
    return {
      url,
      wallets: accounts.flatMap(toWallets),
      faults: faults.map(toFault),
      lies: toLies(settings),
      kinds: kinds.map(toKind),
      magic_recipients: recipients.map(toRecipient),
      samples: samplesFor(subAccounts),
    };
  }

  async addFault({ settings = {}, ...fault }: NewFaultDto): Promise<SandboxFaultDto> {
    return toFault(await this.control.addFault(fault, settings));
  }

  /**
   * Sends a sample. A rejection of the app's request is a result, not an error.
   * @throws Problem `demo_key_missing`
   */
  async send({ person }: Call, sample: NewSampleDto): Promise<SampleAnswerDto> {
    const { operation, body, idempotency_key: key } = sample;
    const appKey = await this.appKey();
    const idempotencyKey = key ?? randomUUID();
    const response = await this.request(INTERFACE_PREFIX + pathOf(operation), body, {
      'x-api-key': appKey,
      'idempotency-key': idempotencyKey,
      ...(person && { 'x-actor': person.name }), // bars the sender from approving it
    });
    return {
      call_id: response.headers.get('x-call-id') ?? '',
      status: response.status,
      replayed: response.headers.get('idempotent-replayed') === 'true',
      idempotency_key: idempotencyKey,
      body: parsed(response.text),
    };
  }

  /** Sends the request over HTTP like an app, so it passes every check. */
  private async request(path: string, body: object, headers: Record<string, string>) {
    const server = this.host.httpAdapter.getInstance<FastifyInstance>();
    // 0.0.0.0 and :: stand for any address, so they cannot be called.
    const origin = server.listeningOrigin.replace(/\/\/(0\.0\.0\.0|\[::\]):/, '//localhost:');
    try {
      const response = await fetch(origin + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
        signal: AbortSignal.timeout(givenUpAfterMs(this.settings)),
      });
      return { status: response.status, headers: response.headers, text: await response.text() };
    } catch (cause) {
      throw new Problem('sandbox_unreachable', { text: NO_ANSWER, cause });
    }
  }

  private async appKey(): Promise<string> {
    const { demoKeysFile } = this.control.embedded;
    if (demoKeysFile === undefined) throw new Problem('demo_key_missing', { text: NO_DEMO_CLIENTS });
    const key: unknown = await readFile(demoKeysFile, 'utf8')
      .then((text) => (JSON.parse(text) as { app?: unknown }).app)
      .catch(() => undefined);
    if (typeof key === 'string' && (await this.callers.identify(key))) return key;
    throw new Problem('demo_key_missing');
  }
}

/** Parses JSON, or returns other text unchanged. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

function toWallets({ id, name, parent, wallets }: SandboxAccount) {
  return wallets.map(({ type, balance }) => ({
    account_id: id,
    account: name,
    parent_id: parent,
    wallet: type,
    currency: 'USD' as const,
    balance,
  }));
}

function toFault(active: SandboxFault): SandboxFaultDto {
  const { id, fault, operation, processed, struck, ...optional } = active;
  const { nth = null, probability = null, seed = null, ...settings } = optional;
  const figures = settings as Record<string, number>;
  return { id, fault, operation, nth, probability, seed, processed, settings: figures, struck };
}

function toKind({ choosesProcessed, ...kind }: FaultKind) {
  return { ...kind, chooses_processed: choosesProcessed };
}

function toRecipient({ phoneNumber, ...recipient }: MagicRecipient) {
  return { ...recipient, phone_number: phoneNumber };
}
