import { setTimeout as sleep } from 'node:timers/promises';
import { ClientError } from '../../access/clients/client-error';
import { open, ProxyOptions, Unreachable } from '../asking-proxy';
import { Progress } from '../terminal';

/** A restarted proxy is back within this number of attempts. */
const TRIES = 10;
const WAIT_MS = 1_000;

/** A worker takes a run within this time. */
const WORKER_PATIENCE_MS = 5_000;

/** The units that the steps of a run count. Other steps count rows. */
const UNITS: Partial<Record<string, string>> = { sources: 'transactions read', confirm: 'questions asked' };

/** The result of a run that has ended. */
export interface RunEnd {
  result: 'clean' | 'clean_with_doubts' | 'incomplete' | 'findings' | 'failed';
  failure: string | null;
  totals: Record<string, unknown> | null;
}

/**
 * Follows a run to its end, with a progress bar on standard error. It reconnects if the connection is lost.
 * @returns `interrupted` if no worker will continue the run.
 * @throws ClientError if the proxy can no longer be reached.
 */
export async function followRun(options: ProxyOptions, id: string): Promise<RunEnd | 'interrupted'> {
  let tries = TRIES; // without any answer so far, it does not retry
  for (;;) {
    const steps = new Steps();
    let waiting: NodeJS.Timeout | undefined;
    try {
      const { response } = await open(options, {
        path: `/v1/reconciliation/runs/${encodeURIComponent(id)}`,
        demoKey: 'reconciler',
        accept: 'text/event-stream',
        afterFailure: goesOn(id),
      });
      tries = 0;
      for await (const { event, data } of serverSentEvents(response)) {
        if (event === 'end') return data as unknown as RunEnd;
        if (event === 'interrupted') return 'interrupted';
        clearTimeout(waiting);
        if (event === 'queued') waiting = setTimeout(tellOfWait, WORKER_PATIENCE_MS);
        else steps.at(data as unknown as Step);
      }
    } catch (error) {
      const isAnswer = error instanceof ClientError && !(error instanceof Unreachable);
      if (isAnswer || tries >= TRIES) throw error;
    } finally {
      clearTimeout(waiting);
      steps.end();
    }
    tries += 1;
    await sleep(WAIT_MS);
  }
}

/** Returns the sentences that say how to follow the run again. */
export function goesOn(id: string): string {
  return `The run continues on the proxy. To follow it: npm run cli -- reconcile --run ${id}`;
}

function tellOfWait(): void {
  process.stderr.write('The run waits for a worker. /readyz of the proxy says whether one is running.\n');
}

interface Step {
  step: string;
  done: number;
  of: number | null;
}

/** Shows a progress bar for each step, one after another. */
class Steps {
  private step: string | undefined;
  private bar: Progress | undefined;

  at({ step, done, of }: Step): void {
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

/** One server-sent event: its name, and its data parsed from JSON. */
export interface ServerSentEvent {
  event: string;
  data: Record<string, unknown>;
}

/**
 * Reads the events of a stream (HTML Living Standard, 9.2) as the proxy writes them: one line of data, lines
 * ended by LF.
 */
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
  const place = line.indexOf(':');
  return [line.slice(0, place), line.slice(place + 1).replace(/^ /, '')];
}
