import { Inject, Injectable } from '@nestjs/common';
import { pointerTo } from '../../http/validation/faults';
import { EmbeddedSandbox, RunningConfig, SETTINGS } from '../../platform/config/config';
import { Fault, Problem } from '../../platform/errors/problem';

const TIMEOUT_MS = 10_000;

const NOT_EMBEDDED =
  'This proxy has no sandbox, because UPSTREAM_BASE_URL names its payout service. To use a sandbox, start ' +
  'a proxy without UPSTREAM_BASE_URL.';

// The responses of the control interface: src/sandbox/README.md.

export interface SandboxAccount {
  id: string;
  name: string;
  /** Parent account of a sub-account. */
  parent: string | null;
  /** US dollars as decimal text. */
  wallets: { type: 'chi' | 'momo' | 'airtime'; balance: string }[];
}

export interface SandboxFault {
  id: number;
  fault: string;
  operation: string | null;
  nth?: number;
  probability?: number;
  seed?: number;
  processed: boolean;
  struck: number;
  /** Settings of the fault, by name. */
  [setting: string]: unknown;
}

export interface FaultKind {
  fault: string;
  does: string;
  processed: boolean;
  choosesProcessed: boolean;
  settings: { name: string; default: number; must: string }[];
}

export interface MagicRecipient {
  name: string;
  phoneNumber: string;
  email: string;
  twitter: string;
  does: string;
}

export interface SandboxListLies {
  newest: number | null;
  frozenAt: string | null;
  withoutTypes: string[];
}

/** Settings of the sandbox. This type has those for lies. */
export interface SandboxSettings {
  feePercent: number;
  returnsFee: boolean;
  listedAfterMs: Record<string, number>;
  words: Record<'listed' | 'answered' | 'events', Record<string, string>>;
  lists: Record<'transactions' | 'entries', SandboxListLies>;
}

/** Calls the control interface of the embedded sandbox. */
@Injectable()
export class SandboxControlService {
  private readonly sandbox: EmbeddedSandbox | undefined;

  constructor(@Inject(SETTINGS) settings: RunningConfig) {
    this.sandbox = settings.embeddedSandbox;
  }

  /** @throws Problem `not_found` without an embedded sandbox. */
  get embedded(): EmbeddedSandbox {
    if (!this.sandbox) throw new Problem('not_found', { text: NOT_EMBEDDED });
    return this.sandbox;
  }

  accounts(): Promise<SandboxAccount[]> {
    return this.request('GET', '/accounts');
  }

  faults(): Promise<SandboxFault[]> {
    return this.request('GET', '/faults');
  }

  faultKinds(): Promise<FaultKind[]> {
    return this.request('GET', '/faults/kinds');
  }

  magicRecipients(): Promise<MagicRecipient[]> {
    return this.request('GET', '/magic-recipients');
  }

  /** @param settings the fault's own settings, by name. */
  addFault(fault: object, settings: object): Promise<SandboxFault> {
    return this.request('POST', '/faults', { ...settings, ...fault }, (text) => faultOf(text, settings));
  }

  async removeFault(id: string): Promise<void> {
    await this.request('DELETE', `/faults/${encodeURIComponent(id)}`);
  }

  async removeFaults(): Promise<void> {
    await this.request('DELETE', '/faults');
  }

  settings(): Promise<SandboxSettings> {
    return this.request('GET', '/settings');
  }

  /** @returns all settings after the change. */
  patchSettings(settings: object): Promise<SandboxSettings> {
    return this.request('PATCH', '/settings', settings, withoutPointer);
  }

  async addEntry(entry: object): Promise<void> {
    await this.request('POST', '/entries', entry, withoutPointer);
  }

  private async request<T>(
    method: string,
    path: string,
    body?: object,
    toFault?: (text: string) => Fault,
  ): Promise<T> {
    const { url, controlKey } = this.embedded;
    const [status, text] = await fetch(`${url}/_sandbox${path}`, {
      method,
      headers: { 'x-sandbox-control-key': controlKey.reveal() },
      ...(body && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
      .then(async (response) => [response.status, await response.text()] as const)
      .catch(unreachable);
    if (status === 404) throw new Problem('fault_not_found'); // no other request names an ID
    if (status === 400)
      throw new Problem('invalid_request', { faults: toFault ? faultsIn(text).map(toFault) : [] });
    if (status >= 300) throw new Problem('sandbox_unreachable');
    return (text === '' ? undefined : JSON.parse(text)) as T;
  }
}

function unreachable(cause: unknown): never {
  throw new Problem('sandbox_unreachable', { cause });
}

function faultsIn(text: string): string[] {
  return (JSON.parse(text) as { faults: string[] }).faults;
}

const withoutPointer = (detail: string): Fault => ({ pointer: '', detail });

const FIELDS = ['fault', 'operation', 'nth', 'probability', 'seed', 'processed'];

/**
 * Translates the sandbox's message about a field. The leading field name becomes the pointer. Unknown names
 * are the caller's own words, and get no pointer.
 */
function faultOf(sentence: string, settings: object): Fault {
  const own = Object.keys(settings).sort((a, b) => b.length - a.length);
  const setting = own.find((name) => sentence.startsWith(`${name} `));
  if (setting !== undefined)
    return { pointer: pointerTo('/settings', setting), detail: withoutName(setting, sentence) };
  const field = FIELDS.find((name) => sentence.startsWith(`${name} must be`));
  if (field !== undefined) return { pointer: `/${field}`, detail: withoutName(field, sentence) };
  return { pointer: '', detail: sentence };
}

function withoutName(name: string, sentence: string): string {
  return sentence.slice(name.length + 1);
}
