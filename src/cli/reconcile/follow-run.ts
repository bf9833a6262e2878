import { setTimeout as sleep } from 'node:timers/promises';
import { ClientError } from '../../access/clients/client-error';
import { streamFromProxy, ProxyOptions, ProxyUnreachable } from '../proxy-client';
import { Progress } from '../terminal';

/** Reconnects before giving up. A restart of the proxy takes fewer. */
const TRIES = 10;
const WAIT_MS = 1_000;

/** Wait of a queued run before a warning. A running worker takes it sooner. */
const WORKER_TIMEOUT_MS = 5_000;

/** Units of the steps of a run. Other steps count rows. */
const UNITS: Partial<Record<string, string>> = {
  sources: 'transactions read',
  confirm: 'transactions confirmed',
};

/** Result of an ended run. */
export interface RunEnd {
  result: 'clean' | 'clean_with_doubts' | 'incomplete' | 'findings' | 'failed';
  failure: string | null;
  totals: Record<string, unknown> | null;
}

/**
 * Follows a run to its end with a progress bar, and reconnects after a lost connection.
 * @returns `interrupted` if no worker will continue the run.
 * @throws ClientError if the proxy can no longer be reached.
 */
export async function followRun(options: ProxyOptions, id: string): Promise<RunEnd | 'interrupted'> {
  let tries = TRIES; // no retry before the first response
  for (;;) {
    const steps = new StepProgress();
    let waiting: NodeJS.Timeout | undefined;
    try {
      const { response } = await streamFromProxy(options, {
        path: `/v1/reconciliation/runs/${encodeURIComponent(id)}`,
        demoKey: 'reconciler',
        accept: 'text/event-stream',
        afterFailure: howToFollow(id),
      });
      tries = 0;
      for await (const { event, data } of serverSentEvents(response)) {
        if (event === 'end') return data as unknown as RunEnd;
        if (event === 'interrupted') return 'interrupted';
        clearTimeout(waiting);
        if (event === 'queued') waiting = setTimeout(warnOfWait, WORKER_TIMEOUT_MS);
        else steps.at(data as unknown as RunStep);
      }
    } catch (error) {
      const isAnswer = error instanceof ClientError && !(error instanceof ProxyUnreachable);
      if (isAnswer || tries >= TRIES) throw error;
    } finally {
      clearTimeout(waiting);
      steps.end();
    }
    tries += 1;
    await sleep(WAIT_MS);
  }
}

/** Returns the advice to follow a run again. */
export function howToFollow(id: string): string {
  return `The run continues on the proxy. To follow it: npm run cli -- reconcile --run ${id}`;
}

function warnOfWait(): void {
  process.stderr.write('The run waits for a worker. /readyz of the proxy shows whether one is running.\n');
}

interface RunStep {
  step: string;
  done: number;
  of: number | null;
}

/** Shows a progress bar for each step, one after another. */
class StepProgress {
  private step: string | undefined;
  private bar: Progress | undefined;

  at({ step, done, of }: RunStep): void {
    if (step !== this.step) {
      this.end();
      this.step = step;
      this.bar = new Progress(UNITS[step] ?? `rows (${step})`);
    }
    this.bar?.at(done, of ?? undefined);
  }

  end(): void {
    this.bar?.end();
  }
}

/** One server-sent event with its data from JSON. */
export interface ServerSentEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Reads server-sent events (HTML Living Standard, 9.2) of the proxy: one data line each, LF line ends. */
export async function* serverSentEvents({ body }: Response): AsyncGenerator<ServerSentEvent, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body ?? []) {
    rest += decoder.decode(bytes as Uint8Array, { stream: true });
    const blocks = rest.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(block.split('\n').map((line) => fieldIn(line)));
      const [event, data] = [fields.get('event'), fields.get('data')];
      if (event !== undefined && data !== undefined)
        yield { event, data: JSON.parse(data) as ServerSentEvent['data'] };
    }
  }
}

function fieldIn(line: string): [name: string, value: string] {
  const colon = line.indexOf(':');
  return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
}
