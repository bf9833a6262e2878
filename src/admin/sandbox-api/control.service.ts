import { Inject, Injectable } from '@nestjs/common';
import { pointerTo } from '../../http/validation/faults';
import { EmbeddedSandbox, RunningConfig, SETTINGS } from '../../platform/config/config';
import { Fault, Problem } from '../../platform/errors/problem';

const TIMEOUT_MS = 10_000;

const NOT_EMBEDDED =
  'This proxy has no sandbox, because UPSTREAM_BASE_URL names its payout service. To use a sandbox, ' +
  'start a proxy without UPSTREAM_BASE_URL.';

// The responses of the control interface. See src/sandbox/README.md.

export interface SandboxAccount {
  id: string;
  name: string;
  /** The parent account of a sub-account. */
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
  /** Its settings, by name. */
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

/** The sandbox's settings for lies, among others. */
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
    return this.ask('GET', '/accounts');
  }

  faults(): Promise<SandboxFault[]> {
    return this.ask('GET', '/faults');
  }

  faultKinds(): Promise<FaultKind[]> {
    return this.ask('GET', '/faults/kinds');
  }

  magicRecipients(): Promise<MagicRecipient[]> {
    return this.ask('GET', '/magic-recipients');
  }

  /** @param settings the fault's own settings, by name. */
  addFault(asked: object, settings: object): Promise<SandboxFault> {
    return this.ask('POST', '/faults', { ...settings, ...asked }, (said) =>
      said.map((one) => faultOf(one, settings)),
    );
  }

  async removeFault(id: string): Promise<void> {
    await this.ask('DELETE', `/faults/${encodeURIComponent(id)}`);
  }

  async removeFaults(): Promise<void> {
    await this.ask('DELETE', '/faults');
  }

  settings(): Promise<SandboxSettings> {
    return this.ask('GET', '/settings');
  }

  /** @returns all settings as they are now. */
  patchSettings(settings: object): Promise<SandboxSettings> {
    return this.ask('PATCH', '/settings', settings, (said) =>
      said.map((detail) => ({ pointer: '', detail })),
    );
  }

  async addEntry(entry: object): Promise<void> {
    await this.ask('POST', '/entries', entry, (said) => said.map((detail) => ({ pointer: '', detail })));
  }

  /** @throws Problem */
  private async ask<T>(
    method: string,
    path: string,
    body?: object,
    faultsOf: (said: string[]) => Fault[] = () => [],
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
    if (status === 400) throw new Problem('invalid_request', { faults: faultsOf(faultsIn(text)) });
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

const FIELDS = ['fault', 'operation', 'nth', 'probability', 'seed', 'processed'];

/**
 * Translates the sandbox's message about a field. The leading field name becomes the pointer. Unknown names
 * are the caller's own words, so records keep only their position.
 */
function faultOf(sentence: string, settings: object): Fault {
  const own = Object.keys(settings).sort((a, b) => b.length - a.length);
  const setting = own.find((name) => sentence.startsWith(`${name} `));
  if (setting !== undefined)
    return { pointer: pointerTo('/settings', setting), detail: after(setting, sentence) };
  const field = FIELDS.find((name) => sentence.startsWith(`${name} must be`));
  if (field !== undefined) return { pointer: `/${field}`, detail: after(field, sentence) };
  return { pointer: '', detail: sentence };
}

function after(name: string, sentence: string): string {
  return sentence.slice(name.length + 1);
}
