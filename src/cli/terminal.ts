import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { LoggerService } from '@nestjs/common';
import { ClientError } from '../access/clients/client-error';

/** Asks for a confirmation. @throws ClientError after another answer than yes, or without a terminal. */
export async function confirm(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return;
  if (!process.stdin.isTTY)
    throw new ClientError(
      'This command needs a confirmation, but there is no terminal. Add --yes to skip the confirmation.',
    );
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    const end = once(terminal, 'close').then(() => ''); // end of the input
    const reply = terminal.question(`${question} Type yes to continue: `).catch(() => ''); // Ctrl-C, Ctrl-D
    const text = await Promise.race([reply, end]);
    if (text.trim() !== 'yes') throw new ClientError('Nothing was changed.');
  } finally {
    terminal.close();
  }
}

/** Reads text from standard input, which keeps people out of the history of a shell. */
export async function standardInput(): Promise<string> {
  process.stdin.setEncoding('utf8');
  let text = '';
  for await (const chunk of process.stdin) text += String(chunk);
  return text.trim();
}

const WIDTH = 30;
const REDRAW_MS = 100;

/** Progress bar on standard error. Hidden if standard error is not a terminal. */
export class Progress {
  private drawnAt = 0;
  private readonly startedAt = performance.now();

  /** @param unit the unit in the plural, such as `rows`. */
  constructor(
    private readonly unit: string,
    private readonly stream: NodeJS.WriteStream = process.stderr,
  ) {}

  /** @param of the total, if known. */
  at(done: number, of?: number): void {
    const now = performance.now();
    if (!this.stream.isTTY || now - this.drawnAt < REDRAW_MS) return;
    this.drawnAt = now;
    this.draw(done, of);
  }

  /** Clears the progress bar. */
  end(): void {
    if (this.stream.isTTY && this.drawnAt > 0) this.stream.write('\r\x1b[K');
  }

  private draw(done: number, of: number | undefined): void {
    const part = of === undefined ? undefined : of === 0 ? 1 : Math.min(1, done / of);
    const rate = Math.round(done / ((performance.now() - this.startedAt) / 1_000));
    const filled = Math.round((part ?? 0) * WIDTH);
    const bar =
      part === undefined
        ? ''
        : `[${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${Math.floor(part * 100)}%  `;
    this.stream.write(
      `\r\x1b[K${bar}${done.toLocaleString('en')} ${this.unit}, ${rate.toLocaleString('en')}/s`,
    );
  }
}

/** Log of a command: a line on standard error for each warning and error. Standard output has the result. */
export const COMMAND_LOG: LoggerService = {
  log: () => undefined,
  warn: write,
  error: write,
};

let isOwnProcess = false;

/** Notes that this process runs only a command. Tests run commands beside an application with its own log. */
export function ownProcess(): void {
  isOwnProcess = true;
}

/** Sends the log of the services to {@link COMMAND_LOG}, in a command's own process. */
export async function beginCommandLog(): Promise<void> {
  if (!isOwnProcess) return;
  const { Logger } = await import('@nestjs/common');
  Logger.overrideLogger(COMMAND_LOG);
}

/** @param fields the fields of the line, or its text alone. */
function write(fields: object | string, ...[text]: unknown[]): void {
  const line = typeof fields === 'object' ? `${String(text)} ${JSON.stringify(fields)}` : fields;
  process.stderr.write(`${line}\n`);
}
